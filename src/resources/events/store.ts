import { wantsEvent } from '../../kernel/delivery.ts';
import type { Reader } from '../../kernel/route.ts';
import { type Statement, selectList } from '../../kernel/table.ts';
import { type EventRow, eventsTable } from '../../kernel/trail.ts';

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

const idsFrom: Statement = {
  name: 'event_ids_from',
  text: `select e.id from events e where e.org_id = $1 and e.id >= $2 order by e.org_id desc, e.id desc limit $3`,
};

/** The ids of the newest events from one on, the newest first. */
export async function findEventIds(
  reader: Rows,
  orgId: string,
  from: string,
  limit: number,
): Promise<string[]> {
  return (await reader.rows<{ id: string }>(idsFrom, [orgId, from, limit])).map(({ id }) => id);
}

/** Ids are compared before the events are read: most of those that are looked at are known. */
const behind: Statement = {
  name: 'events_behind',
  text: `select e.* from (
      select i.id from (
        select i.id from (select e.id from events e where e.org_id = $1 and e.id >= $2
          order by e.org_id, e.id limit $4::integer + cardinality($3::text[]) + 1) i
        except select k.id from unnest($3::text[]) as k(id)) i
      order by i.id limit $4::integer) i
    cross join lateral (
      select ${selectList(eventsTable, 'e')} from events e where e.org_id = $1 and e.id = i.id offset 0) e
    order by e.id`,
};

/** The first events from an id on, besides those that are known. */
export function findEventsBehind(
  reader: Rows,
  orgId: string,
  from: string,
  known: readonly string[],
  limit: number,
): PromiseLike<readonly EventRow[]> {
  return reader.rows<EventRow>(behind, [orgId, from, known, limit]);
}
