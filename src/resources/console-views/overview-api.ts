import { type Static, Type } from 'typebox';
import { AnyAmount, exact } from '../../kernel/currency.ts';
import type { Presented } from '../../kernel/envelope.ts';
import { instantToText } from '../../kernel/list.ts';
import type { ConsoleRoute, Principal } from '../../kernel/route.ts';
import { nullable, resource, strict, Time } from '../../kernel/schema.ts';
import type { Instant, Reader } from '../../kernel/table.ts';
import { dayMs, daySeconds } from '../../kernel/time.ts';
import { type CountedMinutes, findRequestMinutes } from '../requests/store.ts';
import { percentileMs } from '../requests/table.ts';
import {
  countDeliveries,
  countedMax,
  countPayments,
  type DeliveryCount,
  type PaymentCount,
} from './overview-store.ts';

const OverviewQuery = strict({ days: Type.Optional(Type.Integer({ enum: [1, 7, 30], default: 7 })) });

const Count = Type.Integer({ minimum: 0 });
const isCapped = Type.Boolean({ description: 'Whether there are more records than are counted.' });
const percentiles = { p50Ms: nullable(Type.Number()), p95Ms: nullable(Type.Number()) };
const outcomes = { succeeded: Count, failed: Count };

const OverviewSchema = resource('overview', ['ok'], {
  from: Time,
  to: Time,
  bucketSeconds: Type.Integer(),
  payments: Type.Object({
    byStatus: Type.Array(Type.Object({ status: Type.String(), count: Count })),
    volume: Type.Array(Type.Object({ at: Time, currency: Type.String(), count: Count, amount: AnyAmount })),
    currencies: Type.Array(Type.String()),
    isCapped,
  }),
  webhooks: Type.Object({
    byBucket: Type.Array(Type.Object({ at: Time, ...outcomes })),
    ...outcomes,
    pending: Count,
    isCapped,
  }),
  requests: Type.Object({
    byBucket: Type.Array(
      Type.Object({ at: Time, count: Count, clientErrors: Count, serverErrors: Count, ...percentiles }),
    ),
    count: Count,
    errorRate: Type.Number({ minimum: 0, maximum: 1 }),
    ...percentiles,
    notKept: Type.Integer({ minimum: 0, description: 'Requests that were counted but not logged.' }),
  }),
});

/** Records are counted for the organization, requests for the selected application. */
type OverviewScope = Pick<Principal, 'orgId' | 'appId'>;

const cachedMs = 5_000;
const cachedMax = 1_000;
const bucketSeconds: Readonly<Record<number, number>> = { 1: 3_600, 7: 21_600, 30: daySeconds };

function presentPayments(rows: readonly PaymentCount[], at: (bucket: number) => string) {
  const byStatus = new Map<string, number>();
  const volume = new Map<string, { at: string; currency: string; count: number; amount: bigint }>();
  for (const { bucket, currency, status, count, amount } of rows) {
    byStatus.set(status, (byStatus.get(status) ?? 0) + count);
    const key = `${bucket} ${currency}`;
    const sum = volume.get(key) ?? { at: at(bucket), currency, count: 0, amount: 0n };
    volume.set(key, { ...sum, count: sum.count + count, amount: sum.amount + amount });
  }
  return {
    byStatus: [...byStatus].map(([status, count]) => ({ status, count })).sort((a, b) => b.count - a.count),
    volume: [...volume.values()].map((sum) => ({ ...sum, amount: exact(sum.amount) })),
    currencies: [...new Set(rows.map(({ currency }) => currency))].sort(),
    isCapped: total(rows) >= countedMax,
  };
}

function presentWebhooks(rows: readonly DeliveryCount[], starts: readonly Instant[]) {
  const countOf = (status: DeliveryCount['status'], bucket?: number) =>
    total(rows.filter((row) => row.status === status && (bucket === undefined || row.bucket === bucket)));
  return {
    byBucket: starts.map((start, i) => ({
      at: instantToText(start),
      succeeded: countOf('succeeded', i + 1),
      failed: countOf('failed', i + 1),
    })),
    succeeded: countOf('succeeded'),
    failed: countOf('failed'),
    pending: countOf('pending'),
    isCapped: total(rows) >= countedMax,
  };
}

