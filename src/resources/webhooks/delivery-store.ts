import type { EventRow } from '../../kernel/event.ts';
import type { Reader } from '../../kernel/route.ts';
import { type Instant, type Statement, selectList } from '../../kernel/table.ts';
import { eventsTable } from '../events/table.ts';
import { type AttemptRow, attemptsTable, type DeliveryRow, deliveriesTable } from './delivery-table.ts';
import type { ShownDelivery } from './delivery-views.ts';

type Rows = Pick<Reader, 'rows'>;

const heldOf: Statement = {
  name: 'webhooks_disabled_of',
  text: `select w.id from unnest($2::text[]) as k(id) cross join lateral (
      select w.id from webhooks w where w.org_id = $1 and w.id = k.id and w.status = 'disabled' offset 0) w`,
};

/** Deliveries with what can be said only by looking at their endpoints. */
export async function withHeld(
  reader: Rows,
  orgId: string,
  rows: readonly DeliveryRow[],
): Promise<readonly ShownDelivery[]> {
  const pending = rows.filter(({ status }) => status === 'pending').map(({ webhookId }) => webhookId);
  const closed = new Set(
    pending.length === 0
      ? []
      : (await reader.rows<{ id: string }>(heldOf, [orgId, [...new Set(pending)]])).map(({ id }) => id),
  );
  return rows.map((row) => ({ ...row, isHeld: closed.has(row.webhookId) }));
}

const one: Statement = {
  name: 'delivery_with_endpoint',
  text: `select ${selectList(deliveriesTable, 'd')}, w.url, w.status = 'disabled' as "isHeld" from deliveries d
    cross join lateral (select w.url, w.status from webhooks w where w.org_id = d.org_id and w.id = d.webhook_id offset 0) w
    where d.org_id = $1 and d.id = $2`,
};

const attemptsOf: Statement = {
  name: 'delivery_attempts_of',
  text: `select ${selectList(attemptsTable, 'a')} from delivery_attempts a
    where a.org_id = $1 and a.delivery_id = $2 order by a.org_id, a.delivery_id, a.number limit 200`,
};

const eventOf: Statement = {
  name: 'event_by_key',
  text: `select ${selectList(eventsTable, 'e')} from events e where e.org_id = $1 and e.id = $2`,
};

export interface DeliveryDetail {
  readonly delivery: ShownDelivery & { readonly url: string };
  readonly event: EventRow;
  readonly attempts: readonly AttemptRow[];
}

export async function findDelivery(
  reader: Rows,
  orgId: string,
  id: string,
): Promise<DeliveryDetail | undefined> {
  const [delivery] = await reader.rows<DeliveryDetail['delivery']>(one, [orgId, id]);
  if (!delivery) return undefined;
  const [[event], attempts] = await Promise.all([
    reader.rows<EventRow>(eventOf, [orgId, delivery.eventId]),
    reader.rows<AttemptRow>(attemptsOf, [orgId, id]),
  ]);
  if (!event) throw new Error(`${id} is a delivery of an event that is not there`);
  return { delivery, event, attempts };
}

/** An attempt that an advance of the clock has brought about. */
export interface AttemptOfRequest {
  readonly at: Instant;
  readonly deliveryId: string;
  readonly status: DeliveryRow['status'];
  readonly eventType: string;
}

const attemptsOfRequest: Statement = {
  name: 'delivery_attempts_of_request',
  text: `select a.at, a.delivery_id as "deliveryId", a.status, d.event_type as "eventType" from delivery_attempts a
    cross join lateral (select d.event_type from deliveries d where d.org_id = a.org_id and d.id = a.delivery_id offset 0) d
    where a.org_id = $1 and a.request_id = $2 order by a.at, a.delivery_id, a.number limit $3`,
  msMax: 60_000,
};

export function findAttemptsOfRequest(
  reader: Rows,
  orgId: string,
  requestId: string,
  limit: number,
): PromiseLike<readonly AttemptOfRequest[]> {
  return reader.rows<AttemptOfRequest>(attemptsOfRequest, [orgId, requestId, limit]);
}

const countOfRequest: Statement = {
  name: 'delivery_attempts_of_request_count',
  text: `select count(*)::integer as n from (
    select 1 from delivery_attempts a where a.org_id = $1 and a.request_id = $2 limit $3) a`,
};

export async function countAttemptsOfRequest(
  reader: Rows,
  orgId: string,
  requestId: string,
  limit: number,
): Promise<number> {
  const [counted] = await reader.rows<{ n: number }>(countOfRequest, [orgId, requestId, limit]);
  return counted?.n ?? 0;
}

export interface Outstanding {
  /** Due and not yet answered, sent or not. */
  readonly due: number;
  /** When the first of them is due. */
  readonly nextAt: Instant | null;
  /** How many of them were due before the instant that a clock has reached. */
  readonly passedOver: number;
}

/**
 * What an application's enabled endpoints still have to be sent up to an instant. A first attempt is due at once, so its
 * instant is that of its event.
 */
const outstanding: Statement = {
  name: 'deliveries_outstanding',
  text: `select count(*)::integer as due, min(d.at) as "nextAt", (count(*) filter (where d.at < $5))::integer as "passedOver"
    from webhooks w cross join lateral (
      select greatest(d.due_at, d.created_at) as at from deliveries d
      where d.org_id = w.org_id and d.webhook_id = w.id and d.status = 'pending' and d.due_at <= $3
      order by d.due_at, d.id limit $4) d
    where w.org_id = $1 and w.app_id = $2 and w.status = 'enabled'`,
};

export async function findOutstanding(
  reader: Rows,
  { orgId, appId }: { readonly orgId: string; readonly appId: string },
  until: Instant,
  limit: number,
  reached: Instant = until,
): Promise<Outstanding> {
  const [found] = await reader.rows<Outstanding>(outstanding, [
    orgId,
    appId,
    new Date(until).toISOString(),
    limit,
    new Date(reached).toISOString(),
  ]);
  return found ?? { due: 0, nextAt: null, passedOver: 0 };
}
