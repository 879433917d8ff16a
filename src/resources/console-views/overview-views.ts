import { exact } from '../../kernel/currency.ts';
import { instantToText } from '../../kernel/list.ts';
import type { Instant } from '../../kernel/table.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../kernel/time.ts';
import { percentileMs } from '../requests/table.ts';

/** Shortest first. */
export const rangeNames = ['1h', '24h', '7d', '30d'] as const;
export type RangeName = (typeof rangeNames)[number];

/** `sandbox`: the time of a record on the application clock. `real`: the time at which it was inserted. */
export const timeBases = ['sandbox', 'real'] as const;
export type TimeBase = (typeof timeBases)[number];

const sizes: Readonly<Record<RangeName, { readonly lengthMs: number; readonly bucketMs: number }>> = {
  '1h': { lengthMs: hourMs, bucketMs: 2 * minuteMs },
  '24h': { lengthMs: dayMs, bucketMs: hourMs },
  '7d': { lengthMs: 7 * dayMs, bucketMs: 6 * hourMs },
  '30d': { lengthMs: 30 * dayMs, bucketMs: dayMs },
};

/** A range that ends now, in whole buckets: the last one is still in progress. */
export interface Window {
  readonly range: RangeName;
  readonly starts: readonly Instant[];
  readonly bucketMs: number;
  readonly from: Instant;
  /** The end of the last bucket. */
  readonly end: Instant;
}

export function windowOf(range: RangeName, now: Instant): Window {
  const { lengthMs, bucketMs } = sizes[range];
  const end = (Math.floor(now / bucketMs) + 1) * bucketMs;
  const from = end - lengthMs;
  const starts = Array.from({ length: lengthMs / bucketMs }, (_, i) => from + i * bucketMs);
  return { range, starts, bucketMs, from, end };
}

/**
 * The edges of the buckets of several windows, in order. Records counted between these edges can be assigned to the buckets of
 * each window, so one query serves the choice of a range and the chosen range.
 */
export function edgesOf(windows: readonly Window[]): readonly Instant[] {
  return [...new Set(windows.flatMap(({ starts, end }) => [...starts, end]))].sort((a, b) => a - b);
}

/** Records between two edges; `at` is the first of them, and null for records before all edges. */
interface Counted {
  readonly at: Instant | null;
  readonly count: number;
}

export interface PaymentCount extends Counted {
  readonly currency: string;
  readonly status: string;
  readonly amount: bigint;
}

export interface DeliveryCount extends Counted {
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** Of these deliveries. The last attempt of a successful delivery succeeded, and all others failed. */
  readonly attempts: number;
}

/** The rows inside a window, with the start of their bucket. */
export function rowsIn<Row extends Counted>(
  rows: readonly Row[],
  { from, end, bucketMs }: Window,
): readonly (Row & { readonly start: Instant })[] {
  return rows.flatMap((row) =>
    row.at === null || row.at < from || row.at >= end
      ? []
      : [{ ...row, start: from + Math.floor((row.at - from) / bucketMs) * bucketMs }],
  );
}

export function total(rows: readonly { readonly count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

/**
 * The shortest window with at least half of the records of the longest one: a sandbox that was used for some minutes is
 * shown by the minute. The longest window if there are no records.
 */
export function chooseWindow(windows: readonly Window[], rows: readonly Counted[]): Window {
  const counts = windows.map((window) => total(rowsIn(rows, window)));
  const all = counts.at(-1) ?? 0;
  const index = counts.findIndex((count) => count > 0 && count * 2 >= all);
  const chosen = windows[index] ?? windows.at(-1);
  if (chosen === undefined) throw new Error('There are no windows to choose from.');
  return chosen;
}

export function windowsOf(range: RangeName | undefined, now: Instant): readonly Window[] {
  return (range === undefined ? rangeNames : [range]).map((name) => windowOf(name, now));
}

export function presentPayments(counted: readonly PaymentCount[], window: Window, countedMax: number) {
  const rows = rowsIn(counted, window);
  const byStatus = new Map<string, number>();
  const byBucket = new Map<string, { at: string; status: string; count: number }>();
  const volume = new Map<string, { at: string; currency: string; count: number; amount: bigint }>();
  for (const { start, currency, status, count, amount } of rows) {
    const at = instantToText(start);
    byStatus.set(status, (byStatus.get(status) ?? 0) + count);
    const statusKey = `${at} ${status}`;
    byBucket.set(statusKey, { at, status, count: (byBucket.get(statusKey)?.count ?? 0) + count });
    const key = `${at} ${currency}`;
    const sum = volume.get(key) ?? { at, currency, count: 0, amount: 0n };
    volume.set(key, { ...sum, count: sum.count + count, amount: sum.amount + amount });
  }
  return {
    byStatus: [...byStatus].map(([status, count]) => ({ status, count })).sort((a, b) => b.count - a.count),
    byBucket: [...byBucket.values()],
    volume: [...volume.values()].map((sum) => ({ ...sum, amount: exact(sum.amount) })),
    currencies: [...new Set(rows.map(({ currency }) => currency))].sort(),
    ahead: total(counted.filter(({ at }) => at !== null && at >= window.end)),
    isCapped: total(counted) >= countedMax,
  };
}

export function presentWebhooks(counted: readonly DeliveryCount[], window: Window, countedMax: number) {
  const rows = rowsIn(counted, window);
  const countOf = (status: DeliveryCount['status'], some = rows) =>
    total(some.filter((row) => row.status === status));
  const attemptsOf = (some = rows) => {
    const succeeded = countOf('succeeded', some);
    return { succeeded, failed: some.reduce((sum, { attempts }) => sum + attempts, 0) - succeeded };
  };
  return {
    byBucket: window.starts.map((start) => ({
      at: instantToText(start),
      ...attemptsOf(rows.filter((row) => row.start === start)),
    })),
    ...attemptsOf(),
    pending: countOf('pending'),
    isCapped: total(counted) >= countedMax,
  };
}

/** The requests of one bucket; `minute` is its start, and `buckets` is the histogram of their latency. */
interface RequestCount {
  readonly minute: Instant;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly notKept: number;
  readonly buckets: readonly number[];
}

/** Counts can be added, percentiles cannot: the overall percentiles are computed from the summed histogram buckets. */
export function presentRequests(rows: readonly RequestCount[], { starts, from }: Window, now: Instant) {
  const byStart = new Map(rows.map((row) => [row.minute, row]));
  const sum = (count: (row: RequestCount) => number) => rows.reduce((all, row) => all + count(row), 0);
  const count = sum(({ requests }) => requests);
  const failed = sum(({ clientErrors, serverErrors }) => clientErrors + serverErrors);
  const buckets = (rows[0]?.buckets ?? []).map((_, i) => sum((row) => row.buckets[i] ?? 0));
  return {
    from: instantToText(from),
    to: instantToText(now),
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

// An advance takes a moment itself, and a clock that was reset is not exactly at real time.
const movedMsMin = 2 * secondMs;

/** Whether the application clock differs from real time, or is frozen. */
export function isMoved(frozenAt: Instant | null, now: Instant, wallNow: Instant): boolean {
  return frozenAt !== null || Math.abs(now - wallNow) >= movedMsMin;
}
