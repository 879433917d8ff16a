import type { Id } from '../../kernel/ids.ts';
import type { Reader, Statement } from '../../kernel/table.ts';
import type { AttemptRow } from './delivery-table.ts';
import type { WebhookRow } from './table.ts';

/** More than any retry profile has. */
const attemptsShownMax = 20;
/** A receipt of an inbox is shorter. The responses of other endpoints are not read: a page of them may have 32 MB. */
const receiptCharactersMax = 4_096;

export type ListedAttempt = Pick<
  AttemptRow,
  'deliveryId' | 'number' | 'at' | 'status' | 'responseStatus' | 'responseBody' | 'durationMs' | 'error'
>;

const newestAttempts: Statement = {
  name: 'newest_attempts_of_deliveries',
  text: `select a.* from unnest($2::text[]) as k(id) cross join lateral (
      select a.delivery_id as "deliveryId", a.number, a.at, a.status, a.response_status as "responseStatus",
        case when $4::boolean then left(a.response_body, ${receiptCharactersMax}) end as "responseBody", a.duration_ms as "durationMs", a.error
      from delivery_attempts a where a.org_id = $1 and a.delivery_id = k.id
      order by a.org_id desc, a.delivery_id desc, a.number desc limit $3) a`,
};

/** The newest attempts of each delivery to an endpoint, newest first. Only those of an inbox have their response. */
export async function findNewestAttempts(
  reader: Pick<Reader, 'rows'>,
  { orgId, inbox }: Pick<WebhookRow, 'orgId' | 'inbox'>,
  deliveryIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ListedAttempt[]>> {
  const values = [orgId, deliveryIds, attemptsShownMax, inbox !== null];
  const rows = await reader.rows<ListedAttempt>(newestAttempts, values);
  const byDelivery = new Map<string, ListedAttempt[]>();
  for (const row of rows) {
    const attempts = byDelivery.get(row.deliveryId);
    if (attempts) attempts.push(row);
    else byDelivery.set(row.deliveryId, [row]);
  }
  return byDelivery;
}

const records: Statement = {
  name: 'records_of_events',
  text: `select e.id, e.resource_id as "resourceId" from unnest($2::text[]) as k(id) cross join lateral (
      select e.id, e.resource_id from events e where e.org_id = $1 and e.id = k.id offset 0) e`,
};

/** The record that each event is about. */
export async function findRecordsOfEvents(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  type Row = { readonly id: string; readonly resourceId: string };
  const rows = await reader.rows<Row>(records, [orgId, [...new Set(eventIds)]]);
  return new Map(rows.map(({ id, resourceId }) => [id, resourceId]));
}
