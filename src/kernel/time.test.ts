import { describe, expect, it } from 'vitest';
import { formatId, isId } from './ids.ts';
import { type Clock, clockIdOf, clockNow, type Due, earliest } from './time.ts';

describe('a clock', () => {
  const wall = Date.parse('2031-03-04T10:00:00.000Z');

  it.each<[what: string, clock: Clock | undefined, now: number]>([
    ['that was never moved shows real time', undefined, wall],
    ['that runs shows real time', { offsetMs: 0n, frozenAt: null }, wall],
    [
      'that is ahead adds its offset to real time',
      { offsetMs: 604_800_000n, frozenAt: null },
      wall + 604_800_000,
    ],
    ['that is behind subtracts its offset from real time', { offsetMs: -1n, frozenAt: null }, wall - 1],
    [
      'that is frozen shows the frozen time, regardless of its offset',
      { offsetMs: 5n, frozenAt: 1_000 },
      1_000,
    ],
    ['that is frozen at the epoch shows the epoch', { offsetMs: 5n, frozenAt: 0 }, 0],
  ])('%s', (_what, clock, now) => {
    expect(clockNow(clock, wall)).toBe(now);
  });

  it('has the suffix of its application', () => {
    const id = clockIdOf(formatId('application', '01m7epxwjmf7za77rhky2f93cc'));
    expect(id).toBe(formatId('clock', '01m7epxwjmf7za77rhky2f93cc'));
    expect(isId('clock', id)).toBe(true);
  });
});

describe('the earliest scheduled step', () => {
  const due = (at: number, action: string): Due => ({ at, action });

  it.each<[what: string, dues: readonly (Due | null)[], first: string | null]>([
    ['nothing of nothing', [], null],
    ['nothing when it waits for nothing', [null, null], null],
    ['the only one', [null, due(5, 'expire'), null], 'expire'],
    ['the first by time', [due(5, 'settle'), due(3, 'expire'), due(4, 'capture')], 'expire'],
    ['among equals the one that is named first', [due(5, 'capture'), due(5, 'expire')], 'capture'],
    ['also before 1970', [due(0, 'settle'), due(-1, 'expire')], 'expire'],
  ])('is %s', (_what, dues, first) => {
    expect(earliest(dues)?.action ?? null).toBe(first);
  });
});
