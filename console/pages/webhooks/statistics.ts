import { formatInstant } from '../../client/now.ts';
import { zone } from '../../client/zone.ts';
import type { WebhookStatistics, WebhookStatisticsBucket } from '../../generated/shapes.ts';
import { formatPercent, type Point } from '../charts/point.ts';

type Range = WebhookStatistics['range'];

export const ranges: readonly { readonly value: Range; readonly label: string }[] = [
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
];

export function rangeFrom(text: string | undefined): Range {
  return ranges.find(({ value }) => value === text)?.value ?? '24h';
}

export interface Totals {
  readonly succeeded: number;
  readonly failed: number;
  readonly byClass: WebhookStatisticsBucket['byClass'];
  /** The highest 95th percentile of a bucket; null without attempts. */
  readonly p95Ms: number | null;
}

export function totalsOf({ buckets }: Pick<WebhookStatistics, 'buckets'>): Totals {
  const sum = (read: (bucket: WebhookStatisticsBucket) => number) =>
    buckets.reduce((total, bucket) => total + read(bucket), 0);
  const slowest = buckets.flatMap(({ p95Ms }) => (p95Ms === null ? [] : [p95Ms]));
  return {
    succeeded: sum(({ succeeded }) => succeeded),
    failed: sum(({ failed }) => failed),
    byClass: {
      '2xx': sum(({ byClass }) => byClass['2xx']),
      '3xx': sum(({ byClass }) => byClass['3xx']),
      '4xx': sum(({ byClass }) => byClass['4xx']),
      '5xx': sum(({ byClass }) => byClass['5xx']),
      noResponse: sum(({ byClass }) => byClass.noResponse),
    },
    p95Ms: slowest.length === 0 ? null : Math.max(...slowest),
  };
}

/** Attempts by outcome, and the share that succeeded; buckets without attempts have no share. */
export function attemptPoints(statistics: WebhookStatistics): readonly Point[] {
  return pointsOf(statistics, ({ succeeded, failed }) => {
    const all = succeeded + failed;
    return {
      values: { succeeded, failed, rate: all === 0 ? null : (succeeded / all) * 100 },
      labels: {
        succeeded: succeeded.toLocaleString('en'),
        failed: failed.toLocaleString('en'),
        rate: formatPercent(succeeded, all),
      },
    };
  });
}

export function latencyPoints(statistics: WebhookStatistics): readonly Point[] {
  return pointsOf(statistics, ({ p50Ms, p95Ms }) => ({
    values: { p50: p50Ms, p95: p95Ms },
    labels: { p50: milliseconds(p50Ms), p95: milliseconds(p95Ms) },
  }));
}

export function milliseconds(ms: number | null): string {
  return ms === null ? '—' : `${Math.round(ms).toLocaleString('en')} ms`;
}

function pointsOf(
  { buckets, range }: WebhookStatistics,
  read: (bucket: WebhookStatisticsBucket) => Pick<Point, 'values' | 'labels'>,
): readonly Point[] {
  return buckets.map((bucket) => {
    const at = Date.parse(bucket.at);
    return { name: tickLabel(at, range), title: formatInstant(at, 'minute'), ...read(bucket) };
  });
}

/** Times for up to a day; otherwise the date, once a day. Buckets are aligned to days in UTC. */
function tickLabel(at: number, range: Range): string {
  const isTime = range === '1h' || range === '24h';
  if (!isTime && at % 86_400_000 !== 0) return '';
  const options: Intl.DateTimeFormatOptions = isTime
    ? { hour: '2-digit', minute: '2-digit' }
    : { day: 'numeric', month: 'short' };
  const isUtc = zone() === 'utc' || !isTime;
  return new Intl.DateTimeFormat('en-GB', { ...options, ...(isUtc ? { timeZone: 'UTC' } : {}) }).format(at);
}
