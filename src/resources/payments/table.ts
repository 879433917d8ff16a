import type { Reconciliation } from '../../kernel/settlement.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

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
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: (typeof paymentStates)[number];
  readonly version: number;
  readonly amount: bigint;
  readonly currency: string;
  readonly amountCapturable: bigint;
  /** The part of what is capturable that the provider holds; a payment captured without authorization holds nothing. */
  readonly amountHeld: bigint;
  readonly amountCaptured: bigint;
  /** Refunds that succeeded. Those under way are beside it. */
  readonly amountRefunded: bigint;
  readonly amountRefundPending: bigint;
  /** Of disputes that are open or lost. */
  readonly amountDisputed: bigint;
  readonly feeAmount: bigint;
  /** The terms under which the payment was made. */
  readonly feeBasisPoints: number;
  readonly feeFixed: bigint;
  /** Never shown: the record is neutral. */
  readonly provider: string;
  readonly captureMethod: (typeof captureMethods)[number];
  readonly paymentMethodType: (typeof paymentMethodTypes)[number];
  readonly paymentMethodLastFour: string | null;
  readonly customerId: string | null;
  readonly description: string | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** One name, or a list for successive attempts. */
  readonly scenario: string | readonly string[];
  readonly autoAdvance: boolean;
  readonly failureCode: string | null;
  readonly attempts: readonly FailedAttempt[];
  /** The dispute that is open, or was last. */
  readonly disputeId: string | null;
  /** How the provider's report compares with our books; null until it is settled. */
  readonly reconciliation: Reconciliation | null;
  readonly instants: Instants;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface FailedAttempt {
  readonly scenario: string;
  readonly failureCode: string;
  readonly failedAt: Instant;
}

/** When what happened; one column, because most payments have met few of these moments. */
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
export type Instants = { readonly [Name in (typeof instantNames)[number]]?: Instant | undefined };

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
