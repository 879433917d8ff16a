// Generated from docs/openapi.json by `npm run golden`. Do not edit.

import type { CallOptions, WriteOptions } from '../operation.ts';
import type { Pages } from '../pages.ts';
import type { WebhookVerification } from '../webhooks.ts';
import type { EventStreaming } from '../stream.ts';
import type {
  ApiStatus,
  AuditEntryList,
  AuditVerification,
  Balances,
  Capabilities,
  Clock,
  ClockAdvance,
  ClockAdvanced,
  Coverage,
  CoverageReset,
  Customer,
  CustomerCreate,
  CustomerList,
  CustomerUpdate,
  DeliveryDetail,
  DeliveryList,
  Dispute,
  DisputeAdvance,
  DisputeList,
  Event,
  EventCreate,
  EventList,
  EventReplay,
  EventReplayRequest,
  Examination,
  FaultPlan,
  FaultPlanCreate,
  FaultPlanList,
  FxRateList,
  GetBalancesQuery,
  GetCoverageQuery,
  GetReconciliationQuery,
  LedgerEntryList,
  ListAuditEntriesQuery,
  ListCustomersQuery,
  ListDisputesQuery,
  ListFaultPlansQuery,
  ListFxRatesQuery,
  ListLedgerEntriesQuery,
  ListPaymentHistoryQuery,
  ListPaymentLedgerEntriesQuery,
  ListPaymentProviderEventsQuery,
  ListPaymentsQuery,
  ListRefundsQuery,
  ListRequestsQuery,
  ListSettlementsQuery,
  ListTransferHistoryQuery,
  ListTransferLedgerEntriesQuery,
  ListTransferProviderEventsQuery,
  ListTransfersQuery,
  ListWebhookDeliveriesQuery,
  ListWebhookEventsQuery,
  ListWebhookReplaysQuery,
  ListWebhooksQuery,
  LoggedRequest,
  LoggedRequestList,
  Payment,
  PaymentAdvance,
  PaymentCreate,
  PaymentHistory,
  PaymentList,
  PaymentRefund,
  PaymentUpdate,
  ProviderEventList,
  Reconciliation,
  Refund,
  RefundAdvance,
  RefundList,
  Replay,
  ReplayCreate,
  ReplayList,
  ReplayProgress,
  Reset,
  RetrieveSettlementQuery,
  SettlementList,
  SettlementReport,
  StateMachines,
  Transfer,
  TransferAdvance,
  TransferCreate,
  TransferHistory,
  TransferList,
  Webhook,
  WebhookCreate,
  WebhookDetail,
  WebhookExamination,
  WebhookInbox,
  WebhookList,
  WebhookRotateSecret,
  WebhookTest,
  WebhookUpdate,
  WebhookWithSecret,
} from './shapes.ts';

export interface AuditNamespace {
  /** List audit entries, newest first; a filtered page can be short or empty although more follow. Needs the scopes `payments:read` and `customers:read` and `transfers:read` and `webhooks:read`. `GET /_api/developer_api_audit_entries` */
  list(query?: ListAuditEntriesQuery, options?: CallOptions): Pages<AuditEntryList>;
  /** Verify the seals of the newest audit entries. Needs the scopes `payments:read` and `customers:read` and `transfers:read` and `webhooks:read`. `GET /_api/developer_api_audit_entries/verify` */
  verify(options?: CallOptions): Promise<AuditVerification>;
}

export interface ClockNamespace {
  /** The application's clock. Any valid key may call this. `GET /_api/developer_api_clock` */
  retrieve(options?: CallOptions): Promise<Clock>;
  /** Move the clock forward and process everything that falls due, in order; responds when done. Needs the scopes `payments:write` and `transfers:write`. `POST /_api/developer_api_clock/advance` */
  advance(body: ClockAdvance, options?: WriteOptions): Promise<ClockAdvanced>;
  /** Stop the clock at its current time. Needs the scopes `payments:write` and `transfers:write`. `POST /_api/developer_api_clock/freeze` */
  freeze(options?: WriteOptions): Promise<Clock>;
  /** Let a frozen clock run on from its time. Needs the scopes `payments:write` and `transfers:write`. `POST /_api/developer_api_clock/resume` */
  resume(options?: WriteOptions): Promise<Clock>;
  /** Reset to real time. Needs the scopes `payments:write` and `transfers:write`. `POST /_api/developer_api_clock/reset` */
  reset(options?: WriteOptions): Promise<Clock>;
}

