import { describe, expect, test } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

const start = 1_000_000;

/** Takes until the bucket is empty, and returns how many tokens it had. */
function drain(bucket: TokenBucket, nowMs: number): number {
  let taken = 0;
  while (taken < 1_000 && bucket.take(nowMs)) taken += 1;
  return taken;
}

describe('a token bucket', () => {
  test.each([
    ['at once', 0, 0],
    ['before the first token is complete', 99, 0],
    ['when the first token is complete', 100, 1],
    ['at its rate', 750, 7],
    ['up to its capacity', 2_000, 20],
    ['and not above its capacity', 3_600_000, 20],
    ['not when the clock is set back', -60_000, 0],
  ])('fills up %s: after %s ms it has %s tokens', (_name, elapsedMs, tokens) => {
    const bucket = new TokenBucket(10, 20);
    expect(drain(bucket, start)).toBe(20);
    expect(drain(bucket, start + elapsedMs)).toBe(tokens);
  });

  test('fills up from the new time on when the clock was set back', () => {
    const bucket = new TokenBucket(10, 20);
    drain(bucket, start);
    drain(bucket, start - 60_000);
    expect(drain(bucket, start - 59_500)).toBe(5);
  });

  test.each([
    [10, 20, 1],
    [1, 2, 1],
    [0.5, 1, 2],
    [0.25, 1, 4],
  ])(
    'of %s tokens a second and a capacity of %s has its next token after %s s',
    (perSecond, capacity, seconds) => {
      const bucket = new TokenBucket(perSecond, capacity);
      drain(bucket, start);
      expect(bucket.secondsUntil(1)).toBe(seconds);
    },
  );

  test('shows the tokens left and the time until it is full', () => {
    const bucket = new TokenBucket(10, 20);
    expect(bucket.tokens).toBe(20);
    expect(bucket.secondsUntil(20)).toBe(0);
    for (let i = 0; i < 12; i += 1) bucket.take(start);
    expect(bucket.tokens).toBe(8);
    expect(bucket.secondsUntil(20)).toBe(2);
    expect(bucket.secondsUntil(1)).toBe(0);
  });
});
