import type { Id } from '../../kernel/ids.ts';
import type { Reconciliation } from '../../kernel/ledger.ts';
import { defineTable, type Instant, type SearchedTexts } from '../../kernel/table.ts';

export const paymentStates = [
  'pending',
  'requires_action',
  'processing',
  'authorized',
  'partially_captured',
  'captured',
  'settled',
  'partially_refunded',
  'refunded',
  'disputed',
  'charged_back',
  'failed',
  'canceled',
  'expired',
] as const;

export const captureMethods = ['automatic', 'manual'] as const;
export const paymentMethodTypes = ['card', 'bank_debit', 'bank_transfer', 'wallet'] as const;

export interface PaymentRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'payment'>;
  readonly appId: Id<'application'>;
  readonly status: (typeof paymentStates)[number];
  readonly version: number;
  readonly amount: bigint;
  readonly currency: string;
  readonly amountCapturable: bigint;
  /** The part of the capturable amount that the provider holds: 0 for a payment that is captured without authorization. */
  readonly amountHeld: bigint;
  readonly amountCaptured: bigint;
  /** The sum of succeeded refunds; `amountRefundPending` is the sum of pending ones. */
  readonly amountRefunded: bigint;
  readonly amountRefundPending: bigint;
  /** The sum of open and lost disputes. */
  readonly amountDisputed: bigint;
  readonly feeAmount: bigint;
  /** The fee settings of the application when the payment was created. */
  readonly feeBasisPoints: number;
  readonly feeFixed: bigint;
  /** Never part of a response: payments have the same form for all providers. */
  readonly provider: string;
  readonly captureMethod: (typeof captureMethods)[number];
  readonly paymentMethodType: (typeof paymentMethodTypes)[number];
  readonly paymentMethodLastFour: string | null;
  readonly customerId: Id<'customer'> | null;
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** One name, or a list for successive attempts. */
  readonly scenario: string | readonly string[];
  readonly autoAdvance: boolean;
  readonly failureCode: string | null;
  readonly attempts: readonly FailedAttempt[];
  /** The open dispute, or the most recent one. */
  readonly disputeId: Id<'dispute'> | null;
  /** The result of comparing the provider's report with the ledger; null until the payment is settled. */
  readonly reconciliation: Reconciliation | null;
  readonly instants: Instants;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

interface FailedAttempt {
  readonly scenario: string;
  readonly failureCode: string;
  readonly failedAt: Instant;
}

/** The instants of state changes; one JSON column, because most payments have only a few of them. */
export const instantNames = [
  'authorizedAt',
  'authorizationExpiresAt',
  'capturedAt',
  'settledAt',
  'refundedAt',
  'disputedAt',
  'chargedBackAt',
  'failedAt',
  'canceledAt',
  'expiredAt',
] as const;
type Instants = { readonly [Name in (typeof instantNames)[number]]?: Instant | undefined } & {
  /** The last transition of a payment that was edited after it: an edit must not move its timers. Never part of a response. */
  readonly movedAt?: Instant | undefined;
};

export const paymentsTable = defineTable<PaymentRow>('payments', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  amount: 'bigint',
  currency: 'text',
  amountCapturable: 'bigint',
  amountHeld: 'bigint',
  amountCaptured: 'bigint',
  amountRefunded: 'bigint',
  amountRefundPending: 'bigint',
  amountDisputed: 'bigint',
  feeAmount: 'bigint',
  feeBasisPoints: 'integer',
  feeFixed: 'bigint',
  provider: 'text',
  captureMethod: 'text',
  paymentMethodType: 'text',
  paymentMethodLastFour: 'text',
  customerId: 'text',
  description: 'text',
  reference: 'text',
  metadata: 'jsonb',
  scenario: 'jsonb',
  autoAdvance: 'boolean',
  failureCode: 'text',
  attempts: 'jsonb',
  disputeId: 'text',
  reconciliation: 'text',
  instants: 'jsonb',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

export const paymentTexts: SearchedTexts = {
  description:
    'the start of the payment or customer id, or any part of the reference, the description or, with the scope `customers:read`, the name or email of the customer',
  ids: ['id', 'customer_id'],
  texts: ['reference', 'description'],
  parent: { table: 'customers', key: 'customer_id', texts: ['name', 'email'], scope: 'customers:read' },
};
