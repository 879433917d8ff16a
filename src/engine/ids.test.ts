import { afterEach, expect, test, vi } from 'vitest';
import { decodeSuffix, formatId, idTimestamp, isId } from '../kernel/ids.ts';
import { newSuffix } from './ids.ts';

afterEach(() => vi.useRealTimers());

test('suffixes are valid, and each is greater than the one before', () => {
  let previous = newSuffix();
  // Uses up more than one pool of random numbers.
  for (let i = 0; i < 5_000; i += 1) {
    const suffix = newSuffix();
    if (suffix <= previous || !isId('payment', formatId('payment', suffix))) expect.fail(suffix);
    previous = suffix;
  }
});

test('a suffix carries the time at which it was generated', () => {
  const at = Date.UTC(2100, 0, 1);
  vi.useFakeTimers({ now: at, toFake: ['Date'] });
  expect(idTimestamp(newSuffix())).toBe(at);
});

test('the random parts of suffixes differ', () => {
  // The last 32 bits are one random number: zero occurs once in four billion.
  const tails = Array.from({ length: 3_000 }, () => decodeSuffix(newSuffix()) & 0xffff_ffffn);
  expect(new Set(tails).size).toBeGreaterThan(2_990);
  expect(tails).not.toContain(0n);
});
