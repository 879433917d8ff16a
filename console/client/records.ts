/** Records of the public API; field names as in docs/openapi.json. */
export type Instant = string;
export type Metadata = Readonly<Record<string, string>>;
/** Integer minor units; sums over many records may exceed a number and then arrive as strings. */
export type Sum = number | string;

interface Envelope {
  readonly requestId?: string;
  readonly sandbox?: true;
}

interface StatefulRecord extends Envelope {
  readonly id: string;
  /** The actions that the API accepts now: the buttons to show. */
  readonly allowedActions: readonly string[];
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

export type ReconciliationResult =
  | 'matched'
  | 'amount_mismatch'
  | 'missing_at_provider'
  | 'missing_in_ledger'
  | 'duplicate';

type PaymentStatus =
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

export interface Payment extends StatefulRecord {
  readonly object: 'payment';
  readonly status: PaymentStatus;
  readonly amount: number;
  readonly currency: string;
  readonly amountCapturable: number;
  readonly amountCaptured: number;
  readonly amountRefunded: number;
  readonly amountRefundable: number;
  readonly amountDisputed: number;
  readonly feeAmount: number;
  readonly captureMethod: 'automatic' | 'manual';
  readonly paymentMethod: {
    readonly type: 'card' | 'bank_debit' | 'bank_transfer' | 'wallet';
    readonly lastFour?: string;
  };
  readonly customerId: string | null;
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: Metadata;
  readonly scenario: string | readonly string[];
  readonly autoAdvance: boolean;
  readonly failure: Failure | null;
  readonly attempts: readonly {
    readonly number: number;
    readonly scenario: string;
    readonly failure: Failure | null;
    readonly failedAt: Instant | null;
  }[];
  readonly disputeId: string | null;
  readonly reconciliation: ReconciliationResult | null;
  readonly authorizedAt?: Instant;
  readonly authorizationExpiresAt?: Instant;
  readonly capturedAt?: Instant;
  readonly settledAt?: Instant;
  readonly refundedAt?: Instant;
  readonly disputedAt?: Instant;
  readonly chargedBackAt?: Instant;
  readonly failedAt?: Instant;
  readonly canceledAt?: Instant;
  readonly expiredAt?: Instant;
  readonly ledgerEntries?: readonly LedgerEntry[];
}

export interface Customer extends StatefulRecord {
  readonly object: 'customer';
  readonly status: 'active' | 'archived';
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly reference: string | null;
  readonly metadata: Metadata;
}

export interface Beneficiary {
  readonly name: string;
  readonly country?: string;
  readonly account?: string;
}

type TransferStatus =
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

export interface Transfer extends StatefulRecord {
  readonly object: 'transfer';
  readonly status: TransferStatus;
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly sourceAmount: number;
  readonly targetAmount: number;
  readonly feeAmount: number;
  readonly totalAmount: number;
  readonly rate: string;
  readonly inverseRate: string;
  readonly midMarketRate: string;
  readonly marginBasisPoints: number;
  readonly fundFrom: 'external' | 'balance';
  readonly customerId: string | null;
  readonly beneficiary: Beneficiary | null;
  readonly reference: string | null;
  readonly metadata: Metadata;
  readonly scenario: string | readonly string[];
  readonly autoAdvance: boolean;
  readonly failure: Failure | null;
  readonly returnCode: string | null;
  readonly expiresAt: Instant;
  readonly reconciliation: ReconciliationResult | null;
  readonly acceptedAt?: Instant;
  readonly fundingExpiresAt?: Instant;
  readonly fundedAt?: Instant;
  readonly reviewedAt?: Instant;
  readonly convertedAt?: Instant;
  readonly sentAt?: Instant;
  readonly completedAt?: Instant;
  readonly returnedAt?: Instant;
  readonly refundedAt?: Instant;
  readonly canceledAt?: Instant;
  readonly expiredAt?: Instant;
  readonly failedAt?: Instant;
  readonly ledgerEntries?: readonly LedgerEntry[];
}

export interface FxRate {
  readonly object: 'fx_rate';
  readonly id: string;
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly rate: string;
  readonly inverseRate: string;
  readonly midMarketRate: string;
  readonly marginBasisPoints: number;
  readonly isOverridden: boolean;
}

export interface Refund extends StatefulRecord {
  readonly object: 'refund';
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  readonly paymentId: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string | null;
  readonly metadata: Metadata;
  readonly endedAt: Instant | null;
  readonly ledgerEntries?: readonly LedgerEntry[];
}

export interface Dispute extends StatefulRecord {
  readonly object: 'dispute';
  readonly status: 'needs_response' | 'under_review' | 'won' | 'lost';
  readonly paymentId: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string;
  readonly stage: 'chargeback' | 'pre_arbitration' | 'arbitration';
  readonly evidence: Metadata | null;
  readonly respondBy: Instant;
  readonly closedAt: Instant | null;
  readonly ledgerEntries?: readonly LedgerEntry[];
}

export interface Posting {
  readonly account: string;
  readonly currency: string;
  readonly amount: number;
}

export interface LedgerEntry {
  readonly object: 'ledger_entry';
  readonly id: string;
  readonly status: 'posted';
  readonly reason: string;
  readonly paymentId?: string;
  readonly transferId?: string;
  readonly postings: readonly Posting[];
  readonly createdAt: Instant;
}

export interface Balances extends Envelope {
  readonly object: 'balances';
  readonly accounts: readonly {
    readonly account: string;
    readonly currency: string;
    readonly balance: Sum;
  }[];
  /** Zero in every currency; anything else is a ledger error. */
  readonly trialBalance: readonly { readonly currency: string; readonly amount: Sum }[];
}

export interface Settlement extends Envelope {
  readonly object: 'settlement';
  readonly id: string;
  readonly status: 'open' | 'closed';
  readonly date: string;
  readonly lines: number;
  readonly totals: readonly {
    readonly currency: string;
    readonly lines: number;
    readonly gross: Sum;
    readonly fee: Sum;
    readonly net: Sum;
  }[];
}

export interface SettlementLine {
  readonly object: 'settlement_line';
  readonly id: string;
  readonly status: 'reported';
  readonly date: string;
  readonly provider: string;
  readonly providerTransactionId: string;
  readonly currency: string;
  readonly gross: number;
  readonly fee: number;
  readonly net: number;
  readonly settledAt: Instant;
}

export interface SettlementReport extends Settlement {
  readonly data: readonly SettlementLine[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

interface Side<Amount> {
  readonly gross: Amount;
  readonly fee: Amount;
  readonly net: Amount;
}

export interface ReconciliationLine {
  readonly object: 'reconciliation_line';
  readonly id: string;
  readonly status: ReconciliationResult;
  readonly result: ReconciliationResult;
  readonly date: string;
  readonly provider: string;
  readonly providerTransactionId: string;
  readonly paymentId: string | null;
  readonly transferId: string | null;
  readonly currency: string;
  readonly ledger: Side<number> | null;
  readonly reported: Side<number> | null;
  readonly difference: number;
  readonly createdAt: Instant;
}

/** A list with totals: read it with `useList<ReconciliationLine>` and cast `data`, or with useRead. */
export interface Reconciliation extends Envelope {
  readonly object: 'reconciliation';
  readonly data: readonly ReconciliationLine[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
  readonly counts: Readonly<Record<ReconciliationResult, number>>;
  readonly totals: readonly {
    readonly currency: string;
    readonly lines: number;
    readonly ledger: Side<Sum>;
    readonly reported: Side<Sum>;
    readonly difference: Sum;
  }[];
}

export interface Clock extends Envelope {
  readonly object: 'clock';
  readonly status: 'running' | 'frozen';
  readonly now: Instant;
  readonly offsetSeconds: number;
}

export interface Effect {
  readonly at: Instant;
  /** The type of the changed record, or `delivery` for an attempt. */
  readonly type: string;
  readonly id: string;
  readonly action: string;
  readonly from?: string;
  readonly to?: string;
  readonly event?: string;
}

export interface ClockAdvanced extends Clock {
  readonly complete: boolean;
  readonly left?: {
    readonly timers: number;
    readonly deliveries: number;
    readonly nextAt: Instant;
    readonly to: Instant;
  };
  readonly happened: readonly Effect[];
}

export type RetryProfile = 'standard' | 'fast' | 'none';

export interface Webhook extends StatefulRecord {
  readonly object: 'webhook';
  readonly status: 'enabled' | 'disabled';
  readonly applicationId: string;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly string[];
  readonly retryProfile: RetryProfile;
  readonly maxConcurrency: number;
  readonly secretHint: string;
  readonly previousSecretExpiresAt: Instant | null;
  readonly disabledReason: 'requested' | 'gone' | 'failing' | null;
  /** Only in a single-record response. */
  readonly health?: {
    readonly failingSince: Instant | null;
    readonly lastSuccessAt: Instant | null;
    readonly lastFailureAt: Instant | null;
    readonly pendingDeliveries: number;
  };
  /** Only in the responses to creation and rotation. */
  readonly secret?: string;
}

export interface Attempt {
  readonly number: number;
  readonly at: Instant;
  readonly sentAt: Instant;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  readonly responseStatus: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  readonly responseBody: string | null;
  readonly durationMs: number;
  readonly error: string | null;
  readonly bodiesCleared: boolean;
}

export interface Delivery extends Envelope {
  readonly object: 'delivery';
  readonly id: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly trigger: 'event' | 'replay' | 'test';
  readonly replayId: string | null;
  readonly attemptCount: number;
  readonly nextAttemptAt: Instant | null;
  readonly held: boolean;
  readonly lastResponseStatus: number | null;
  readonly lastError: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** These three only in a single-record response. */
  readonly url?: string;
  readonly requestBody?: string;
  readonly attempts?: readonly Attempt[];
}

/** An event as in the event list and the event stream. */
export interface EventRecord extends Envelope {
  readonly object: 'event';
  readonly id: string;
  readonly type: string;
  readonly apiVersion: string;
  readonly timestamp: Instant;
  readonly sequence: number;
  readonly applicationId: string;
  readonly resource: string;
  readonly resourceId: string;
  readonly originRequestId: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: Instant;
}

export interface EventReplay extends Envelope {
  readonly object: 'replay';
  readonly status: 'completed';
  readonly eventId: string;
  readonly matched: number;
  readonly replayed: number;
  readonly deliveryIds: readonly string[];
}

export interface Replay extends Envelope {
  readonly object: 'replay';
  readonly id: string | null;
  readonly status: 'running' | 'completed';
  readonly from: Instant;
  readonly to: Instant;
  readonly select: 'failed' | 'missing' | 'all';
  readonly webhookId: string | null;
  readonly dryRun: boolean;
  readonly matched: number;
  readonly replayed: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Only in a single-record response. */
  readonly deliveries?: { readonly pending: number; readonly succeeded: number; readonly failed: number };
}

export interface StateMachine {
  readonly resource: string;
  readonly states: readonly string[];
  readonly finalStates: readonly string[];
  readonly events: readonly string[];
  readonly moves: readonly {
    readonly action: string;
    readonly from: readonly string[];
    readonly to: readonly string[];
    readonly stays: boolean;
    readonly events: readonly string[];
    readonly condition: string | null;
    readonly broughtBy: string | null;
  }[];
}

export interface StateMachines extends Envelope {
  readonly object: 'state_machines';
  readonly machines: readonly StateMachine[];
}

export interface Currency {
  readonly code: string;
  readonly exponent: number;
  readonly name: string;
}

export type Severity = 'critical' | 'major' | 'minor';

export interface ExaminedCase {
  readonly name: string;
  readonly title: string;
  readonly severity: Severity;
  readonly why: string;
  readonly expected: string;
  readonly received: string;
  readonly outcome: 'passed' | 'warned' | 'failed';
  readonly attempts: readonly {
    readonly responseStatus: number | null;
    readonly durationMs: number;
    readonly error: string | null;
  }[];
  readonly advice: string | null;
  readonly example: string | null;
}

export interface Examination extends Envelope {
  readonly object: 'examination';
  readonly id: string;
  readonly status: 'passed' | 'failed';
  readonly webhookId: string;
  readonly url: string;
  readonly eventType: string;
  readonly grade: 'A' | 'B' | 'C' | 'D' | 'F';
  readonly score: number;
  readonly complete: boolean;
  readonly message: string | null;
  readonly durationMs: number;
  readonly cases: readonly ExaminedCase[];
}

export interface Capabilities extends Envelope {
  readonly object: 'capabilities';
  readonly apiVersion: string;
  readonly apiVersions: readonly string[];
  readonly scopes: readonly string[];
  readonly resources: readonly {
    readonly name: string;
    readonly states: readonly string[];
    readonly actions: readonly {
      readonly action: string;
      readonly from: readonly string[];
      readonly to: readonly string[];
    }[];
  }[];
  readonly eventTypes: readonly string[];
  readonly events: readonly {
    readonly type: string;
    readonly resource: string;
    readonly description: string;
    readonly example: Readonly<Record<string, unknown>>;
  }[];
  readonly eventSchemas: Readonly<Record<string, unknown>>;
  readonly examinationCases: readonly {
    readonly name: string;
    readonly title: string;
    readonly severity: Severity;
  }[];
  readonly scenarios: readonly string[];
  readonly declineCodes: readonly {
    readonly code: string;
    readonly retryable: boolean;
    readonly message: string;
  }[];
  readonly transferScenarios: readonly string[];
  readonly returnCodes: readonly { readonly code: string; readonly message: string }[];
  readonly transferFailureCodes: readonly { readonly code: string; readonly message: string }[];
  readonly fxCurrencies: readonly string[];
  readonly currencies: readonly Currency[];
  readonly limits: Readonly<Record<string, number>>;
}
