import type { EventRow } from '../../kernel/event.ts';
import type { Id, IdKind } from '../../kernel/ids.ts';
import { type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { isNotDeleted, wantsEvent } from '../webhooks/delivery-table.ts';
import { replayEvent } from './commands.ts';
import { eventsTable } from './table.ts';

type Rows = Pick<Reader, 'rows'>;

const byKey: Statement = {
  name: 'events_by_key',
  text: `select ${selectList(eventsTable, 'e')} from events e where e.org_id = $1 and e.id = $2`,
};

export async function findEvent(
  reader: Rows,
  orgId: Id<'organization'>,
  id: string,
): Promise<EventRow | undefined> {
  const [event] = await reader.rows<EventRow>(byKey, [orgId, id]);
  return event;
}

const subscribersOf: Statement = {
  name: 'webhooks_wanting_event',
  text: `select w.id from events e cross join lateral (
      select w.id from webhooks w
      where w.org_id = e.org_id and w.app_id = e.app_id and ${isNotDeleted} and ${wantsEvent} offset 0) w
    where e.org_id = $1 and e.id = $2 order by w.id`,
};

/** The endpoints that subscribe to an event with their current configuration. */
export async function findSubscribers(
  reader: Rows,
  orgId: Id<'organization'>,
  eventId: Id<'event'>,
): Promise<readonly Id<'webhook'>[]> {
  return (await reader.rows<{ id: Id<'webhook'> }>(subscribersOf, [orgId, eventId])).map(({ id }) => id);
}

/**
 * Where streams find replays of single events and of a time window. The audit trail contains every single replay, even
 * without a subscribed endpoint; the replay of a window is visible by its deliveries.
 */
export type EventSource = 'replayed' | 'replayedInWindow';

interface SourceRows {
  /** The kind of the ids; they are in time order. */
  readonly kind: IdKind;
  readonly table: string;
  /** In the same terms as the partial index, so that the planner uses it. */
  readonly condition: string;
  readonly eventId: string;
}

const sources: Readonly<Record<EventSource, SourceRows>> = {
  replayed: {
    kind: 'audit',
    table: 'audit',
    condition: `and s.action = '${replayEvent.name}' and s.outcome = 'accepted'`,
    eventId: 's.resource_id',
  },
  replayedInWindow: {
    kind: 'delivery',
    table: 'deliveries',
    condition: 'and s.replay_id is not null',
    eventId: 's.event_id',
  },
};

export function idKindOf(source: EventSource): IdKind {
  return sources[source].kind;
}

const idsFrom = (source: EventSource): Statement => {
  const { table, condition } = sources[source];
  return {
    name: `event_ids_${source}`,
    text: `select s.id from ${table} s where s.org_id = $1 ${condition} and s.id >= $2
      order by s.org_id desc, s.id desc limit $3`,
  };
};

/** Ids are compared before the events are read, because most of the scanned ids are known. */
const behind = (source: EventSource): Statement => {
  const { table, condition, eventId } = sources[source];
  return {
    name: `events_behind_${source}`,
    text: `select i.id as "foundBy", e.* from (
        select i.id from (
          select i.id from (select s.id from ${table} s where s.org_id = $1 ${condition} and s.id >= $2
            order by s.org_id, s.id limit $4::integer + cardinality($3::text[]) + 1) i
          except select k.id from unnest($3::text[]) as k(id)) i
        order by i.id limit $4::integer) i
      cross join lateral (
        select ${eventId} as event_id from ${table} s where s.org_id = $1 and s.id = i.id offset 0) s
      cross join lateral (
        select ${selectList(eventsTable, 'e')} from events e where e.org_id = $1 and e.id = s.event_id offset 0) e
      order by i.id`,
  };
};

const idsOf = {
  replayed: idsFrom('replayed'),
  replayedInWindow: idsFrom('replayedInWindow'),
};
const behindOf = {
  replayed: behind('replayed'),
  replayedInWindow: behind('replayedInWindow'),
};

/** The newest ids of a source, starting at `from`, newest first. */
export async function findSourceIds(
  reader: Rows,
  source: EventSource,
  orgId: Id<'organization'>,
  from: string,
  limit: number,
): Promise<string[]> {
  return (await reader.rows<{ id: string }>(idsOf[source], [orgId, from, limit])).map(({ id }) => id);
}

/** An event, and its id in the source. */
export type FoundEvent = EventRow & { readonly foundBy: string };

/** The first events of a source, starting at an id, without the known ones. */
export function findNewEvents(
  reader: Rows,
  source: EventSource,
  orgId: Id<'organization'>,
  from: string,
  known: readonly string[],
  limit: number,
): PromiseLike<readonly FoundEvent[]> {
  return reader.rows<FoundEvent>(behindOf[source], [orgId, from, known, limit]);
}

/**
 * The position of an event in the common order of all streams: by the transaction that wrote it, then by id. Ids alone are not
 * sufficient: a transaction may commit after another transaction with later ids.
 */
export interface EventPosition {
  readonly xid: bigint;
  readonly id: string;
}

export type PositionedEvent = EventRow & { readonly position: EventPosition };

// A row has a 32-bit transaction id; the 64-bit id is the largest one up to `next` with these low bits.
const xidOf = (xmin: string) => `(c.next - ((c.next - ${xmin}::text::bigint) & 4294967295))`;

/**
 * Below the horizon every transaction has ended: its rows are visible, and no row can appear there later. Transactions of other
 * databases and roles write no events, and our transactions time out before they are a minute old.
 */
const horizon = `select s.next, coalesce((
      select min(x.xid) from (select x.xid::text::bigint as xid from pg_snapshot_xip(s.snapshot) as x(xid)) x
      where not exists (select from pg_stat_activity a
        where a.backend_xid::text::bigint = x.xid & 4294967295
          and (a.datname <> current_database() or a.usename <> current_user
            or a.xact_start < clock_timestamp() - interval '60 seconds'))), s.next) as horizon
    from (select pg_current_snapshot() as snapshot,
      pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next) s`;

// Candidates to sort for each event of a page: ids may be out of order by this much.
const candidatesPerEvent = 10;

const afterPosition: Statement = {
  name: 'events_after_position',
  text: `with c as materialized (${horizon})
    select c.horizon::text as horizon, i.xid::text as xid, e.* from c left join lateral (
      select i.id, i.xid from (
        select e.id, ${xidOf('e.xmin')} as xid from events e
        where e.org_id = $1 and e.id >= $2 and (${xidOf('e.xmin')}, e.id) > ($3::bigint, $4)
          and ${xidOf('e.xmin')} < c.horizon
        order by e.org_id, e.id limit $5::integer * ${candidatesPerEvent}) i
      order by i.xid, i.id limit $5::integer) i on true
    left join lateral (
      select ${selectList(eventsTable, 'e')} from events e where e.org_id = $1 and e.id = i.id offset 0) e on true
    order by i.xid, i.id`,
};

/** A page of events after a position, in stream order, and the horizon. A page that is not full has all events below it. */
export async function findEventsAfter(
  reader: Rows,
  orgId: Id<'organization'>,
  from: string,
  { xid, id }: EventPosition,
  limit: number,
): Promise<{ readonly events: readonly PositionedEvent[]; readonly horizon: bigint }> {
  type Found = EventRow & { readonly horizon: string; readonly xid: string | null };
  const rows = await reader.rows<Found>(afterPosition, [orgId, from, String(xid), id, limit]);
  return {
    horizon: BigInt(rows[0]?.horizon ?? 0),
    events: rows.flatMap(({ horizon: _horizon, xid: eventXid, ...event }) =>
      eventXid === null ? [] : { ...event, position: { xid: BigInt(eventXid), id: event.id } },
    ),
  };
}

const positionOf: Statement = {
  name: 'event_position',
  text: `with c as materialized (${horizon})
    select c.horizon::text as horizon, e.xid::text as xid from c left join lateral (
      select ${xidOf('e.xmin')} as xid from events e where e.org_id = $1 and e.id = $2 offset 0) e on true`,
};

/** The position of an event, undefined if the organization has no such event, and the horizon. */
export async function findEventPosition(
  reader: Rows,
  orgId: Id<'organization'>,
  id: string,
): Promise<{ readonly position: EventPosition | undefined; readonly horizon: bigint }> {
  const [row] = await reader.rows<{ horizon: string; xid: string | null }>(positionOf, [orgId, id]);
  const xid = row?.xid ?? null;
  return {
    horizon: BigInt(row?.horizon ?? 0),
    position: xid === null ? undefined : { xid: BigInt(xid), id },
  };
}