export interface CoverageNamespace {
  /** Retrieve the covered states, moves, events, operations and errors as JSON or JUnit XML. Any valid key may call this. `GET /_api/developer_api_coverage` */
  retrieve(query?: GetCoverageQuery, options?: CallOptions): Promise<Coverage>;
  /** Retrieve the covered states, moves, events, operations and errors as JSON or JUnit XML. Any valid key may call this. `GET /_api/developer_api_coverage` */
  junit(query?: GetCoverageQuery, options?: CallOptions): Promise<string>;
  /** Reset all coverage counts to zero. Needs the scopes `payments:write` and `customers:write` and `transfers:write` and `webhooks:write`. `POST /_api/developer_api_coverage/reset` */
  reset(options?: WriteOptions): Promise<CoverageReset>;
}

export interface CustomersNamespace {
  /** Create a customer. Needs the scope `customers:write`. `POST /_api/developer_api_customers` */
  create(body: CustomerCreate, options?: WriteOptions): Promise<Customer>;
  /** List customers, newest first. Needs the scope `customers:read`. `GET /_api/developer_api_customers` */
  list(query?: ListCustomersQuery, options?: CallOptions): Pages<CustomerList>;
  /** Retrieve a customer. Needs the scope `customers:read`. `GET /_api/developer_api_customers/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<Customer>;
  /** Update customer fields; null clears a field. Needs the scope `customers:write`. `POST /_api/developer_api_customers/{id}/update` */
  update(id: string, body: CustomerUpdate, options?: WriteOptions): Promise<Customer>;
  /** Archive a customer: it stays readable, and new payments and transfers cannot name it. Needs the scope `customers:write`. `POST /_api/developer_api_customers/{id}/archive` */
  archive(id: string, options?: WriteOptions): Promise<Customer>;
}

export interface DeliveriesNamespace {
  /** List deliveries to the webhook endpoints of the application, newest first. Needs the scope `webhooks:read`. `GET /_api/developer_api_webhook_deliveries` */
  list(query?: ListWebhookDeliveriesQuery, options?: CallOptions): Pages<DeliveryList>;
  /** Retrieve a delivery with its attempts, each with request and response. Needs the scope `webhooks:read`. `GET /_api/developer_api_webhook_deliveries/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<DeliveryDetail>;
  /** Replay the events of a time window: failed ones, ones that were never sent, or all. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhook_deliveries/replay` */
  replay(body: ReplayCreate, options?: WriteOptions): Promise<Replay>;
}

export interface DisputesNamespace {
  /** List disputes, newest first. Needs the scope `payments:read`. `GET /_api/developer_api_disputes` */
  list(query?: ListDisputesQuery, options?: CallOptions): Pages<DisputeList>;
  /** Retrieve a dispute. Needs the scope `payments:read`. `GET /_api/developer_api_disputes/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<Dispute>;
  /** Respond to a dispute, let it expire, or decide it. Needs the scope `payments:write`. `POST /_api/developer_api_disputes/{id}/advance` */
  advance(id: string, body?: DisputeAdvance, options?: WriteOptions & { expand?: 'ledgerEntries' | undefined }): Promise<Dispute>;
}

export interface EventsNamespace {
  /** Create an event manually with custom data; it is sent to all endpoints that subscribe to its type. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhook_events` */
  create(body: EventCreate, options?: WriteOptions): Promise<Event>;
  /** List the events of the organization, newest first. Needs the scope `webhooks:read`. `GET /_api/developer_api_webhook_events` */
  list(query?: ListWebhookEventsQuery, options?: CallOptions): Pages<EventList>;
  /** Retrieve an event. Needs the scope `webhooks:read`. `GET /_api/developer_api_webhook_events/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<Event>;
  /** Replay an event of the application with the same id. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhook_events/{id}/replay` */
  replay(id: string, body?: EventReplayRequest, options?: WriteOptions): Promise<EventReplay>;
}

