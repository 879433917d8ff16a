import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface LedgerEntryRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'ledger_entry'>;
  readonly paymentId: Id<'payment'> | null;
  readonly transferId: Id<'transfer'> | null;
  /** The record version at which the entry was posted; it identifies the move. */
  readonly recordVersion: number;
  readonly reason: string;
  readonly postings: readonly ShownPosting[];
  readonly requestId: Id<'request'>;
  readonly createdAt: Instant;
}

/** A posting in JSON. The amounts of one record are far below the limit of exact doubles. */
interface ShownPosting {
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

/** The sum of all postings of an account. Written as a difference, so that batches do not read it first. */
export interface BalanceRow {
  readonly orgId: Id<'organization'>;
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
