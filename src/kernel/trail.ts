import type { Actor } from './command.ts';
import type { NoticeOutcome } from './provider.ts';
import type { Reconciliation } from './settlement.ts';
import { defineTable, type Instant } from './table.ts';

/** The trail of every decision: rows that the engine itself derives, so that no slice can forget one. */
export interface HistoryRow {
  readonly orgId: string;
  readonly resourceId: string;
  readonly version: number;
  readonly resource: string;
  readonly action: string;
  readonly fromStatus: string | null;
  readonly toStatus: string;
  readonly eventId: string | null;
  readonly actorKind: Actor['kind'];
  readonly actorId: string;
  readonly requestId: string;
  readonly at: Instant;
}

export const historyTable = defineTable<HistoryRow>('state_history', ['org_id', 'resource_id', 'version'], {
  orgId: 'text',
  resourceId: 'text',
  version: 'integer',
  resource: 'text',
  action: 'text',
  fromStatus: 'text',
  toStatus: 'text',
  eventId: 'text',
  actorKind: 'text',
  actorId: 'text',
  requestId: 'text',
  at: 'timestamptz',
});

export interface EventRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly type: string;
  readonly resource: string;
  readonly resourceId: string;
  readonly sequence: number;
  readonly requestId: string;
  /** The resource as JSON text, as the answer showed it. */
  readonly data: string;
  readonly createdAt: Instant;
}

export const eventsTable = defineTable<EventRow>('events', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  type: 'text',
  resource: 'text',
  resourceId: 'text',
  sequence: 'integer',
  requestId: 'text',
  data: 'json',
  createdAt: 'timestamptz',
});

export interface AuditRow {
  readonly orgId: string;
  readonly id: string;
  readonly at: Instant;
  readonly actorKind: Actor['kind'];
  readonly actorId: string;
  readonly appId: string | null;
  readonly action: string;
  readonly resource: string | null;
  readonly resourceId: string | null;
  readonly requestId: string;
  readonly ip: string | null;
  readonly outcome: 'accepted' | 'refused';
  readonly code: string | null;
}

export const auditTable = defineTable<AuditRow>('audit', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  at: 'timestamptz',
  actorKind: 'text',
  actorId: 'text',
  appId: 'text',
  action: 'text',
  resource: 'text',
  resourceId: 'text',
  requestId: 'text',
  ip: 'text',
  outcome: 'text',
  code: 'text',
});

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

/** What a provider said, in its own words and with its own ids, apart from the records. */
export interface ProviderEventRow {
  readonly orgId: string;
  readonly id: string;
  readonly paymentId: string | null;
  readonly transferId: string | null;
  readonly provider: string;
  readonly providerTransactionId: string;
  readonly providerEventId: string;
  readonly type: string;
  readonly payload: string;
  readonly outcome: NoticeOutcome;
  readonly action: string;
  readonly requestId: string;
  readonly receivedAt: Instant;
}

export const providerEventsTable = defineTable<ProviderEventRow>('provider_events', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  paymentId: 'text',
  transferId: 'text',
  provider: 'text',
  providerTransactionId: 'text',
  providerEventId: 'text',
  type: 'text',
  payload: 'json',
  outcome: 'text',
  action: 'text',
  requestId: 'text',
  receivedAt: 'timestamptz',
});

/** When a record next falls due. It follows from the record, and is written with every change that moves it. */
export interface TimerRow {
  readonly orgId: string;
  /** The record's own id: a record has one timer, for what comes first. */
  readonly id: string;
  readonly appId: string;
  readonly resource: string;
  readonly dueAt: Instant;
}

export const timersTable = defineTable<TimerRow>('timers', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  resource: 'text',
  dueAt: 'timestamptz',
});

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
