import { describe, expect, it } from 'vitest';
import { formatId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { DeliveryCapacity } from './capacity.ts';
import type { ClaimedDelivery } from './queue.ts';

const claim = (orgId: string, url: string, eventId = 'evt', data = '{}') =>
  ({ orgId, url, eventId, data }) as ClaimedDelivery;

/** Begins requests until the capacity is reached, and returns their number. */
const fill = (capacity: DeliveryCapacity, next: (i: number) => ClaimedDelivery, max = 3_000): number => {
  for (let i = 0; i < max; i += 1) {
    const delivery = next(i);
    if (!capacity.canSend(delivery)) return i;
    capacity.begin(delivery);
  }
  return max;
};

describe('requests at once', () => {
  it('to inboxes have no limit per host, and do not count for endpoints with the host of this server', () => {
    const capacity = new DeliveryCapacity();
    const toInbox = () => ({
      ...claim(formatId('organization', '1'), 'https://sandbank.example/inbox/1'),
      isInbox: true,
    });
    expect(fill(capacity, toInbox)).toBeGreaterThan(limits.webhookHostConcurrencyPerOrganizationMax);
    const other = formatId('organization', '2');
    expect(fill(capacity, () => claim(other, 'https://sandbank.example/hook'))).toBe(
      limits.webhookHostConcurrencyPerOrganizationMax,
    );
  });

  it('are limited per organization and host, whatever the port and the path', () => {
    const capacity = new DeliveryCapacity();
    const toHost = (i: number) =>
      claim(formatId('organization', '1'), `https://example.com:${8_000 + i}/${i}`);
    expect(fill(capacity, toHost)).toBe(limits.webhookHostConcurrencyPerOrganizationMax);
    expect(capacity.canSend(claim(formatId('organization', '1'), 'https://other.example.com/'))).toBe(true);
    expect(capacity.canSend(claim(formatId('organization', '2'), 'https://example.com/'))).toBe(true);
    capacity.end(toHost(0));
    expect(capacity.canSend(toHost(0))).toBe(true);
  });

  it('are limited per host over all organizations', () => {
    const capacity = new DeliveryCapacity();
    const toHost = (i: number) => claim(`org_${i}`, 'https://example.com/');
    expect(fill(capacity, toHost)).toBe(limits.webhookHostConcurrencyMax);
    expect(capacity.canSend(claim(formatId('organization', '9'), 'https://other.example.com/'))).toBe(true);
  });

  it.each(['http://127.0.0.1:9/', 'http://localhost:9/', 'http://[::1]:9/', 'http://app.localhost/'])(
    'to %s are limited by the organization alone',
    (url) => {
      const capacity = new DeliveryCapacity();
      expect(fill(capacity, () => claim(formatId('organization', '1'), url))).toBe(500);
      expect(capacity.canSend(claim(formatId('organization', '2'), url))).toBe(true);
    },
  );

  it('are limited in bytes per organization, except for a single request of any size', () => {
    const capacity = new DeliveryCapacity();
    const large = 'x'.repeat(256 * 1024);
    const sent = fill(capacity, (i) =>
      claim(formatId('organization', '1'), `http://127.0.0.1:${i + 1}/`, 'evt', large),
    );
    expect(sent * large.length).toBe(8 * 1024 * 1024);
    expect(capacity.canSend(claim(formatId('organization', '2'), 'http://127.0.0.1:1/', 'evt', large))).toBe(
      true,
    );
    const alone = new DeliveryCapacity();
    expect(
      alone.canSend(
        claim(formatId('organization', '1'), 'http://127.0.0.1:1/', 'evt', 'x'.repeat(20 * 1024 * 1024)),
      ),
    ).toBe(true);
  });

  it('are limited in bytes over all organizations, but each may always send one', () => {
    const capacity = new DeliveryCapacity();
    const large = 'x'.repeat(1024 * 1024);
    const send = (orgId: string) => claim(orgId, 'http://127.0.0.1:1/', 'evt', large);
    for (let org = 0; org < 4; org += 1) expect(fill(capacity, () => send(`org_${org}`))).toBe(8);
    expect(fill(capacity, () => send(formatId('organization', '9')))).toBe(1);
  });
});

describe('claims', () => {
  it('count the bytes of an event once, until the last of its claims is released', () => {
    const capacity = new DeliveryCapacity();
    const data = 'x'.repeat(4 * 1024 * 1024);
    const [first, second] = [data, `${data}`].map((copy) =>
      capacity.hold(claim(formatId('organization', '1'), 'http://a/', formatId('event', '1'), copy)),
    );
    if (!first || !second) throw new Error('both must be held');
    expect([
      capacity.canClaim(formatId('organization', '1')),
      capacity.canClaim(formatId('organization', '2')),
    ]).toEqual([false, true]);
    capacity.release(first);
    capacity.release(first);
    expect(capacity.canClaim(formatId('organization', '1'))).toBe(false);
    capacity.release(second);
    expect(capacity.canClaim(formatId('organization', '1'))).toBe(true);
  });

  it('that wait to be sent are limited per organization, and do not block another organization', () => {
    const capacity = new DeliveryCapacity();
    const held = Array.from({ length: 500 }, (_, i) =>
      capacity.hold(claim(formatId('organization', '1'), 'http://a/', `evt_${i}`)),
    );
    expect([
      capacity.canClaim(formatId('organization', '1')),
      capacity.canClaim(formatId('organization', '2')),
    ]).toEqual([false, true]);
    // An open request no longer waits.
    capacity.begin(held[0] as ClaimedDelivery);
    expect(capacity.canClaim(formatId('organization', '1'))).toBe(true);
  });

  it('return fewer bytes while all organizations together hold the maximum, but never none', () => {
    const capacity = new DeliveryCapacity();
    expect(capacity.claimBytes).toBe(2 * 1024 * 1024);
    for (let org = 0; org < 32; org += 1)
      capacity.hold(claim(`org_${org}`, 'http://a/', 'evt', 'x'.repeat(1024 * 1024)));
    expect(capacity.claimBytes).toBe(256 * 1024);
    expect(capacity.canClaim(formatId('organization', '1'))).toBe(true);
  });
});
