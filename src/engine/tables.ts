import type { Actor } from '../kernel/command.ts';
import { defineTable, type Instant, type Statement } from '../kernel/table.ts';

/** The rows that the engine itself derives from every decision, so that no slice can forget one. */
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

export interface IdempotencyRow {
  readonly orgId: string;
  readonly appId: string;
  readonly key: string;
  readonly fingerprint: Uint8Array;
  readonly status: number;
  readonly body: string;
  readonly createdAt: Instant;
}

export const idempotencyTable = defineTable<IdempotencyRow>('idempotency', ['org_id', 'app_id', 'key'], {
  orgId: 'text',
  appId: 'text',
  key: 'text',
  fingerprint: 'bytea',
  status: 'integer',
  body: 'text',
  createdAt: 'timestamptz',
});

/** `n` is the place of the key in the arrays given, from 1. The lateral form keeps it on the index, see selectByKeys. */
export const findAnswers: Statement = {
  name: 'idempotency_by_keys',
  text: `select k.n::integer as n, t.fingerprint, t.status, t.body
    from unnest($1::text[], $2::text[], $3::text[]) with ordinality as k(org_id, app_id, key, n)
    cross join lateral (
      select i.fingerprint, i.status, i.body from idempotency i
      where i.org_id = k.org_id and i.app_id = k.app_id and i.key = k.key offset 0) t`,
};

/** Old answers in bounded bites, so that reaping a day's worth never holds up a write. */
export const reapAnswers: Statement = {
  name: 'idempotency_reap',
  text: `with old as (select ctid from idempotency where created_at < $1 limit $2)
    delete from idempotency where ctid = any(array(select ctid from old)) returning 1 as reaped`,
};
