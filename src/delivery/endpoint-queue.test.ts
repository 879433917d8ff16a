import { describe, expect, it } from 'vitest';
import { EndpointQueue } from './endpoint-queue.ts';
import type { ClaimedDelivery } from './queue.ts';

let made = 0;
const claims = (count: number, concurrencyMax = 10): ClaimedDelivery[] =>
  Array.from({ length: count }, () => {
    made += 1;
    return { id: `dlv_${made}`, concurrencyMax } as ClaimedDelivery;
  });

const opened = (concurrencyMax = 10) => {
  const lane = new EndpointQueue({ orgId: 'org', webhookId: 'whk' });
  lane.mayHaveMore = false;
  return { lane, fill: (count: number, room = 1_000) => lane.add(claims(count, concurrencyMax), room) };
};

const begin = (lane: EndpointQueue): ClaimedDelivery[] => {
  const begun: ClaimedDelivery[] = [];
  for (let next = lane.next(); next; next = lane.next()) begun.push(next);
  return begun;
};

describe('a lane', () => {
  it('sends in order, and never more at once than the endpoint wants', () => {
    const { lane, fill } = opened(3);
    fill(8);
    const first = begin(lane);
    expect(first).toHaveLength(3);
    lane.ended(first[1] as ClaimedDelivery, 1, true);
    const [next, ...others] = begin(lane);
    expect(others).toEqual([]);
    expect(Number(next?.id.slice(4))).toBe(Number(first[2]?.id.slice(4)) + 1);
    expect(lane.sending.size).toBe(3);
  });

  it('sends deliveries that change places one at a time, before and after others', () => {
    const { lane } = opened(10);
    const [first, second, third, fourth] = claims(4) as [
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
    ];
    const reordered = [second, third].map((claim) => ({ ...claim, isReordered: true }));
    lane.add([first, ...reordered, fourth], 1_000);
    const sent: string[][] = [];
    for (let begun = begin(lane); begun.length > 0; begun = begin(lane)) {
      sent.push(begun.map(({ id }) => id));
      for (const claim of begun) lane.ended(claim, 1, true);
    }
    expect(sent).toEqual([[first.id], [second.id], [third.id], [fourth.id]]);
  });

  it('claims as many as the endpoint will take in about a second', () => {
    const { lane, fill } = opened(10);
    expect(lane.room).toBe(10);
    fill(10);
    for (const claim of begin(lane)) lane.ended(claim, 100, true);
    expect(lane.room).toBe(100);
    fill(60);
    expect(lane.room).toBe(0);
    for (const claim of begin(lane)) lane.ended(claim, 1, true);
    expect(lane.room).toBeGreaterThan(0);
    for (let round = 0; round < 20; round += 1) for (const claim of begin(lane)) lane.ended(claim, 1, true);
    expect(lane.room).toBe(256);
  });

  it('gives an endpoint that hangs few at once, and claims no more than those', () => {
    const { lane, fill } = opened(64);
    fill(20);
    expect(begin(lane)).toHaveLength(20);
    fill(20);
    for (const claim of [...lane.sending]) lane.ended(claim, 10_000, true);
    expect(begin(lane)).toHaveLength(4);
    lane.clear();
    expect(lane.room).toBe(0);
    for (const claim of [...lane.sending]) lane.ended(claim, 10_000, true);
    expect(lane.room).toBe(4);
  });

  it('gives an endpoint that only fails few at once and claims little for it, until it succeeds', () => {
    const { lane, fill } = opened(10);
    fill(10);
    for (const claim of begin(lane)) lane.ended(claim, 5, false);
    expect(lane.isAiling).toBe(true);
    expect(lane.room).toBe(32);
    fill(10);
    const few = begin(lane);
    expect(few).toHaveLength(4);
    lane.ended(few[0] as ClaimedDelivery, 5, true);
    expect(lane.isAiling).toBe(false);
    expect(begin(lane)).toHaveLength(6);
  });

  it('claims nothing while it rests, and is not forgotten', () => {
    const { lane } = opened();
    lane.isResting = true;
    expect([lane.room, lane.isIdle]).toEqual([0, false]);
    lane.isResting = false;
    expect([lane.room, lane.isIdle]).toEqual([10, true]);
  });

  it('knows when there may be more: a claim that was full, or somebody said so', () => {
    const { lane, fill } = opened();
    fill(4, 10);
    expect(lane.mayHaveMore).toBe(false);
    fill(10, 10);
    expect(lane.mayHaveMore).toBe(true);
  });

  it('is idle only when nothing is held, asked for or to be expected', () => {
    const { lane, fill } = opened();
    expect(lane.isIdle).toBe(true);
    lane.isAsked = true;
    expect(lane.isIdle).toBe(false);
    lane.isAsked = false;
    fill(1);
    expect(lane.isIdle).toBe(false);
    for (const claim of begin(lane)) lane.ended(claim, 1, true);
    expect(lane.isIdle).toBe(true);
    lane.mayHaveMore = true;
    expect(lane.isIdle).toBe(false);
  });
});
