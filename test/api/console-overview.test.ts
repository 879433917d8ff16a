import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { firstIdAt } from '../../src/kernel/ids.ts';
import { consoleRoutes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { readConsole } from '../support/principal.ts';
import { openReceiver } from '../support/receiver.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

interface Overview {
  readonly range: string;
  readonly time: string;
  readonly isEmpty: boolean;
  readonly from: string;
  readonly to: string;
  readonly bucketSeconds: number;
  readonly payments: {
    readonly byStatus: readonly { readonly status: string; readonly count: number }[];
    readonly volume: readonly {
      readonly at: string;
      readonly currency: string;
      readonly amount: number | string;
    }[];
    readonly byBucket: readonly { readonly at: string; readonly status: string; readonly count: number }[];
    readonly currencies: readonly string[];
    readonly ahead: number;
    readonly isCapped: boolean;
  };
  readonly webhooks: {
    readonly byBucket: readonly {
      readonly at: string;
      readonly succeeded: number;
      readonly failed: number;
    }[];
    readonly succeeded: number;
    readonly failed: number;
    readonly pending: number;
  };
  readonly requests: { readonly from: string; readonly to: string; readonly count: number };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe.each(databaseKinds)('the overview on %s', (kind) => {
  let server: Server;
  const read = (holder: Tenant, query: { range?: string; time?: string } = {}, now = Date.now()) =>
    readConsole<Overview>(server, consoleRoutes, 'overview', holder, { query, now });
  const inserted = async (holder: Tenant, id: string, agoMs: number) =>
    server.database.script(
      `update payments set id = '${firstIdAt('payment', Date.now() - agoMs)}'
        where org_id = '${holder.orgId}' and id = '${id}'`,
    );
  const insertCopies = (holder: Tenant, count: number) =>
    server.database.script(`insert into payments (org_id, id, app_id, status, version, amount, currency, amount_capturable,
        amount_captured, amount_refunded, amount_disputed, fee_amount, capture_method, payment_method_type, metadata, scenario,
        auto_advance, created_at, updated_at)
      select '${holder.orgId}', left('${firstIdAt('payment', Date.now())}', -6) || lpad(n::text, 6, '0'), '${holder.appId}', 'pending', 1,
        999999999999, 'EUR', 0, 0, 0, 0, 0, 'manual', 'card', '{}', '"approve"', false, now(), now()
      from generate_series(1, ${count}) n`);
  const pay = async (holder: Tenant, amount: number, currency: string, to?: string) => {
    const { id } = (await holder.client.post('developer_api_payments', { amount, currency })).body;
    if (to) await holder.client.post(`developer_api_payments/${id}/advance`, { to });
    return id;
  };

  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  test('counts payments by status and sums them by currency and period, for this organization only', async () => {
    const [acme, other] = [await tenant(server), await tenant(server)];
    await pay(acme, 100, 'EUR');
    await pay(acme, 250, 'EUR', 'captured');
    await pay(acme, 7, 'JPY');
    await pay(other, 999, 'USD');
    const overview = await read(acme, { range: '24h' });
    expect(overview).toMatchObject({
      object: 'overview',
      status: 'ok',
      bucketSeconds: 3_600,
      isEmpty: false,
    });
    const { payments } = overview;
    expect(payments.byStatus).toEqual([
      { status: 'pending', count: 2 },
      { status: 'captured', count: 1 },
    ]);
    expect(payments.currencies).toEqual(['EUR', 'JPY']);
    expect(payments.isCapped).toBe(false);
    const sums = payments.volume.map(({ currency, amount }) => `${currency} ${amount}`);
    expect([...new Set(sums)].sort()).toEqual(['EUR 350', 'JPY 7']);
    for (const { at } of payments.volume) {
      expect(Date.parse(at) % 3_600_000).toBe(0);
      expect(at <= overview.to && at >= overview.from).toBe(true);
    }
    const counts = new Map<string, number>();
    for (const { status, count } of payments.byBucket) counts.set(status, (counts.get(status) ?? 0) + count);
    expect(Object.fromEntries(counts)).toEqual({ pending: 2, captured: 1 });
  });

  test.each([
    ['1h', 120, 30],
    ['24h', 3_600, 24],
    ['7d', 21_600, 28],
    ['30d', 86_400, 30],
  ])('%s is split into buckets of %i seconds', async (range, seconds, parts) => {
    const acme = await tenant(server);
    const overview = await read(acme, { range });
    expect(overview).toMatchObject({ range, bucketSeconds: seconds, isEmpty: true });
    expect(overview.webhooks.byBucket).toHaveLength(parts);
    expect(overview.webhooks.byBucket[0]?.at).toBe(overview.from);
    expect(Date.parse(overview.to) - Date.parse(overview.from)).toBeLessThanOrEqual(parts * seconds * 1_000);
  });

  test('by default, the range is the shortest one with at least half of the records', async () => {
    const acme = await tenant(server);
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await pay(acme, 100, 'EUR'));
    const rangeAfter = async (agoMs: number) => {
      await inserted(acme, ids.pop() ?? '', agoMs);
      const { range, payments } = await read(acme);
      return [range, payments.byStatus[0]?.count];
    };
    expect((await read(acme)).range).toBe('1h');
    expect(await rangeAfter(3 * dayMs)).toEqual(['1h', 3]);
    expect(await rangeAfter(5 * hourMs)).toEqual(['1h', 2]);
    expect(await rangeAfter(6 * hourMs)).toEqual(['24h', 3]);
    expect(await rangeAfter(20 * dayMs)).toEqual(['24h', 2]);
    expect((await read(acme, { range: '1h' })).payments.byStatus).toEqual([]);
  });

  test('in real time, payments count by their insertion', async () => {
    const acme = await tenant(server);
    await pay(acme, 100, 'EUR');
    await inserted(acme, await pay(acme, 50, 'EUR'), 3 * dayMs);
    const counts = async (range: string) => (await read(acme, { range })).payments.byStatus;
    expect(await counts('24h')).toEqual([{ status: 'pending', count: 1 }]);
    expect(await counts('7d')).toEqual([{ status: 'pending', count: 2 }]);
    const at = (await read(acme, { range: '7d' })).payments.volume.map((part) => Date.parse(part.at));
    expect(at).toHaveLength(2);
    expect(Math.abs((at[1] ?? 0) - (at[0] ?? 0) - 3 * dayMs)).toBeLessThanOrEqual(6 * hourMs);
  });

  test('in sandbox time, payments count by the application clock, which is the default once it was moved', async () => {
    const acme = await tenant(server);
    await pay(acme, 100, 'EUR');
    expect(await read(acme)).toMatchObject({ time: 'real', range: '1h' });
    const advance = (days: number) =>
      acme.client.post('developer_api_clock/advance', { seconds: days * 86_400 });
    await advance(3);
    await pay(acme, 50, 'EUR');
    await pay(acme, 50, 'EUR');
    const moved = await read(acme, { range: '7d' });
    expect(moved.time).toBe('sandbox');
    const at = moved.payments.volume.map((part) => Date.parse(part.at));
    expect(Math.abs((at.at(-1) ?? 0) - (at[0] ?? 0) - 3 * dayMs)).toBeLessThanOrEqual(6 * hourMs);
    // Only the payments after the advance are recent.
    expect((await read(acme, { range: '1h' })).payments.byStatus).toEqual([{ status: 'pending', count: 2 }]);
    const real = await read(acme, { time: 'real' });
    expect([real.time, real.range, real.payments.byStatus[0]?.count]).toEqual(['real', '1h', 3]);
    // Requests have no other time.
    const { requests } = moved;
    expect(Date.parse(requests.to)).toBeLessThan(Date.now() + 60_000);
    expect(Date.parse(moved.to) - Date.parse(requests.to)).toBeGreaterThan(2 * dayMs);

    await acme.client.post('developer_api_clock/reset', {});
    expect(await read(acme)).toMatchObject({ time: 'real' });
    const set = await read(acme, { time: 'sandbox' });
    expect([set.payments.byStatus[0]?.count, set.payments.ahead]).toEqual([1, 2]);

    await advance(400);
    const far = await read(acme);
    expect([far.time, far.range], 'no record is in the ranges of sandbox time').toEqual(['real', '1h']);
  });

  test('a frozen clock is a moved clock', async () => {
    const acme = await tenant(server);
    await pay(acme, 100, 'EUR');
    await acme.client.post('developer_api_clock/freeze', {});
    expect((await read(acme)).time).toBe('sandbox');
  });

  test('counts attempts by outcome: a failed one counts after a retry has succeeded', async () => {
    const acme = await tenant(server);
    const failing = await openReceiver((_received, response, count) =>
      response.writeHead(count === 1 ? 500 : 204).end(),
    );
    onTestFinished(() => failing.close());
    await acme.client.post('developer_api_webhooks', { url: failing.url });
    const webhooksAre = (counts: Partial<Overview['webhooks']>) =>
      vi.waitFor(async () => expect((await read(acme, { range: '24h' })).webhooks).toMatchObject(counts));
    // On a frozen clock, the retry waits for the advance.
    await acme.client.post('developer_api_clock/freeze', {});
    await pay(acme, 100, 'EUR');
    await webhooksAre({ succeeded: 0, failed: 1, pending: 1 });
    await acme.client.post('developer_api_clock/advance', { seconds: 3_600 });
    await webhooksAre({ succeeded: 1, failed: 1, pending: 0 });
    await pay(acme, 100, 'EUR');
    await webhooksAre({ succeeded: 2, failed: 1, pending: 0 });
    const { byBucket } = (await read(acme, { range: '24h', time: 'real' })).webhooks;
    const sum = (outcome: 'succeeded' | 'failed') => byBucket.reduce((all, part) => all + part[outcome], 0);
    expect([sum('succeeded'), sum('failed')]).toEqual([2, 1]);
  });

  test('returns a sum beyond the safe integer range as text', async () => {
    const acme = await tenant(server);
    await insertCopies(acme, 10_000);
    const { volume } = (await read(acme)).payments;
    expect(volume.map(({ amount }) => amount)).toEqual(['9999999999990000']);
  });

  test('is cached for a time that grows with the number of records', async () => {
    const acme = await tenant(server);
    const now = Date.now();
    const empty = await read(acme, {}, now);
    expect(await read(acme, {}, now)).not.toBe(empty);
    await insertCopies(acme, 20_000);
    const [first, second] = [await read(acme, {}, now), await read(acme, {}, now + 999)];
    expect(second).toBe(first);
    expect(await read(acme, {}, now + 1_000)).not.toBe(first);
    expect(await read(acme, { range: '7d' }, now)).not.toBe(first);
  });

  test('counts at most the newest 100,000 payments', async () => {
    const acme = await tenant(server);
    await insertCopies(acme, 100_001);
    for (const time of ['real', 'sandbox']) {
      const { payments } = await read(acme, { time });
      expect([payments.isCapped, payments.byStatus[0]?.count]).toEqual([true, 100_000]);
    }
  });
});
