import { connectSandbank } from 'sandbank/testing';
import { expect, inject, test } from 'vitest';

const sandbank = connectSandbank(inject('sandbank'));

test.concurrent('a payment settles', async () => {
  const tenant = await sandbank.tenant();
  const { id } = await tenant.client.payments.create({ amount: 1_250, currency: 'EUR' });
  await tenant.client.payments.advance(id, { to: 'settled' });
  const event = await tenant.events.waitFor('payment.settled');
  expect(event.data).toMatchObject({ id, status: 'settled' });
  await tenant.ledger.assertBalanced();
});

test.concurrent('a quote expires when its time is over', async () => {
  const tenant = await sandbank.tenant({ clock: 'frozen' });
  const { id } = await tenant.client.transfers.create({
    sourceCurrency: 'EUR',
    targetCurrency: 'USD',
    sourceAmount: 10_000,
  });
  await tenant.clock.advance({ minutes: 31 });
  expect(await tenant.client.transfers.retrieve(id)).toMatchObject({ status: 'expired' });
});
