import { expect } from 'vitest';

/** Documented maximum time from one node's response until the other nodes apply a change of keys, settings or fault plans. */
export const promisedMs = 1_000;

/**
 * Polls a node before and after a change on another one. No poll that began a second after the change may see the old state. A
 * busy machine delays the change as it delays the polls, so the limit grows with the slowest poll; on a quiet machine that is a
 * few milliseconds. Returns how long after the change the last stale poll began.
 */
export async function expectVisibleInTime(
  isVisible: () => Promise<boolean>,
  change: () => Promise<unknown>,
): Promise<number> {
  expect(await isVisible(), 'the change is visible before it happened').toBe(false);
  let changedAt = Number.POSITIVE_INFINITY;
  let slowestPoll = 0;
  const polling = (async () => {
    for (let lastStale = 0; ; ) {
      const beganAt = performance.now();
      const isSeen = await isVisible();
      slowestPoll = Math.max(slowestPoll, performance.now() - beganAt);
      if (isSeen) return lastStale - changedAt;
      lastStale = beganAt;
      if (lastStale - changedAt > 60_000) return lastStale - changedAt;
    }
  })();
  await change();
  changedAt = performance.now();
  const late = await polling;
  expect(late).toBeLessThan(promisedMs + 10 * slowestPoll);
  return late;
}
