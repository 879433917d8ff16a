import { examinationMsMax } from '../calling.ts';

/** A tool of the MCP server: an API operation with a name and description for assistants. */
export interface OperationTool {
  readonly name: string;
  readonly title: string;
  /** The operationId; the input schema comes from the OpenAPI document. */
  readonly operation: string;
  /** For an assistant that does not know Sandbank: purpose, input and result. */
  readonly description: string;
  readonly names?: Readonly<Record<string, string>>;
  /** It deletes data. Assistants ask their user before they call such a tool. */
  readonly isDestructive?: true;
  /** The server calls a receiver outside of the sandbox. */
  readonly reachesOut?: true;
  /** For calls that can take longer than the client's default timeout. */
  readonly timeoutMs?: number;
}

const amounts = 'Amounts are integers in minor units: 1250 is 12.50 EUR, and 1250 JPY.';

export const operationTools: readonly OperationTool[] = [
  {
    name: 'create_payment',
    title: 'Create a payment',
    operation: 'createPayment',
    description: `Create a sandbox payment; it begins as "pending" and changes only when advanced, or automatically with autoAdvance. ${amounts} "scenario" selects the behavior of the simulated provider, such as "approve" or "decline:insufficient_funds"; list_scenarios lists them. Returns the payment with its id and allowedActions.`,
  },
  {
    name: 'get_payment',
    title: 'Get a payment',
    operation: 'retrievePayment',
    description: 'Read one payment: its status, captured and refunded amounts, failure, and allowed actions.',
    names: { id: 'pay_...' },
  },
  {
    name: 'list_payments',
    title: 'List payments',
    operation: 'listPayments',
    description:
      'List payments, newest first, by status or customer. For the next page, pass nextCursor of the response as cursor.',
  },
  {
    name: 'advance_payment',
    title: 'Advance a payment',
    operation: 'advancePayment',
    description: `Advance a payment through its lifecycle. Pass "action" (authorize, capture, settle, fail, dispute, ...) for one step, or "to" (captured, settled, refunded, charged_back, ...) for the shortest path to a state, or neither for the next step of its scenario. ${amounts} An action that is not allowed is rejected with allowedActions.`,
    names: { id: 'pay_...' },
  },
  {
    name: 'refund_payment',
    title: 'Refund a payment',
    operation: 'refundPayment',
    description: `Refund a captured or settled payment, in full, or in part with "amount". ${amounts}`,
    names: { id: 'pay_...' },
  },
  {
    name: 'create_customer',
    title: 'Create a customer',
    operation: 'createCustomer',
    description:
      'Create a customer with a name or an email. Use its id as customerId of payments and transfers.',
  },
  {
    name: 'create_transfer',
    title: 'Quote an FX transfer',
    operation: 'createTransfer',
    description: `Quote a currency transfer: pass either sourceAmount (to send) or targetAmount (to arrive). ${amounts} The rate is held until expiresAt; continue with advance_transfer (accept, fund, ...).`,
  },
  {
    name: 'advance_transfer',
    title: 'Advance an FX transfer',
    operation: 'advanceTransfer',
    description:
      'Advance a transfer: "action" for one step (accept, fund, convert, send, complete, return, refund, ...), or "to" for the shortest path to a state, such as completed or returned.',
    names: { id: 'trf_...' },
  },
  {
    name: 'get_clock',
    title: 'Read the clock',
    operation: 'getClock',
    description: 'Read the current sandbox time. Every application has its own clock, which can be moved.',
  },
  {
    name: 'advance_clock',
    title: 'Move the clock forward',
    operation: 'advanceClock',
    description:
      'Move the clock forward by "seconds" or "to" an instant, and run everything that becomes due (expiries, settlements, webhook retries, auto-advancing payments), in order. Returns the executed steps. When complete is false, call it again with left.to.',
  },
  {
    name: 'list_events',
    title: 'List events',
    operation: 'listWebhookEvents',
    description:
      'List the events that webhooks receive, newest first, by type, by resource, or by resourceId (all events of one payment). data is the record at the time of the event.',
  },
  {
    name: 'get_event',
    title: 'Get an event',
    operation: 'retrieveWebhookEvent',
    description: 'Read one event with its data.',
    names: { id: 'evt_...' },
  },
  {
    name: 'list_requests',
    title: 'List API requests',
    operation: 'listRequests',
    description:
      'The request log: recent API requests and their responses, newest first. Find out why calls of the program under test fail: status "4xx" selects rejected requests, path selects one kind of call.',
  },
  {
    name: 'trigger_event',
    title: 'Trigger an event',
    operation: 'createWebhookEvent',
    description:
      'Send an event of any type to the webhook endpoints, with the example data of the type or with your own data, to test a handler. No record is changed.',
  },
  {
    name: 'list_webhooks',
    title: 'List webhook endpoints',
    operation: 'listWebhooks',
    description:
      'List the webhook endpoints of the application, newest first: URL, event types, and whether an endpoint is disabled and why.',
  },
  {
    name: 'list_deliveries',
    title: 'List webhook deliveries',
    operation: 'listWebhookDeliveries',
    description:
      'List webhook deliveries, newest first, by status, endpoint (webhookId), event (eventId) or eventType. Use status "failed" to find out why a receiver did not process an event, then get_delivery for the details.',
  },
  {
    name: 'get_delivery',
    title: 'Get a webhook delivery',
    operation: 'retrieveWebhookDelivery',
    description:
      'Read one delivery with every attempt: the request body and headers that were sent, and the status, headers and body of each response.',
    names: { id: 'dlv_...' },
  },
  {
    name: 'test_webhook',
    title: 'Test a webhook endpoint',
    operation: 'testWebhook',
    description:
      'Send one signed event to an endpoint now and return the response of its receiver. "type" selects the example event; without it webhook.tested is sent. No record is changed.',
    names: { id: 'whk_...' },
    reachesOut: true,
  },
  {
    name: 'examine_webhook',
    title: 'Examine a webhook receiver',
    operation: 'examineWebhook',
    description:
      'Send forged, stale, duplicated and malformed requests to an endpoint and grade its receiver, with advice for each failed case. It takes up to half a minute. "cases" limits it to some of them.',
    names: { id: 'whk_...' },
    reachesOut: true,
    timeoutMs: examinationMsMax,
  },
  {
    name: 'create_fault_plan',
    title: 'Inject faults',
    operation: 'createFaultPlan',
    description:
      'Make the next "count" requests, or "share" percent of them, fail on purpose (latency, error 429/500/503, reset connection, lost response), or duplicate, reorder, delay or drop webhooks. For testing retries. It affects the calls of these tools, too.',
  },
  {
    name: 'get_balances',
    title: 'Read the ledger balances',
    operation: 'getBalances',
    description: `Balances of all ledger accounts and the trial balance, of the organization, or of one payment or transfer. ${amounts}`,
  },
  {
    name: 'read_state_machines',
    title: 'Read the state machines',
    operation: 'getStateMachines',
    description:
      'The state machines of payments, refunds, disputes, transfers and other records: states, actions, transitions, and the events they emit.',
  },
  {
    name: 'reset',
    title: 'Delete all records',
    operation: 'resetOrganization',
    description:
      'DESTRUCTIVE: delete all payments, customers, transfers, events and other records of the organization, and return its clocks to real time. Applications, API keys and webhook endpoints stay. It cannot be undone. The API key needs the permission mayReset. Call it only when the user asks for it.',
    isDestructive: true,
  },
];
