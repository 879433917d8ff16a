// Generated from docs/openapi.json by `npm run golden`. Do not edit.

export type ErrorCode =
  | 'invalid_request'
  | 'malformed_json'
  | 'idempotency_key_missing'
  | 'idempotency_key_invalid'
  | 'unsupported_api_version'
  | 'invalid_cursor'
  | 'api_key_missing'
  | 'api_key_invalid'
  | 'api_key_revoked'
  | 'api_key_expired'
  | 'scope_missing'
  | 'reset_not_permitted'
  | 'organization_mismatch'
  | 'ip_not_allowed'
  | 'resource_not_found'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'host_not_allowed'
  | 'invalid_state_transition'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused'
  | 'customer_not_found'
  | 'customer_archived'
  | 'customer_identity_missing'
  | 'unsupported_currency'
  | 'currency_mismatch'
  | 'amount_exceeds_capturable'
  | 'amount_exceeds_refundable'
  | 'amount_exceeds_disputable'
  | 'beneficiary_missing'
  | 'quote_expired'
  | 'insufficient_funds'
  | 'amount_too_small'
  | 'amount_too_large'
  | 'clock_advancing'
  | 'clock_moves_back'
  | 'clock_too_far'
  | 'webhook_url_not_allowed'
  | 'webhook_not_found'
  | 'webhook_limit_reached'
  | 'webhook_host_limit_reached'
  | 'webhook_header_not_allowed'
  | 'webhook_not_inbox'
  | 'webhook_signature_invalid'
  | 'replay_running'
  | 'fault_plans_limit'
  | 'examination_running'
  | 'rate_limited'
  | 'internal_error'
  | 'service_unavailable';

export type Scope =
  | 'payments:read'
  | 'payments:write'
  | 'customers:read'
  | 'customers:write'
  | 'transfers:read'
  | 'transfers:write'
  | 'webhooks:read'
  | 'webhooks:write';

export type EventType =
  | 'webhook.disabled'
  | 'webhook.tested'
  | 'webhook.deleted'
  | 'customer.created'
  | 'customer.updated'
  | 'customer.archived'
  | 'payment.created'
  | 'payment.requires_action'
  | 'payment.processing'
  | 'payment.authorized'
  | 'payment.captured'
  | 'payment.partially_captured'
  | 'payment.settled'
  | 'payment.failed'
  | 'payment.pending'
  | 'payment.canceled'
  | 'payment.expired'
  | 'payment.partially_refunded'
  | 'payment.refunded'
  | 'payment.disputed'
  | 'payment.updated'
  | 'payment.charged_back'
  | 'refund.created'
  | 'refund.succeeded'
  | 'refund.failed'
  | 'refund.canceled'
  | 'dispute.created'
  | 'dispute.under_review'
  | 'dispute.lost'
  | 'dispute.won'
  | 'dispute.needs_response'
  | 'transfer.quoted'
  | 'transfer.accepted'
  | 'transfer.funded'
  | 'transfer.in_review'
  | 'transfer.failed'
  | 'transfer.converted'
  | 'transfer.sent'
  | 'transfer.completed'
  | 'transfer.returned'
  | 'transfer.refunded'
  | 'transfer.canceled'
  | 'transfer.expired';

export type EventFilter =
  | '*'
  | 'webhook.*'
  | 'customer.*'
  | 'payment.*'
  | 'refund.*'
  | 'dispute.*'
  | 'transfer.*'
  | 'webhook.disabled'
  | 'webhook.tested'
  | 'webhook.deleted'
  | 'customer.created'
  | 'customer.updated'
  | 'customer.archived'
  | 'payment.created'
  | 'payment.requires_action'
  | 'payment.processing'
  | 'payment.authorized'
  | 'payment.captured'
  | 'payment.partially_captured'
  | 'payment.settled'
  | 'payment.failed'
  | 'payment.pending'
  | 'payment.canceled'
  | 'payment.expired'
  | 'payment.partially_refunded'
  | 'payment.refunded'
  | 'payment.disputed'
  | 'payment.updated'
  | 'payment.charged_back'
  | 'refund.created'
  | 'refund.succeeded'
  | 'refund.failed'
  | 'refund.canceled'
  | 'dispute.created'
  | 'dispute.under_review'
  | 'dispute.lost'
  | 'dispute.won'
  | 'dispute.needs_response'
  | 'transfer.quoted'
  | 'transfer.accepted'
  | 'transfer.funded'
  | 'transfer.in_review'
  | 'transfer.failed'
  | 'transfer.converted'
  | 'transfer.sent'
  | 'transfer.completed'
  | 'transfer.returned'
  | 'transfer.refunded'
  | 'transfer.canceled'
  | 'transfer.expired';

export type PaymentScenario =
  | 'approve'
  | 'require_action'
  | 'async'
  | 'capture_fails'
  | 'refund_fails'
  | 'refund_pending'
  | 'dispute'
  | 'settle_short'
  | 'settle_missing'
  | 'settle_duplicate'
  | 'settle_unknown'
  | 'decline:insufficient_funds'
  | 'decline:generic_decline'
  | 'decline:do_not_honor'
  | 'decline:expired_card'
  | 'decline:incorrect_cvc'
  | 'decline:incorrect_number'
  | 'decline:incorrect_pin'
  | 'decline:invalid_account'
  | 'decline:account_closed'
  | 'decline:lost_card'
  | 'decline:stolen_card'
  | 'decline:pickup_card'
  | 'decline:restricted_card'
  | 'decline:fraudulent'
  | 'decline:card_not_supported'
  | 'decline:currency_not_supported'
  | 'decline:card_velocity_exceeded'
  | 'decline:withdrawal_limit_exceeded'
  | 'decline:authentication_failed'
  | 'decline:issuer_not_available'
  | 'decline:processing_error'
  | 'decline:try_again_later'
  | 'decline:transaction_not_allowed'
  | 'decline:mandate_revoked';

export type DeclineCode =
  | 'insufficient_funds'
  | 'generic_decline'
  | 'do_not_honor'
  | 'expired_card'
  | 'incorrect_cvc'
  | 'incorrect_number'
  | 'incorrect_pin'
  | 'invalid_account'
  | 'account_closed'
  | 'lost_card'
  | 'stolen_card'
  | 'pickup_card'
  | 'restricted_card'
  | 'fraudulent'
  | 'card_not_supported'
  | 'currency_not_supported'
  | 'card_velocity_exceeded'
  | 'withdrawal_limit_exceeded'
  | 'authentication_failed'
  | 'issuer_not_available'
  | 'processing_error'
  | 'try_again_later'
  | 'transaction_not_allowed'
  | 'mandate_revoked';

export type TransferFailureCode =
  | 'compliance_rejected'
  | 'payout_rejected'
  | 'funding_failed'
  | 'insufficient_funds'
  | 'provider_error';

export type TransferReturnCode =
  | 'account_closed'
  | 'account_not_found'
  | 'account_blocked'
  | 'name_mismatch'
  | 'beneficiary_deceased'
  | 'rejected_by_bank'
  | 'no_answer';

export type TestCardNumber =
  | '4242424242424242'
  | '5555555555554444'
  | '378282246310005'
  | '4000002500003155'
  | '4000000000000002'
  | '4000000000009995'
  | '4000000000009987'
  | '4000000000009979'
  | '4000000000000069'
  | '4000000000000127'
  | '4000000000000119'
  | '4242424242424241'
  | '4000000000006975'
  | '4100000000000019'
  | '4000000000000341'
  | '4000000000005126'
  | '4000000000007726'
  | '4000000000000259';

export type PaymentAction =
  | 'require_action'
  | 'process'
  | 'authorize'
  | 'capture'
  | 'settle'
  | 'fail'
  | 'retry'
  | 'cancel'
  | 'expire'
  | 'refund'
  | 'dispute';

export type RefundAction = 'succeed' | 'fail' | 'cancel';

export type DisputeAction = 'submit_evidence' | 'accept' | 'expire' | 'win' | 'lose' | 'escalate';

