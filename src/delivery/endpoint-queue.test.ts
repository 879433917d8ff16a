import { describe, expect, it } from 'vitest';
import { formatId } from '../kernel/ids.ts';
import { EndpointQueue } from './endpoint-queue.ts';
import type { ClaimedDelivery } from './queue.ts';

let created = 0;
const claims = (count: number, concurrencyMax = 10): ClaimedDelivery[] =>
  Array.from({ length: count }, () => {
    created += 1;
    return { id: `dlv_${created}`, concurrencyMax } as ClaimedDelivery;
  });

const setUp = (concurrencyMax = 10) => {
  const queue = new EndpointQueue({
    orgId: formatId('organization', '1'),
    webhookId: formatId('webhook', '1'),
  });
  queue.mayHaveMore = false;
  return { queue, fill: (count: number, room = 1_000) => queue.add(claims(count, concurrencyMax), room) };
};

const begin = (queue: EndpointQueue): ClaimedDelivery[] => {
  const started: ClaimedDelivery[] = [];
  for (let next = queue.next(); next; next = queue.next()) started.push(next);
  return started;
};

describe('an endpoint queue', () => {
  it('sends in order, and never exceeds the concurrency limit of the endpoint', () => {
    const { queue, fill } = setUp(3);
    fill(8);
    const first = begin(queue);
    expect(first).toHaveLength(3);
    queue.complete(first[1] as ClaimedDelivery, 1, true);
    const [next, ...others] = begin(queue);
    expect(others).toEqual([]);
    expect(Number(next?.id.slice(4))).toBe(Number(first[2]?.id.slice(4)) + 1);
    expect(queue.sending.size).toBe(3);
  });

  it('sends reordered deliveries one at a time, before and after others', () => {
    const { queue } = setUp(10);
    const [first, second, third, fourth] = claims(4) as [
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
    ];
    const reordered = [second, third].map((claim) => ({ ...claim, isReordered: true }));
    queue.add([first, ...reordered, fourth], 1_000);
    const sent: string[][] = [];
    for (let started = begin(queue); started.length > 0; started = begin(queue)) {
      sent.push(started.map(({ id }) => id));
      for (const claim of started) queue.complete(claim, 1, true);
    }
    expect(sent).toEqual([[first.id], [second.id], [third.id], [fourth.id]]);
  });

  it('claims as many as the endpoint accepts in about a second', () => {
    const { queue, fill } = setUp(10);
    expect(queue.room).toBe(10);
    fill(10);
    for (const claim of begin(queue)) queue.complete(claim, 100, true);
    expect(queue.room).toBe(100);
    fill(60);
    expect(queue.room).toBe(0);
    for (const claim of begin(queue)) queue.complete(claim, 1, true);
    expect(queue.room).toBeGreaterThan(0);
    for (let round = 0; round < 20; round += 1)
      for (const claim of begin(queue)) queue.complete(claim, 1, true);
    expect(queue.room).toBe(256);
  });

  it('limits the concurrency of a hanging endpoint, and claims no more than that', () => {
    const { queue, fill } = setUp(64);
    fill(20);
    expect(begin(queue)).toHaveLength(20);
    fill(20);
    for (const claim of [...queue.sending]) queue.complete(claim, 10_000, true);
    expect(begin(queue)).toHaveLength(4);
    queue.clear();
    expect(queue.room).toBe(0);
    for (const claim of [...queue.sending]) queue.complete(claim, 10_000, true);
    expect(queue.room).toBe(4);
  });

  it('limits the concurrency and the claims of a failing endpoint until it succeeds', () => {
    const { queue, fill } = setUp(10);
    fill(10);
    for (const claim of begin(queue)) queue.complete(claim, 5, false);
    expect(queue.isDegraded).toBe(true);
    expect(queue.room).toBe(32);
    fill(10);
    const started = begin(queue);
    expect(started).toHaveLength(4);
    queue.complete(started[0] as ClaimedDelivery, 5, true);
    expect(queue.isDegraded).toBe(false);
    expect(begin(queue)).toHaveLength(6);
  });

  it('claims nothing during a cooldown, and is not idle', () => {
    const { queue } = setUp();
    queue.isCoolingDown = true;
    expect([queue.room, queue.isIdle]).toEqual([0, false]);
    queue.isCoolingDown = false;
    expect([queue.room, queue.isIdle]).toEqual([10, true]);
  });

  it('may have more after a full claim', () => {
    const { queue, fill } = setUp();
    fill(4, 10);
    expect(queue.mayHaveMore).toBe(false);
    fill(10, 10);
    expect(queue.mayHaveMore).toBe(true);
  });

  it('is idle only when nothing is claimed, being claimed or expected', () => {
    const { queue, fill } = setUp();
    expect(queue.isIdle).toBe(true);
    queue.isClaiming = true;
    expect(queue.isIdle).toBe(false);
    queue.isClaiming = false;
    fill(1);
    expect(queue.isIdle).toBe(false);
    for (const claim of begin(queue)) queue.complete(claim, 1, true);
    expect(queue.isIdle).toBe(true);
    queue.mayHaveMore = true;
    expect(queue.isIdle).toBe(false);
  });
});
