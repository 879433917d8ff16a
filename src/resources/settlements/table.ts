import type { Reconciliation } from '../../kernel/settlement.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

/** A line of a provider's report beside what our ledger says of it. */
export interface SettlementLineRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  /** The day of the report, by the clock of the application. */
  readonly settledOn: string;
  readonly provider: string;
  readonly providerTransactionId: string;
  readonly paymentId: string | null;
  readonly transferId: string | null;
  readonly currency: string;
  /** Null when the ledger knows nothing of it. */
  readonly ledgerGross: bigint | null;
  readonly ledgerFee: bigint | null;
  /** Null when the provider did not report it. */
  readonly gross: bigint | null;
  readonly fee: bigint | null;
  readonly result: Reconciliation;
  readonly requestId: string;
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