export type TransferAction =
  | 'requote'
  | 'accept'
  | 'fund'
  | 'review'
  | 'release'
  | 'reject'
  | 'convert'
  | 'send'
  | 'complete'
  | 'return'
  | 'resend'
  | 'refund'
  | 'cancel'
  | 'expire'
  | 'fail';

export type CustomerAction = 'update' | 'archive';

export type WebhookAction = 'update' | 'rotate_secret' | 'disable' | 'enable' | 'test' | 'delete';

export type PaymentStatus =
  | 'pending'
  | 'requires_action'
  | 'processing'
  | 'authorized'
  | 'partially_captured'
  | 'captured'
  | 'settled'
  | 'partially_refunded'
  | 'refunded'
  | 'disputed'
  | 'charged_back'
  | 'failed'
  | 'canceled'
  | 'expired';

export type ProviderEventStatus = 'applied' | 'ignored' | 'duplicate';

export type RefundStatus = 'pending' | 'succeeded' | 'failed' | 'canceled';

export type DisputeStatus = 'needs_response' | 'under_review' | 'won' | 'lost';

export type TransferStatus =
  | 'quoted'
  | 'accepted'
  | 'funded'
  | 'in_review'
  | 'converted'
  | 'sent'
  | 'completed'
  | 'returned'
  | 'refunded'
  | 'canceled'
  | 'expired'
  | 'failed';

export type SettlementStatus = 'open' | 'closed';

export type ReconciliationLineStatus = 'matched' | 'amount_mismatch' | 'missing_at_provider' | 'missing_in_ledger' | 'duplicate';

export type CustomerStatus = 'active' | 'archived';

export type ClockStatus = 'running' | 'frozen';

export type WebhookStatus = 'enabled' | 'disabled' | 'deleted';

export type ExaminationStatus = 'passed' | 'failed';

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed';

export type ReplayStatus = 'running' | 'completed';

export type AuditEntryStatus = 'accepted' | 'refused';

export type AuditVerificationStatus = 'intact' | 'broken';

export type FaultPlanStatus = 'active' | 'exhausted' | 'canceled';

export interface ErrorAnswer {
  object: 'error';
  sandbox: true;
  requestId: string;
  status: 'error';
  error: {
    code: ErrorCode;
    message: string;
    /** A JSON pointer into the body, or the name of a parameter or header. */
    param?: string;
    /** More about the error. `errors` lists every invalid value of a body, each with `param` and `message`, the first one included. */
    details?: Record<string, unknown>;
    allowedActions?: string[];
    retryable: boolean;
    docUrl: string;
  };
}

export interface ApiStatus {
  object: 'api_status';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  apiVersion: string;
  organization: {
    id: string;
    name: string;
  };
  application: {
    id: string;
    name: string;
  };
  apiKey: {
    id: string;
    name: string;
    scopes: Scope[];
    /** Whether the key may reset the organization. */
    mayReset: boolean;
  };
  clock: {
    status: ClockStatus;
    /** RFC 3339, UTC, with milliseconds. */
    now: string;
    offsetSeconds: number;
  };
  capabilities: Record<string, {
    enabled: boolean;
    reason: string | null;
  }>;
}

export interface Capabilities {
  object: 'capabilities';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  apiVersion: string;
  apiVersions: string[];
  scopes: Scope[];
  /** By operation, the scopes that it needs, for the operations that need more than one. */
  operationScopes: Record<string, Scope[]>;
  resources: {
    name: string;
    states: string[];
    actions: {
      action: string;
      from: string[];
      to: string[];
    }[];
    /** By action, the body fields of the request that accepts it. */
    actionFields: Record<string, string[]>;
    /** By state, the body fields that an advance with `to` accepts. */
    targetFields: Record<string, string[]>;
    /** By action, the field of the record with the maximum `amount`. */
    amountMaximums: Record<string, 'amountCapturable' | 'amountRefundable'>;
  }[];
  eventTypes: string[];
  events: {
    type: string;
    resource: string;
    /** When the event is sent. */
    description: string;
    example: {
      object: 'event';
      /** Stays the same at every attempt and replay. */
      id: string;
      sandbox: true;
      /** The request that caused the event. */
      requestId: string;
      status: 'ok';
      type: EventType;
      apiVersion: string;
      /** When it happened, by the application clock. */
      timestamp: string;
      /** The `version` of the record: of two of its events, the one with the higher number is the later. */
      sequence: number;
      data: Record<string, unknown>;
    };
  }[];
  /** By resource, the JSON Schema of the `data` in its events. */
  eventSchemas: Record<string, unknown>;
  /** The cases of a webhook receiver examination. */
  examinationCases: {
    name:
      | 'valid_signature'
      | 'missing_signature'
      | 'wrong_signature'
      | 'other_secret'
      | 'tampered_body'
      | 'partial_signature'
      | 'other_algorithm'
      | 'no_leaks'
      | 'malformed_signature'
      | 'unknown_version'
      | 'missing_id'
      | 'missing_timestamp'
      | 'stale_timestamp'
      | 'future_timestamp'
      | 'raw_body'
      | 'rotated_secret'
      | 'duplicate'
      | 'disorder'
      | 'unknown_type'
      | 'extra_fields'
      | 'split_body'
      | 'quick_answer'
      | 'burst'
      | 'large_payload'
      | 'get_request';
    title: string;
    severity: 'critical' | 'major' | 'minor';
  }[];
  scenarios: PaymentScenario[];
  declineCodes: {
    code: DeclineCode;
    retryable: boolean;
    message: string;
  }[];
  /** The known scenarios; `return:` and `fail:` also accept any other code. */
  transferScenarios: string[];
  /** By resource and scenario, what the simulated provider does; in Markdown. */
  scenarioDescriptions: {
    payment: Record<string, string>;
    transfer: Record<string, string>;
  };
  returnCodes: {
    code: TransferReturnCode;
    message: string;
  }[];
  transferFailureCodes: {
    code: TransferFailureCode;
    message: string;
  }[];
  /** Currencies that transfers support. */
  fxCurrencies: string[];
  currencies: {
    code: string;
    exponent: number;
    name: string;
  }[];
  /** The reasons of ledger entries, in the order of a record’s life. */
  ledgerReasons: string[];
  /** How often and when failed webhook deliveries are retried. */
  retryProfiles: {
    name: 'standard' | 'fast' | 'none';
    /** The wait before each attempt, in seconds of the application clock. */
    delaysSeconds: number[];
  }[];
  /** What the `error` of a delivery attempt begins with, and what to check then. The first match applies. */
  attemptErrors: {
    prefix: string;
    advice: string;
  }[];
  limits: Record<string, number>;
}

export interface StateMachines {
  object: 'state_machines';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  machines: {
    resource: string;
    states: string[];
    finalStates: string[];
    goal: string | null;
    /** The states that are off the path to the goal, such as `failed`. */
    setbacks: string[];
    events: string[];
    moves: {
      action: string;
      /** Empty for the move that creates the record. */
      from: string[];
      to: string[];
      /** The record stays in its state. */
      stays: boolean;
      /** One for each target state, or one for all of them; empty for a move without an event. */
      events: string[];
      condition: string | null;
      broughtBy: string | null;
    }[];
  }[];
}

