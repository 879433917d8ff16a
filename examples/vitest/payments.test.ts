import { test } from 'sandbank/vitest';
import { describe, expect } from 'vitest';

test('a payment settles', async ({ tenant }) => {
  const { id } = await tenant.client.payments.create({ amount: 1_250, currency: 'EUR' });
  await tenant.client.payments.advance(id, { to: 'settled' });
  const event = await tenant.events.waitFor('payment.settled');
  expect(event.data.amount).toBe(1_250);
  await tenant.ledger.assertBalanced();
});

test('each test has its own tenant', async ({ tenant }) => {
  expect((await tenant.client.payments.list()).data).toEqual([]);
});

describe('with a frozen clock', () => {
  test.override('tenantOptions', { clock: 'frozen' });

  test('a quote expires after 30 minutes', async ({ tenant }) => {
    const { id } = await tenant.client.transfers.create({
      sourceCurrency: 'EUR',
      targetCurrency: 'USD',
      sourceAmount: 10_000,
    });
    await tenant.clock.advance({ minutes: 31 });
    expect((await tenant.client.transfers.retrieve(id)).status).toBe('expired');
  });
});
