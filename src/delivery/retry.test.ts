import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RetryProfile } from '../kernel/application-settings.ts';
import { jitterShareMax, retryAfterOf, retryAheadMsMax, waitAfter } from './retry.ts';

const waits = (profile: RetryProfile, chance: number) =>
  Array.from({ length: 12 }, (_one, tries) => waitAfter(profile, tries, 0, chance));

describe('the waits of a retry profile', () => {
  it('are those of the contract', () => {
    const minute = 60_000;
    const hour = 60 * minute;
    expect(waits('standard', 0)).toEqual([
      ...[0, 5_000, 30_000, 2 * minute, 10 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour],
      ...[null, null],
    ]);
    expect(waits('fast', 0).filter((wait) => wait !== null)).toEqual([0, 1_000, 4_000, 15_000, 30_000]);
    expect(waits('none', 0).filter((wait) => wait !== null)).toEqual([0]);
  });

  it('of the fast profile fit into a minute, including the maximum jitter', () => {
    expect(waits('fast', 1).reduce<number>((sum, wait) => sum + (wait ?? 0), 0)).toBeLessThan(60_000);
  });

  it('are never shortened by jitter, and extended by a twentieth at most', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 9 }),
        (chance, tries) => {
          const plain = waitAfter('standard', tries, 0, 0) ?? 0;
          const wait = waitAfter('standard', tries, 0, chance) ?? 0;
          return wait >= plain && wait <= Math.round(plain * (1 + jitterShareMax));
        },
      ),
    );
  });

  it('follow Retry-After where it is longer, up to a day, and never beyond the maximum', () => {
    expect(waitAfter('standard', 1, 60, 0)).toBe(60_000);
    expect(waitAfter('standard', 9, 60, 0)).toBe(43_200_000);
    expect(waitAfter('standard', 1, 1e9, 1)).toBe(86_400_000);
    expect(waitAfter('none', 1, 60, 0)).toBeNull();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), fc.nat(2 ** 31), (tries, requested) => {
        return (waitAfter('standard', tries, requested, 1) ?? 0) < retryAheadMsMax;
      }),
    );
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2031-03-04T10:00:00.000Z');
  it.each([
    ['seconds', '120', undefined, 120],
    ['none', undefined, undefined, 0],
    ['a date', 'Tue, 04 Mar 2031 10:02:00 GMT', undefined, 120],
    [
      'a date beside the date of the answer',
      'Tue, 04 Mar 2031 09:02:00 GMT',
      'Tue, 04 Mar 2031 09:00:00 GMT',
      120,
    ],
    ['a date beside a date that is none', 'Tue, 04 Mar 2031 10:00:30 GMT', 'never', 30],
    ['a date in the past', 'Tue, 04 Mar 2031 09:00:00 GMT', undefined, 0],
    ['nonsense', 'soon', undefined, 0],
    ['a negative number', '-5', undefined, 0],
    ['an endless number', '99999999999999999999', undefined, 86_400],
  ])('as %s', (_what, header, date, seconds) => {
    expect(retryAfterOf(header, date, now)).toBe(seconds);
  });
});