/** Counts can be added, percentiles cannot: the overall percentiles are computed from the summed histogram buckets. */
function presentRequests(rows: readonly CountedMinutes[], starts: readonly Instant[]) {
  const byStart = new Map(rows.map((row) => [row.minute, row]));
  const sum = (count: (row: CountedMinutes) => number) => rows.reduce((all, row) => all + count(row), 0);
  const count = sum(({ requests }) => requests);
  const failed = sum(({ clientErrors, serverErrors }) => clientErrors + serverErrors);
  const buckets = (rows[0]?.buckets ?? []).map((_, i) => sum((row) => row.buckets[i] ?? 0));
  return {
    byBucket: starts.map((start) => {
      const row = byStart.get(start);
      return {
        at: instantToText(start),
        count: row?.requests ?? 0,
        clientErrors: row?.clientErrors ?? 0,
        serverErrors: row?.serverErrors ?? 0,
        p50Ms: percentileMs(row?.buckets ?? [], 50),
        p95Ms: percentileMs(row?.buckets ?? [], 95),
      };
    }),
    count,
    errorRate: count === 0 ? 0 : failed / count,
    p50Ms: percentileMs(buckets, 50),
    p95Ms: percentileMs(buckets, 95),
    notKept: sum(({ notKept }) => notKept),
  };
}

function total(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

async function readOverview(
  reader: Reader,
  { orgId, appId }: OverviewScope,
  days: number,
  now: Instant,
): Promise<Presented> {
  const seconds = bucketSeconds[days] ?? daySeconds;
  const bucketMs = seconds * 1_000;
  // Whole buckets; the last one is still in progress.
  const end = (Math.floor(now / bucketMs) + 1) * bucketMs;
  const starts = Array.from(
    { length: (days * dayMs) / bucketMs },
    (_, i) => end - days * dayMs + i * bucketMs,
  );
  const from = starts[0] ?? end;
  const [payments, deliveries, requests] = await Promise.all([
    countPayments(reader, orgId, starts),
    countDeliveries(reader, orgId, starts),
    findRequestMinutes(reader, orgId, appId, from, end, seconds / 60),
  ]);
  return {
    object: 'overview',
    sandbox: true,
    status: 'ok',
    from: instantToText(from),
    to: instantToText(now),
    bucketSeconds: seconds,
    payments: presentPayments(payments, (bucket) => instantToText(starts[bucket - 1] ?? from)),
    webhooks: presentWebhooks(deliveries, starts),
    requests: presentRequests(requests, starts),
  };
}

/**
 * Many viewers poll the same overview, so it is cached for a few seconds. Cached by reader, so that two servers in one
 * process do not share entries.
 */
const cache = new WeakMap<
  Reader,
  Map<string, { readonly at: Instant; readonly overview: Promise<Presented> }>
>();

function cachedOverview(
  reader: Reader,
  scope: OverviewScope,
  days: number,
  now: Instant,
): Promise<Presented> {
  const overviews = cache.get(reader) ?? new Map();
  cache.set(reader, overviews);
  const key = `${scope.orgId} ${scope.appId} ${days}`;
  const last = overviews.get(key);
  if (last && now - last.at >= 0 && now - last.at < cachedMs) return last.overview;
  if (overviews.size >= cachedMax) overviews.clear();
  const overview = readOverview(reader, scope, days, now);
  overviews.set(key, { at: now, overview });
  // Do not cache failures; the callers still receive the error.
  overview.catch(() => overviews.delete(key));
  return overview;
}

export const overviewRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'getOverview',
    method: 'GET',
    path: 'overview',
    role: 'viewer',
    level: 'application',
    summary: 'Retrieve statistics of payments, webhooks and requests for the last days',
    query: OverviewQuery,
    response: OverviewSchema,
    responseName: 'Overview',
    flushBefore: 'requests',
    read: ({ reader, principal, query, now }) =>
      cachedOverview(reader, principal, (query as Static<typeof OverviewQuery>).days ?? 7, now),
  },
];
