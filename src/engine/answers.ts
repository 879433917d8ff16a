import type { Rendered, Submission } from '../kernel/command.ts';
import { type Id, noApplication } from '../kernel/ids.ts';
import { defineTable, type Instant, type Statement } from '../kernel/table.ts';

/** The status of a stored response whose request is in progress: it takes several transactions. */
export const pendingStatus = 0;

/** A response stored for its idempotency key. */
export interface IdempotencyRow {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'>;
  readonly key: string;
  readonly fingerprint: Uint8Array;
  readonly status: number;
  readonly body: string;
  readonly createdAt: Instant;
  /**
   * The event whose record is the response, and the status of the response; null if the body is stored here. With an event, `status`
   * is `pendingStatus` and the body is empty.
   */
  readonly eventId: Id<'event'> | null;
  readonly eventStatus: number | null;
}

export const idempotencyTable = defineTable<IdempotencyRow>('idempotency', ['org_id', 'app_id', 'key'], {
  orgId: 'text',
  appId: 'text',
  key: 'text',
  fingerprint: 'bytea',
  status: 'integer',
  body: 'text',
  createdAt: 'timestamptz',
  eventId: 'text',
  eventStatus: 'integer',
});

/**
 * The row of a response; null for a request without an idempotency key. A response that is the record of an event refers to the
 * event. Requests that take several commands store their whole response, because there status 0 has a meaning: the next command
 * continues, or another request starts again.
 */
export function responseRow(
  { context, kind, idempotency, wallNow: createdAt }: Submission,
  { status, body }: Rendered,
  eventOfRecord: Id<'event'> | null,
): IdempotencyRow | null {
  if (idempotency === null) return null;
  const { key, fingerprint } = idempotency;
  const { orgId, appId } = context;
  const eventId = kind.concludes || kind.retakenAfterMs !== undefined ? null : eventOfRecord;
  const isInEvent = eventId !== null;
  return {
    orgId,
    appId: appId ?? noApplication,
    key,
    fingerprint,
    status: isInEvent ? pendingStatus : status,
    body: isInEvent ? '' : body,
    createdAt,
    eventId,
    eventStatus: isInEvent ? status : null,
  };
}

/** A response with its secrets, encrypted. The row in `idempotency` has the same response without them. */
export interface StoredSecretRow {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'>;
  readonly key: string;
  readonly sealedBody: string;
  readonly createdAt: Instant;
}

export const storedSecretsTable = defineTable<StoredSecretRow>(
  'idempotency_secrets',
  ['org_id', 'app_id', 'key'],
  { orgId: 'text', appId: 'text', key: 'text', sealedBody: 'text', createdAt: 'timestamptz' },
);

/** `n` is the position of the key in the arrays, from 1. The lateral form makes PostgreSQL use the index, see selectByKeys. */
export const findAnswers: Statement = {
  name: 'idempotency_by_keys',
  text: `select k.n::integer as n, t.org_id as "orgId", t.key, t.fingerprint, coalesce(t.event_status, t.status) as status, t.body, t.created_at as "createdAt",
      t.event_id as "eventId", e.data::text as "eventData", e.request_id as "eventRequestId", s.sealed_body as "sealedBody"
    from unnest($1::text[], $2::text[], $3::text[]) with ordinality as k(org_id, app_id, key, n)
    cross join lateral (
      select i.org_id, i.key, i.fingerprint, i.status, i.body, i.created_at, i.event_id, i.event_status from idempotency i
      where i.org_id = k.org_id and i.app_id = k.app_id and i.key = k.key offset 0) t
    left join lateral (
      select e.data, e.request_id from events e where e.org_id = t.org_id and e.id = t.event_id offset 0) e on true
    left join lateral (
      select s.sealed_body from idempotency_secrets s
      where s.org_id = k.org_id and s.app_id = k.app_id and s.key = k.key offset 0) s on true`,
};

/** Deletes old responses in bounded batches, so that a day's worth never blocks a write. */
export const reapAnswers: Statement = {
  name: 'idempotency_reap',
  text: `with old as (select ctid from idempotency where created_at < $1 limit $2)
    delete from idempotency where ctid = any(array(select ctid from old)) returning 1 as reaped`,
};

export const reapStoredSecrets: Statement = {
  name: 'idempotency_secrets_reap',
  text: `with old as (select ctid from idempotency_secrets where created_at < $1 limit $2)
    delete from idempotency_secrets where ctid = any(array(select ctid from old)) returning 1 as reaped`,
};
