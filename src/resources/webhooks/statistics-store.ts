import { firstIdAt, type Id } from '../../kernel/ids.ts';
import type { Instant, Reader, Statement } from '../../kernel/table.ts';
import { dayMs } from '../../kernel/time.ts';

/** Only the newest deliveries are read, and at most this many of their attempts, to bound the cost. */
const deliveriesReadMax = 10_000;
const attemptsReadMax = 50_000;
/** Attempts of the period may belong to deliveries that were created before it: a retry comes up to two days later. */
const retriedMs = 2 * dayMs;

export interface AttemptCount {
  /** The time bucket, starting at 1. */
  readonly bucket: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly status2xx: number;
  readonly status3xx: number;
  readonly status4xx: number;
  readonly status5xx: number;
  readonly noResponse: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** More deliveries or attempts than are read. */
  readonly isCapped: boolean;
}

/**
 * Ids begin with the wall time of their creation, so the index by endpoint bounds the deliveries, and the primary key finds their
 * attempts. An attempt is counted when it was sent, in wall time. `$5` contains the start of each bucket.
 */
const attemptCounts: Statement = {
  name: 'webhook_attempt_counts',
  text: `with delivery as materialized (
      select d.id from deliveries d where d.org_id = $1 and d.webhook_id = $2 and d.id >= $3
      order by d.org_id desc, d.webhook_id desc, d.id desc limit $6),
    attempt as materialized (
      select a.sent_at, a.response_status / 100 as class, a.error, a.duration_ms from delivery d cross join lateral (
        select a.sent_at, a.response_status, a.error, a.duration_ms from delivery_attempts a
        where a.org_id = $1 and a.delivery_id = d.id and a.sent_at >= $4 offset 0) a
      limit $7)
    select width_bucket(a.sent_at, $5::timestamptz[]) as bucket,
      (count(*) filter (where a.error is null))::integer as succeeded,
      (count(*) filter (where a.error is not null))::integer as failed,
      (count(*) filter (where a.class = 2))::integer as "status2xx", (count(*) filter (where a.class = 3))::integer as "status3xx",
      (count(*) filter (where a.class = 4))::integer as "status4xx", (count(*) filter (where a.class = 5))::integer as "status5xx",
      (count(*) filter (where a.class is null))::integer as "noResponse",
      round(percentile_cont(0.5) within group (order by a.duration_ms))::integer as "p50Ms",
      round(percentile_cont(0.95) within group (order by a.duration_ms))::integer as "p95Ms",
      (select count(*) from delivery) >= $6 or (select count(*) from attempt) >= $7 as "isCapped"
    from attempt a group by 1 order by 1`,
};

/** The attempts of an endpoint from the first bucket on, by bucket. Buckets without attempts are missing. */
export function countAttempts(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  webhookId: Id<'webhook'>,
  starts: readonly Instant[],
): PromiseLike<readonly AttemptCount[]> {
  const from = starts[0] ?? 0;
  const times = starts.map((start) => new Date(start).toISOString());
  return reader.rows<AttemptCount>(attemptCounts, [
    ...[orgId, webhookId, firstIdAt('delivery', from - retriedMs), times[0], times],
    ...[deliveriesReadMax, attemptsReadMax],
  ]);
}

/** Enough to judge an endpoint, and cheap: the console reads it for every endpoint of a list. */
export const recentDeliveriesMax = 100;
const attemptsOfDeliveryMax = 20;

const recentAttempts: Statement = {
  name: 'webhook_recent_attempts',
  text: `select (count(*) filter (where a.error is null))::integer as succeeded,
      (count(*) filter (where a.error is not null))::integer as failed
    from (select d.id from deliveries d where d.org_id = $1 and d.webhook_id = $2 and d.id >= $3
      order by d.org_id desc, d.webhook_id desc, d.id desc limit $4) d
    cross join lateral (select a.error from delivery_attempts a where a.org_id = $1 and a.delivery_id = d.id
      order by a.org_id desc, a.delivery_id desc, a.number desc limit $5) a`,
};

export interface RecentAttempts {
  readonly succeeded: number;
  readonly failed: number;
}

/** The attempts of the newest deliveries of the last day, in wall time. */
export async function countRecentAttempts(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  webhookId: Id<'webhook'>,
  now: Instant,
): Promise<RecentAttempts> {
  const [counted] = await reader.rows<RecentAttempts>(recentAttempts, [
    ...[orgId, webhookId, firstIdAt('delivery', now - dayMs), recentDeliveriesMax, attemptsOfDeliveryMax],
  ]);
  return counted ?? { succeeded: 0, failed: 0 };
}