export interface PaymentList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Payment[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Payment {
  object: 'payment';
  sandbox: true;
  requestId?: string;
  status: PaymentStatus;
  id: string;
  amount: number;
  currency: string;
  amountCapturable: number;
  amountCaptured: number;
  amountRefunded: number;
  amountRefundable: number;
  amountDisputed: number;
  feeAmount: number;
  captureMethod: 'automatic' | 'manual';
  paymentMethod: {
    type: 'card' | 'bank_debit' | 'bank_transfer' | 'wallet';
    lastFour?: string;
  };
  customerId: string | null;
  description: string | null;
  reference: string | null;
  metadata: Metadata;
  /** What the simulated provider will do: one name, or a list for successive attempts. */
  scenario: PaymentScenario | PaymentScenario[];
  autoAdvance: boolean;
  failure: PaymentFailure | null;
  attempts: {
    number: number;
    scenario: PaymentScenario;
    failure: PaymentFailure | null;
    failedAt: string | null;
  }[];
  disputeId: string | null;
  allowedActions: PaymentAction[];
  reconciliation: ReconciliationLineStatus | null;
  version: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  authorizedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  authorizationExpiresAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  capturedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  settledAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  refundedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  disputedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  chargedBackAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  failedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  canceledAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  expiredAt?: string;
  /** With `?expand=ledgerEntries`: the ledger entries that the request posted. */
  ledgerEntries?: LedgerEntry[];
}

export type Metadata = Record<string, string>;

export interface PaymentFailure {
  code: DeclineCode;
  message: string;
  /** Whether the decline was soft, so that another attempt may succeed. */
  retryable: boolean;
}

export interface LedgerEntry {
  object: 'ledger_entry';
  sandbox: true;
  requestId?: string;
  status: 'posted';
  id: string;
  /** The reason for the entry, such as `capture`. */
  reason: string;
  paymentId?: string;
  transferId?: string;
  /** They sum to zero in each currency. */
  postings: {
    account: string;
    currency: string;
    /** Minor units; debits are positive, credits negative. */
    amount: number;
  }[];
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
}

export interface PaymentCreate {
  /** Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY. */
  amount: number;
  /** Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case. */
  currency: string;
  customerId?: string | undefined;
  /** Default: `automatic`. */
  captureMethod?: 'automatic' | 'manual' | undefined;
  paymentMethod?: {
    type: 'card' | 'bank_debit' | 'bank_transfer' | 'wallet';
    /** A test card, which selects a scenario. No other number is accepted; only the last four digits are stored. */
    number?: TestCardNumber | undefined;
  } | undefined;
  description?: string | undefined;
  reference?: string | undefined;
  metadata?: Metadata | undefined;
  /** What the simulated provider will do: one name, or a list for successive attempts. */
  scenario?: PaymentScenario | readonly PaymentScenario[] | undefined;
  /** Default: `false`. */
  autoAdvance?: boolean | undefined;
}

export interface PaymentUpdate {
  description?: string | null | undefined;
  metadata?: Metadata | undefined;
}

export type PaymentAdvance =
  | PaymentAdvanceAction
  | PaymentAdvanceCapture
  | PaymentAdvanceFail
  | PaymentAdvanceRefund
  | PaymentAdvanceDispute
  | PaymentAdvanceToAmount
  | PaymentAdvanceToFailed
  | PaymentAdvanceToState
  | AdvanceNext;

export interface PaymentAdvanceAction {
  action: 'require_action' | 'process' | 'authorize' | 'settle' | 'retry' | 'cancel' | 'expire';
}

export interface PaymentAdvanceCapture {
  action: 'capture';
  /** Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY. */
  amount?: number | undefined;
  /** Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case. */
  currency?: string | undefined;
  /** Default: `false`. */
  final?: boolean | undefined;
}

export interface PaymentAdvanceFail {
  action: 'fail';
  failureCode?: DeclineCode | undefined;
}

export interface PaymentAdvanceRefund {
  action: 'refund';
  /** Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY. */
  amount?: number | undefined;
  /** Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case. */
  currency?: string | undefined;
  reason?: string | undefined;
  metadata?: Metadata | undefined;
}

export interface PaymentAdvanceDispute {
  action: 'dispute';
  /** Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY. */
  amount?: number | undefined;
  /** Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case. */
  currency?: string | undefined;
  reason?: string | undefined;
}

export interface PaymentAdvanceToAmount {
  to: 'partially_captured' | 'partially_refunded' | 'disputed';
  /** Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY. */
  amount?: number | undefined;
  /** Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case. */
  currency?: string | undefined;
}

export interface PaymentAdvanceToFailed {
  to: 'failed';
  failureCode?: DeclineCode | undefined;
}

export interface PaymentAdvanceToState {
  to: PaymentStatus;
}

export type AdvanceNext = Record<string, never>;

export interface PaymentStateChange {
  object: 'state_change';
  sandbox: true;
  requestId?: string;
  status: PaymentStatus;
  /** The record and its version after the move. */
  id: string;
  version: number;
  action: string;
  from: PaymentStatus | null;
  to: PaymentStatus;
  actor: {
    kind: string;
    id: string;
  };
  event: StateChangeEvent | null;
  ledgerEntries: LedgerEntry[];
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
}

export interface PaymentHistory {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: PaymentStateChange[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface StateChangeEvent {
  id: string;
  type: string;
}

export interface TransferStateChange {
  object: 'state_change';
  sandbox: true;
  requestId?: string;
  status: TransferStatus;
  /** The record and its version after the move. */
  id: string;
  version: number;
  action: string;
  from: TransferStatus | null;
  to: TransferStatus;
  actor: {
    kind: string;
    id: string;
  };
  event: StateChangeEvent | null;
  ledgerEntries: LedgerEntry[];
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
}

export interface TransferHistory {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: TransferStateChange[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface ProviderEvent {
  object: 'provider_event';
  sandbox: true;
  requestId?: string;
  status: ProviderEventStatus;
  id: string;
  paymentId?: string;
  transferId?: string;
  provider: string;
  providerTransactionId: string;
  providerEventId: string;
  /** The event type as the provider names it. */
  type: string;
  /** Applied; ignored because the record had already changed; or a duplicate of an earlier event. */
  outcome: ProviderEventStatus;
  /** The move that the event belongs to. */
  action: string;
  /** As the provider sent it. */
  payload: unknown;
  /** RFC 3339, UTC, with milliseconds. */
  receivedAt: string;
}

export interface ProviderEventList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: ProviderEvent[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface PaymentRefund {
  /** Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY. */
  amount?: number | undefined;
  /** Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case. */
  currency?: string | undefined;
  reason?: string | undefined;
  metadata?: Metadata | undefined;
}

export interface Refund {
  object: 'refund';
  sandbox: true;
  requestId?: string;
  status: RefundStatus;
  id: string;
  paymentId: string;
  amount: number;
  currency: string;
  reason: string | null;
  metadata: Metadata;
  allowedActions: RefundAction[];
  version: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  endedAt: string | null;
  /** With `?expand=ledgerEntries`: the ledger entries that the request posted. */
  ledgerEntries?: LedgerEntry[];
}

export interface RefundList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Refund[];
  hasMore: boolean;
  nextCursor: string | null;
}

export type RefundAdvance = RefundAdvanceAction | RefundAdvanceToState | AdvanceNext;

export interface RefundAdvanceAction {
  action: RefundAction;
}

export interface RefundAdvanceToState {
  to: RefundStatus;
}

export interface DisputeList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Dispute[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Dispute {
  object: 'dispute';
  sandbox: true;
  requestId?: string;
  status: DisputeStatus;
  id: string;
  paymentId: string;
  amount: number;
  currency: string;
  reason: string;
  stage: 'chargeback' | 'pre_arbitration' | 'arbitration';
  evidence: DisputeEvidence | null;
  /** RFC 3339, UTC, with milliseconds. */
  respondBy: string;
  allowedActions: DisputeAction[];
  version: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  closedAt: string | null;
  /** With `?expand=ledgerEntries`: the ledger entries that the request posted. */
  ledgerEntries?: LedgerEntry[];
}

export type DisputeEvidence = Record<string, string>;

export type DisputeAdvance = DisputeAdvanceSubmitEvidence | DisputeAdvanceAction | DisputeAdvanceToState | AdvanceNext;

export interface DisputeAdvanceSubmitEvidence {
  action: 'submit_evidence';
  evidence?: DisputeEvidence | undefined;
}

export interface DisputeAdvanceAction {
  action: 'accept' | 'expire' | 'win' | 'lose' | 'escalate';
}

export interface DisputeAdvanceToState {
  to: DisputeStatus;
}

export interface TransferList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Transfer[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Transfer {
  object: 'transfer';
  sandbox: true;
  requestId?: string;
  status: TransferStatus;
  id: string;
  sourceCurrency: string;
  targetCurrency: string;
  sourceAmount: number;
  targetAmount: number;
  feeAmount: number;
  totalAmount: number;
  /** Decimal number as text, such as 1.0825. */
  rate: string;
  /** Decimal number as text, such as 1.0825. */
  inverseRate: string;
  /** Decimal number as text, such as 1.0825. */
  midMarketRate: string;
  marginBasisPoints: number;
  fundFrom: 'external' | 'balance';
  customerId: string | null;
  beneficiary: Beneficiary | null;
  reference: string | null;
  metadata: Metadata;
  /** What the simulated provider will do: one name, or a list with one entry for each time the transfer is sent. */
  scenario: string | string[];
  autoAdvance: boolean;
  failure: TransferFailure | null;
  returnCode: TransferReturnCode | (string & {}) | null;
  /** RFC 3339, UTC, with milliseconds. */
  expiresAt: string;
  allowedActions: TransferAction[];
  reconciliation: ReconciliationLineStatus | null;
  version: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  acceptedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  fundingExpiresAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  fundedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  reviewedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  convertedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  sentAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  completedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  returnedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  refundedAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  canceledAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  expiredAt?: string;
  /** RFC 3339, UTC, with milliseconds. */
  failedAt?: string;
  /** With `?expand=ledgerEntries`: the ledger entries that the request posted. */
  ledgerEntries?: LedgerEntry[];
}

export interface Beneficiary {
  name: string;
  country?: string;
  account?: string;
}

export interface TransferFailure {
  code: TransferFailureCode | (string & {});
  message: string;
  retryable: false;
}

export type TransferCreate = {
  /** Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case. */
  sourceCurrency: string;
  /** Three-letter ISO 4217 code, such as EUR. Lower case is accepted; responses have upper case. */
  targetCurrency: string;
  customerId?: string | undefined;
  beneficiary?: BeneficiaryInput | undefined;
  /** Default: `external`. */
  fundFrom?: 'external' | 'balance' | undefined;
  reference?: string | undefined;
  metadata?: Metadata | undefined;
  /** What the simulated provider will do: one name, or a list with one entry for each time the transfer is sent. */
  scenario?: string | readonly string[] | undefined;
  /** Default: `false`. */
  autoAdvance?: boolean | undefined;
} & ({
  /** Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY. */
  sourceAmount: number;
  targetAmount?: undefined;
} | {
  sourceAmount?: undefined;
  /** Integer minor units of the currency: 1250 is 12.50 EUR, and 1250 JPY. */
  targetAmount: number;
});

export interface BeneficiaryInput {
  name: string;
  /** Two-letter ISO 3166 code, such as DE. */
  country?: string | undefined;
  account?: string | undefined;
}

export type TransferAdvance =
  | TransferAdvanceAccept
  | TransferAdvanceReturn
  | TransferAdvanceFail
  | TransferAdvanceAction
  | TransferAdvanceToReturned
  | TransferAdvanceToFailed
  | TransferAdvanceToState
  | AdvanceNext;

export interface TransferAdvanceAccept {
  action: 'accept';
  beneficiary?: BeneficiaryInput | undefined;
}

export interface TransferAdvanceReturn {
  action: 'return';
  /** One to 40 letters, digits and underscores. */
  returnCode?: string | undefined;
}

export interface TransferAdvanceFail {
  action: 'fail';
  /** One to 40 letters, digits and underscores. */
  failureCode?: string | undefined;
}

export interface TransferAdvanceAction {
  action:
    | 'requote'
    | 'fund'
    | 'review'
    | 'release'
    | 'reject'
    | 'convert'
    | 'send'
    | 'complete'
    | 'resend'
    | 'refund'
    | 'cancel'
    | 'expire';
}

export interface TransferAdvanceToReturned {
  to: 'returned' | 'refunded';
  beneficiary?: BeneficiaryInput | undefined;
  /** One to 40 letters, digits and underscores. */
  returnCode?: string | undefined;
}

export interface TransferAdvanceToFailed {
  to: 'failed';
  beneficiary?: BeneficiaryInput | undefined;
  /** One to 40 letters, digits and underscores. */
  failureCode?: string | undefined;
}

export interface TransferAdvanceToState {
  to: TransferStatus;
  beneficiary?: BeneficiaryInput | undefined;
}

export interface FxRate {
  object: 'fx_rate';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** The pair, e.g. `EUR/USD`. */
  id: string;
  sourceCurrency: string;
  targetCurrency: string;
  /** Decimal number as text, such as 1.0825. */
  rate: string;
  /** Decimal number as text, such as 1.0825. */
  inverseRate: string;
  /** Decimal number as text, such as 1.0825. */
  midMarketRate: string;
  marginBasisPoints: number;
  /** Whether the application has set the mid-market rate itself. */
  isOverridden: boolean;
}

export interface FxRateList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: FxRate[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Balances {
  object: 'balances';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  accounts: {
    account:
      | 'provider_holds'
      | 'hold_obligations'
      | 'provider_receivable'
      | 'bank'
      | 'merchant_pending'
      | 'merchant_available'
      | 'fees'
      | 'refunds_in_transit'
      | 'dispute_reserve'
      | 'transfer_funding'
      | 'fx_position'
      | 'payout_clearing'
      | 'payouts_in_transit';
    currency: string;
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    balance: number | string;
  }[];
  /** The sum of all accounts in a currency: always zero. */
  trialBalance: {
    currency: string;
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    amount: number | string;
  }[];
}

export interface LedgerEntryList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: LedgerEntry[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Settlement {
  object: 'settlement';
  sandbox: true;
  requestId?: string;
  status: SettlementStatus;
  /** A day in UTC: 2026-11-15. */
  id: string;
  /** A day in UTC: 2026-11-15. */
  date: string;
  /** The number of lines in the report. */
  lines: number;
  totals: {
    currency: string;
    lines: number;
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    gross: number | string;
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    fee: number | string;
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    net: number | string;
  }[];
}

export interface SettlementList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Settlement[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface SettlementLine {
  object: 'settlement_line';
  sandbox: true;
  requestId?: string;
  status: 'reported';
  id: string;
  /** A day in UTC: 2026-11-15. */
  date: string;
  provider: string;
  providerTransactionId: string;
  currency: string;
  /** The amount paid out; negative for a payout to a beneficiary. */
  gross: number;
  fee: number;
  /** Gross less fee. */
  net: number;
  /** RFC 3339, UTC, with milliseconds. */
  settledAt: string;
}

export interface SettlementReport {
  object: 'settlement';
  sandbox: true;
  requestId?: string;
  status: SettlementStatus;
  /** A day in UTC: 2026-11-15. */
  id: string;
  /** A day in UTC: 2026-11-15. */
  date: string;
  /** The number of lines in the report. */
  lines: number;
  totals: {
    currency: string;
    lines: number;
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    gross: number | string;
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    fee: number | string;
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    net: number | string;
  }[];
  data: SettlementLine[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface ReconciliationLine {
  object: 'reconciliation_line';
  sandbox: true;
  requestId?: string;
  status: ReconciliationLineStatus;
  id: string;
  /** A day in UTC: 2026-11-15. */
  date: string;
  result: ReconciliationLineStatus;
  provider: string;
  providerTransactionId: string;
  paymentId: string | null;
  transferId: string | null;
  currency: string;
  ledger: ReconciliationAmounts | null;
  reported: ReconciliationAmounts | null;
  /** The reported net amount minus the net amount in the ledger. */
  difference: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
}

export interface Reconciliation {
  object: 'reconciliation';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  data: ReconciliationLine[];
  hasMore: boolean;
  nextCursor: string | null;
  /** The number of lines by result, over all pages. */
  counts: {
    matched: number;
    amount_mismatch: number;
    missing_at_provider: number;
    missing_in_ledger: number;
    duplicate: number;
  };
  /** Sums over all pages, by currency. */
  totals: {
    currency: string;
    lines: number;
    ledger: {
      /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
      gross: number | string;
      /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
      fee: number | string;
      /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
      net: number | string;
    };
    reported: {
      /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
      gross: number | string;
      /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
      fee: number | string;
      /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
      net: number | string;
    };
    /** Signed minor units. A sum beyond 2^53 is a string, because a JSON number cannot represent it exactly. */
    difference: number | string;
  }[];
}

export interface ReconciliationAmounts {
  gross: number;
  fee: number;
  net: number;
}

export type CustomerCreate = {
  /** Phone number: digits, spaces and ( ) . / -, with + or a digit first. */
  phone?: string | undefined;
  reference?: string | undefined;
  metadata?: Metadata | undefined;
} & ({
  name: string;
  /** Email address: one @ with text before and after it, without spaces. */
  email?: string | undefined;
} | {
  name?: string | undefined;
  /** Email address: one @ with text before and after it, without spaces. */
  email: string;
});

export interface Customer {
  object: 'customer';
  sandbox: true;
  requestId?: string;
  status: CustomerStatus;
  id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  reference: string | null;
  metadata: Metadata;
  allowedActions: CustomerAction[];
  version: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface CustomerList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Customer[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface CustomerUpdate {
  name?: string | null | undefined;
  email?: string | null | undefined;
  phone?: string | null | undefined;
  reference?: string | null | undefined;
  metadata?: Metadata | undefined;
}

export interface Clock {
  object: 'clock';
  sandbox: true;
  requestId?: string;
  status: ClockStatus;
  /** RFC 3339, UTC, with milliseconds. */
  now: string;
  /** How far the clock is ahead of real time, in whole seconds. */
  offsetSeconds: number;
}

export type ClockAdvance = {
  /** How far to move the clock forward. */
  seconds: number;
  to?: undefined;
} | {
  seconds?: undefined;
  /** The time to move the clock to, in RFC 3339 format. */
  to: string | Date;
};

export interface ClockAdvanced {
  object: 'clock';
  sandbox: true;
  requestId?: string;
  status: ClockStatus;
  /** RFC 3339, UTC, with milliseconds. */
  now: string;
  /** How far the clock is ahead of real time, in whole seconds. */
  offsetSeconds: number;
  /** Whether everything that was due has been processed. One call takes at most 10000 steps and 30 seconds. */
  complete: boolean;
  /** If the advance is not complete: the remaining work and the requested time. Advance again. */
  left?: {
    timers: number;
    deliveries: number;
    /** The deliveries among them that were due before `now`; they are sent late. */
    passedOver: number;
    /** RFC 3339, UTC, with milliseconds. */
    nextAt: string;
    /** RFC 3339, UTC, with milliseconds. */
    to: string;
  };
  next?: ClockNextStep | null;
  /** The effects of the advance, in order. */
  happened: {
    /** RFC 3339, UTC, with milliseconds. */
    at: string;
    /** The kind of record that moved, or `delivery` for an attempt. */
    type: string;
    id: string;
    action: string;
    from?: string;
    to?: string;
    /** The type of the emitted event. */
    event?: string;
  }[];
}

export interface ClockNextStep {
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  /** The kind of record, or `delivery` for an attempt. */
  type: string;
  /** The record; absent for a delivery. */
  id?: string;
}

export interface WebhookCreate {
  url: string;
  description?: string | null | undefined;
  /** `*`, all of one kind such as `payment.*`, or single types. */
  eventTypes?: readonly EventFilter[] | undefined;
  retryProfile?: 'standard' | 'fast' | 'none' | undefined;
  /** The maximum number of concurrent requests to the endpoint. With 1, first attempts are sent in order. */
  maxConcurrency?: number | undefined;
  headers?: WebhookHeaders | undefined;
  /** Your own secret: `whsec_` and 24 to 64 bytes in Base64. If omitted, Sandbank generates one. */
  secret?: string | undefined;
}

export type WebhookHeaders = Record<string, string>;

export interface WebhookWithSecret {
  object: 'webhook';
  sandbox: true;
  requestId?: string;
  status: WebhookStatus;
  id: string;
  applicationId: string;
  url: string;
  description: string | null;
  eventTypes: EventFilter[];
  retryProfile: 'standard' | 'fast' | 'none';
  maxConcurrency: number;
  /** The last four characters of the current secret. */
  secretHint: string;
  previousSecretExpiresAt: string | null;
  /** The names of the custom headers. Their values are never shown. */
  headerNames: string[];
  disabledReason: 'requested' | 'gone' | 'failing' | null;
  /** The behavior of an inbox; null for other endpoints. */
  inbox: InboxRespond | InboxTimeout | null;
  allowedActions: WebhookAction[];
  version: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  /** Shown once. A replay within 30 minutes by the same API key, or by the key that replaced it, shows it again; any other replay omits it. */
  secret?: string;
}

export interface InboxRespond {
  type: 'respond';
  /** The HTTP status of the response. */
  responseStatus:
    | 200
    | 201
    | 202
    | 301
    | 400
    | 401
    | 403
    | 404
    | 408
    | 409
    | 410
    | 422
    | 429
    | 500
    | 502
    | 503
    | 504;
  /** How long the inbox waits before it responds. */
  delayMs: number;
}

export interface InboxTimeout {
  type: 'timeout';
}

export interface WebhookInbox {
  /** `*`, all of one kind such as `payment.*`, or single types. */
  eventTypes?: readonly EventFilter[] | undefined;
  retryProfile?: 'standard' | 'fast' | 'none' | undefined;
  /** How the inbox responds to deliveries. */
  inbox?: InboxRespondInput | InboxTimeout | undefined;
}

export interface InboxRespondInput {
  type: 'respond';
  /** The HTTP status of the response. */
  responseStatus?:
    | 200
    | 201
    | 202
    | 301
    | 400
    | 401
    | 403
    | 404
    | 408
    | 409
    | 410
    | 422
    | 429
    | 500
    | 502
    | 503
    | 504 | undefined;
  /** How long the inbox waits before it responds. */
  delayMs?: number | undefined;
}

export interface WebhookList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Webhook[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Webhook {
  object: 'webhook';
  sandbox: true;
  requestId?: string;
  status: WebhookStatus;
  id: string;
  applicationId: string;
  url: string;
  description: string | null;
  eventTypes: EventFilter[];
  retryProfile: 'standard' | 'fast' | 'none';
  maxConcurrency: number;
  /** The last four characters of the current secret. */
  secretHint: string;
  previousSecretExpiresAt: string | null;
  /** The names of the custom headers. Their values are never shown. */
  headerNames: string[];
  disabledReason: 'requested' | 'gone' | 'failing' | null;
  /** The behavior of an inbox; null for other endpoints. */
  inbox: InboxRespond | InboxTimeout | null;
  allowedActions: WebhookAction[];
  version: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface WebhookDetail {
  object: 'webhook';
  sandbox: true;
  requestId?: string;
  status: WebhookStatus;
  id: string;
  applicationId: string;
  url: string;
  description: string | null;
  eventTypes: EventFilter[];
  retryProfile: 'standard' | 'fast' | 'none';
  maxConcurrency: number;
  /** The last four characters of the current secret. */
  secretHint: string;
  previousSecretExpiresAt: string | null;
  /** The names of the custom headers. Their values are never shown. */
  headerNames: string[];
  disabledReason: 'requested' | 'gone' | 'failing' | null;
  /** The behavior of an inbox; null for other endpoints. */
  inbox: InboxRespond | InboxTimeout | null;
  allowedActions: WebhookAction[];
  version: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  health: {
    failingSince: string | null;
    lastSuccessAt: string | null;
    lastFailureAt: string | null;
    /** Counted up to 10000. */
    pendingDeliveries: number;
    /** The attempts of the newest 100 deliveries of the last 24 hours, in wall time. */
    recentAttempts: {
      succeeded: number;
      failed: number;
    };
  };
}

export interface WebhookUpdate {
  url?: string | undefined;
  description?: string | null | undefined;
  /** `*`, all of one kind such as `payment.*`, or single types. */
  eventTypes?: readonly EventFilter[] | undefined;
  retryProfile?: 'standard' | 'fast' | 'none' | undefined;
  /** The maximum number of concurrent requests to the endpoint. With 1, first attempts are sent in order. */
  maxConcurrency?: number | undefined;
  headers?: WebhookHeaders | undefined;
  /** How the inbox responds to deliveries. */
  inbox?: InboxRespondInput | InboxTimeout | undefined;
}

export interface WebhookRotateSecret {
  /** Your own secret: `whsec_` and 24 to 64 bytes in Base64. If omitted, Sandbank generates one. */
  secret?: string | undefined;
  /** How long the previous secret also signs. Default: `86400`. */
  overlapSeconds?: number | undefined;
}

export interface WebhookTest {
  /** Sends the example event of this type. Default: `webhook.tested`. */
  type?: EventType | undefined;
}

export interface DeliveryDetail {
  object: 'delivery';
  sandbox: true;
  requestId?: string;
  status: DeliveryStatus;
  id: string;
  webhookId: string;
  eventId: string;
  eventType: EventType;
  trigger: 'event' | 'replay' | 'test';
  replayId: string | null;
  attemptCount: number;
  nextAttemptAt: string | null;
  /** Whether the delivery waits because its endpoint is disabled. */
  held: boolean;
  lastResponseStatus: number | null;
  lastError: string | null;
  faultPlanId: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  url: string;
  /** The exact text that is signed and sent. */
  requestBody: string;
  attempts: {
    number: number;
    /** RFC 3339, UTC, with milliseconds. */
    at: string;
    /** Wall time, as in `webhook-timestamp`. */
    sentAt: string;
    /** The delivery status after this attempt. */
    status: DeliveryStatus;
    requestHeaders: HttpHeaders | null;
    responseStatus: number | null;
    responseHeaders: HttpHeaders | null;
    responseBody: string | null;
    durationMs: number;
    error: string | null;
    faultPlanId: string | null;
    /** Headers and bodies were cleared because of their age. */
    bodiesCleared: boolean;
  }[];
}

export type HttpHeaders = Record<string, string>;

export interface WebhookExamination {
  /** All cases by default. `valid_signature` always runs, and first. */
  cases?: readonly (
    | 'valid_signature'
    | 'missing_signature'
    | 'wrong_signature'
    | 'other_secret'
    | 'tampered_body'
    | 'partial_signature'
    | 'other_algorithm'
    | 'no_leaks'
    | 'malformed_signature'
    | 'unknown_version'
    | 'missing_id'
    | 'missing_timestamp'
    | 'stale_timestamp'
    | 'future_timestamp'
    | 'raw_body'
    | 'rotated_secret'
    | 'duplicate'
    | 'disorder'
    | 'unknown_type'
    | 'extra_fields'
    | 'split_body'
    | 'quick_answer'
    | 'burst'
    | 'large_payload'
    | 'get_request')[] | undefined;
  /** The type of the events to send. Default: `payment.created`, or the first type that the endpoint subscribes to. */
  eventType?: EventType | undefined;
}

export interface Examination {
  object: 'examination';
  sandbox: true;
  requestId?: string;
  status: ExaminationStatus;
  /** Sent with every request as `Sandbank-Examination`. */
  id: string;
  webhookId: string;
  url: string;
  /** The type of the events that were sent. */
  eventType: string;
  /** A: no findings. B: minor findings only. C: one or two major cases failed. D: three or more major cases failed. F: a critical case failed. */
  grade: 'A' | 'B' | 'C' | 'D' | 'F';
  score: number;
  /** Whether every requested case ran. */
  complete: boolean;
  message: string | null;
  /** Total duration in milliseconds. */
  durationMs: number;
  cases: {
    name:
      | 'valid_signature'
      | 'missing_signature'
      | 'wrong_signature'
      | 'other_secret'
      | 'tampered_body'
      | 'partial_signature'
      | 'other_algorithm'
      | 'no_leaks'
      | 'malformed_signature'
      | 'unknown_version'
      | 'missing_id'
      | 'missing_timestamp'
      | 'stale_timestamp'
      | 'future_timestamp'
      | 'raw_body'
      | 'rotated_secret'
      | 'duplicate'
      | 'disorder'
      | 'unknown_type'
      | 'extra_fields'
      | 'split_body'
      | 'quick_answer'
      | 'burst'
      | 'large_payload'
      | 'get_request';
    title: string;
    severity: 'critical' | 'major' | 'minor';
    /** Why it matters. */
    why: string;
    expected: string;
    /** A short summary of the responses. */
    received: string;
    outcome: 'passed' | 'warned' | 'failed';
    attempts: {
      responseStatus: number | null;
      /** Response time in milliseconds. */
      durationMs: number;
      error: string | null;
    }[];
    advice: string | null;
    example: string | null;
  }[];
}

export interface EventCreate {
  type: EventType;
  /** Sent unchanged. If absent, the example of the type is sent. */
  data?: Record<string, unknown> | undefined;
}

export interface EventFields {
  object: 'event';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  id: string;
  apiVersion: string;
  /** RFC 3339, UTC, with milliseconds. */
  timestamp: string;
  /** Increases with every event of a record. */
  sequence: number;
  applicationId: string;
  resource: string;
  resourceId: string;
  /** The request that caused the event. */
  originRequestId: string;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
}

export interface EventList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Event[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface EventReplayRequest {
  /** Only to this endpoint, regardless of its filter. If absent, to all endpoints that subscribe to the type. */
  webhookId?: string | undefined;
}

export interface EventReplay {
  object: 'replay';
  sandbox: true;
  requestId?: string;
  status: 'completed';
  eventId: string;
  matched: number;
  replayed: number;
  deliveryIds: string[];
}

export interface Delivery {
  object: 'delivery';
  sandbox: true;
  requestId?: string;
  status: DeliveryStatus;
  id: string;
  webhookId: string;
  eventId: string;
  eventType: EventType;
  trigger: 'event' | 'replay' | 'test';
  replayId: string | null;
  attemptCount: number;
  nextAttemptAt: string | null;
  /** Whether the delivery waits because its endpoint is disabled. */
  held: boolean;
  lastResponseStatus: number | null;
  lastError: string | null;
  faultPlanId: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface DeliveryList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Delivery[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface ReplayCreate {
  /** The first instant of the window, by the application clock. */
  from: string | Date;
  /** The end of the window, exclusive. */
  to: string | Date;
  /** `failed`: no delivery succeeded and none is pending; `missing`: never sent to the endpoint; `all`: every event. */
  select: 'failed' | 'missing' | 'all';
  /** Only this endpoint. Default: all endpoints of the application. */
  webhookId?: string | undefined;
  /** Only counts, without sending. Default: `false`. */
  dryRun?: boolean | undefined;
}

export interface Replay {
  object: 'replay';
  sandbox: true;
  requestId?: string;
  status: ReplayStatus;
  id: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  from: string;
  /** RFC 3339, UTC, with milliseconds. */
  to: string;
  select: 'failed' | 'missing' | 'all';
  webhookId: string | null;
  dryRun: boolean;
  /** The number of matches so far while the replay is running. */
  matched: number;
  replayed: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface ReplayList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: Replay[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface ReplayProgress {
  object: 'replay';
  sandbox: true;
  requestId?: string;
  status: ReplayStatus;
  id: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  from: string;
  /** RFC 3339, UTC, with milliseconds. */
  to: string;
  select: 'failed' | 'missing' | 'all';
  webhookId: string | null;
  dryRun: boolean;
  /** The number of matches so far while the replay is running. */
  matched: number;
  replayed: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
  deliveries: {
    pending: number;
    succeeded: number;
    failed: number;
  };
}

export interface LoggedRequestSummary {
  object: 'request';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  id: string;
  applicationId: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  method: string;
  path: string;
  query: string | null;
  /** The operation of this document. */
  route: string;
  httpStatus: number;
  durationMs: number;
  errorCode: string | null;
  actor: {
    kind: 'api_key' | 'person' | 'system';
    id: string;
    name: string | null;
  };
  ip: string | null;
  idempotencyKey: string | null;
  isReplay: boolean;
  faultPlanId: string | null;
}

export interface LoggedRequestList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: LoggedRequestSummary[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface LoggedRequest {
  object: 'request';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  id: string;
  applicationId: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  method: string;
  path: string;
  query: string | null;
  /** The operation of this document. */
  route: string;
  httpStatus: number;
  durationMs: number;
  errorCode: string | null;
  actor: {
    kind: 'api_key' | 'person' | 'system';
    id: string;
    name: string | null;
  };
  ip: string | null;
  idempotencyKey: string | null;
  isReplay: boolean;
  faultPlanId: string | null;
  requestBody: string | null;
  responseBody: string | null;
}

export interface AuditEntry {
  object: 'audit_entry';
  sandbox: true;
  /** The request that wrote the entry. */
  requestId: string;
  status: AuditEntryStatus;
  id: string;
  /** RFC 3339, UTC, with milliseconds. */
  at: string;
  actor: {
    kind: 'api_key' | 'person' | 'system';
    id: string;
    name: string | null;
  };
  applicationId: string | null;
  /** The command, such as `payments.advance`. */
  action: string;
  resource: string | null;
  resourceId: string | null;
  ip: string | null;
  outcome: AuditEntryStatus;
  code: string | null;
}

export interface AuditEntryList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: AuditEntry[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface AuditVerification {
  object: 'audit_verification';
  sandbox: true;
  requestId?: string;
  status: AuditVerificationStatus;
  seals: number;
  sealedRows: number;
  /** Rows of the last seconds that have no seal yet. */
  unsealedRows: number;
  head: string | null;
  /** Whether the whole trail was verified or only its newest part. */
  isWhole: boolean;
  problems: {
    seal: number | null;
    message: string;
  }[];
  /** RFC 3339, UTC, with milliseconds. */
  checkedAt: string;
}

export interface Coverage {
  object: 'coverage';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  summary: {
    met: number;
    total: number;
  };
  sections: {
    kind: 'state' | 'move' | 'event' | 'operation' | 'error';
    met: number;
    total: number;
    items: {
      name: string;
      /** How often the item was covered; 0 is a gap. */
      count: number;
    }[];
  }[];
}

export interface CoverageReset {
  object: 'coverage_reset';
  sandbox: true;
  requestId?: string;
  status: 'ok';
}

export interface Reset {
  object: 'reset';
  sandbox: true;
  requestId?: string;
  status: 'ok';
  /** The number of deleted rows of each kind. */
  deleted: Record<string, number>;
}

export type FaultPlanCreate = RequestFaultPlanCreate | WebhookFaultPlanCreate;

export type RequestFaultPlanCreate = {
  on: 'requests';
  fault: LatencyFault | ErrorFault | ResetConnectionFault | LoseAnswerFault;
  /** Selects the affected matches: the same seed selects the same matches. If absent, a seed is chosen. */
  seed?: number | undefined;
  /** Only these operations; if absent, all operations that faults can affect. */
  operations?: readonly (
    | 'listPayments'
    | 'createPayment'
    | 'retrievePayment'
    | 'updatePayment'
    | 'advancePayment'
    | 'listPaymentHistory'
    | 'listTransferHistory'
    | 'listPaymentProviderEvents'
    | 'listTransferProviderEvents'
    | 'refundPayment'
    | 'listRefunds'
    | 'retrieveRefund'
    | 'advanceRefund'
    | 'listDisputes'
    | 'retrieveDispute'
    | 'advanceDispute'
    | 'listTransfers'
    | 'createTransfer'
    | 'retrieveTransfer'
    | 'advanceTransfer'
    | 'listFxRates'
    | 'getBalances'
    | 'listLedgerEntries'
    | 'listPaymentLedgerEntries'
    | 'listTransferLedgerEntries'
    | 'listSettlements'
    | 'retrieveSettlement'
    | 'getReconciliation'
    | 'createCustomer'
    | 'listCustomers'
    | 'retrieveCustomer'
    | 'updateCustomer'
    | 'archiveCustomer'
    | 'createWebhook'
    | 'openWebhookInbox'
    | 'listWebhooks'
    | 'retrieveWebhook'
    | 'updateWebhook'
    | 'rotateWebhookSecret'
    | 'disableWebhook'
    | 'enableWebhook'
    | 'deleteWebhook'
    | 'testWebhook'
    | 'examineWebhook'
    | 'createWebhookEvent'
    | 'listWebhookEvents'
    | 'streamWebhookEvents'
    | 'retrieveWebhookEvent'
    | 'replayWebhookEvent'
    | 'listWebhookDeliveries'
    | 'retrieveWebhookDelivery'
    | 'replayWebhookDeliveries'
    | 'listWebhookReplays'
    | 'retrieveWebhookReplay')[] | undefined;
  /** HEAD counts as GET. */
  methods?: readonly ('GET' | 'POST')[] | undefined;
} & ({
  /** How many matches are affected before the plan ends. */
  count: number;
  /** Percentage of matches that are affected. */
  share?: number | undefined;
} | {
  /** How many matches are affected before the plan ends. */
  count?: number | undefined;
  /** Percentage of matches that are affected. */
  share: number;
});

export interface LatencyFault {
  type: 'latency';
  delayMs: number;
}

export interface ErrorFault {
  type: 'error';
  code: 'rate_limited' | 'internal_error' | 'service_unavailable';
  /** Value of the Retry-After header. If absent: 1 second, and no header with `internal_error`. */
  retryAfterSeconds?: number | undefined;
}

export interface ResetConnectionFault {
  type: 'reset_connection';
}

export interface LoseAnswerFault {
  type: 'lose_answer';
}

export type WebhookFaultPlanCreate = {
  on: 'webhooks';
  fault: DuplicateFault | ReorderFault | DelayFault | DropFault;
  /** Selects the affected matches: the same seed selects the same matches. If absent, a seed is chosen. */
  seed?: number | undefined;
  /** `*`, all events of a resource such as `payment.*`, or single types. If absent, all. */
  eventTypes?: readonly EventFilter[] | undefined;
} & ({
  /** How many matches are affected before the plan ends. */
  count: number;
  /** Percentage of matches that are affected. */
  share?: number | undefined;
} | {
  /** How many matches are affected before the plan ends. */
  count?: number | undefined;
  /** Percentage of matches that are affected. */
  share: number;
});

export interface DuplicateFault {
  type: 'duplicate';
  /** Default: `1`. */
  copies?: number | undefined;
}

export interface ReorderFault {
  type: 'reorder';
}

export interface DelayFault {
  type: 'delay';
  seconds: number;
}

export interface DropFault {
  type: 'drop';
}

export interface FaultPlan {
  object: 'fault_plan';
  sandbox: true;
  requestId?: string;
  status: FaultPlanStatus;
  id: string;
  on: 'requests' | 'webhooks';
  fault:
    | LatencyFault
    | ErrorFault
    | ResetConnectionFault
    | LoseAnswerFault
    | DuplicateFault
    | ReorderFault
    | DelayFault
    | DropFault;
  count: number | null;
  share: number | null;
  seed: number;
  operations: string[] | null;
  methods: ('GET' | 'POST')[] | null;
  eventTypes: string[] | null;
  /** Number of matches so far. */
  seen: number;
  /** Number of matches that were affected. */
  applied: number;
  /** RFC 3339, UTC, with milliseconds. */
  createdAt: string;
  /** RFC 3339, UTC, with milliseconds. */
  updatedAt: string;
}

export interface FaultPlanList {
  object: 'list';
  sandbox: true;
  requestId: string;
  status: 'ok';
  data: FaultPlan[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface WebhookEvent {
  object: 'event';
  /** Stays the same at every attempt and replay. */
  id: string;
  sandbox: true;
  /** The request that caused the event. */
  requestId: string;
  status: 'ok';
  type: 'webhook.disabled' | 'webhook.tested' | 'webhook.deleted';
  apiVersion: string;
  /** When it happened, by the application clock. */
  timestamp: string;
  /** The `version` of the record: of two of its events, the one with the higher number is the later. */
  sequence: number;
  data: Webhook;
}

export interface CustomerEvent {
  object: 'event';
  /** Stays the same at every attempt and replay. */
  id: string;
  sandbox: true;
  /** The request that caused the event. */
  requestId: string;
  status: 'ok';
  type: 'customer.created' | 'customer.updated' | 'customer.archived';
  apiVersion: string;
  /** When it happened, by the application clock. */
  timestamp: string;
  /** The `version` of the record: of two of its events, the one with the higher number is the later. */
  sequence: number;
  data: Customer;
}

export interface PaymentEvent {
  object: 'event';
  /** Stays the same at every attempt and replay. */
  id: string;
  sandbox: true;
  /** The request that caused the event. */
  requestId: string;
  status: 'ok';
  type:
    | 'payment.created'
    | 'payment.requires_action'
    | 'payment.processing'
    | 'payment.authorized'
    | 'payment.captured'
    | 'payment.partially_captured'
    | 'payment.settled'
    | 'payment.failed'
    | 'payment.pending'
    | 'payment.canceled'
    | 'payment.expired'
    | 'payment.partially_refunded'
    | 'payment.refunded'
    | 'payment.disputed'
    | 'payment.updated'
    | 'payment.charged_back';
  apiVersion: string;
  /** When it happened, by the application clock. */
  timestamp: string;
  /** The `version` of the record: of two of its events, the one with the higher number is the later. */
  sequence: number;
  data: Payment;
}

export interface RefundEvent {
  object: 'event';
  /** Stays the same at every attempt and replay. */
  id: string;
  sandbox: true;
  /** The request that caused the event. */
  requestId: string;
  status: 'ok';
  type: 'refund.created' | 'refund.succeeded' | 'refund.failed' | 'refund.canceled';
  apiVersion: string;
  /** When it happened, by the application clock. */
  timestamp: string;
  /** The `version` of the record: of two of its events, the one with the higher number is the later. */
  sequence: number;
  data: Refund;
}

export interface DisputeEvent {
  object: 'event';
  /** Stays the same at every attempt and replay. */
  id: string;
  sandbox: true;
  /** The request that caused the event. */
  requestId: string;
  status: 'ok';
  type:
    | 'dispute.created'
    | 'dispute.under_review'
    | 'dispute.lost'
    | 'dispute.won'
    | 'dispute.needs_response';
  apiVersion: string;
  /** When it happened, by the application clock. */
  timestamp: string;
  /** The `version` of the record: of two of its events, the one with the higher number is the later. */
  sequence: number;
  data: Dispute;
}

export interface TransferEvent {
  object: 'event';
  /** Stays the same at every attempt and replay. */
  id: string;
  sandbox: true;
  /** The request that caused the event. */
  requestId: string;
  status: 'ok';
  type:
    | 'transfer.quoted'
    | 'transfer.accepted'
    | 'transfer.funded'
    | 'transfer.in_review'
    | 'transfer.failed'
    | 'transfer.converted'
    | 'transfer.sent'
    | 'transfer.completed'
    | 'transfer.returned'
    | 'transfer.refunded'
    | 'transfer.canceled'
    | 'transfer.expired';
  apiVersion: string;
  /** When it happened, by the application clock. */
  timestamp: string;
  /** The `version` of the record: of two of its events, the one with the higher number is the later. */
  sequence: number;
  data: Transfer;
}

export interface ListPaymentsQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: PaymentStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  customerId?: string | undefined;
  reference?: string | undefined;
  currency?: string | undefined;
  amountMin?: number | undefined;
  amountMax?: number | undefined;
  q?: string | undefined;
}

export interface ListPaymentHistoryQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface ListTransferHistoryQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface ListPaymentProviderEventsQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  outcome?: ProviderEventStatus | undefined;
}

export interface ListTransferProviderEventsQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  outcome?: ProviderEventStatus | undefined;
}

export interface ListRefundsQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: RefundStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  paymentId?: string | undefined;
  currency?: string | undefined;
  amountMin?: number | undefined;
  amountMax?: number | undefined;
  q?: string | undefined;
}

export interface ListDisputesQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: DisputeStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  paymentId?: string | undefined;
  currency?: string | undefined;
  amountMin?: number | undefined;
  amountMax?: number | undefined;
  q?: string | undefined;
}

export interface ListTransfersQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: TransferStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  customerId?: string | undefined;
  reference?: string | undefined;
  q?: string | undefined;
}

export interface ListFxRatesQuery {
  /** Default: `"USD"`. */
  sourceCurrency?: string | undefined;
  targetCurrency?: string | undefined;
}

export interface GetBalancesQuery {
  paymentId?: string | undefined;
  transferId?: string | undefined;
}

export interface ListLedgerEntriesQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  paymentId?: string | undefined;
  transferId?: string | undefined;
  reason?: string | undefined;
}

export interface ListPaymentLedgerEntriesQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
}

export interface ListTransferLedgerEntriesQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
}

export interface ListSettlementsQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface RetrieveSettlementQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
}

export interface GetReconciliationQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  date?: string | undefined;
  result?: ReconciliationLineStatus | undefined;
  currency?: string | undefined;
}

export interface ListCustomersQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: CustomerStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  reference?: string | undefined;
  q?: string | undefined;
}

export interface ListWebhooksQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: WebhookStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
}

export interface ListWebhookEventsQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  type?: EventType | undefined;
  resource?: 'webhook' | 'customer' | 'payment' | 'refund' | 'dispute' | 'transfer' | undefined;
  resourceId?: string | undefined;
}

export interface ListWebhookDeliveriesQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: DeliveryStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
  webhookId?: string | undefined;
  eventId?: string | undefined;
  eventType?: string | undefined;
}

export interface ListWebhookReplaysQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: ReplayStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
}

export interface ListRequestsQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  scope?: 'application' | 'organization' | undefined;
  status?: string | undefined;
  method?: 'GET' | 'HEAD' | 'POST' | undefined;
  errorCode?: string | undefined;
  actorId?: string | undefined;
  apiKeyId?: string | undefined;
  path?: string | undefined;
  resourceId?: string | undefined;
  faultPlanId?: string | undefined;
  after?: string | Date | string | undefined;
  before?: string | Date | undefined;
}

export interface ListAuditEntriesQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  actorId?: string | undefined;
  action?: string | undefined;
  resource?: string | undefined;
  resourceId?: string | undefined;
  requestId?: string | undefined;
  applicationId?: string | undefined;
  outcome?: AuditEntryStatus | undefined;
  after?: string | Date | undefined;
  before?: string | Date | undefined;
}

export interface GetCoverageQuery {
  kind?: 'state' | 'move' | 'event' | 'operation' | 'error' | undefined;
  resource?: 'webhook' | 'customer' | 'payment' | 'refund' | 'dispute' | 'transfer' | undefined;
}

export interface ListFaultPlansQuery {
  /** Default: `20`. */
  limit?: number | undefined;
  cursor?: string | undefined;
  status?: FaultPlanStatus | undefined;
  createdAfter?: string | Date | undefined;
  createdBefore?: string | Date | undefined;
}

/** An event as webhooks receive it: check `type`, and `data` is the record of that kind. */
export type SandbankEvent = WebhookEvent | CustomerEvent | PaymentEvent | RefundEvent | DisputeEvent | TransferEvent;

// Distributes over the union, so that `type` still selects `data`.
type EventContent<E> = E extends SandbankEvent ? Pick<E, 'type' | 'data'> : never;

/** An event as the API returns it: check `type`, and `data` is the record of that kind. */
export type Event = EventFields & EventContent<SandbankEvent>;
