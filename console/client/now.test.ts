import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ClockReading,
  formatInstant,
  formatPast,
  formatRelative,
  formatStamp,
  timeAt,
  withShownTimes,
} from './now.ts';

const now = Date.parse('2026-09-30T14:05:09.500Z');
const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
const [month, year] = [2_629_800_000, 31_557_600_000];

describe('formatRelative', () => {
  test.each<[number, string]>([
    [0, 'just now'],
    [-1, 'just now'],
    [1, 'just now'],
    [-59 * second, 'just now'],
    [second, 'in 1 second'],
    [59 * second, 'in 59 seconds'],
    [-minute + 1, 'just now'],
    [-minute, '1 minute ago'],
    [minute, 'in 1 minute'],
    [-2 * minute + 1, '1 minute ago'],
    [-5 * minute, '5 minutes ago'],
    [-59 * minute, '59 minutes ago'],
    [-hour + 1, '59 minutes ago'],
    [-hour, '1 hour ago'],
    [hour, 'in 1 hour'],
    [3 * hour, 'in 3 hours'],
    [-day + 1, '23 hours ago'],
    [-day, 'yesterday'],
    [day, 'tomorrow'],
    [-2 * day, '2 days ago'],
    [3 * day, 'in 3 days'],
    [-30 * day, '30 days ago'],
    [-month, 'last month'],
    [month, 'next month'],
    [-5 * month, '5 months ago'],
    [-year + 1, '11 months ago'],
    [-year, 'last year'],
    [year, 'next year'],
    [-10 * year, '10 years ago'],
  ])('%i ms from now is %s', (difference, text) => {
    expect(formatRelative(now + difference, now)).toBe(text);
  });

  test('never shows a larger distance than has passed', () => {
    const inMs = { minute, hour };
    fc.assert(
      fc.property(fc.integer({ min: minute, max: day - 1 }), (passed) => {
        const match = /^(\d+) (minute|hour)s? ago$/.exec(formatRelative(now - passed, now));
        const unit = inMs[match?.[2] as keyof typeof inMs];
        const shown = Number(match?.[1]) * unit;
        expect(shown).toBeLessThanOrEqual(passed);
        expect(shown + unit).toBeGreaterThan(passed);
      }),
    );
  });
});

describe('formatInstant', () => {
  test.each<[string, 'minute' | 'second', string]>([
    ['2026-10-30T14:05:09.500Z', 'minute', '30 Oct 2026, 14:05 UTC'],
    ['2026-10-30T14:05:09.500Z', 'second', '30 Oct 2026, 14:05:09 UTC'],
    ['2026-01-01T00:00:00.000Z', 'second', '1 Jan 2026, 00:00:00 UTC'],
    ['2025-12-31T23:59:59.999Z', 'second', '31 Dec 2025, 23:59:59 UTC'],
    ['2026-03-29T01:30:00+02:00', 'minute', '28 Mar 2026, 23:30 UTC'],
    ['2028-02-29T12:00:00.000Z', 'minute', '29 Feb 2028, 12:00 UTC'],
  ])('%s to the %s is %s, in UTC', (at, precision, text) => {
    expect(formatInstant(Date.parse(at), precision)).toBe(text);
  });
});

test.each<[string, string]>([
  ['2026-10-30T14:05:09.500Z', '30 Oct 14:05:09'],
  ['2026-01-01T00:00:00.000Z', '1 Jan 00:00:00'],
  ['2025-12-31T23:59:59.999Z', '31 Dec 2025 23:59:59'],
])('in a list, %s is %s', (at, text) => {
  expect(formatStamp(Date.parse(at), now)).toBe(text);
});

describe('timeAt', () => {
  const reading = (status: 'running' | 'frozen'): ClockReading => ({
    clock: { object: 'clock', sandbox: true, status, now: '2030-01-01T00:00:00.000Z', offsetSeconds: 0 },
    readAtMs: now,
  });
  const read = Date.parse('2030-01-01T00:00:00.000Z');

  test.each<[string, ClockReading | null, 'wall' | 'application', number, number]>([
    ['wall time ignores the application clock', reading('running'), 'wall', now + 5, now + 5],
    ['wall time ignores a frozen application clock', reading('frozen'), 'wall', now + 5, now + 5],
    ['without a reading, application time is wall time', null, 'application', now + 5, now + 5],
    [
      'a running clock moves with the wall clock',
      reading('running'),
      'application',
      now + 90_000,
      read + 90_000,
    ],
    ['a running clock starts at its reading', reading('running'), 'application', now, read],
    [
      'a running clock does not go back before its reading',
      reading('running'),
      'application',
      now - 9_000,
      read,
    ],
    ['a frozen clock does not move', reading('frozen'), 'application', now + 90_000, read],
  ])('%s', (_, clock, kind, wallMs, expected) => {
    expect(timeAt(kind, clock, wallMs)).toBe(expected);
  });
});

describe('a past instant', () => {
  const now = Date.parse('2026-11-18T15:39:25.000Z');

  test.each([
    [-300_000, '5 minutes ago'],
    [-1_000, 'just now'],
    // The displayed clock lags behind: nothing that has happened is ahead of it.
    [13_000, 'just now'],
    [60_000, 'just now'],
    // The application clock was set back.
    [60_001, undefined],
  ])('%d ms from now is %s', (distance, text) => {
    expect(formatPast(now + distance, now)).toBe(text);
  });
});

test('the instants of a message are shown like all times, and other texts stay', () => {
  const message = 'The clock is at 2026-09-30T14:05:09.500Z and cannot go back to 2026-09-01T00:00:00Z.';
  expect(withShownTimes(message)).toBe(
    'The clock is at 30 Sept 2026, 14:05:09 UTC and cannot go back to 1 Sept 2026, 00:00:00 UTC.',
  );
  expect(withShownTimes('Send a date such as 2026-09-30.')).toBe('Send a date such as 2026-09-30.');
});
