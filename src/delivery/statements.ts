import type { RetryProfile } from '../kernel/application-settings.ts';
import { attemptErrors } from '../kernel/attempt-errors.ts';
import type { EventRow } from '../kernel/event.ts';
import type { Id } from '../kernel/ids.ts';
import type { ColumnType, Instant, Statement } from '../kernel/table.ts';
import { type ActivePlan, activePlans, type WebhookFault } from '../resources/fault-plans/table.ts';
import type { AttemptRow, DeliveryRow } from '../resources/webhooks/delivery-table.ts';
import type { StoredHeaders, StoredSecret } from '../resources/webhooks/table.ts';

/** A row that the claim statement returns. */
export interface ClaimedRow extends Omit<ClaimedDelivery, 'data' | 'secrets' | 'isReordered'> {
  /** As JSON text, the same for all rows of an endpoint, so that it is parsed once. */
  readonly secrets: string;
  /** Null when an earlier row has the same event. */
  readonly data: string | null;
  /** The byte limit of the claim excluded deliveries that are due. */
  readonly hasMore: boolean;
}

/** The key of an endpoint. */
export interface EndpointKey {
  readonly orgId: Id<'organization'>;
  readonly webhookId: Id<'webhook'>;
}

/** A delivery that this process has claimed, with everything needed to send it. */
export interface ClaimedDelivery
  extends Pick<DeliveryRow, 'orgId' | 'id' | 'appId' | 'webhookId' | 'eventId' | 'trigger'>,
    Pick<DeliveryRow, 'tries' | 'attempts' | 'token' | 'dueAt' | 'createdAt' | 'faultPlanId'> {
  readonly url: string;
  /** This server receives the delivery itself. */
  readonly isInbox: boolean;
  readonly secrets: readonly StoredSecret[];
  readonly headers: StoredHeaders | null;
  readonly retryProfile: RetryProfile;
  readonly concurrencyMax: number;
  readonly type: EventRow['type'];
  readonly sequence: number;
  readonly requestId: Id<'request'>;
  readonly data: string;
  readonly eventAt: Instant;
  /** The application clock: its offset, the instant at which it is frozen, and the request that is advancing it. */
  readonly offsetMs: bigint | null;
  readonly frozenAt: Instant | null;
  readonly advanceRequestId: Id<'request'> | null;
  /** Since when every attempt at this endpoint has failed; null when the last one succeeded. */
  readonly failingSince: Instant | null;
  /** The fault of the plan that hit the delivery. */
  readonly fault: WebhookFault | null;
  /** The active plans of its application; null when there are none. */
  readonly faultPlans: readonly ActivePlan<WebhookFault>[] | null;
  /** Until when a fault plan held the delivery before this claim. */
  readonly heldUntil: Instant | null;
  /** The delivery swaps places with another one: nothing else is sent to the endpoint at the same time. */
  readonly isReordered: boolean;
}

/** An additional request with the same bytes, sent before the attempt that counts. */
export type CopiedAttempt = Pick<
  AttemptRow,
  'responseStatus' | 'responseHeaders' | 'responseBody' | 'durationMs' | 'error'
>;

/** The result of an attempt and the new state of its delivery. */
export interface MarkedAttempt
  extends Omit<AttemptRow, 'bodiesCleared'>,
    Pick<DeliveryRow, 'webhookId' | 'token' | 'dueAt'> {
  readonly copies: readonly CopiedAttempt[];
}

/** Joins the application clock. `offset 0` keeps the lookup by key, even if PostgreSQL planned the statement on empty tables. */
export const clockOf = (app: string, wallNow: string) => `left join lateral (
      select c.offset_ms, c.stands_at, c.advance, coalesce(c.stands_at, ${wallNow} + c.offset_ms * interval '1 millisecond') as now
      from clocks c where c.org_id = w.org_id and c.id = 'clk' || substr(${app}, 4) offset 0) c on true`;

/**
 * Finds the row with this key by the primary key. A statement that PostgreSQL plans while the tables are almost empty uses its plan
 * until the next `analyze`, and with `=` alone any index that starts with `org_id` costs the same: the plan read every delivery and
 * every event of the organization for each row, 44 ms for 23 attempts. Only the primary key has this order.
 */
const byKey = (row: string, orgId: string, id: string) =>
  `${row}.org_id = ${orgId} and ${row}.id >= ${id} and ${row}.id <= ${id} order by ${row}.id limit 1`;

