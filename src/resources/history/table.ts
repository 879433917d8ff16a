import type { Actor } from '../../kernel/command.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

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

/**
 * The two kinds of record that have a history, ledger entries and a provider of their own. What is read of them is read
 * in the same way, below the path of each.
 */
export const records = {
  payment: {
    kind: 'payment',
    idName: 'paymentId',
    path: 'developer_api_payments',
    scope: 'payments:read',
    tag: 'Payments',
    title: 'Payment',
  },
  transfer: {
    kind: 'transfer',
    idName: 'transferId',
    path: 'developer_api_transfers',
    scope: 'transfers:read',
    tag: 'Transfers',
    title: 'Transfer',
  },
} as const;

export type RecordKind = keyof typeof records;
