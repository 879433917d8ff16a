import type { Id } from '../../kernel/ids.ts';
import type { Reader, Statement } from '../../kernel/table.ts';
import type { AttemptRow, DeliveryRow } from './delivery-table.ts';

/** More than any retry profile has. */
const attemptsShownMax = 20;

export interface ListedAttempt
  extends Pick<
    AttemptRow,
    'deliveryId' | 'number' | 'at' | 'status' | 'responseStatus' | 'durationMs' | 'error'
  > {
  /** The response of an inbox; null for other endpoints, whose responses can be long. */
  readonly receipt: string | null;
}

const newestAttempts: Statement = {
  name: 'newest_attempts_of_deliveries',
  text: `select a.* from unnest($2::text[], $3::text[]) as k(id, webhook_id) cross join lateral (
      select w.inbox is not null as "isInbox" from webhooks w where w.org_id = $1 and w.id = k.webhook_id offset 0) w
    cross join lateral (
      select a.delivery_id as "deliveryId", a.number, a.at, a.status, a.response_status as "responseStatus",
        case when w."isInbox" then a.response_body end as receipt, a.duration_ms as "durationMs", a.error
      from delivery_attempts a where a.org_id = $1 and a.delivery_id = k.id
      order by a.org_id desc, a.delivery_id desc, a.number desc limit $4) a`,
};

/** The newest attempts of each delivery, newest first. */
export async function findNewestAttempts(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  deliveries: readonly Pick<DeliveryRow, 'id' | 'webhookId'>[],
): Promise<ReadonlyMap<string, readonly ListedAttempt[]>> {
  const rows = await reader.rows<ListedAttempt>(newestAttempts, [
    orgId,
    deliveries.map(({ id }) => id),
    deliveries.map(({ webhookId }) => webhookId),
    attemptsShownMax,
  ]);
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
