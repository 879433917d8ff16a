import { examinationMsMax } from '../calling.ts';

/** A tool of the MCP server: an operation of the API under a name that says what it is for. */
export interface OperationTool {
  readonly name: string;
  readonly title: string;
  /** The operationId; what the tool takes comes from the document. */
  readonly operation: string;
  /** For an assistant that has never seen Sandbank: what it does, what to give, what comes back. */
  readonly description: string;
  readonly names?: Readonly<Record<string, string>>;
  /** It deletes data. Assistants ask their user before they call such a tool. */
  readonly isDestructive?: true;
  /** It makes the server call a receiver outside of the sandbox. */
  readonly reachesOut?: true;
  /** When the call can take longer than the client waits by default. */
  readonly timeoutMs?: number;
}

const amounts = 'Amounts are integers in minor units: 1250 is 12.50 EUR, and 1250 JPY.';

export const operationTools: readonly OperationTool[] = [
  {
    name: 'create_payment',
    title: 'Create a payment',
    operation: 'createPayment',
    description: `Create a sandbox payment; it begins as "pending" and moves only when advanced, or by itself with autoAdvance. ${amounts} "scenario" decides what the simulated provider will do (list_scenarios names them), such as "approve" or "decline:insufficient_funds". Returns the payment with its id and allowedActions.`,
  },
  {
    name: 'get_payment',
    title: 'Get a payment',
    operation: 'retrievePayment',
    description:
      'Read one payment: its status, amounts captured and refunded, failure, and the actions that are open to it now.',
    names: { id: 'pay_...' },
  },
  {
    name: 'list_payments',
    title: 'List payments',
    operation: 'listPayments',
    description:
      'List payments, newest first, by status or customer. Pass nextCursor of an answer as cursor for the next page.',
  },
  {
    name: 'advance_payment',
    title: 'Advance a payment',
    operation: 'advancePayment',
    description: `Move a payment through its lifecycle. Give "action" (authorize, capture, settle, fail, dispute, ...) for one step, or "to" (captured, settled, refunded, charged_back, ...) to go to a state by the shortest way, or neither for the step that its scenario says. ${amounts} Refused with allowedActions when the step is not open.`,
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
    description: `Quote a currency transfer: give sourceAmount (to send) or targetAmount (to arrive), one of them. ${amounts} The rate is held until expiresAt; go on with advance_transfer (accept, fund, ...).`,
  },
  {
    name: 'advance_transfer',
    title: 'Advance an FX transfer',
    operation: 'advanceTransfer',
    description:
      'Move a transfer: "action" for one step (accept, fund, convert, send, complete, return, refund, ...), or "to" for a state by the shortest way, such as completed or returned.',
    names: { id: 'trf_...' },
  },
  {
    name: 'get_clock',
    title: 'Read the clock',
    operation: 'getClock',
    description:
      'What time it is in the sandbox. Every application has a clock of its own that can be moved.',
  },
  {
    name: 'advance_clock',
    title: 'Move the clock forward',
    operation: 'advanceClock',
    description:
      'Travel in time: move the clock by "seconds" or "to" an instant, and run all that falls due on the way (expiries, settlements, retries of webhooks, auto-advancing payments), in order. Returns what happened. When complete is false, call it again with left.to.',
  },
  {
    name: 'list_events',
    title: 'List events',
    operation: 'listWebhookEvents',
    description:
      'List the events that webhooks are told of, newest first, by type, by resource, or by resourceId (all that happened to one payment). data is the record as it was then.',
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
      'The request log: what was asked of the API lately and what was answered, newest first. Find out why calls of the program under test fail: status "4xx" narrows it to refusals, path to one kind of call.',
  },
  {
    name: 'trigger_event',
    title: 'Trigger an event',
    operation: 'createWebhookEvent',
    description:
      'Send an event of any type to the webhook endpoints by hand, with the example of the type or with data of your own, to test a handler. No record is changed.',
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
      'Let the next "count" requests, or "share" percent of them, fail on purpose (latency, error 429/500/503, reset connection, lost answer), or let webhooks be duplicated, reordered, delayed or dropped. For testing retries. It hits the calls of this tool, too.',
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
      'The lifecycles of payments, refunds, disputes, transfers and other records as data: states, actions, transitions, and the events they emit.',
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
