import { beforeAll, describe, expect, test } from 'vitest';
import { testCards } from '../../src/kernel/scenario.ts';
import type { Server } from '../../src/server.ts';
import { runConcurrently } from '../support/api-client.ts';
import { type PaymentApi, paymentApi, payments } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

/** The effects of scenarios are tested next to the machine, in src/resources/payment-scenario and test/model. */
describe.each(databaseKinds)('card numbers on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let paymentsApi: PaymentApi;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    paymentsApi = paymentApi(acme.client);
  });

  test('every test card selects its scenario, and only its last four digits are stored', async () => {
    const cards = Object.keys(testCards);
    const created = await runConcurrently(cards, (number) =>
      paymentsApi.create({ paymentMethod: { type: 'card', number } }),
    );
    expect(Object.fromEntries(created.map(({ scenario }, i) => [cards[i], scenario]))).toEqual(testCards);
    created.forEach(({ paymentMethod }, i) => {
      expect(paymentMethod).toEqual({ type: 'card', lastFour: cards[i]?.slice(-4) });
    });
    for (const table of ['payments', 'events', 'idempotency', 'audit', 'state_history']) {
      const text = `select count(*)::integer as n from ${table} t where t.org_id = $1 and t::text ~ '${cards.join('|')}'`;
      expect(await server.database.query({ name: '', text }, [acme.orgId]), table).toEqual([{ n: 0 }]);
    }
  });

  test.each(['4111111111111111', '12345678', '4242 4242 4242 4242', ''])(
    'rejects the card number "%s", and stores it nowhere',
    async (number) => {
      const answer = await acme.client.post(payments, {
        amount: 100,
        currency: 'EUR',
        paymentMethod: { type: 'card', number },
      });
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe('/paymentMethod/number');
      if (number === '') return;
      expect(answer.text).not.toContain(number);
      for (const table of ['payments', 'audit', 'idempotency']) {
        const text = `select count(*)::integer as n from ${table} t where t.org_id = $1 and strpos(t::text, $2) > 0`;
        expect(await server.database.query({ name: '', text }, [acme.orgId, number])).toEqual([{ n: 0 }]);
      }
    },
  );
});
