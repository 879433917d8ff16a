import type { Id } from '../../kernel/ids.ts';
import {
  type AnyRow,
  type Instant,
  type Reader,
  type Statement,
  selectList,
  type Table,
} from '../../kernel/table.ts';
import type { TimerRow } from '../clocks/timer-table.ts';
import { disputesTable } from '../disputes/table.ts';
import { paymentsTable } from '../payments/table.ts';
import { transfersTable } from '../transfers/table.ts';
import type { DeliveryRow } from '../webhooks/delivery-table.ts';

type Rows = Pick<Reader, 'rows'>;

interface ApplicationKey {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'>;
}

const timersAfter: Statement = {
  name: 'schedule_timers',
  text: `select t.id, t.resource, t.due_at as "dueAt" from timers t
    where t.org_id = $1 and t.app_id = $2 and t.due_at > $3 order by t.due_at, t.id limit $4`,
};

/** The next timers after an instant of the application clock, in order: a range of the index that the timer worker reads. */
export function findTimersAfter(
  reader: Rows,
  { orgId, appId }: ApplicationKey,
  now: Instant,
  limit: number,
): PromiseLike<readonly Pick<TimerRow, 'id' | 'resource' | 'dueAt'>[]> {
  return reader.rows(timersAfter, [orgId, appId, new Date(now).toISOString(), limit]);
}

export type ScheduledAttempt = Pick<DeliveryRow, 'id' | 'dueAt' | 'eventType'>;

/** Pending retries to the enabled endpoints of an application. Each endpoint contributes a range of its queue's index. */
const attemptsAfter: Statement = {
  name: 'schedule_attempts',
  text: `select d.id, d.due_at as "dueAt", d.event_type as "eventType"
    from webhooks w cross join lateral (
      select d.id, d.due_at, d.event_type from deliveries d
      where d.org_id = w.org_id and d.webhook_id = w.id and d.status = 'pending' and d.due_at > $3
      order by d.due_at, d.id limit $4) d
    where w.org_id = $1 and w.app_id = $2 and w.status = 'enabled' order by d.due_at, d.id limit $4`,
};

export function findAttemptsAfter(
  reader: Rows,
  { orgId, appId }: ApplicationKey,
  now: Instant,
  limit: number,
): PromiseLike<readonly ScheduledAttempt[]> {
  return reader.rows(attemptsAfter, [orgId, appId, new Date(now).toISOString(), limit]);
}

const countAfter: Statement = {
  name: 'schedule_count',
  text: `select (select count(*)::integer from (
      select 1 from timers t where t.org_id = $1 and t.app_id = $2 and t.due_at > $3 limit $4) t)
    + (select count(*)::integer from (
      select 1 from webhooks w cross join lateral (
        select 1 from deliveries d where d.org_id = w.org_id and d.webhook_id = w.id and d.status = 'pending'
          and d.due_at > $3 limit $4) d
      where w.org_id = $1 and w.app_id = $2 and w.status = 'enabled' limit $4) d) as count`,
};

/** How many timers and retries are due after an instant; each kind is counted up to the limit. */
export async function countAfterInstant(
  reader: Rows,
  { orgId, appId }: ApplicationKey,
  now: Instant,
  limit: number,
): Promise<number> {
  const [counted] = await reader.rows<{ count: number }>(countAfter, [
    orgId,
    appId,
    new Date(now).toISOString(),
    limit,
  ]);
  return counted?.count ?? 0;
}

const byIds = <Row extends AnyRow>(name: string, table: Table<Row>): Statement => ({
  name: `schedule_${name}`,
  text: `select ${selectList(table, 't')} from ${name} t where t.org_id = $1 and t.id = any($2::text[])`,
});

const statements = {
  payment: byIds('payments', paymentsTable),
  dispute: byIds('disputes', disputesTable),
  transfer: byIds('transfers', transfersTable),
};

/** The records of timers. The step that a record is due to take is derived from the record. */
export function findRecords<Row extends AnyRow>(
  reader: Rows,
  orgId: Id<'organization'>,
  kind: keyof typeof statements,
  ids: readonly string[],
): PromiseLike<readonly Row[]> {
  return ids.length === 0 ? Promise.resolve([]) : reader.rows<Row>(statements[kind], [orgId, ids]);
}
