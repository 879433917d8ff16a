import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startSandbank } from 'sandbank/testing';
import { Shop } from '../shop.js';

let sandbank;
before(async () => {
  sandbank = await startSandbank();
});
after(() => sandbank.close());

/** A tenant and a shop for one test: tests run concurrently on one server and are isolated. */
async function openShop(options) {
  const tenant = await sandbank.tenant(options);
  const shop = new Shop(tenant.client);
  await shop.open();
  return { tenant, shop };
}

describe('the shop', { concurrency: true }, () => {
  test('marks the order as paid when the payment is captured', async () => {
    const { tenant, shop } = await openShop();
    const payment = await shop.checkout({ number: '1', amount: 1_250, currency: 'EUR' });
    await tenant.client.payments.advance(payment.id, { to: 'captured' });
    // Resolves when all due webhooks are delivered, so the order is up to date.
    await tenant.clock.advance({ seconds: 1 });
    assert.equal(shop.order('1').status, 'paid');
    await tenant.ledger.assertBalanced();
    await shop.close();
  });

  test('marks the order as unpaid after a decline', async () => {
    const { tenant, shop } = await openShop();
    const { id } = await shop.checkout({
      ...{ number: '2', amount: 900, currency: 'EUR' },
      scenario: 'decline:insufficient_funds',
    });
    const payment = await tenant.client.payments.advance(id);
    assert.equal(payment.failure.code, 'insufficient_funds');
    await tenant.clock.advance({ seconds: 1 });
    assert.equal(shop.order('2').status, 'unpaid');
    await shop.close();
  });

  test('handles an authorization that expires after a week, in milliseconds', async () => {
    const { tenant, shop } = await openShop({ clock: 'frozen' });
    const payment = await shop.checkout({ number: '3', amount: 4_000, currency: 'GBP' });
    await tenant.client.payments.advance(payment.id, { to: 'authorized' });
    const { happened } = await tenant.clock.advance({ days: 8 });
    assert.ok(happened.some(({ id, to }) => id === payment.id && to === 'expired'));
    assert.equal(shop.order('3').status, 'unpaid');
    await shop.close();
  });

  test('pays once when the response is lost', async () => {
    const { tenant, shop } = await openShop();
    await tenant.client.faultPlans.create({
      ...{ on: 'requests', count: 1, operations: ['createPayment'] },
      fault: { type: 'lose_answer' },
    });
    // The payment is created, the response is lost, and the client retries with the same key.
    await shop.checkout({ number: '4', amount: 700, currency: 'EUR' });
    const { data } = await tenant.client.payments.list();
    assert.equal(data.length, 1);
    await shop.close();
  });

  test('handles duplicate webhooks', async () => {
    const { tenant, shop } = await openShop();
    await tenant.client.faultPlans.create({ on: 'webhooks', share: 100, fault: { type: 'duplicate' } });
    const payment = await shop.checkout({ number: '5', amount: 1_000, currency: 'EUR' });
    await tenant.client.payments.advance(payment.id, { to: 'captured' });
    await shop.refund('5', 1_000);
    await tenant.clock.advance({ seconds: 60 });
    assert.equal(shop.order('5').status, 'refunded');
    await tenant.ledger.assertBalanced();
    await shop.close();
  });

  test('can be tested from a forked state', async () => {
    const { tenant, shop } = await openShop();
    const payment = await shop.checkout({ number: '6', amount: 2_000, currency: 'EUR' });
    await tenant.client.payments.advance(payment.id, { to: 'settled' });
    const copy = await tenant.fork();
    await copy.client.payments.refund(payment.id, { amount: 500 });
    const [original, copied] = [
      await tenant.client.payments.retrieve(payment.id),
      await copy.client.payments.retrieve(payment.id),
    ];
    assert.deepEqual([original.amountRefunded, copied.amountRefunded], [0, 500]);
    await shop.close();
  });
});
