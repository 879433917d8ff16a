import { expect, test } from 'vitest';
import { describeOffset } from './clock-offset.ts';

test.each([
  [0, 'Real time.'],
  [1, 'Real time.'],
  [-1, 'Real time.'],
  [2, '2 seconds ahead of real time.'],
  [-90, '2 minutes behind real time.'],
  [345_599, '4 days ahead of real time.'],
  [59, '59 seconds ahead of real time.'],
  [60, '1 minute ahead of real time.'],
  [3_569, '59 minutes ahead of real time.'],
  [3_590, '1 hour ahead of real time.'],
  [3_600, '1 hour ahead of real time.'],
  [7_200, '2 hours ahead of real time.'],
  [86_369, '23 hours, 59 minutes ahead of real time.'],
  [86_398, '1 day ahead of real time.'],
  [86_400, '1 day ahead of real time.'],
  [3 * 86_400 - 90, '3 days ahead of real time.'],
  [3 * 86_400 - 1_900, '2 days, 23 hours ahead of real time.'],
  [90_000, '1 day, 1 hour ahead of real time.'],
  [2 * 86_400 + 5 * 3_600 + 29, '2 days, 5 hours ahead of real time.'],
  [1_500 * 86_400, '1,500 days ahead of real time.'],
])('a running clock with an offset of %i s is described as %j', (offsetSeconds, text) => {
  expect(describeOffset({ status: 'running', offsetSeconds })).toBe(text);
});

test.each([
  [0, 'Frozen at real time.'],
  [3_600, 'Frozen 1 hour ahead of real time.'],
  [-86_400, 'Frozen 1 day behind real time.'],
])('a frozen clock with an offset of %i s is described as %j', (offsetSeconds, text) => {
  expect(describeOffset({ status: 'frozen', offsetSeconds })).toBe(text);
});
