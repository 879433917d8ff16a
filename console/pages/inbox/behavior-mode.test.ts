import { describe, expect, test } from 'vitest';
import { type Behavior, consequenceOf, defaults, delayOptions, modeOf } from './behavior-mode.ts';

const respond = (responseStatus: 200 | 410 | 500, delayMs = 0): Behavior => ({
  type: 'respond',
  responseStatus,
  delayMs,
});

describe('the behavior of an inbox', () => {
  test.each(Object.entries(defaults))('%s is recognized again', (mode, behavior) => {
    expect(modeOf(behavior)).toBe(mode);
  });

  test('offers the delay that was set over the API', () => {
    expect(delayOptions('slow', 250, 9_000).map(({ value }) => value)).toEqual([
      '250',
      '500',
      '1000',
      '3000',
      '5000',
      '9000',
    ]);
    expect(delayOptions('fail', 0, 9_000)[0]).toEqual({ value: '0', label: 'Immediately' });
  });

  test.each([
    [respond(200), true, 'Each attempt succeeds immediately.'],
    [respond(200, 500), true, 'Each attempt succeeds after 0.5 seconds.'],
    [respond(500), true, 'Each attempt fails with 500 and is retried.'],
    [respond(500), false, 'Each attempt fails with 500 and is not retried.'],
    [respond(410), true, 'The first delivery fails, and the endpoint is disabled.'],
    [
      { type: 'timeout' } as const,
      true,
      'Each attempt fails after 10 seconds without a response and is retried.',
    ],
  ])('%j, retried: %s, is described', (behavior, hasRetries, sentence) => {
    expect(consequenceOf(behavior, hasRetries, { webhookTimeoutMs: 10_000 })).toBe(sentence);
  });
});
