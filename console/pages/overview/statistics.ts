import { amountText } from '../../client/amount.ts';
import { formatInstant } from '../../client/now.ts';
import type { Overview } from '../../generated/shapes.ts';
import { formatPercent, type Point } from '../charts/point.ts';

const bucketsMax = 1_000;
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Statuses that count as successful. Only `failed` counts as unsuccessful; open and abandoned payments count as neither. */
const successfulStatuses = new Set([
  'authorized',
  'partially_captured',
  'captured',
  'settled',
  'partially_refunded',
  'refunded',
  'disputed',
  'charged_back',
]);

export function completedPayments({ payments }: Overview): {
  readonly succeeded: number;
  readonly all: number;
} {
  const sum = (isCounted: (status: string) => boolean) =>
    payments.byStatus.reduce((total, { status, count }) => total + (isCounted(status) ? count : 0), 0);
  const succeeded = sum((status) => successfulStatuses.has(status));
  return { succeeded, all: succeeded + sum((status) => status === 'failed') };
}

export function paymentCount({ payments }: Overview): number {
  return payments.byStatus.reduce((sum, { count }) => sum + count, 0);
}

/** BigInt, because the sum of a period may exceed the safe integer range. */
export function volumes({
  payments,
}: Overview): readonly { currency: string; amount: string; count: number }[] {
  const sums = new Map<string, { amount: bigint; count: number }>();
  for (const { currency, amount, count } of payments.volume) {
    const sum = sums.get(currency) ?? { amount: 0n, count: 0 };
    sums.set(currency, { amount: sum.amount + BigInt(amount), count: sum.count + count });
  }
  return [...sums]
    .map(([currency, { amount, count }]) => ({ currency, amount: amount.toString(), count }))
    .sort((a, b) => b.count - a.count || (a.currency < b.currency ? -1 : 1));
}

/** The start of every bucket in the period, including empty buckets. */
function bucketStarts({ from, to, bucketSeconds }: Overview): readonly number[] {
  const first = Date.parse(from);
  const length = Math.ceil((Date.parse(to) - first) / (bucketSeconds * 1_000));
  return Array.from({ length: Math.min(bucketsMax, length) }, (_, i) => first + i * bucketSeconds * 1_000);
}

function pointsOf<Part extends { readonly at: string }>(
  overview: Overview,
  found: readonly Part[],
  read: (part: Part | undefined) => Pick<Point, 'values' | 'labels'>,
): readonly Point[] {
  const byStart = new Map(found.map((part) => [Date.parse(part.at), part]));
  return bucketStarts(overview).map((start) => ({
    name: tickLabel(start, overview),
    title: formatInstant(start, 'minute'),
    ...read(byStart.get(start)),
  }));
}

/** Hours for periods of a day; otherwise the date, once per day. */
function tickLabel(start: number, { bucketSeconds }: Overview): string {
  if (bucketSeconds <= 3_600) return hour.format(start);
  return start % 86_400_000 === 0 ? day.format(start) : '';
}

export function volumePoints(overview: Overview, currency: string): readonly Point[] {
  const found = overview.payments.volume.filter((part) => part.currency === currency);
  return pointsOf(overview, found, (part) => ({
    // A plotted value may be rounded; `labels` has the exact text.
    values: { amount: Number(part?.amount ?? 0), count: part?.count ?? 0 },
    labels: {
      amount: amountText(part?.amount ?? 0, currency),
      count: (part?.count ?? 0).toLocaleString('en'),
    },
  }));
}

export function webhookPoints(overview: Overview): readonly Point[] {
  return pointsOf(overview, overview.webhooks.byBucket, (part) =>
    deliveryCounts(part?.succeeded, part?.failed),
  );
}

function deliveryCounts(succeeded = 0, failed = 0): Pick<Point, 'values' | 'labels'> {
  return {
    values: { succeeded, failed },
    labels: { succeeded: succeeded.toLocaleString('en'), failed: failed.toLocaleString('en') },
  };
}

export function requestPoints(overview: Overview): readonly Point[] {
  return pointsOf(overview, overview.requests.byBucket, (part) => {
    const count = part?.count ?? 0;
    const errors = (part?.clientErrors ?? 0) + (part?.serverErrors ?? 0);
    return {
      values: { count, share: count === 0 ? null : (errors / count) * 100 },
      labels: { count: count.toLocaleString('en'), share: formatPercent(errors, count) },
    };
  });
}

export function latencyPoints(overview: Overview): readonly Point[] {
  return pointsOf(overview, overview.requests.byBucket, (part) => {
    const isMeasured = part !== undefined && part.count > 0;
    const [p50, p95] = isMeasured ? [part.p50Ms, part.p95Ms] : [null, null];
    return { values: { p50, p95 }, labels: { p50: formatMilliseconds(p50), p95: formatMilliseconds(p95) } };
  });
}

/** Below 10 ms with one decimal, from 10 s in seconds. */
export function formatMilliseconds(ms: number | null): string {
  if (ms === null) return '—';
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms >= 10 ? Math.round(ms).toLocaleString('en') : ms.toFixed(1)} ms`;
}

export function errorCount({ requests }: Overview): number {
  return requests.byBucket.reduce((sum, part) => sum + part.clientErrors + part.serverErrors, 0);
}
