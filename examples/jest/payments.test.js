const { withTenant } = require('sandbank/jest');

test(
  'a payment settles',
  withTenant(async (tenant) => {
    const webhooks = await tenant.webhooks.capture();
    const { id } = await tenant.client.payments.create({ amount: 1_250, currency: 'EUR' });
    await tenant.client.payments.advance(id, { to: 'settled' });
    const { event } = await webhooks.waitFor('payment.settled');
    expect(event.data.amount).toBe(1_250);
    await tenant.ledger.assertBalanced();
  }),
);

test(
  'a quote expires after 30 minutes',
  withTenant({ clock: 'frozen' }, async (tenant) => {
    const { id } = await tenant.client.transfers.create({
      sourceCurrency: 'EUR',
      targetCurrency: 'USD',
      sourceAmount: 10_000,
    });
    await tenant.clock.advance({ minutes: 31 });
    const transfer = await tenant.client.transfers.retrieve(id);
    expect(transfer.status).toBe('expired');
  }),
);
