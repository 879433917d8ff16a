import type { Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { dueImmediately, isNotDeleted, wantsEvent } from './delivery-table.ts';
import type { Pair, Window } from './replay-machine.ts';
import { type ReplayRow, replaysTable } from './replay-table.ts';

type Rows = Pick<Reader, 'rows'>;

const newest: Statement = {
  name: 'events_newest',
  text: `select e.id from events e where e.org_id = $1 order by e.org_id desc, e.id desc limit 1`,
};

/** The newest event: later events are not part of a replay that begins now. */
export async function findNewestEvent(reader: Rows, orgId: Id<'organization'>): Promise<string> {
  const [event] = await reader.rows<{ id: string }>(newest, [orgId]);
  return event?.id ?? '';
}

const hasDelivery = (condition: string) =>
  `exists (select from deliveries d where d.org_id = $1 and d.event_id = e.id and d.webhook_id = w.id${condition})`;

/**
 * Reads a batch of events after a given one, in order, and finds the matching pairs of event and endpoint. The window is by the
 * application clock, which can jump, so all events are read: a thousand of them take a few milliseconds, without an index to
 * maintain.
 *
 * A step is also limited in pairs, because an application may have a hundred endpoints: it examines at most $11 combinations of
 * event and endpoint, and takes whole events until $10 pairs are found, at least one event. The row without an endpoint contains
 * the last event of the step.
 *
 * Test events are not part of a replay.
 */
const pairsOf: Statement = {
  name: 'replay_pairs',
  text: `with endpoint as materialized (
      select w.id, w.event_types from webhooks w where w.org_id = $1 and w.app_id = $5 and ${isNotDeleted}
        and ($6::text is null or w.id = $6)),
    scanned as materialized (
      select e.id, e.type, e.app_id, e.resource_id, e.created_at from events e
      where e.org_id = $1 and e.id > $2 and e.id <= $3 order by e.org_id, e.id
      limit greatest(1, least($4::integer, $11::integer / greatest(1, (select count(*) from endpoint))))),
    pair as materialized (
      select e.id, e.type, w.id as webhook_id, count(*) over (order by e.id) as pairs, dense_rank() over (order by e.id) as rank
      from scanned e cross join endpoint w
      where e.app_id = $5 and e.created_at >= $7 and e.created_at < $8 and ${wantsEvent}
        and not exists (select from deliveries d where d.org_id = $1 and d.event_id = e.id and d.trigger = 'test')
        and case $9 when 'all' then true when 'missing' then not ${hasDelivery('')}
          else ${hasDelivery(" and d.status = 'failed'")} and not ${hasDelivery(" and d.status <> 'failed'")} end)
    select p.id as "eventId", p.type as "eventType", p.webhook_id as "webhookId" from pair p where p.pairs <= $10 or p.rank = 1
    union all
    (select max(e.id), '', null from scanned e
      where e.id < coalesce((select min(p.id) from pair p where p.pairs > $10 and p.rank > 1), 'z'))
    order by 1, 3`,
};

/** PGlite takes about 10 µs for each. */
const combinationsMax = 1_000;

export interface PairPage {
  readonly pairs: readonly Omit<Pair, 'suffix'>[];
  readonly cursor: string;
  readonly isLast: boolean;
}

/** Finds the pairs of one step, and the cursor to continue from. */
export async function findPairs(
  reader: Rows,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
  { windowFrom, windowTo, selection, webhookId }: Window,
  {
    after,
    last,
    pairsMax = limits.replayStepMax,
  }: { readonly after: string; readonly last: string; readonly pairsMax?: number },
): Promise<PairPage> {
  const rows = await reader.rows<{
    eventId: Id<'event'> | null;
    eventType: string;
    webhookId: Id<'webhook'> | null;
  }>(pairsOf, [
    orgId,
    after,
    last,
    limits.replayEventsInStepMax,
    appId,
    webhookId,
    new Date(windowFrom).toISOString(),
    new Date(windowTo).toISOString(),
    selection,
    pairsMax,
    combinationsMax,
  ]);
  const reached = rows.find((row) => row.webhookId === null)?.eventId ?? null;
  const pairs = rows.flatMap(({ eventId, eventType, webhookId: to }) =>
    eventId === null || to === null ? [] : [{ eventId, eventType, webhookId: to }],
  );
  return { pairs, cursor: reached ?? last, isLast: reached === null || reached >= last };
}

const running: Statement = {
  name: 'replays_running',
  text: `select ${selectList(replaysTable, 'r')} from replays r where r.status = 'running' order by r.updated_at limit $1`,
};

export function findRunning(reader: Rows, limit: number): PromiseLike<readonly ReplayRow[]> {
  return reader.rows<ReplayRow>(running, [limit]);
}

const unfinished: Statement = {
  name: 'replay_unfinished',
  text: `select r.id from replays r where r.org_id = $1 and r.app_id = $2 and r.status = 'running'
    union all
    (select d.replay_id from webhooks w cross join lateral (
        select d.replay_id from deliveries d
        where d.org_id = w.org_id and d.webhook_id = w.id and d.status = 'pending' and d.due_at = $3
          and d.replay_id is not null and d.tries = 0 limit 1) d
      where w.org_id = $1 and w.app_id = $2 and w.status = 'enabled')
    limit 1`,
};

/**
 * An unfinished replay of the application: it still creates deliveries, or some of them have not been attempted. Deliveries to a
 * disabled endpoint do not count, because they wait until it is enabled.
 */
export async function findUnfinishedReplay(
  reader: Rows,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
): Promise<string | undefined> {
  const [replay] = await reader.rows<{ id: string }>(unfinished, [
    orgId,
    appId,
    new Date(dueImmediately).toISOString(),
  ]);
  return replay?.id;
}

export interface Progress {
  readonly pending: number;
  readonly succeeded: number;
  readonly failed: number;
}

const progressOf: Statement = {
  name: 'replay_progress',
  text: `select count(*) filter (where d.status = 'pending')::integer as pending,
      count(*) filter (where d.status = 'succeeded')::integer as succeeded,
      count(*) filter (where d.status = 'failed')::integer as failed
    from deliveries d where d.org_id = $1 and d.replay_id = $2`,
};

/** The number of the replay's deliveries by status. */
export async function findProgress(
  reader: Rows,
  orgId: Id<'organization'>,
  replayId: Id<'replay'>,
): Promise<Progress> {
  const [progress] = await reader.rows<Progress>(progressOf, [orgId, replayId]);
  return progress ?? { pending: 0, succeeded: 0, failed: 0 };
}
