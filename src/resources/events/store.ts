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
