import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { firstIdAt } from '../../src/kernel/ids.ts';
import { consoleRoutes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { readConsole } from '../support/principal.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

interface Overview {
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
    readonly currencies: readonly string[];
    readonly isCapped: boolean;
  };
  readonly webhooks: { readonly byBucket: readonly { readonly at: string }[]; readonly succeeded: number };
}

const dayMs = 86_400_000;

describe.each(databaseKinds)('the overview on %s', (kind) => {
  let server: Server;
  let receiver: Receiver;
  // Advanced for each read, because a result is cached for some seconds.
  let now = Date.now();

  const read = (holder: Tenant, days = 1, at?: number) => {
    now += 6_000;
    return readConsole<Overview>(server, consoleRoutes, 'overview', holder, {
      query: { days },
      now: at ?? now,
    });
  };
  const pay = async (holder: Tenant, amount: number, currency: string, to?: string) => {
    const { id } = (await holder.client.post('developer_api_payments', { amount, currency })).body;
    if (to) await holder.client.post(`developer_api_payments/${id}/advance`, { to });
    return id;
  };

  beforeAll(async () => {
    server = await sharedServer(kind);
    receiver = await openReceiver();
  });
  afterAll(async () => {
    await receiver?.close();
  });

  test('counts payments by status and sums them by currency and period, for this organization only', async () => {
    const [acme, other] = [await tenant(server), await tenant(server)];
    await pay(acme, 100, 'EUR');
    await pay(acme, 250, 'EUR', 'captured');
    await pay(acme, 7, 'JPY');
    await pay(other, 999, 'USD');
    const overview = await read(acme);
    expect(overview).toMatchObject({ object: 'overview', status: 'ok', bucketSeconds: 3_600 });
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
  });

  test.each([
    [1, 3_600, 24],
    [7, 21_600, 28],
    [30, 86_400, 30],
  ])('%i days are split into buckets of %i seconds', async (days, seconds, parts) => {
    const acme = await tenant(server);
    const overview = await read(acme, days);
    expect(overview.bucketSeconds).toBe(seconds);
    expect(overview.webhooks.byBucket).toHaveLength(parts);
    expect(overview.webhooks.byBucket[0]?.at).toBe(overview.from);
  });

  test('excludes older payments, by wall-clock time and not by the application clock', async () => {
    const acme = await tenant(server);
    await pay(acme, 100, 'EUR');
    const id = await pay(acme, 50, 'EUR');
    const old = firstIdAt('payment', Date.now() - 3 * dayMs);
    await server.database.script(
      `update payments set id = '${old}' where org_id = '${acme.orgId}' and id = '${id}'`,
    );
    const counts = async (days: number) => (await read(acme, days)).payments.byStatus;
    expect(await counts(1)).toEqual([{ status: 'pending', count: 1 }]);
    expect(await counts(7)).toEqual([{ status: 'pending', count: 2 }]);
    const at = (await read(acme, 7)).payments.volume.map((part) => Date.parse(part.at));
    expect(at).toHaveLength(2);
    expect(Math.abs((at[1] ?? 0) - (at[0] ?? 0) - 3 * dayMs)).toBeLessThanOrEqual(21_600_000);
  });

  test('counts deliveries by outcome', async () => {
    const acme = await tenant(server);
    await acme.client.post('developer_api_webhooks', { url: receiver.url });
    await pay(acme, 100, 'EUR');
    await vi.waitFor(async () => {
      const { webhooks } = await read(acme);
      expect(webhooks).toMatchObject({ succeeded: 1, failed: 0, pending: 0, isCapped: false });
    });
  });

  test('returns a sum beyond the safe integer range as text', async () => {
    const acme = await tenant(server);
    await server.database.script(`insert into payments (org_id, id, app_id, status, version, amount, currency, amount_capturable,
        amount_captured, amount_refunded, amount_disputed, fee_amount, capture_method, payment_method_type, metadata, scenario,
        auto_advance, created_at, updated_at)
      select '${acme.orgId}', left('${firstIdAt('payment', Date.now())}', -6) || lpad(n::text, 6, '0'), '${acme.appId}', 'pending', 1,
        999999999999, 'EUR', 0, 0, 0, 0, 0, 'manual', 'card', '{}', '"approve"', false, now(), now()
      from generate_series(1, 10000) n`);
    const { volume } = (await read(acme)).payments;
    expect(volume.map(({ amount }) => amount)).toEqual(['9999999999990000']);
  });

  test('is cached for five seconds', async () => {
    const acme = await tenant(server);
    const at = now;
    const [first, second] = [await read(acme, 1, at), await read(acme, 1, at + 4_999)];
    expect(second).toBe(first);
    expect(await read(acme, 1, at + 5_000)).not.toBe(first);
    expect(await read(acme, 7, at)).not.toBe(first);
  });
});