export interface FaultPlansNamespace {
  /** Inject faults into requests or webhooks of the application: the next few, or a percentage. Needs the scopes `payments:write` and `transfers:write`. `POST /_api/developer_api_fault_plans` */
  create(body: FaultPlanCreate, options?: WriteOptions): Promise<FaultPlan>;
  /** List the fault plans of the application, newest first. Any valid key may call this. `GET /_api/developer_api_fault_plans` */
  list(query?: ListFaultPlansQuery, options?: CallOptions): Pages<FaultPlanList>;
  /** Retrieve a fault plan with its match counts. Any valid key may call this. `GET /_api/developer_api_fault_plans/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<FaultPlan>;
  /** Cancel a fault plan: it affects no further matches. Needs the scopes `payments:write` and `transfers:write`. `POST /_api/developer_api_fault_plans/{id}/cancel` */
  cancel(id: string, options?: WriteOptions): Promise<FaultPlan>;
}

export interface FxRatesNamespace {
  /** List the current exchange rates of a currency, with the margin and the mid-market rates. Needs the scope `transfers:read`. `GET /_api/developer_api_fx_rates` */
  list(query?: ListFxRatesQuery, options?: CallOptions): Pages<FxRateList>;
}

export interface LedgerNamespace {
  /** Retrieve account balances and the trial balance of the organization, a payment or a transfer. Needs the scope `payments:read`. `GET /_api/developer_api_balances` */
  balances(query?: GetBalancesQuery, options?: CallOptions): Promise<Balances>;
  /** List ledger entries of the organization, newest first. Needs the scope `payments:read`. `GET /_api/developer_api_ledger_entries` */
  entries(query?: ListLedgerEntriesQuery, options?: CallOptions): Pages<LedgerEntryList>;
}

export interface PaymentsNamespace {
  /** List payments, newest first. Needs the scope `payments:read`. `GET /_api/developer_api_payments` */
  list(query?: ListPaymentsQuery, options?: CallOptions): Pages<PaymentList>;
  /** Create a payment. Needs the scope `payments:write`. `POST /_api/developer_api_payments` */
  create(body: PaymentCreate, options?: WriteOptions): Promise<Payment>;
  /** Retrieve a payment. Needs the scope `payments:read`. `GET /_api/developer_api_payments/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<Payment>;
  /** Update the description or metadata of a payment in any state; null clears the description. Needs the scope `payments:write`. `POST /_api/developer_api_payments/{id}/update` */
  update(id: string, body: PaymentUpdate, options?: WriteOptions): Promise<Payment>;
  /** Advance a payment: by its scenario, by an `action`, or by the shortest way `to` a state. Needs the scope `payments:write`. `POST /_api/developer_api_payments/{id}/advance` */
  advance(id: string, body?: PaymentAdvance, options?: WriteOptions & { expand?: 'ledgerEntries' | undefined }): Promise<Payment>;
  /** List the state changes of a payment, newest first, with actor, event and ledger entries. Needs the scope `payments:read`. `GET /_api/developer_api_payments/{id}/history` */
  history(id: string, query?: ListPaymentHistoryQuery, options?: CallOptions): Pages<PaymentHistory>;
  /** List the raw provider events of a payment with their outcome, newest first. Needs the scope `payments:read`. `GET /_api/developer_api_payments/{id}/provider_events` */
  providerEvents(id: string, query?: ListPaymentProviderEventsQuery, options?: CallOptions): Pages<ProviderEventList>;
  /** Refund a payment in full or in part, until no refundable amount is left. Needs the scope `payments:write`. `POST /_api/developer_api_payments/{id}/refund` */
  refund(id: string, body?: PaymentRefund, options?: WriteOptions & { expand?: 'ledgerEntries' | undefined }): Promise<Refund>;
  /** List ledger entries of a payment, its refunds and disputes, newest first. Needs the scope `payments:read`. `GET /_api/developer_api_payments/{id}/ledger_entries` */
  ledgerEntries(id: string, query?: ListPaymentLedgerEntriesQuery, options?: CallOptions): Pages<LedgerEntryList>;
}

export interface ReconciliationNamespace {
  /** Compare the providers' reports with the ledger: lines, newest first, and totals. Needs the scope `payments:read`. `GET /_api/developer_api_reconciliation` */
  retrieve(query?: GetReconciliationQuery, options?: CallOptions): Pages<Reconciliation>;
}

