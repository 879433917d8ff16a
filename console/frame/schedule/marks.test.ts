import { describe, expect, test } from 'vitest';
import type { ScheduledItem } from '../../generated/shapes.ts';
import {
  describeItems,
  distanceAt,
  dueUntil,
  groupsOf,
  instantAt,
  marksOf,
  positionOf,
  spanOf,
  ticksOf,
} from './marks.ts';

const now = Date.parse('2026-11-18T12:00:00.000Z');
const hour = 3_600_000;
const day = 24 * hour;
const item = (ahead: number, kind: ScheduledItem['kind'], action: string, id = 'x'): ScheduledItem => ({
  at: new Date(now + ahead).toISOString(),
  kind,
  id,
  action,
  label: '',
});
const items = [
  item(-1, 'payment', 'settle'),
  item(hour, 'transfer', 'expire'),
  item(6 * day, 'payment', 'settle', 'a'),
  item(6 * day + 20, 'payment', 'settle', 'b'),
  item(6 * day + 999, 'dispute', 'expire'),
  item(6 * day + 1_000, 'payment', 'settle', 'c'),
];
const marks = marksOf(items, now);

describe('marks', () => {
  test('are what is ahead, one for each second, with a row for each effect', () => {
    expect(marks.map(({ at, items: due }) => [at - now, due.length])).toEqual([
      [hour, 1],
      [6 * day + 999, 3],
      [6 * day + 1_000, 1],
    ]);
    expect(marks.flatMap(groupsOf).map((group) => group.items.length)).toEqual([1, 2, 1, 1]);
  });

  test('are described by their effects', () => {
    expect(describeItems(dueUntil(marks, now + 6 * day + 999))).toBe(
      '1 transfer expires, 2 payments settle, 1 dispute is lost',
    );
    expect(describeItems(dueUntil(marks, now + 6 * day + 998))).toBe('1 transfer expires');
    expect(describeItems(dueUntil(marks, now))).toBe('nothing is due');
    expect(describeItems([item(1, 'delivery', 'attempt')], true)).toBe('1 webhook is retried and more');
    expect(describeItems([item(1, 'payment', 'unknown')])).toBe('1 payment: unknown');
  });
});

describe('the time line', () => {
  test('is as long as the last mark needs', () => {
    expect(spanOf(marks, now)).toBe(7 * day);
    expect(spanOf([], now)).toBe(60_000);
    expect(spanOf(marksOf([item(1_000_000 * day, 'payment', 'settle')], now), now)).toBe(36_525 * day);
  });

  test('has a position for every distance, and back', () => {
    for (const distance of [0, hour, day, 7 * day])
      expect(distanceAt(positionOf(distance, 7 * day), 7 * day)).toBeCloseTo(distance, 3);
    expect(positionOf(8 * day, 7 * day)).toBe(1);
    expect(positionOf(-1, 7 * day)).toBe(0);
  });

  test('has ticks that do not touch', () => {
    const ticks = ticksOf(7 * day);
    expect(ticks.map(({ label }) => label)).toEqual(['1 h', '6 h', '1 d', '3 d', '7 d']);
    expect(ticksOf(60_000).map(({ label }) => label)).toEqual(['1 min']);
  });

  test('snaps to a mark that is close, and else to a round time', () => {
    const span = spanOf(marks, now);
    const mark = positionOf(hour, span);
    expect(instantAt(mark + 0.015, marks, now, span)).toBe(now + hour);
    const between = instantAt(positionOf(2 * day + 1_234, span), marks, now, span);
    expect(between % 60_000).toBe(0);
    expect(between - now).toBeGreaterThan(2 * day);
    expect(between - now).toBeLessThanOrEqual(2 * day + 2 * 60_000);
  });
});
