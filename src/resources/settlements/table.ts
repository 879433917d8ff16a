import type { Id } from '../../kernel/ids.ts';
import type { Reconciliation } from '../../kernel/ledger.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

/** A line of a provider's report, with the corresponding amounts in the ledger. */
export interface SettlementLineRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'settlement_line'>;
  readonly appId: Id<'application'>;
  /** The day of the report, by the application clock. */
  readonly settledOn: string;
  readonly provider: string;
  readonly providerTransactionId: string;
  readonly paymentId: Id<'payment'> | null;
  readonly transferId: Id<'transfer'> | null;
  readonly currency: string;
  /** Null when the ledger has no matching entry. */
  readonly ledgerGross: bigint | null;
  readonly ledgerFee: bigint | null;
  /** Null when the provider did not report it. */
  readonly gross: bigint | null;
  readonly fee: bigint | null;
  readonly result: Reconciliation;
  readonly requestId: Id<'request'>;
  readonly createdAt: Instant;
}

export const settlementLinesTable = defineTable<SettlementLineRow>('settlement_lines', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  settledOn: 'text',
  provider: 'text',
  providerTransactionId: 'text',
  paymentId: 'text',
  transferId: 'text',
  currency: 'text',
  ledgerGross: 'bigint',
  ledgerFee: 'bigint',
  gross: 'bigint',
  fee: 'bigint',
  result: 'text',
  requestId: 'text',
  createdAt: 'timestamptz',
});