/**
 * Claims due deliveries of the given endpoints, up to the room of each. Only one process at a time sends to an endpoint. That
 * process can enforce the limit of open requests by itself and claim many deliveries at once: ten per claim, as many as the
 * limit leaves, reached 500 deliveries a second, and hundreds per claim more than twice that. The claim locks the endpoint row,
 * and skips endpoints that are locked or that another process sends to. The write checks the sender again, because a statement
 * that started before the commit of another claim does not see its sender yet.
 *
 * An expired lease belongs to a process that died. The claim adds its attempt to the history, so that a receiver who got an event
 * twice finds the reason there.
 *
 * A claim has a limit in bytes ($8), because an event may have 256 KiB and the memory of a process is limited. Endpoints take
 * turns (`rank`), so every endpoint gets its share of the bytes, and the first delivery is claimed whatever its size. An event
 * that several endpoints receive counts once and is read once: only the first row of an event carries its data.
 *
 * A delivery that a fault plan holds is claimed together with the one that overtakes it, in addition to the room, so that the two
 * can be sent in their new order; otherwise when its hold expires. While a clock is being advanced nothing waits for real time:
 * the delivery is claimed when no other delivery is left to overtake it.
 *
 * The endpoints are in subselects, so that the planner does not see how many there are. With the arrays themselves, a plan for few
 * endpoints appeared cheaper than the generic plan, and PostgreSQL planned every claim again, for 2 ms.
 */
export const claim: Statement = {
  name: 'deliveries_claim',
  text: `with endpoint as materialized (
      select w.*, coalesce(c.now, $4::timestamptz) as now, c.offset_ms, c.stands_at, c.advance->>'requestId' as advance_id,
        h.failing_since, ${activePlans('webhooks', 'w.org_id', 'w.app_id')} as fault_plans,
        (select count(*) from deliveries d
          where d.org_id = w.org_id and d.webhook_id = w.id and d.held_until is not null) as held
      from unnest((select $1::text[]), (select $2::text[]), (select $3::integer[])) as k(org_id, id, room)
      cross join lateral (
        select w.org_id, w.id, w.app_id, w.url, w.secrets::text as secrets, w.retry_profile, w.concurrency_max, w.inbox, w.headers, k.room
        from webhooks w
        where w.status = 'enabled' and ${byKey('w', 'k.org_id', 'k.id')}
        for no key update skip locked) w
      left join lateral (
        select h.failing_since, h.sender, h.sender_until from webhook_health h
        where h.org_id = w.org_id and h.webhook_id = w.id offset 0) h on true
      ${clockOf('w.app_id', '$4::timestamptz')}
      where (select hold_organizations($7::text[])) and (h.sender is null or h.sender = $6 or h.sender_until <= $4)),
    due as materialized (
      select e.org_id, e.id as webhook_id, d.at, d.id, d.event_id, d.due_at, d.lease_until, d.token, d.attempts, d.held_until
      from endpoint e cross join lateral (
        select d.ctid as at, d.id, d.event_id, d.due_at, d.lease_until, d.token, d.attempts, d.held_until from deliveries d
        where d.org_id = e.org_id and d.webhook_id = e.id and d.status = 'pending' and d.due_at <= e.now
          and (d.lease_until is null or d.lease_until <= $4)
          and (d.held_until is null or d.held_until <= $4 or exists (
            select from deliveries o where o.org_id = e.org_id and o.webhook_id = e.id and o.status = 'pending'
              and o.due_at <= e.now and o.held_until is null and o.attempts = 0 and o.trigger = 'event' and o.lease_until is null)
            or e.advance_id is not null and not exists (
            select from deliveries o where o.org_id = e.org_id and o.webhook_id = e.id and o.status = 'pending'
              and o.due_at <= e.now and o.held_until is null and o.tries = 0))
        order by d.due_at, d.id limit case when e.room > 0 then e.room + e.held else 0 end) d),
    sized as (
      select r.*, case when row_number() over (partition by r.org_id, r.event_id order by r.rank, r.webhook_id) = 1 then (
          select octet_length(e.data::text) from events e where ${byKey('e', 'r.org_id', 'r.event_id')}) else 0 end as bytes
      from (
        select d.*, row_number() over (partition by d.org_id, d.webhook_id order by d.due_at, d.id) as rank from due d) r),
    fitting as materialized (
      select s.at, s.org_id, s.webhook_id, s.id, s.lease_until, s.token, s.attempts, s.held_until,
        sum(s.bytes) over turns <= $8 or row_number() over turns = 1 as fits
      from sized s window turns as (order by s.rank, s.org_id, s.webhook_id)),
    taken as materialized (select f.* from fitting f where f.fits),
    sender as (
      insert into webhook_health as h (org_id, webhook_id, sender, sender_until)
      select distinct d.org_id, d.webhook_id, $6, $5::timestamptz from taken d order by 1, 2
      on conflict (org_id, webhook_id) do update set sender = excluded.sender, sender_until = excluded.sender_until
        where h.sender is null or h.sender = excluded.sender or h.sender_until <= $4
      returning h.org_id, h.webhook_id),
    claimed as (
      update deliveries d set lease_until = $5, token = d.token + 1,
        attempts = d.attempts + case when u.lease_until is null then 0 else 1 end, held_until = null
      from taken u join sender s on s.org_id = u.org_id and s.webhook_id = u.webhook_id
      where d.ctid = u.at and d.status = 'pending' and d.token = u.token and d.lease_until is not distinct from u.lease_until
      returning d.org_id, d.id, d.app_id, d.webhook_id, d.event_id, d.trigger, d.tries, d.attempts, d.token, d.due_at, d.created_at,
        d.fault_plan_id, u.held_until as was_held_until, u.lease_until is not null as was_leased),
    lost as (
      insert into delivery_attempts (org_id, delivery_id, number, at, sent_at, duration_ms, error, status)
      select d.org_id, d.id, d.attempts, $4, $4, 0,
        '${attemptErrors.senderStopped.prefix} before the outcome was known: the event may have arrived. It is sent again.', 'pending'
      from claimed d where d.was_leased)
    select d.org_id as "orgId", d.id, d.app_id as "appId", d.webhook_id as "webhookId", d.event_id as "eventId", d.trigger,
      d.tries, d.attempts, d.token, d.due_at as "dueAt", d.created_at as "createdAt", w.url, w.inbox is not null as "isInbox", w.secrets, w.headers,
      w.retry_profile as "retryProfile", w.concurrency_max as "concurrencyMax", e.type, e.sequence,
      e.request_id as "requestId", e.created_at as "eventAt",
      case when row_number() over (partition by d.org_id, d.event_id order by d.due_at, d.id) = 1 then e.data end as data,
      exists (select from fitting f where not f.fits) as "hasMore",
      w.offset_ms as "offsetMs", w.stands_at as "frozenAt", w.advance_id as "advanceRequestId",
      w.failing_since as "failingSince", w.fault_plans as "faultPlans", d.was_held_until as "heldUntil", d.fault_plan_id as "faultPlanId",
      case when d.fault_plan_id is null then null else (
        select p.fault from fault_plans p where p.org_id = d.org_id and p.id = d.fault_plan_id) end as fault
    from claimed d join endpoint w on w.org_id = d.org_id and w.id = d.webhook_id
    cross join lateral (
      select e.type, e.sequence, e.request_id, e.created_at, e.data from events e where ${byKey('e', 'd.org_id', 'd.event_id')}) e
    order by d.due_at, d.id`,
};

