import type { Id } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/route.ts';
import { type Instant, type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { clockIdOf, minuteMs } from '../../kernel/time.ts';
import { type HistoryRow, historyTable } from '../history/table.ts';
import { realClock } from './machine.ts';
import { type ClockRow, clocksTable } from './table.ts';
import type { TimerRow } from './timer-table.ts';

/** The clock of the calling application, read from the database because another node may have moved it. */
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

/** The due timers of one application up to an instant of its clock, in order. */
export function findDue(
  reader: Rows,
  { orgId, appId }: { readonly orgId: Id<'organization'>; readonly appId: Id<'application'> },
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

/** The number of timers due up to an instant, counted up to the limit. */
export async function countDue(
  reader: Rows,
  { orgId, appId }: { readonly orgId: Id<'organization'>; readonly appId: Id<'application'> },
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

export interface ApplicationKey {
  readonly orgId: Id<'organization'>;
  readonly appId: Id<'application'>;
}

/**
 * Applications with a timer that is due by their own clock, among the next $4 after a given application. The recursive part
 * skips through the index from one application to the next and finds the first timer of each: about 10 µs for each
 * application with timers, regardless of the number of timers.
 */
const dueApplications: Statement = {
  name: 'timers_due_applications',
  text: `with recursive waiting(org_id, app_id, due_at, n) as (
      (select t.org_id, t.app_id, t.due_at, 1 from timers t where (t.org_id, t.app_id) > ($2, $3)
        order by t.org_id, t.app_id, t.due_at limit 1)
      union all
      select s.org_id, s.app_id, s.due_at, w.n + 1 from waiting w cross join lateral (
        select t.org_id, t.app_id, t.due_at from timers t where (t.org_id, t.app_id) > (w.org_id, w.app_id)
        order by t.org_id, t.app_id, t.due_at limit 1) s
      where w.n < $4)
    select w.org_id as "orgId", w.app_id as "appId",
      w.due_at <= coalesce(c.now, $1::timestamptz) and c.is_advancing is not true as "isDue", w.n = $4 as "isLast"
    from waiting w left join lateral (
      select c.advance is not null as is_advancing,
        coalesce(c.stands_at, $1::timestamptz + c.offset_ms * interval '1 millisecond') as now
      from clocks c where c.org_id = w.org_id and c.id = 'clk' || substr(w.app_id, 4)) c on true
    where w.n = $4 or (w.due_at <= coalesce(c.now, $1::timestamptz) and c.is_advancing is not true)`,
};

/** The applications with due timers, and the application to continue after; undefined after the last application. */
export async function findDueApplications(
  reader: Rows,
  wallNow: Instant,
  after: ApplicationKey | undefined,
  applicationsMax: number,
): Promise<{ readonly due: readonly ApplicationKey[]; readonly next: ApplicationKey | undefined }> {
  const rows = await reader.rows<ApplicationKey & { isDue: boolean; isLast: boolean }>(dueApplications, [
    new Date(wallNow).toISOString(),
    after?.orgId ?? '',
    after?.appId ?? '',
    applicationsMax,
  ]);
  return { due: rows.filter(({ isDue }) => isDue), next: rows.find(({ isLast }) => isLast) };
}

const lostAdvances: Statement = {
  name: 'clocks_lost_advances',
  text: `select ${selectList(clocksTable, 'c')} from clocks c
    where c.advance is not null and c.lease_until <= $1 order by c.lease_until limit $2`,
};

/** Clocks whose advance no process runs any more: their leases expired before the given instant. */
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
 * The state changes of a request so far, in order. It has no index: it runs only when a process resumes the advance of a
 * dead process, and then it scans the history of one organization.
 */
const movesOfRequest: Statement = {
  name: 'history_of_request',
  text: `select ${selectList(historyTable, 'h')}, e.type as "eventType" from state_history h
    left join events e on e.org_id = h.org_id and e.id = h.event_id
    where h.org_id = $1 and h.request_id = $2 and h.resource <> 'clock' order by h.at, h.event_id limit $3`,
  msMax: minuteMs,
};

export function findMovesOfRequest(
  reader: Rows,
  orgId: Id<'organization'>,
  requestId: Id<'request'>,
  limit: number,
): PromiseLike<readonly MoveOfRequest[]> {
  return reader.rows<MoveOfRequest>(movesOfRequest, [orgId, requestId, limit]);
}
