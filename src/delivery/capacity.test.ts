import { describe, expect, it } from 'vitest';
import { limits } from '../kernel/limits.ts';
import { DeliveryCapacity } from './capacity.ts';
import type { ClaimedDelivery } from './queue.ts';

const claim = (orgId: string, url: string, eventId = 'evt', data = '{}') =>
  ({ orgId, url, eventId, data }) as ClaimedDelivery;

/** Begins requests until one more would be too many, and returns how many there are. */
const fill = (capacity: DeliveryCapacity, next: (i: number) => ClaimedDelivery, max = 3_000): number => {
  for (let i = 0; i < max; i += 1) {
    const one = next(i);
    if (!capacity.canSend(one)) return i;
    capacity.begin(one);
  }
  return max;
};

describe('requests at once', () => {
  it('are limited per organization and host, whatever the port and the path', () => {
    const capacity = new DeliveryCapacity();
    const toHost = (i: number) => claim('org_1', `https://example.com:${8_000 + i}/${i}`);
    expect(fill(capacity, toHost)).toBe(limits.webhookHostConcurrencyPerOrganizationMax);
    expect(capacity.canSend(claim('org_1', 'https://other.example.com/'))).toBe(true);
    expect(capacity.canSend(claim('org_2', 'https://example.com/'))).toBe(true);
    capacity.end(toHost(0));
    expect(capacity.canSend(toHost(0))).toBe(true);
  });

  it('are limited per host over all organizations', () => {
    const capacity = new DeliveryCapacity();
    const toHost = (i: number) => claim(`org_${i}`, 'https://example.com/');
    expect(fill(capacity, toHost)).toBe(limits.webhookHostConcurrencyMax);
    expect(capacity.canSend(claim('org_9', 'https://other.example.com/'))).toBe(true);
  });

  it.each(['http://127.0.0.1:9/', 'http://localhost:9/', 'http://[::1]:9/', 'http://app.localhost/'])(
    'to %s are limited by the organization alone',
    (url) => {
      const capacity = new DeliveryCapacity();
      expect(fill(capacity, () => claim('org_1', url))).toBe(500);
      expect(capacity.canSend(claim('org_2', url))).toBe(true);
    },
  );

  it('are limited in bytes per organization, and one is sent whatever its size', () => {
    const capacity = new DeliveryCapacity();
    const large = 'x'.repeat(256 * 1024);
    const sent = fill(capacity, (i) => claim('org_1', `http://127.0.0.1:${i + 1}/`, 'evt', large));
    expect(sent * large.length).toBe(8 * 1024 * 1024);
    expect(capacity.canSend(claim('org_2', 'http://127.0.0.1:1/', 'evt', large))).toBe(true);
    const alone = new DeliveryCapacity();
    expect(alone.canSend(claim('org_1', 'http://127.0.0.1:1/', 'evt', 'x'.repeat(20 * 1024 * 1024)))).toBe(
      true,
    );
  });

  it('are limited in bytes over all organizations, each of which has one', () => {
    const capacity = new DeliveryCapacity();
    const large = 'x'.repeat(1024 * 1024);
    const send = (orgId: string) => claim(orgId, 'http://127.0.0.1:1/', 'evt', large);
    for (let org = 0; org < 4; org += 1) expect(fill(capacity, () => send(`org_${org}`))).toBe(8);
    expect(fill(capacity, () => send('org_9'))).toBe(1);
  });
});

describe('claims', () => {
  it('count the bytes of an event once, until the last of its claims is released', () => {
    const capacity = new DeliveryCapacity();
    const data = 'x'.repeat(4 * 1024 * 1024);
    const [first, second] = [data, `${data}`].map((one) =>
      capacity.hold(claim('org_1', 'http://a/', 'evt_1', one)),
    );
    if (!first || !second) throw new Error('both are held');
    expect([capacity.canClaim('org_1'), capacity.canClaim('org_2')]).toEqual([false, true]);
    capacity.release(first);
    capacity.release(first);
    expect(capacity.canClaim('org_1')).toBe(false);
    capacity.release(second);
    expect(capacity.canClaim('org_1')).toBe(true);
  });

  it('of one organization that wait to be sent are limited, and do not keep another one waiting', () => {
    const capacity = new DeliveryCapacity();
    const held = Array.from({ length: 500 }, (_, i) =>
      capacity.hold(claim('org_1', 'http://a/', `evt_${i}`)),
    );
    expect([capacity.canClaim('org_1'), capacity.canClaim('org_2')]).toEqual([false, true]);
    // A request that is open does not wait.
    capacity.begin(held[0] as ClaimedDelivery);
    expect(capacity.canClaim('org_1')).toBe(true);
  });

  it('return less while organizations together hold the maximum, and never nothing', () => {
    const capacity = new DeliveryCapacity();
    expect(capacity.claimBytes).toBe(2 * 1024 * 1024);
    for (let org = 0; org < 32; org += 1)
      capacity.hold(claim(`org_${org}`, 'http://a/', 'evt', 'x'.repeat(1024 * 1024)));
    expect(capacity.claimBytes).toBe(256 * 1024);
    expect(capacity.canClaim('org_1')).toBe(true);
  });
});
