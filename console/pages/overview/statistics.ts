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

interface Completed {
  readonly succeeded: number;
  readonly all: number;
}

export function completedPayments({ payments }: Overview): Completed {
  return completedOf(payments.byStatus);
}

function completedOf(counts: readonly { readonly status: string; readonly count: number }[]): Completed {
  const sum = (isCounted: (status: string) => boolean) =>
    counts.reduce((total, { status, count }) => total + (isCounted(status) ? count : 0), 0);
  const succeeded = sum((status) => successfulStatuses.has(status));
  return { succeeded, all: succeeded + sum((status) => status === 'failed') };
}

/** The numbers of a tile by bucket, for its sparkline; null where there is nothing to compute a share of. */
export interface Trends {
  readonly payments: readonly number[];
  readonly volume: readonly number[];
  readonly paymentSuccess: readonly (number | null)[];
  readonly webhookSuccess: readonly (number | null)[];
  readonly errorRate: readonly (number | null)[];
  readonly latency: readonly (number | null)[];
}

export function trendsOf(overview: Overview): Trends {
  const starts = bucketStarts(overview);
  const { payments, webhooks, requests } = overview;
  const currency = volumes(overview)[0]?.currency;
  const at = (start: number) => payments.byBucket.filter((part) => Date.parse(part.at) === start);
  const share = (part: number, whole: number) => (whole === 0 ? null : part / whole);
  return {
    payments: starts.map((start) => at(start).reduce((sum, { count }) => sum + count, 0)),
    volume: starts.map((start) =>
      payments.volume
        .filter((part) => part.currency === currency && Date.parse(part.at) === start)
        .reduce((sum, { amount }) => sum + Number(amount), 0),
    ),
    paymentSuccess: starts.map((start) => {
      const { succeeded, all } = completedOf(at(start));
      return share(succeeded, all);
    }),
    webhookSuccess: webhooks.byBucket.map(({ succeeded, failed }) => share(succeeded, succeeded + failed)),
    errorRate: requests.byBucket.map((part) => share(part.clientErrors + part.serverErrors, part.count)),
    latency: requests.byBucket.map(({ count, p50Ms }) => (count === 0 ? null : p50Ms)),
  };
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

interface Period {
  readonly from: string;
  readonly to: string;
  readonly bucketSeconds: number;
}

/** Requests are counted in real time, whichever time the records are shown in. */
function requestPeriod({ requests, bucketSeconds }: Overview): Period {
  return { from: requests.from, to: requests.to, bucketSeconds };
}

/** The start of every bucket in the period, including empty buckets. */
function bucketStarts({ from, to, bucketSeconds }: Period): readonly number[] {
  const first = Date.parse(from);
  const length = Math.ceil((Date.parse(to) - first) / (bucketSeconds * 1_000));
  return Array.from({ length: Math.min(bucketsMax, length) }, (_, i) => first + i * bucketSeconds * 1_000);
}

function pointsOf<Part extends { readonly at: string }>(
  period: Period,
  found: readonly Part[],
  read: (part: Part | undefined) => Pick<Point, 'values' | 'labels'>,
): readonly Point[] {
  const byStart = new Map(found.map((part) => [Date.parse(part.at), part]));
  return bucketStarts(period).map((start) => ({
    name: tickLabel(start, period),
    title: formatInstant(start, 'minute'),
    ...read(byStart.get(start)),
  }));
}

/** Hours for periods of a day; otherwise the date, once per day. */
function tickLabel(start: number, { bucketSeconds }: Period): string {
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
    attemptCounts(part?.succeeded, part?.failed),
  );
}

function attemptCounts(succeeded = 0, failed = 0): Pick<Point, 'values' | 'labels'> {
  return {
    values: { succeeded, failed },
    labels: { succeeded: succeeded.toLocaleString('en'), failed: failed.toLocaleString('en') },
  };
}

export function requestPoints(overview: Overview): readonly Point[] {
  return pointsOf(requestPeriod(overview), overview.requests.byBucket, (part) => {
    const count = part?.count ?? 0;
    const errors = (part?.clientErrors ?? 0) + (part?.serverErrors ?? 0);
    return {
      values: { count, share: count === 0 ? null : (errors / count) * 100 },
      labels: { count: count.toLocaleString('en'), share: formatPercent(errors, count) },
    };
  });
}

export function latencyPoints(overview: Overview): readonly Point[] {
  return pointsOf(requestPeriod(overview), overview.requests.byBucket, (part) => {
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
