import { formatMinor } from '../../client/amount.ts';
import { absoluteWords } from '../../client/now.ts';
import type { Overview } from '../../client/shapes.ts';
import { type Point, percentWords } from '../charts/point.ts';

/** What the server counts up to a bound, beyond the contract that every version has. */
export type Figures = Overview & {
  readonly payments: { readonly isCapped?: boolean };
  readonly webhooks: { readonly isCapped?: boolean };
};

const partsMax = 1_000;
const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** Payments that went through, and those that were refused; what is still open or was given up is in neither. */
const through = new Set([
  'authorized',
  'partially_captured',
  'captured',
  'settled',
  'partially_refunded',
  'refunded',
  'disputed',
  'charged_back',
]);

export function decided({ payments }: Overview): { readonly succeeded: number; readonly all: number } {
  const sum = (isCounted: (status: string) => boolean) =>
    payments.byStatus.reduce((total, { status, count }) => total + (isCounted(status) ? count : 0), 0);
  const succeeded = sum((status) => through.has(status));
  return { succeeded, all: succeeded + sum((status) => status === 'failed') };
}

export function paymentCount({ payments }: Overview): number {
  return payments.byStatus.reduce((sum, { count }) => sum + count, 0);
}

/** Sums of a whole period may be larger than a number holds exactly. */
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

/** Every part of the period, also those in which nothing happened. */
function parts({ from, to, bucketSeconds }: Overview): readonly number[] {
  const first = Date.parse(from);
  const length = Math.ceil((Date.parse(to) - first) / (bucketSeconds * 1_000));
  return Array.from({ length: Math.min(partsMax, length) }, (_, i) => first + i * bucketSeconds * 1_000);
}

function pointsOf<Part extends { readonly at: string }>(
  overview: Overview,
  found: readonly Part[],
  read: (part: Part | undefined) => Pick<Point, 'values' | 'words'>,
): readonly Point[] {
  const byStart = new Map(found.map((part) => [Date.parse(part.at), part]));
  return parts(overview).map((start) => ({
    name: markOf(start, overview),
    title: absoluteWords(start),
    ...read(byStart.get(start)),
  }));
}

/** Hours within a day; else the days, of which each is marked once. */
function markOf(start: number, { bucketSeconds }: Overview): string {
  if (bucketSeconds <= 3_600) return hour.format(start);
  return start % 86_400_000 === 0 ? day.format(start) : '';
}

export function volumePoints(overview: Overview, currency: string, exponent: number): readonly Point[] {
  const found = overview.payments.volume.filter((part) => part.currency === currency);
  return pointsOf(overview, found, (part) => ({
    // A place in a drawing may be rounded; what is read is in `words`.
    values: { amount: Number(part?.amount ?? 0), count: part?.count ?? 0 },
    words: {
      amount: `${formatMinor(part?.amount ?? 0, exponent)} ${currency}`,
      count: (part?.count ?? 0).toLocaleString('en'),
    },
  }));
}

export function webhookPoints(overview: Overview): readonly Point[] {
  return pointsOf(overview, overview.webhooks.byBucket, (part) => counted(part?.succeeded, part?.failed));
}

function counted(succeeded = 0, failed = 0): Pick<Point, 'values' | 'words'> {
  return {
    values: { succeeded, failed },
    words: { succeeded: succeeded.toLocaleString('en'), failed: failed.toLocaleString('en') },
  };
}

export function requestPoints(overview: Overview): readonly Point[] {
  return pointsOf(overview, overview.requests.byBucket, (part) => {
    const count = part?.count ?? 0;
    const errors = (part?.clientErrors ?? 0) + (part?.serverErrors ?? 0);
    return {
      values: { count, share: count === 0 ? null : (errors / count) * 100 },
      words: { count: count.toLocaleString('en'), share: percentWords(errors, count) },
    };
  });
}

export function latencyPoints(overview: Overview): readonly Point[] {
  return pointsOf(overview, overview.requests.byBucket, (part) => {
    const isMeasured = part !== undefined && part.count > 0;
    const [p50, p95] = isMeasured ? [part.p50Ms, part.p95Ms] : [null, null];
    return { values: { p50, p95 }, words: { p50: millisecondWords(p50), p95: millisecondWords(p95) } };
  });
}

/** Small ones with a digit after the point, large ones in seconds. */
export function millisecondWords(ms: number | null): string {
  if (ms === null) return '—';
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms >= 10 ? Math.round(ms).toLocaleString('en') : ms.toFixed(1)} ms`;
}

export function errorCount({ requests }: Overview): number {
  return requests.byBucket.reduce((sum, part) => sum + part.clientErrors + part.serverErrors, 0);
}
