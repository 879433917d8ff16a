/**
 * How long requests took, as counts: each bucket holds what took at most its bound and longer than the bound before. Counts
 * of many minutes and many nodes can be added, which percentiles cannot.
 */
const bounds = [
  ['us500', 500],
  ['ms1', 1_000],
  ['ms2', 2_000],
  ['ms5', 5_000],
  ['ms10', 10_000],
  ['ms20', 20_000],
  ['ms50', 50_000],
  ['ms100', 100_000],
  ['ms200', 200_000],
  ['ms500', 500_000],
  ['s1', 1_000_000],
  ['s5', 5_000_000],
  ['beyond', Number.POSITIVE_INFINITY],
] as const;

export type BucketName = (typeof bounds)[number][0];

export const bucketNames: readonly BucketName[] = bounds.map(([name]) => name);

const upperUs: readonly number[] = bounds.map(([, us]) => us);
const microsecondsPerMillisecond = 1_000;

/** The place of a duration among the buckets. */
export function bucketOf(durationUs: number): number {
  let place = 0;
  while (durationUs > (upperUs[place] ?? Number.POSITIVE_INFINITY)) place += 1;
  return place;
}

/**
 * The duration in milliseconds that so many of a hundred requests did not exceed; null when there were none. Inside a bucket
 * they are taken to be spread evenly. What is beyond the last bound is told as that bound: longer is not known.
 */
export function percentileMs(counts: readonly number[], percent: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = (total * percent) / 100;
  let below = 0;
  for (let place = 0; place < bounds.length; place += 1) {
    const count = counts[place] ?? 0;
    if (count > 0 && below + count >= wanted) return withinMs(place, (wanted - below) / count);
    below += count;
  }
  return withinMs(bounds.length - 1, 1);
}

function withinMs(place: number, share: number): number {
  const low = place === 0 ? 0 : (upperUs[place - 1] ?? 0);
  const high = upperUs[place] ?? Number.POSITIVE_INFINITY;
  const us = Number.isFinite(high) ? low + (high - low) * Math.max(0, share) : low;
  return Math.round(us) / microsecondsPerMillisecond;
}
