import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { setZone, type Zone } from '../client/zone.ts';
import { dayOfInstant, inputOfInstant, instantOfDay, instantOfInput } from './day.ts';

const processZone = process.env.TZ;

function showIn(zone: Zone, timezoneId: string): void {
  process.env.TZ = timezoneId;
  setZone(zone);
}

afterEach(() => {
  setZone('utc');
  if (processZone === undefined) delete process.env.TZ;
  else process.env.TZ = processZone;
});

test.each([
  ['2026-09-30', 'start', '2026-09-30T00:00:00.000Z'],
  ['2026-09-30', 'end', '2026-09-30T23:59:59.999Z'],
  ['2028-02-29', 'end', '2028-02-29T23:59:59.999Z'],
] as const)('%s: the %s of the day is %s', (day, edge, instant) => {
  expect(instantOfDay(day, edge)).toBe(instant);
});

test.each(['start', 'end'] as const)('a day that was cleared stays empty (%s)', (edge) => {
  expect(instantOfDay('', edge)).toBe('');
});

test('a day is exactly 24 hours long, and the input shows the same day again', () => {
  const days = fc.date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(days, (date) => {
      const day = date.toISOString().slice(0, 10);
      const [start, end] = [instantOfDay(day, 'start'), instantOfDay(day, 'end')];
      expect(Date.parse(end) - Date.parse(start)).toBe(86_400_000 - 1);
      expect([start.slice(0, 10), end.slice(0, 10)]).toEqual([day, day]);
    }),
  );
});

describe.each([
  ['utc', 'America/Los_Angeles', '2026-12-10T23:59:59.999Z', '2026-12-10T14:05:00.000Z'],
  ['local', 'America/Los_Angeles', '2026-12-11T07:59:59.999Z', '2026-12-10T22:05:00.000Z'],
  ['local', 'Asia/Tokyo', '2026-12-10T14:59:59.999Z', '2026-12-10T05:05:00.000Z'],
] as const)('in the %s zone of a browser in %s', (zone, timezoneId, end, afternoon) => {
  test('a day ends there, and the input shows the same day again', () => {
    showIn(zone, timezoneId);
    expect(instantOfDay('2026-12-10', 'end')).toBe(end);
    for (const edge of ['start', 'end'] as const)
      expect(dayOfInstant(instantOfDay('2026-12-10', edge))).toBe('2026-12-10');
  });

  test('a time is there, with or without seconds, and the input shows the same time again', () => {
    showIn(zone, timezoneId);
    expect(instantOfInput('2026-12-10T14:05')).toBe(afternoon);
    expect(instantOfInput('2026-12-10T14:05:00')).toBe(afternoon);
    expect(inputOfInstant(Date.parse(afternoon))).toBe('2026-12-10T14:05');
  });
});

test('an empty input and a year with five digits are no instant', () => {
  for (const text of ['', '12026-12-10']) expect(instantOfDay(text, 'start')).toBe('');
  for (const text of ['', '12026-12-10T14:05']) expect(instantOfInput(text)).toBe('');
  expect(dayOfInstant(undefined)).toBe('');
});
