import { clockIdOf } from '../../kernel/clock.ts';
import type { Principal, Reader } from '../../kernel/route.ts';
import { defineTable, type Instant, type Statement, selectList } from '../../kernel/table.ts';
import { type HistoryRow, historyTable, type TimerRow } from '../../kernel/trail.ts';
import { type ClockRow, realClock } from './machine.ts';

export const clocksTable = defineTable<ClockRow>('clocks', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  offsetMs: 'bigint',
  standsAt: 'timestamptz',
  advance: 'jsonb',
  leaseUntil: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

/** The clock of the application that asks, as the database has it: another node may have moved it. */
export function findClock(
  reader: Reader,
  { orgId, appId }: Pick<Principal, 'orgId' | 'appId'>,
  wallNow: Instant,
): PromiseLike<ClockRow> {
  return reader
    .byKey(clocksTable, orgId, clockIdOf(appId))
    .then((clock) => clock ?? realClock(orgId, appId, wallNow));
}

type Rows = Pick<Reader, 'rows'>;

const dueTimers: Statement = {
  name: 'timers_due',
  text: `select t.id, t.resource, t.due_at as "dueAt" from timers t
    where t.org_id = $1 and t.app_id = $2 and t.due_at <= $3 order by t.due_at, t.id limit $4`,
};

/** What is due in one application up to an instant of its clock, in order. */
export function findDue(
  reader: Rows,
  { orgId, appId }: { readonly orgId: string; readonly appId: string },
  until: Instant,
  limit: number,
): PromiseLike<readonly Pick<TimerRow, 'id' | 'resource' | 'dueAt'>[]> {
  return reader.rows(dueTimers, [orgId, appId, new Date(until).toISOString(), limit]);
}

const dueCount: Statement = {
  name: 'timers_due_count',
  text: `select count(*)::integer as timers, min(due_at) as "nextAt" from (
    select t.due_at from timers t where t.org_id = $1 and t.app_id = $2 and t.due_at <= $3 limit $4) d`,
};

/** How much is due up to an instant, counted as far as the limit. */
export async function countDue(
  reader: Rows,
  { orgId, appId }: { readonly orgId: string; readonly appId: string },
  until: Instant,
  limit: number,
): Promise<{ readonly timers: number; readonly nextAt: Instant | null }> {
  const [counted] = await reader.rows<{ timers: number; nextAt: Instant | null }>(dueCount, [
    orgId,
    appId,
    new Date(until).toISOString(),
    limit,
  ]);
  return counted ?? { timers: 0, nextAt: null };
}

/**
 * Applications in which something is due by their own clocks. The recursive part jumps from one application to the next
 * over the index, so its cost is that of the applications that wait for something, not of their timers.
 */
const dueApplications: Statement = {
  name: 'timers_due_applications',
  text: `with recursive waiting(org_id, app_id) as (
      (select t.org_id, t.app_id from timers t order by t.org_id, t.app_id limit 1)
      union all
      select n.org_id, n.app_id from waiting w cross join lateral (
        select t.org_id, t.app_id from timers t where (t.org_id, t.app_id) > (w.org_id, w.app_id)
        order by t.org_id, t.app_id limit 1) n)
    select w.org_id as "orgId", w.app_id as "appId" from waiting w
    cross join lateral (select coalesce((
      select coalesce(c.stands_at, $1::timestamptz + c.offset_ms * interval '1 millisecond') from clocks c
      where c.org_id = w.org_id and c.id = 'clk' || substr(w.app_id, 4)), $1::timestamptz) as now) k
    where exists (select from timers t where t.org_id = w.org_id and t.app_id = w.app_id and t.due_at <= k.now)
      and not exists (select from clocks c where c.org_id = w.org_id and c.id = 'clk' || substr(w.app_id, 4)
        and c.advance is not null)
    limit $2`,
};

export function findDueApplications(
  reader: Rows,
  wallNow: Instant,
  limit: number,
): PromiseLike<readonly { readonly orgId: string; readonly appId: string }[]> {
  return reader.rows(dueApplications, [new Date(wallNow).toISOString(), limit]);
}

const lostAdvances: Statement = {
  name: 'clocks_lost_advances',
  text: `select ${selectList(clocksTable, 'c')} from clocks c
    where c.advance is not null and c.lease_until <= $1 order by c.lease_until limit $2`,
};

/** Clocks whose advance nobody carries on: their leases ended before the instant given. */
export function findLostAdvances(
  reader: Rows,
  leasedUntil: Instant,
  limit: number,
): PromiseLike<readonly ClockRow[]> {
  return reader.rows<ClockRow>(lostAdvances, [new Date(leasedUntil).toISOString(), limit]);
}

export interface MoveOfRequest extends HistoryRow {
  readonly eventType: string | null;
}

/**
 * What a request has moved so far, in order. There is no index for it: it is asked only when an advance is taken up whose
 * first process died, and looks through the history of one organization then.
 */
const movesOfRequest: Statement = {
  name: 'history_of_request',
  text: `select ${selectList(historyTable, 'h')}, e.type as "eventType" from state_history h
    left join events e on e.org_id = h.org_id and e.id = h.event_id
    where h.org_id = $1 and h.request_id = $2 and h.resource <> 'clock' order by h.at, h.event_id limit $3`,
  msMax: 60_000,
};

export function findMovesOfRequest(
  reader: Rows,
  orgId: string,
  requestId: string,
  limit: number,
): PromiseLike<readonly MoveOfRequest[]> {
  return reader.rows<MoveOfRequest>(movesOfRequest, [orgId, requestId, limit]);
}
