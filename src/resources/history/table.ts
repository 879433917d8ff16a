import type { Actor } from '../../kernel/command.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

/** The history of every state change. The engine derives these rows itself, so that no resource can omit one. */
export interface HistoryRow {
  readonly orgId: Id<'organization'>;
  readonly resourceId: string;
  readonly version: number;
  readonly resource: string;
  readonly action: string;
  readonly fromStatus: string | null;
  readonly toStatus: string;
  readonly eventId: Id<'event'> | null;
  readonly actorKind: Actor['kind'];
  readonly actorId: string;
  readonly requestId: Id<'request'>;
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
 * The two kinds of record that have their own history, ledger entries and provider. Both have the same subresources below
 * their paths.
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
