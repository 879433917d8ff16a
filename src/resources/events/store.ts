import { wantsEvent } from '../../kernel/delivery.ts';
import type { IdKind } from '../../kernel/ids.ts';
import type { Reader } from '../../kernel/route.ts';
import { type Statement, selectList } from '../../kernel/table.ts';
import { type EventRow, eventsTable } from '../../kernel/trail.ts';
import { replayEvent } from './machine.ts';

type Rows = Pick<Reader, 'rows'>;

const byKey: Statement = {
  name: 'events_by_key',
  text: `select ${selectList(eventsTable, 'e')} from events e where e.org_id = $1 and e.id = $2`,
};

export async function findEvent(reader: Rows, orgId: string, id: string): Promise<EventRow | undefined> {
  const [event] = await reader.rows<EventRow>(byKey, [orgId, id]);
  return event;
}

const wanting: Statement = {
  name: 'webhooks_wanting_event',
  text: `select w.id from events e cross join lateral (
      select w.id from webhooks w where w.org_id = e.org_id and w.app_id = e.app_id and ${wantsEvent} offset 0) w
    where e.org_id = $1 and e.id = $2 order by w.id`,
};

/** The endpoints that want an event as they are configured now. */
export async function findWanting(reader: Rows, orgId: string, eventId: string): Promise<readonly string[]> {
  return (await reader.rows<{ id: string }>(wanting, [orgId, eventId])).map(({ id }) => id);
}

/**
 * What streams tell of: events that were made, events that somebody sent again, and those that were sent again with a whole
 * window. The audit trail has every single replay, also one that no endpoint wanted; a window leaves its deliveries.
 */
export type EventSource = 'made' | 'replayed' | 'replayedInWindow';

interface SourceRows {
  /** Of the ids that are in order of time. */
  readonly kind: IdKind;
  readonly table: string;
  /** Said in the words of the index that it has. */
  readonly which: string;
  readonly eventId: string;
}

const sources: Readonly<Record<EventSource, SourceRows>> = {
  made: { kind: 'event', table: 'events', which: '', eventId: 's.id' },
  replayed: {
    kind: 'audit',
    table: 'audit',
    which: `and s.action = '${replayEvent.name}' and s.outcome = 'accepted'`,
    eventId: 's.resource_id',
  },
  replayedInWindow: {
    kind: 'delivery',
    table: 'deliveries',
    which: 'and s.replay_id is not null',
    eventId: 's.event_id',
  },
};

export function idKindOf(source: EventSource): IdKind {
  return sources[source].kind;
}

const idsFrom = (source: EventSource): Statement => {
  const { table, which } = sources[source];
  return {
    name: `event_ids_${source}`,
    text: `select s.id from ${table} s where s.org_id = $1 ${which} and s.id >= $2
      order by s.org_id desc, s.id desc limit $3`,
  };
};

/** Ids are compared before the events are read: most of those that are looked at are known. */
const behind = (source: EventSource): Statement => {
  const { table, which, eventId } = sources[source];
  return {
    name: `events_behind_${source}`,
    text: `select i.id as "foundBy", e.* from (
        select i.id from (
          select i.id from (select s.id from ${table} s where s.org_id = $1 ${which} and s.id >= $2
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
  made: idsFrom('made'),
  replayed: idsFrom('replayed'),
  replayedInWindow: idsFrom('replayedInWindow'),
};
const behindOf = {
  made: behind('made'),
  replayed: behind('replayed'),
  replayedInWindow: behind('replayedInWindow'),
};

/** The newest ids of a source from one on, the newest first. */
export async function findSourceIds(
  reader: Rows,
  source: EventSource,
  orgId: string,
  from: string,
  limit: number,
): Promise<string[]> {
  return (await reader.rows<{ id: string }>(idsOf[source], [orgId, from, limit])).map(({ id }) => id);
}

/** An event, and the id under which its source has it. */
export type FoundEvent = EventRow & { readonly foundBy: string };

/** The first events of a source from an id on, besides those that are known. */
export function findEventsBehind(
  reader: Rows,
  source: EventSource,
  orgId: string,
  from: string,
  known: readonly string[],
  limit: number,
): PromiseLike<readonly FoundEvent[]> {
  return reader.rows<FoundEvent>(behindOf[source], [orgId, from, known, limit]);
}