export interface RefundsNamespace {
  /** List refunds, newest first. Needs the scope `payments:read`. `GET /_api/developer_api_refunds` */
  list(query?: ListRefundsQuery, options?: CallOptions): Pages<RefundList>;
  /** Retrieve a refund. Needs the scope `payments:read`. `GET /_api/developer_api_refunds/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<Refund>;
  /** End a pending refund: it succeeds, fails or is canceled. Needs the scope `payments:write`. `POST /_api/developer_api_refunds/{id}/advance` */
  advance(id: string, body?: RefundAdvance, options?: WriteOptions & { expand?: 'ledgerEntries' | undefined }): Promise<Refund>;
}

export interface ReplaysNamespace {
  /** List the replays of the application, newest first. Needs the scope `webhooks:read`. `GET /_api/developer_api_webhook_replays` */
  list(query?: ListWebhookReplaysQuery, options?: CallOptions): Pages<ReplayList>;
  /** Retrieve a replay and the progress of its deliveries. Needs the scope `webhooks:read`. `GET /_api/developer_api_webhook_replays/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<ReplayProgress>;
}

export interface RequestsNamespace {
  /** List requests, newest first; an API key sees those of API keys. Needs the scopes `payments:read` and `customers:read` and `transfers:read` and `webhooks:read`. `GET /_api/developer_api_requests` */
  list(query?: ListRequestsQuery, options?: CallOptions): Pages<LoggedRequestList>;
  /** Retrieve a request with its redacted request and response bodies. Needs the scopes `payments:read` and `customers:read` and `transfers:read` and `webhooks:read`. `GET /_api/developer_api_requests/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<LoggedRequest>;
}

export interface SettlementsNamespace {
  /** List the days of the providers' settlement reports, newest first, with totals. Needs the scope `payments:read`. `GET /_api/developer_api_settlements` */
  list(query?: ListSettlementsQuery, options?: CallOptions): Pages<SettlementList>;
  /** The settlement report of a day, as JSON or, with `Accept: text/csv`, as CSV. Needs the scope `payments:read`. `GET /_api/developer_api_settlements/{date}` */
  retrieve(date: string, query?: RetrieveSettlementQuery, options?: CallOptions): Pages<SettlementReport>;
  /** The settlement report of a day, as JSON or, with `Accept: text/csv`, as CSV. Needs the scope `payments:read`. `GET /_api/developer_api_settlements/{date}` */
  csv(date: string, query?: RetrieveSettlementQuery, options?: CallOptions): Promise<string>;
}

export interface TransfersNamespace {
  /** List the state changes of a transfer, newest first, with actor, event and ledger entries. Needs the scope `transfers:read`. `GET /_api/developer_api_transfers/{id}/history` */
  history(id: string, query?: ListTransferHistoryQuery, options?: CallOptions): Pages<TransferHistory>;
  /** List the raw provider events of a transfer with their outcome, newest first. Needs the scope `transfers:read`. `GET /_api/developer_api_transfers/{id}/provider_events` */
  providerEvents(id: string, query?: ListTransferProviderEventsQuery, options?: CallOptions): Pages<ProviderEventList>;
  /** List transfers, newest first. Needs the scope `transfers:read`. `GET /_api/developer_api_transfers` */
  list(query?: ListTransfersQuery, options?: CallOptions): Pages<TransferList>;
  /** Quote a transfer: the amount to send or the amount to arrive, at a rate that is held. Needs the scope `transfers:write`. `POST /_api/developer_api_transfers` */
  create(body: TransferCreate, options?: WriteOptions): Promise<Transfer>;
  /** Retrieve a transfer. Needs the scope `transfers:read`. `GET /_api/developer_api_transfers/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<Transfer>;
  /** Advance a transfer: by its scenario, by an `action`, or by the shortest way `to` a state. Needs the scope `transfers:write`. `POST /_api/developer_api_transfers/{id}/advance` */
  advance(id: string, body?: TransferAdvance, options?: WriteOptions & { expand?: 'ledgerEntries' | undefined }): Promise<Transfer>;
  /** List ledger entries of a transfer, newest first. Needs the scope `transfers:read`. `GET /_api/developer_api_transfers/{id}/ledger_entries` */
  ledgerEntries(id: string, query?: ListTransferLedgerEntriesQuery, options?: CallOptions): Pages<LedgerEntryList>;
}

