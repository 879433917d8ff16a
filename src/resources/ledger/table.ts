import { defineTable, type Instant } from '../../kernel/table.ts';

export interface LedgerEntryRow {
  readonly orgId: string;
  readonly id: string;
  readonly paymentId: string | null;
  readonly transferId: string | null;
  /** The version of the record at which the entry was posted: that names the move. */
  readonly recordVersion: number;
  readonly reason: string;
  readonly postings: readonly ShownPosting[];
  readonly requestId: string;
  readonly createdAt: Instant;
}

/** A posting as JSON has it. Amounts of one record are far below what a double holds exactly. */
export interface ShownPosting {
  readonly account: string;
  readonly currency: string;
  readonly amount: number;
}

export const ledgerEntriesTable = defineTable<LedgerEntryRow>('ledger_entries', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  paymentId: 'text',
  transferId: 'text',
  recordVersion: 'integer',
  reason: 'text',
  postings: 'jsonb',
  requestId: 'text',
  createdAt: 'timestamptz',
});

/** What the postings of an account sum to. Written as a difference, so that batches need not read it first. */
export interface BalanceRow {
  readonly orgId: string;
  readonly account: string;
  readonly currency: string;
  readonly balance: bigint;
}

export const balancesTable = defineTable<BalanceRow>('ledger_balances', ['org_id', 'account', 'currency'], {
  orgId: 'text',
  account: 'text',
  currency: 'text',
  balance: 'bigint',
});
