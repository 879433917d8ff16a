import { describe, expect, it } from 'vitest';
import { HeldRequests } from './held-requests.ts';

const never = () => undefined;
const longMs = 60_000;

describe('held requests', () => {
  it('are limited for each organization and in total', () => {
    const held = new HeldRequests({ heldMax: 3, heldPerOrganizationMax: 2 });
    void held.hold('a', longMs, never);
    void held.hold('a', longMs, never);
    expect([held.canHold('a'), held.canHold('b')]).toEqual([false, true]);
    void held.hold('b', longMs, never);
    expect([held.canHold('b'), held.size]).toEqual([false, 3]);
    held.close();
    expect(held.size).toBe(0);
  });

  it('are released when their time is up, or when the client is gone', async () => {
    const held = new HeldRequests();
    await held.hold('a', 1, never);
    let leave: () => void = never;
    const waiting = held.hold('a', longMs, (release) => {
      leave = release;
    });
    expect(held.size).toBe(1);
    leave();
    await waiting;
    expect(held.size).toBe(0);
  });

  it('are all released by a shutdown, and none is held after it', async () => {
    const held = new HeldRequests();
    const waiting = [held.hold('a', longMs, never), held.hold('b', longMs, never)];
    held.close();
    await Promise.all([...waiting, held.hold('a', longMs, never)]);
    expect(held.size).toBe(0);
  });
});
