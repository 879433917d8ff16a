import type { Id } from '../../kernel/ids.ts';
import type { Reconciliation } from '../../kernel/ledger.ts';
import { defineTable, type Instant, type SearchedTexts } from '../../kernel/table.ts';

export const transferStates = [
  'quoted',
  'accepted',
  'funded',
  'in_review',
  'converted',
  'sent',
  'completed',
  'returned',
  'refunded',
  'canceled',
  'expired',
  'failed',
] as const;

export const fundingSources = ['external', 'balance'] as const;

export interface TransferRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'transfer'>;
  readonly appId: Id<'application'>;
  readonly status: (typeof transferStates)[number];
  readonly version: number;
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly sourceAmount: bigint;
  readonly targetAmount: bigint;
  readonly feeAmount: bigint;
  /** The side whose amount was requested. The other amount is computed from it, also when the transfer is requoted. */
  readonly fixedSide: 'source' | 'target';
  readonly rate: string;
  readonly midMarketRate: string;
  readonly marginBasisPoints: number;
  readonly fundFrom: (typeof fundingSources)[number];
  /** Never part of a response: transfers have the same form for all providers. */
  readonly provider: string;
  readonly customerId: Id<'customer'> | null;
  readonly beneficiary: Beneficiary | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** One name, or a list with one entry for each time the transfer is sent. */
  readonly scenario: string | readonly string[];
  readonly autoAdvance: boolean;
  readonly failureCode: string | null;
  readonly returnCode: string | null;
  /** How often the transfer was sent: a returned transfer may be sent again. */
  readonly sends: number;
  readonly reconciliation: Reconciliation | null;
  readonly expiresAt: Instant;
  readonly instants: TransferInstants;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface Beneficiary {
  readonly name: string;
  readonly country?: string;
  readonly account?: string;
}

/** The instants of state changes. */
export const transferInstantNames = [
  'acceptedAt',
  'fundingExpiresAt',
  'fundedAt',
  'reviewedAt',
  'convertedAt',
  'sentAt',
  'completedAt',
  'returnedAt',
  'refundedAt',
  'canceledAt',
  'expiredAt',
  'failedAt',
] as const;

export const transfersTable = defineTable<TransferRow>('transfers', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  sourceCurrency: 'text',
  targetCurrency: 'text',
  sourceAmount: 'bigint',
  targetAmount: 'bigint',
  feeAmount: 'bigint',
  fixedSide: 'text',
  rate: 'text',
  midMarketRate: 'text',
  marginBasisPoints: 'integer',
  fundFrom: 'text',
  provider: 'text',
  customerId: 'text',
  beneficiary: 'jsonb',
  reference: 'text',
  metadata: 'jsonb',
  scenario: 'jsonb',
  autoAdvance: 'boolean',
  failureCode: 'text',
  returnCode: 'text',
  sends: 'integer',
  reconciliation: 'text',
  expiresAt: 'timestamptz',
  instants: 'jsonb',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

export const transferTexts: SearchedTexts = {
  description:
    'the start of the transfer or customer id, or any part of the reference or, with the scope `customers:read`, the name or email of the customer',
  ids: ['id', 'customer_id'],
  texts: ['reference'],
  parent: { table: 'customers', key: 'customer_id', texts: ['name', 'email'], scope: 'customers:read' },
};

type TransferInstants = {
  readonly [Name in (typeof transferInstantNames)[number]]?: Instant | undefined;
};
