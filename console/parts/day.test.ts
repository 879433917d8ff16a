import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instantOfDay } from './day.ts';

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
