import { expect, test } from 'vitest';
import { retrySchedules } from './retry-schedules.ts';

test('a retry profile is described by its attempts, their total time and each wait', () => {
  const delaysSeconds = [0, 5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200];
  expect(retrySchedules([{ name: 'standard', delaysSeconds }])).toEqual([
    {
      value: 'standard',
      label: 'Standard: 10 attempts in about 23 hours',
      hint: 'Immediately, then after 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 3 h, 6 h and 12 h.',
    },
  ]);
});

test.each([
  [[0, 1, 4, 15, 30], '5 attempts in about 50 seconds', 'Immediately, then after 1 s, 4 s, 15 s and 30 s.'],
  [[0, 600], '2 attempts in about 10 minutes', 'Immediately, then after 10 min.'],
  [[0], 'a single attempt', 'Failed deliveries are not retried until you replay them.'],
])('waits of %j seconds are shown as %j', (delaysSeconds, attempts, hint) => {
  expect(retrySchedules([{ name: 'fast', delaysSeconds }])).toEqual([
    { value: 'fast', label: `Fast: ${attempts}`, hint },
  ]);
});