type MarkedColumn = readonly [name: keyof MarkedAttempt, column: string, type: ColumnType];

const outcomeColumns = [
  ['responseStatus', 'response_status', 'integer'],
  ['responseHeaders', 'response_headers', 'jsonb'],
  ['responseBody', 'response_body', 'text'],
  ['durationMs', 'duration_ms', 'integer'],
  ['error', 'error', 'text'],
] as const;

export const markedColumns: readonly MarkedColumn[] = [
  ['orgId', 'org_id', 'text'],
  ['deliveryId', 'id', 'text'],
  ['webhookId', 'webhook_id', 'text'],
  ['token', 'token', 'integer'],
  ['status', 'status', 'text'],
  ['dueAt', 'due_at', 'timestamptz'],
  ['at', 'at', 'timestamptz'],
  ['sentAt', 'sent_at', 'timestamptz'],
  ['requestHeaders', 'request_headers', 'jsonb'],
  ...outcomeColumns,
  ['requestId', 'request_id', 'text'],
  ['faultPlanId', 'fault_plan_id', 'text'],
];
const marked = markedColumns.map(([, column]) => `u.${column}`).join(', ');

/** A copy and its delivery. */
export interface MarkedCopy extends CopiedAttempt {
  readonly deliveryId: Id<'delivery'>;
  readonly orgId: Id<'organization'>;
  /** The number of copies after this one. */
  readonly behind: number;
}

export const copiedColumns: readonly (readonly [keyof MarkedCopy, string, ColumnType])[] = [
  ['orgId', 'org_id', 'text'],
  ['deliveryId', 'id', 'text'],
  ['behind', 'behind', 'integer'],
  ...outcomeColumns,
];

const first = markedColumns.length + 1;

/** This process releases the endpoint: any other process may send to it from now on. */
const isReleased = `h.sender = $${first} and h.webhook_id = any($${first + 1}::text[])`;

const unnested = (columns: readonly (readonly [string, string, ColumnType])[], from: number, name: string) =>
  `unnest(${columns.map(([, , type], i) => `$${from + i}::${type}[]`).join(', ')})
        as ${name}(${columns.map(([, column]) => column).join(', ')})`;

