import { type Static, Type } from 'typebox';
import type { Presented } from '../../kernel/envelope.ts';
import { instantToText } from '../../kernel/list.ts';
import { applicationSubresourceHandler, type ConsoleRoute } from '../../kernel/route.ts';
import { component, id, nullable, resource, strict, Time } from '../../kernel/schema.ts';
import type { Instant, Reader } from '../../kernel/table.ts';
import { dayMs, hourMs, minuteMs } from '../../kernel/time.ts';
import { type SharedRead, sharedReads } from '../console-views/shared-reads-store.ts';
import { type AttemptCount, countAttempts } from './statistics-store.ts';
import { type WebhookRow, webhooksTable } from './table.ts';

/** The length of each range and of its buckets. */
const ranges = {
  '1h': { ms: hourMs, bucketMs: minuteMs },
  '24h': { ms: dayMs, bucketMs: hourMs },
  '7d': { ms: 7 * dayMs, bucketMs: 6 * hourMs },
  '30d': { ms: 30 * dayMs, bucketMs: dayMs },
} as const;
const rangeNames = Object.keys(ranges) as (keyof typeof ranges)[];
const rangeDefault = '24h';

const StatisticsQuery = strict({ range: Type.Optional(Type.Enum(rangeNames, { default: rangeDefault })) });

const count = Type.Integer({ minimum: 0 });
const Bucket = Type.Object(
  {
    at: Time,
    succeeded: count,
    failed: count,
    byClass: Type.Object({ '2xx': count, '3xx': count, '4xx': count, '5xx': count, noResponse: count }),
    p50Ms: nullable(Type.Number()),
    p95Ms: nullable(Type.Number()),
  },
  component('WebhookStatisticsBucket'),
);
const StatisticsSchema = resource('webhook_statistics', ['ok'], {
  webhookId: id('webhook'),
  range: Type.Enum(rangeNames),
  from: Time,
  to: Time,
  bucketSeconds: Type.Integer(),
  buckets: Type.Array(Bucket),
  isCapped: Type.Boolean({ description: 'Whether there were more attempts than are counted.' }),
});

const noAttempts: Omit<AttemptCount, 'bucket' | 'p50Ms' | 'p95Ms' | 'isCapped'> = {
  ...{ succeeded: 0, failed: 0, status2xx: 0, status3xx: 0, status4xx: 0, status5xx: 0, noResponse: 0 },
};

const statistics = sharedReads<Presented>();

export const webhookStatisticsRoutes: readonly ConsoleRoute[] = [
  {
    operationId: 'getWebhookStatistics',
    method: 'GET',
    path: 'webhooks/{id}/statistics',
    role: 'viewer',
    level: 'application',
    summary: 'Retrieve the delivery attempts of an endpoint by time, response class and duration',
    query: StatisticsQuery,
    response: StatisticsSchema,
    responseName: 'WebhookStatistics',
    read: applicationSubresourceHandler('webhook', webhooksTable, ({ reader, query, now }, row) => {
      const { range = rangeDefault } = query as Static<typeof StatisticsQuery>;
      const key = [row.orgId, row.id, range].join(' ');
      return statistics(reader, key, now, () => readStatistics(reader, row, range, now));
    }),
  },
];

async function readStatistics(
  reader: Reader,
  { orgId, id: webhookId }: Pick<WebhookRow, 'orgId' | 'id'>,
  range: keyof typeof ranges,
  now: Instant,
): Promise<SharedRead<Presented>> {
  const { ms, bucketMs } = ranges[range];
  // Whole buckets; the last one is still in progress.
  const end = (Math.floor(now / bucketMs) + 1) * bucketMs;
  const starts = Array.from({ length: ms / bucketMs }, (_, i) => end - ms + i * bucketMs);
  const counted = await countAttempts(reader, orgId, webhookId, starts);
  const byBucket = new Map(counted.map((count) => [count.bucket, count]));
  const value = {
    object: 'webhook_statistics',
    sandbox: true,
    status: 'ok',
    webhookId,
    range,
    from: instantToText(starts[0] ?? end),
    to: instantToText(now),
    bucketSeconds: bucketMs / 1_000,
    buckets: starts.map((start, i) => presentBucket(instantToText(start), byBucket.get(i + 1))),
    isCapped: counted.some(({ isCapped }) => isCapped),
  } as const;
  return { value, scanned: counted.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0) };
}

function presentBucket(at: string, count: AttemptCount | undefined) {
  const { succeeded, failed, status2xx, status3xx, status4xx, status5xx, noResponse } = count ?? noAttempts;
  return {
    at,
    succeeded,
    failed,
    byClass: { '2xx': status2xx, '3xx': status3xx, '4xx': status4xx, '5xx': status5xx, noResponse },
    p50Ms: count?.p50Ms ?? null,
    p95Ms: count?.p95Ms ?? null,
  };
}
