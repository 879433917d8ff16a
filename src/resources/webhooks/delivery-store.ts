import type { EventRow } from '../../kernel/event.ts';
import type { Id } from '../../kernel/ids.ts';
import { pageQueryOf } from '../../kernel/list.ts';
import { type Principal, withinReach } from '../../kernel/route.ts';
import { type Instant, type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { minuteMs } from '../../kernel/time.ts';
import { eventsTable } from '../events/table.ts';
import { type AttemptRow, attemptsTable, type DeliveryRow, deliveriesTable } from './delivery-table.ts';
import type { ShownDelivery } from './delivery-views.ts';

type Rows = Pick<Reader, 'rows'>;

/** A page of deliveries, as far as the principal reaches. */
export function deliveryPageOf(principal: Principal, query: unknown) {
  const filters = ['appId', 'status', 'webhookId', 'eventId', 'eventType'] as const;
  return pageQueryOf(deliveriesTable, 'delivery', filters, principal.orgId, withinReach(principal, query));
}

const disabledEndpoints: Statement = {
  name: 'webhooks_disabled_of',
  text: `select w.id from unnest($2::text[]) as k(id) cross join lateral (
      select w.id from webhooks w where w.org_id = $1 and w.id = k.id and w.status = 'disabled' offset 0) w`,
};

/** Adds to each delivery whether it is held because its endpoint is disabled. */
export async function withHeldFlag(
  reader: Rows,
  orgId: Id<'organization'>,
  rows: readonly DeliveryRow[],
): Promise<readonly ShownDelivery[]> {
  const pending = rows.filter(({ status }) => status === 'pending').map(({ webhookId }) => webhookId);
  const disabled = new Set(
    pending.length === 0
      ? []
      : (await reader.rows<{ id: string }>(disabledEndpoints, [orgId, [...new Set(pending)]])).map(
          ({ id }) => id,
        ),
  );
  return rows.map((row) => ({ ...row, isHeld: disabled.has(row.webhookId) }));
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
  orgId: Id<'organization'>,
  id: string,
): Promise<DeliveryDetail | undefined> {
  const [delivery] = await reader.rows<DeliveryDetail['delivery']>(one, [orgId, id]);
  if (!delivery) return undefined;
  const [[event], attempts] = await Promise.all([
    reader.rows<EventRow>(eventOf, [orgId, delivery.eventId]),
    reader.rows<AttemptRow>(attemptsOf, [orgId, id]),
  ]);
  if (!event) throw new Error(`${id} is a delivery of a missing event`);
  return { delivery, event, attempts };
}

/** An attempt that a clock advance triggered. */
export interface AttemptOfRequest {
  readonly at: Instant;
  readonly deliveryId: Id<'delivery'>;
  readonly status: DeliveryRow['status'];
  readonly eventType: string;
}

const attemptsOfRequest: Statement = {
  name: 'delivery_attempts_of_request',
  text: `select a.at, a.delivery_id as "deliveryId", a.status, d.event_type as "eventType" from delivery_attempts a
    cross join lateral (select d.event_type from deliveries d where d.org_id = a.org_id and d.id = a.delivery_id offset 0) d
    where a.org_id = $1 and a.request_id = $2 order by a.at, a.delivery_id, a.number limit $3`,
  msMax: minuteMs,
};

export function findAttemptsOfRequest(
  reader: Rows,
  orgId: Id<'organization'>,
  requestId: Id<'request'>,
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
  orgId: Id<'organization'>,
  requestId: Id<'request'>,
  limit: number,
): Promise<number> {
  const [counted] = await reader.rows<{ n: number }>(countOfRequest, [orgId, requestId, limit]);
  return counted?.n ?? 0;
}

export interface Outstanding {
  /** Due deliveries without a response, sent or not. */
  readonly due: number;
  /** When the first due delivery is due. */
  readonly nextAt: Instant | null;
  /** How many of them were due before the current instant of the clock. */
  readonly passedOver: number;
}

/**
 * The pending deliveries to the enabled endpoints of an application up to an instant. A first attempt is due immediately, so its
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
  { orgId, appId }: { readonly orgId: Id<'organization'>; readonly appId: Id<'application'> },
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
