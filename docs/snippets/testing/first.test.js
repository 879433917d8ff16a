import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startSandbank } from 'sandbank/testing';

let sandbank;
before(async () => {
  sandbank = await startSandbank();
});
after(() => sandbank.close());

test('a payment settles', async () => {
  const tenant = await sandbank.tenant();
  const webhooks = await tenant.webhooks.capture();

  const payment = await tenant.client.payments.create({ amount: 1_250, currency: 'EUR' });
  await tenant.client.payments.advance(payment.id, { to: 'settled' });

  const { event } = await webhooks.waitFor('payment.settled');
  assert.equal(event.data.id, payment.id);
  await tenant.ledger.assertBalanced();
});
