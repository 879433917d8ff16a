import { describe, expect, test } from 'vitest';
import { applicationFactor, createRateLimiter, type RateLimiter } from './rate-limit.ts';

const start = 1_000_000;

/** Takes until the first refusal, and returns how many were allowed. */
function burstOf(limiter: RateLimiter, nowMs: number, key = 'key'): number {
  let allowed = 0;
  while (allowed < 1_000 && !limiter.take(key, nowMs).refusal) allowed += 1;
  return allowed;
}

describe('one key', () => {
  test('has a burst of two seconds, and not one request more', () => {
    expect(burstOf(createRateLimiter(10), start)).toBe(20);
  });

  test('gets one more as soon as a token is refilled, and not a millisecond earlier', () => {
    const limiter = createRateLimiter(10);
    burstOf(limiter, start);
    expect(limiter.take('key', start + 99).refusal?.code).toBe('rate_limited');
    expect(limiter.take('key', start + 100).refusal).toBeUndefined();
    expect(limiter.take('key', start + 100).refusal?.code).toBe('rate_limited');
  });

  test('never has more than a full bucket, however long it waited', () => {
    const limiter = createRateLimiter(10);
    burstOf(limiter, start);
    expect(burstOf(limiter, start + 3_600_000)).toBe(20);
  });

  test('refills at its rate', () => {
    const limiter = createRateLimiter(10);
    burstOf(limiter, start);
    expect(burstOf(limiter, start + 700)).toBe(7);
  });

  test('gains and loses nothing when the clock is set back', () => {
    const limiter = createRateLimiter(10);
    limiter.take('key', start);
    expect(burstOf(limiter, start - 60_000)).toBe(19);
  });

  test('is not affected by others', () => {
    const limiter = createRateLimiter(10);
    burstOf(limiter, start, 'other');
    expect(burstOf(limiter, start)).toBe(20);
  });
});

describe('the headers', () => {
  test('show the policy, the tokens left and the seconds until the bucket is full', () => {
    const limiter = createRateLimiter(10);
    expect(limiter.take('key', start).headers).toEqual({
      'RateLimit-Policy': '"default";q=20;w=2',
      RateLimit: '"default";r=19;t=1',
    });
    for (let i = 0; i < 10; i += 1) limiter.take('key', start);
    expect(limiter.take('key', start).headers.RateLimit).toBe('"default";r=8;t=2');
    burstOf(limiter, start);
    expect(limiter.take('key', start + 50).headers.RateLimit).toBe('"default";r=0;t=2');
  });

  test.each([
    [10, 1],
    [1, 1],
    [0.5, 2],
    [0.25, 2],
  ])('at %s requests a second a refusal says to wait for %s s', (perSecond, retryAfterSeconds) => {
    const limiter = createRateLimiter(perSecond);
    burstOf(limiter, start);
    expect(limiter.take('key', start).refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds });
  });
});

describe('an application', () => {
  test('has five times the rate of one key, over all of its keys', () => {
    const limiter = createRateLimiter(10);
    const keys = Array.from({ length: applicationFactor + 1 }, (_, i) => `key ${i}`);
    let allowed = 0;
    for (const key of keys)
      for (let i = 0; i < 20; i += 1) if (!limiter.take(key, start, 'app').refusal) allowed += 1;
    expect(applicationFactor).toBe(5);
    expect(allowed).toBe(100);
    const { headers, refusal } = limiter.take('fresh key', start, 'app');
    expect(refusal?.code).toBe('rate_limited');
    expect(headers).toEqual({
      'RateLimit-Policy': '"application";q=100;w=2',
      RateLimit: '"application";r=0;t=2',
    });
    expect(limiter.take('another key', start, 'another app').refusal).toBeUndefined();
  });

  test('loses no token to requests that the limit of their key refuses', () => {
    const limiter = createRateLimiter(1);
    for (let i = 0; i < 100; i += 1) limiter.take('key', start, 'app');
    for (let i = 0; i < 4; i += 1)
      for (let j = 0; j < 2; j += 1) expect(limiter.take(`key ${i}`, start, 'app').refusal).toBeUndefined();
    expect(limiter.take('last key', start, 'app').headers['RateLimit-Policy']).toContain('"application"');
  });

  test('shows the headers of the key while both have tokens', () => {
    expect(createRateLimiter(10).take('key', start, 'app').headers.RateLimit).toBe('"default";r=19;t=1');
  });
});

test('a hundred thousand buckets are stored, and one more clears them all', () => {
  const limiter = createRateLimiter(1);
  burstOf(limiter, start, 'first');
  for (let i = 1; i < 100_000; i += 1) limiter.take(`key ${i}`, start);
  expect(limiter.take('first', start).refusal?.code).toBe('rate_limited');
  limiter.take('one more', start);
  expect(limiter.take('first', start).refusal).toBeUndefined();
});
