import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startSandbank } from 'sandbank/testing';

const count = 50;
/** With 50 tenants at once, a busy machine needs more than the default ten seconds. */
const longTimeout = { timeoutMs: 120_000 };
let sandbank;
before(async () => {
  sandbank = await startSandbank();
});
after(() => sandbank.close());

describe(`${count} concurrent tenants on one server`, { concurrency: count }, () => {
  for (let number = 1; number <= count; number += 1) {
    test(`tenant ${number} has its own data and its own clock`, async () => {
      const tenant = await sandbank.tenant({ name: `tenant ${number}`, clock: 'frozen' });
      const webhooks = await tenant.webhooks.capture({ eventTypes: ['payment.*'] });
      const payment = await tenant.client.payments.create({ amount: number * 100, currency: 'EUR' });
      await tenant.client.payments.advance(payment.id, { to: 'settled' });

      const settled = await webhooks.waitFor('payment.settled', longTimeout);
      assert.equal(settled.event.data.amount, number * 100);
      const event = await tenant.events.waitFor('payment.settled', longTimeout);
      assert.equal(event.data.id, payment.id);

      const before = await tenant.clock.now();
      await tenant.clock.advance({ days: number });
      const days = (Number(await tenant.clock.now()) - Number(before)) / 86_400_000;
      assert.equal(days, number);

      const { data } = await tenant.client.payments.list();
      assert.deepEqual(
        data.map(({ id }) => id),
        [payment.id],
      );
      assert.deepEqual(webhooks.refused, []);
      await tenant.ledger.assertBalanced();
      await tenant.reset();
      assert.equal((await tenant.client.payments.list()).data.length, 0);
    });
  }
});

test('the coverage report includes all tenants', async () => {
  const { sections } = await sandbank.coverage();
  const moves = sections.find(({ kind }) => kind === 'move');
  assert.ok(moves.items.some(({ name, count: met }) => name.startsWith('payment.') && met >= count));
  assert.match(await sandbank.junit(), /<testsuite/);
});