export interface WebhooksNamespace {
  /** Register an endpoint; only this response shows its secret. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhooks` */
  create(body: WebhookCreate, options?: WriteOptions): Promise<WebhookWithSecret>;
  /** List the webhook endpoints of the application, newest first; deleted ones only with `status=deleted`. Needs the scope `webhooks:read`. `GET /_api/developer_api_webhooks` */
  list(query?: ListWebhooksQuery, options?: CallOptions): Pages<WebhookList>;
  /** Return the inbox of the application, an endpoint that Sandbank hosts; the first call creates it. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhook_inbox` */
  inbox(body?: WebhookInbox, options?: WriteOptions): Promise<WebhookWithSecret>;
  /** Retrieve an endpoint and its health, without its secret. Needs the scope `webhooks:read`. `GET /_api/developer_api_webhooks/{id}` */
  retrieve(id: string, options?: CallOptions): Promise<WebhookDetail>;
  /** Change the URL, the description, the event types, the retry profile, the concurrency, the custom headers or the behavior of an inbox. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhooks/{id}/update` */
  update(id: string, body: WebhookUpdate, options?: WriteOptions): Promise<Webhook>;
  /** Rotate the secret; the previous one also signs during the overlap. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhooks/{id}/rotate_secret` */
  rotateSecret(id: string, body?: WebhookRotateSecret, options?: WriteOptions): Promise<WebhookWithSecret>;
  /** Stop sending; events wait until the endpoint is enabled again. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhooks/{id}/disable` */
  disable(id: string, options?: WriteOptions): Promise<Webhook>;
  /** Enable the endpoint and send the events that waited. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhooks/{id}/enable` */
  enable(id: string, options?: WriteOptions): Promise<Webhook>;
  /** Delete the endpoint; nothing more is sent, and its delivery history stays readable. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhooks/{id}/delete` */
  delete(id: string, options?: WriteOptions): Promise<Webhook>;
  /** Send one real event to the endpoint and return the receiver's response. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhooks/{id}/test` */
  test(id: string, body?: WebhookTest, options?: WriteOptions): Promise<DeliveryDetail>;
  /** Attack the endpoint with forged, stale, repeated and unusual requests, and grade how its receiver handles them. Needs the scope `webhooks:write`. `POST /_api/developer_api_webhooks/{id}/examine` */
  examine(id: string, body?: WebhookExamination, options?: WriteOptions): Promise<Examination>;
}

/** The methods of a client. Their implementation is not generated: it is the table of operations, bound to a transport. */
export abstract class Namespaces {
  declare readonly audit: AuditNamespace;
  declare readonly clock: ClockNamespace;
  declare readonly coverage: CoverageNamespace;
  declare readonly customers: CustomersNamespace;
  declare readonly deliveries: DeliveriesNamespace;
  declare readonly disputes: DisputesNamespace;
  declare readonly events: EventsNamespace & EventStreaming;
  declare readonly faultPlans: FaultPlansNamespace;
  declare readonly fxRates: FxRatesNamespace;
  declare readonly ledger: LedgerNamespace;
  declare readonly payments: PaymentsNamespace;
  declare readonly reconciliation: ReconciliationNamespace;
  declare readonly refunds: RefundsNamespace;
  declare readonly replays: ReplaysNamespace;
  declare readonly requests: RequestsNamespace;
  declare readonly settlements: SettlementsNamespace;
  declare readonly transfers: TransfersNamespace;
  declare readonly webhooks: WebhooksNamespace & WebhookVerification;
  /** The organization and application of the API key, and the enabled capabilities. Any valid key may call this. `GET /_api/developer_api_status` */
  declare readonly status: (options?: CallOptions) => Promise<ApiStatus>;
  /** API version, scopes, resources with their states, actions and body fields, scenarios, currencies, event types and limits. Any valid key may call this. `GET /_api/developer_api_capabilities` */
  declare readonly capabilities: (options?: CallOptions) => Promise<Capabilities>;
  /** The lifecycles of all resources as data: states, moves, conditions and events. Any valid key may call this. `GET /_api/developer_api_state_machines` */
  declare readonly stateMachines: (options?: CallOptions) => Promise<StateMachines>;
  /** Delete all records of the organization and return its clocks to real time; its configuration stays. Needs the scopes `payments:write` and `customers:write` and `transfers:write` and `webhooks:write`. `POST /_api/developer_api_reset` */
  declare readonly reset: (options?: WriteOptions) => Promise<Reset>;

  constructor(bound: object) {
    Object.assign(this, bound);
  }
}
