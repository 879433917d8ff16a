import { describe, expect, it, test } from 'vitest';
import { bucketNames, bucketOf, percentileMs } from './table.ts';

const countsOf = (counts: Readonly<Record<string, number>>) => bucketNames.map((name) => counts[name] ?? 0);

describe('the bucket of a duration', () => {
  test.each([
    [0, 'us500'],
    [500, 'us500'],
    [501, 'ms1'],
    [1_000, 'ms1'],
    [1_001, 'ms2'],
    [49_999, 'ms50'],
    [5_000_000, 's5'],
    [5_000_001, 'beyond'],
    [30_000_000, 'beyond'],
  ])('%i µs is in %s', (durationUs, name) => {
    expect(bucketNames[bucketOf(durationUs)]).toBe(name);
  });
});

describe('a percentile', () => {
  it('without requests is null', () => {
    expect(percentileMs(countsOf({}), 50)).toBeNull();
    expect(percentileMs([], 95)).toBeNull();
  });

  test.each([
    ['half of one bucket', { ms2: 100 }, 50, 1.5],
    ['all of one bucket', { ms2: 100 }, 100, 2],
    ['the first bucket begins at nothing', { us500: 10 }, 50, 0.25],
    ['between two buckets the lower one ends', { ms1: 50, ms100: 50 }, 50, 1],
    ['above it the upper one begins', { ms1: 50, ms100: 50 }, 75, 75],
    ['the slow few decide a high one', { ms1: 94, s1: 6 }, 95, 583.333],
    ['a duration beyond the last bound is reported as that bound', { beyond: 3 }, 95, 5_000],
    ['one request is every percentile', { ms10: 1 }, 100, 10],
  ])('%s', (_what, counts, percent, expected) => {
    expect(percentileMs(countsOf(counts), percent)).toBe(expected);
  });

  it('never decreases for a higher percent', () => {
    const counts = countsOf({ us500: 3, ms5: 17, ms200: 1, s5: 4, beyond: 2 });
    const percentiles = Array.from({ length: 101 }, (_one, percent) => percentileMs(counts, percent) ?? 0);
    expect(percentiles).toEqual([...percentiles].sort((a, b) => a - b));
  });
});