/** Copies precede their attempt in the history, so the last attempt is still the one that counts. */
const copies = {
  counted: `+ (select count(*) from ${unnested(copiedColumns, first + 3, 'c')} where c.org_id = u.org_id and c.id = u.id)`,
  written: `copied as (
      insert into delivery_attempts (org_id, delivery_id, number, at, sent_at, request_headers, response_status,
        response_headers, response_body, duration_ms, error, status, request_id, fault_plan_id)
      select u.org_id, u.id, u.attempts - c.behind - 1, u.at, u.sent_at, u.request_headers, c.response_status,
        c.response_headers, c.response_body, c.duration_ms, c.error, 'pending', u.request_id, u.fault_plan_id
      from ${unnested(copiedColumns, first + 3, 'c')} join done u on u.org_id = c.org_id and u.id = c.id),`,
} as const;

/**
 * Records attempts: the new state of the delivery, if the claim is still valid, the attempt, and the endpoint health. A claim
 * that was lost in the meantime writes nothing, because another process is sending the delivery.
 */
const markText = (counted: string, written: string) => `with done as (
      update deliveries d set status = u.status, due_at = u.due_at, attempts = d.attempts + 1 ${counted}, tries = d.tries + 1,
        lease_until = null, last_response_status = u.response_status, last_error = u.error, updated_at = u.at
      from (
        select u.*, k.at as row_at from ${unnested(markedColumns, 1, 'u')}
        cross join lateral (select k.ctid as at from deliveries k where ${byKey('k', 'u.org_id', 'u.id')}) k offset 0) u
      where (select hold_organizations($${markedColumns.length + 3}::text[]))
        and d.ctid = u.row_at and d.token = u.token and d.lease_until is not null
      returning d.attempts, ${marked}),
    ${written}
    history as (
      insert into delivery_attempts (org_id, delivery_id, number, at, sent_at, request_headers, response_status,
        response_headers, response_body, duration_ms, error, status, request_id, fault_plan_id)
      select u.org_id, u.id, u.attempts, u.at, u.sent_at, u.request_headers, u.response_status, u.response_headers,
        u.response_body, u.duration_ms, u.error, u.status, u.request_id, u.fault_plan_id from done u),
    health as (
      insert into webhook_health as h (org_id, webhook_id, failing_since, last_success_at, last_failure_at)
      select u.org_id, u.webhook_id, case when bool_or(u.error is null) then null else min(u.at) end,
        max(u.at) filter (where u.error is null), max(u.at) filter (where u.error is not null)
      from done u group by u.org_id, u.webhook_id order by 1, 2
      on conflict (org_id, webhook_id) do update set
        failing_since = case when excluded.failing_since is null then null
          else least(h.failing_since, excluded.failing_since) end,
        last_success_at = coalesce(excluded.last_success_at, h.last_success_at),
        last_failure_at = coalesce(excluded.last_failure_at, h.last_failure_at),
        sender = case when ${isReleased} then null else h.sender end,
        sender_until = case when ${isReleased} then null else h.sender_until end
      returning 1)
    select count(*)::integer as marked from done`;

export const mark: Statement = { name: 'deliveries_mark', text: markText('', '') };

/** For a batch with deliveries that a fault plan duplicated. */
export const markWithCopies: Statement = {
  name: 'deliveries_mark_copies',
  text: markText(copies.counted, copies.written),
};

export const releaseDeliveries: Statement = {
  name: 'deliveries_release',
  text: `update deliveries d set lease_until = 'epoch' where d.status = 'pending' and d.lease_until is not null`,
};

export const releaseEndpoints: Statement = {
  name: 'webhook_health_release',
  text: `update webhook_health h set sender = null, sender_until = null where h.sender is not null and ($1::text is null or h.sender = $1)`,
};

export const endLeases: Statement = {
  name: 'deliveries_end_leases',
  text: `update deliveries d set lease_until = u.until
    from unnest($1::text[], $2::text[], $3::integer[], $4::timestamptz[]) as u(org_id, id, token, until)
    where d.org_id = u.org_id and d.id = u.id and d.token = u.token and d.lease_until is not null`,
};

export const clearBodies: Statement = {
  name: 'delivery_attempts_clear',
  text: `with old as (
      select ctid from delivery_attempts where sent_at < $1 and not bodies_cleared limit $2)
    update delivery_attempts set request_headers = null, response_headers = null, response_body = null, bodies_cleared = true
    where ctid = any(array(select ctid from old)) returning 1 as cleared`,
};

/** A claim that this process releases. */
export interface ReleasedClaim extends Pick<ClaimedDelivery, 'orgId' | 'id' | 'token'> {
  readonly isSent: boolean;
}
