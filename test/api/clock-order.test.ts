import { beforeAll, describe, expect, test } from 'vitest';
import { ClockRunner } from '../../src/runs/advance-run.ts';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';
import { expectOk } from '../support/api-client.ts';
import { clockApi } from '../support/clock.ts';
import { openMerchant } from '../support/merchant.ts';
import { paymentApi } from '../support/payments.ts';
import { withStatus } from '../support/receiver.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { testReceiver } from '../support/webhooks.ts';

const transfers = 'developer_api_transfers';
const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 };
/** Makes `uptime` run 20 times as fast: an advance reaches its limit after 1.5 seconds instead of 30. */
const speedup = 20;

describe.each(databaseKinds)('an advance with a hanging receiver, on %s', (kind) => {
  let server: Server;

  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  test('fires no timer before the deliveries due earlier, and reports the remaining work', async () => {
    const runner = new ClockRunner({
      ...server,
      wallClock: Date.now,
      uptime: () => performance.now() * speedup,
      onError: () => undefined,
    });
    const shop = await openMerchant(server, { isFrozen: true });
    const time = clockApi(shop.clientOn(openApp(server, { runner })));
    const open: (() => void)[] = [];
    const receiver = await testReceiver((_received, response) => {
      open.push(() => response.writeHead(204).end());
    });
    await shop.createWebhook(receiver);
    const { now: start } = await time.read();
    const { id, expiresAt } = expectOk(await shop.client.post(transfers, quote)) as Body & {
      expiresAt: string;
    };
    await receiver.waitFor(1);

    // There is no timer in this range: the clock arrives, and the delivery from the start is still open.
    const minute = await time.advance({ seconds: 60 });
    expect(minute).toMatchObject({ complete: false, happened: [] });
    expect(minute.left).toMatchObject({ timers: 0, deliveries: 1, passedOver: 1, nextAt: start });

    // The quote expires after half an hour, but not before the delivery was attempted.
    const hour = await time.advance({ seconds: 3_600 });
    expect(hour).toMatchObject({ complete: false, happened: [] });
    expect(hour.left).toMatchObject({ timers: 1, deliveries: 1, passedOver: 1, nextAt: start });
    expect(Date.parse(hour.now)).toBeLessThan(Date.parse(expiresAt));
    expect(expectOk(await shop.client.get(`${transfers}/${id}`)).status).toBe('quoted');

    receiver.answer(withStatus(204));
    for (const answer of open) answer();
    const rest = await shop.clock.advance({ seconds: 3_600 });
    expect(rest).toMatchObject({ complete: true });
    expect(rest).not.toHaveProperty('left');
    expect(rest.happened.map(({ type, event }) => `${type} ${event}`)).toContain('transfer transfer.expired');
    expect(expectOk(await shop.client.get(`${transfers}/${id}`)).status).toBe('expired');
  });

  test('continues when another request cancels the next timer', async () => {
    const shop = await openMerchant(server, { isFrozen: true });
    const receiver = await testReceiver(withStatus(500));
    await shop.createWebhook(receiver);
    const { id } = expectOk(await shop.client.post(transfers, quote));
    await receiver.waitFor(1);
    receiver.answer(withStatus(204));
    // The retry is due between the two timers: after the quote expires (half an hour) and before the authorization
    // does.
    const retry = `update deliveries set due_at = now() + interval '1 hour' where org_id = $1 and status = 'pending'`;
    await expect
      .poll(() =>
        server.database.query({ name: '', text: `${retry} and attempts = 1 returning 1` }, [shop.orgId]),
      )
      .toHaveLength(1);
    const payment = await paymentApi(shop.client).createAndAdvance(['authorize']);

    let isCanceled = false;
    const rows: Server['reader']['rows'] = async (statement, values) => {
      const found = await server.reader.rows(statement, values);
      if (statement.name === 'timers_due' && !isCanceled) {
        isCanceled = true;
        expectOk(await shop.client.post(`${transfers}/${id}/advance`, { action: 'cancel' }));
      }
      return found as never;
    };
    const runner = new ClockRunner({
      ...{ ...server, reader: { ...server.reader, rows } },
      wallClock: Date.now,
      uptime: () => performance.now(),
      onError: () => undefined,
    });
    const time = clockApi(shop.clientOn(openApp(server, { runner })));
    const advanced = await time.advance({ seconds: 8 * 86_400 });
    expect(isCanceled).toBe(true);
    expect(advanced).toMatchObject({ complete: true });
    expect(advanced.happened.map(({ type, event }) => `${type} ${event}`)).toContain(
      'payment payment.expired',
    );
    expect(expectOk(await shop.client.get(`developer_api_payments/${payment.id}`)).status).toBe('expired');
  });
});
