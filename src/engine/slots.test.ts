import { expect, test } from 'vitest';
import { Busy, Slots } from './slots.ts';

test('slots are granted in queue order, and no caller overtakes', async () => {
  const slots = new Slots({ atOnceMax: 1, waitingMax: 3, waitMsMax: 60_000 });
  const order: string[] = [];
  const first = await slots.acquire();
  const queued = ['a', 'b', 'c'].map(async (name) => {
    const release = await slots.acquire();
    order.push(name);
    release();
  });
  await expect(slots.acquire()).rejects.toThrow(Busy);
  first();
  first();
  const late = slots.run(async () => void order.push('late'));
  await Promise.all([...queued, late]);
  expect(order).toEqual(['a', 'b', 'c', 'late']);
  expect(slots.isIdle).toBe(true);
});

test('the wait is bounded, and the suggested retry is at least a second later', async () => {
  const slots = new Slots({ atOnceMax: 1, waitingMax: 3, waitMsMax: 10 });
  const release = await slots.acquire();
  await expect(slots.acquire()).rejects.toMatchObject({ name: 'Busy', retryAfterSeconds: 1 });
  release();
  await slots.run(async () => undefined);
  expect(slots.isIdle).toBe(true);
});

test('a failing task releases its slot', async () => {
  const slots = new Slots({ atOnceMax: 1, waitingMax: 0, waitMsMax: 10 });
  await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(slots.isIdle).toBe(true);
});
