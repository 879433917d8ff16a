import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, expectReplay, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type PaymentApi, paymentApi, payments, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { paymentWrites } from './payment-writes.ts';

/** Steps, amounts, timestamps and rejections are tested next to the machine, in src/resources/payments. */
describe.each(databaseKinds)('advance on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;
  let paymentsApi: PaymentApi;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    other = await tenant(server);
    paymentsApi = paymentApi(acme.client);
  });

  const writesOf = async (id: string) => (await paymentWrites(server, acme.orgId)).get(id);

  describe('200', () => {
    test("no body, an empty body and {} all take the scenario's next step", async () => {
      for (const call of [{}, { headers: { 'content-type': 'application/json' } }, { body: {} }]) {
        const { id } = await paymentsApi.create();
        const { body } = await acme.client.send(`${payments}/${id}/advance`, { method: 'POST', ...call });
        expect(body).toMatchObject({ object: 'payment', id, status: 'captured', version: 2 });
      }
    });

    test('reaches a named state in one request, with history, an event and ledger entries for each step', async () => {
      const { id } = await paymentsApi.create({ captureMethod: 'manual' });
      const answer = await paymentsApi.advance(id, { to: 'settled' }, 'expand=ledgerEntries');
      expect(answer.body).toMatchObject({ status: 'settled', version: 4, amountCaptured: 10_000 });
      const { history, events, entries } = (await writesOf(id)) ?? { history: [], events: [], entries: [] };
      expect(history.map(({ action }) => action)).toEqual(['create', 'authorize', 'capture', 'settle']);
      expect(new Set(history.slice(1).map(({ requestId }) => requestId)).size).toBe(1);
      expect(events.map(({ type }) => type)).toEqual([
        'payment.created',
        'payment.authorized',
        'payment.captured',
        'payment.settled',
      ]);
      expect(entries.map(({ reason }) => reason)).toEqual(['authorize', 'capture', 'settle']);
      expect(answer.body.ledgerEntries).toHaveLength(3);
    });

    test('events belong to the application that created the record, also when another application advances it', async () => {
      const second = await acme.addKey({ application: 'second' });
      const { id } = await paymentsApi.create();
      const moved = await second.client.post(`${payments}/${id}/advance`, { to: 'refunded' });
      expect(moved.body.status).toBe('refunded');
      const apps = await server.database.query<{ appId: string; events: number }>(
        {
          name: '',
          text: `select app_id as "appId", count(*)::integer as events from events
            where org_id = $1 and (resource_id = $2 or request_id = $3) group by 1`,
        },
        [acme.orgId, id, moved.body.requestId],
      );
      expect(apps).toEqual([{ appId: acme.appId, events: 5 }]);
    });

    test('twenty concurrent partial captures never exceed the authorized amount', async () => {
      const { id } = await paymentsApi.createAndAdvance(['authorize']);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => paymentsApi.advance(id, { action: 'capture', amount: 1_000 })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
      expect(new Set(answers.flatMap(({ code }) => code ?? []))).toEqual(
        new Set(['invalid_state_transition']),
      );
      expect(await paymentsApi.read(id)).toMatchObject({
        status: 'captured',
        amountCaptured: 10_000,
        version: 12,
      });
      expect((await paymentsApi.balances(id)).provider_receivable).toBe(10_000);
    });

    test('of twenty concurrent full captures, exactly one succeeds', async () => {
      const { id } = await paymentsApi.create();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => paymentsApi.advance(id, { action: 'capture' })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect((await paymentsApi.list(id, 'ledger_entries')).body.data).toHaveLength(1);
    });

    test('a repeated idempotency key returns the same response byte for byte, without a second effect', async () => {
      const { id } = await paymentsApi.create();
      const idempotencyKey = randomUUID();
      const send = (body: unknown) =>
        acme.client.post(`${payments}/${id}/advance`, body, {
          idempotencyKey,
          query: 'expand=ledgerEntries',
        });
      const first = await send({ action: 'capture', amount: 4_000 });
      const writes = await writesOf(id);
      for (const replay of await Promise.all(
        Array.from({ length: 5 }, () => send({ amount: 4_000, action: 'capture' })),
      )) {
        expectReplay(replay, first);
      }
      expect(await writesOf(id)).toEqual(writes);
      expect((await paymentsApi.read(id)).amountCaptured).toBe(4_000);
    });

    test('twenty identical concurrent requests cause one state change', async () => {
      const { id } = await paymentsApi.create();
      const idempotencyKey = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () =>
          acme.client.post(
            `${payments}/${id}/advance`,
            { action: 'capture', amount: 100 },
            { idempotencyKey },
          ),
        ),
      );
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(await paymentsApi.read(id)).toMatchObject({ amountCaptured: 100, version: 2 });
    });

    test('returns ledger entries only with expand, and only those of the current request', async () => {
      const { id } = await paymentsApi.create();
      const withoutExpand = await paymentsApi.advance(id, { action: 'authorize' });
      expect(withoutExpand.body).not.toHaveProperty('ledgerEntries');
      const expanded = await paymentsApi.advance(id, { action: 'capture' }, 'expand=ledgerEntries');
      const listed = (await paymentsApi.list(id, 'ledger_entries', 'limit=1')).body.data;
      expect(expanded.body.ledgerEntries).toEqual(listed);
    });
  });

  describe('400', () => {
    test('rejects an invalid body, points param at the field and changes nothing', async () => {
      const { id } = await paymentsApi.create();
      const answer = await paymentsApi.advance(id, { action: 'capture', amount: 1.5 });
      expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: '/amount' });
      expect(await paymentsApi.read(id)).toMatchObject({ status: 'pending', version: 1 });
    });

    test.each(['[]', '1', 'null', '"capture"'])('rejects the body %s', async (raw) => {
      const { id } = await paymentsApi.create();
      const answer = await acme.client.post(`${payments}/${id}/advance`, undefined, { raw });
      expect(answer.code).toBe('invalid_request');
    });

    test('rejects every expand value except ledgerEntries', async () => {
      const { id } = await paymentsApi.create();
      for (const query of ['expand=events', 'expand=', 'limit=1']) {
        expect((await paymentsApi.advance(id, {}, query)).code, query).toBe('invalid_request');
      }
    });

    test('requires an idempotency key', async () => {
      const { id } = await paymentsApi.create();
      const answer = await acme.client.post(`${payments}/${id}/advance`, {}, { idempotencyKey: null });
      expect(answer.code).toBe('idempotency_key_missing');
    });
  });

  describe('401, 403 and 404', () => {
    test('requires a key with payments:write', async () => {
      const { id } = await paymentsApi.create();
      const anonymous = new ApiClient(server.app, null);
      expect((await anonymous.post(`${payments}/${id}/advance`, {})).code).toBe('api_key_missing');
      const reader = await acme.addKey({ scopes: ['payments:read', 'customers:write', 'transfers:write'] });
      const refused = await reader.client.post(`${payments}/${id}/advance`, {});
      expect(refused.code).toBe('scope_missing');
      expect(refused.body.error.details).toEqual({ scope: 'payments:write' });
    });

    test('returns the same 404 for unknown ids, ids of other organizations and ids of other resources', async () => {
      const { id } = await paymentApi(other.client).create();
      const answers = await Promise.all(
        [id, unknownIds.payment, unknownIds.refund, 'x'].map((candidate) =>
          paymentsApi.advance(candidate, {}),
        ),
      );
      for (const { code, body } of answers) {
        expect(code).toBe('resource_not_found');
        expect(body.error).toEqual(answers[0]?.body.error);
      }
      expect(await paymentApi(other.client).read(id)).toMatchObject({ status: 'pending', version: 1 });
    });
  });

  describe('409', () => {
    test('a stored rejection is returned for its idempotency key even after the payment has changed', async () => {
      const { id } = await paymentsApi.create();
      const idempotencyKey = randomUUID();
      const settle = () =>
        acme.client.post(`${payments}/${id}/advance`, { action: 'settle' }, { idempotencyKey });
      const first = await settle();
      expect(first.status).toBe(409);
      await paymentsApi.advance(id, { action: 'capture' });
      expectReplay(await settle(), first);
      expect((await paymentsApi.read(id)).status).toBe('captured');
    });
  });

  describe('422', () => {
    test('rejects more than the remaining capturable, refundable or disputable amount and names that amount', async () => {
      const held = await paymentsApi.createAndAdvance(['authorize', { action: 'capture', amount: 4_000 }]);
      const capture = await paymentsApi.advance(held.id, { action: 'capture', amount: 6_001 });
      expect(capture.body.error).toMatchObject({
        code: 'amount_exceeds_capturable',
        message:
          '60.01 EUR exceeds the capturable amount of 60.00 EUR. Without an amount, all of it is captured.',
        param: '/amount',
        details: { capturable: 6_000, requested: 6_001 },
      });
      const paid = await paymentsApi.createAndAdvance(['capture', { action: 'refund', amount: 4_000 }]);
      const refund = await paymentsApi.advance(paid.id, { action: 'refund', amount: 6_001 });
      expect(refund.body.error).toMatchObject({
        code: 'amount_exceeds_refundable',
        message:
          '60.01 EUR exceeds the refundable amount of 60.00 EUR. Pending refunds and disputed amounts count. Without an amount, all of it is refunded.',
        param: '/amount',
        details: { refundable: 6_000, requested: 6_001 },
      });
      const dispute = await paymentsApi.advance(paid.id, { action: 'dispute', amount: 6_001 });
      expect(dispute.body.error).toMatchObject({
        code: 'amount_exceeds_disputable',
        message:
          '60.01 EUR exceeds the disputable amount of 60.00 EUR. Refunds, including pending ones, and earlier disputes count. Without an amount, all of it is disputed.',
        param: '/amount',
        details: { disputable: 6_000, requested: 6_001 },
      });
      expect(await paymentsApi.read(held.id)).toMatchObject({ version: 3, amountCaptured: 4_000 });
      expect(await paymentsApi.read(paid.id)).toMatchObject({ version: 3, amountRefunded: 4_000 });
    });

    test('rejects another currency', async () => {
      const { id, version } = await paymentsApi.createAndAdvance(['authorize']);
      const wrong = await paymentsApi.advance(id, { action: 'capture', amount: 100, currency: 'USD' });
      expect(wrong.body.error).toMatchObject({ code: 'currency_mismatch', param: '/currency' });
      expect((await paymentsApi.read(id)).version).toBe(version);
    });

    test('rejects an idempotency key reused for another action or another payment', async () => {
      const [one, two] = [await paymentsApi.create(), await paymentsApi.create()];
      const idempotencyKey = randomUUID();
      const send = (id: string, body: unknown) =>
        acme.client.post(`${payments}/${id}/advance`, body, { idempotencyKey });
      expect((await send(one.id, { action: 'authorize' })).status).toBe(200);
      expect((await send(one.id, { action: 'capture' })).code).toBe('idempotency_key_reused');
      expect((await send(two.id, { action: 'authorize' })).code).toBe('idempotency_key_reused');
      expect((await paymentsApi.read(two.id)).version).toBe(1);
    });

    test('stores a 422 response for its idempotency key', async () => {
      const { id } = await paymentsApi.create();
      const idempotencyKey = randomUUID();
      const send = () =>
        acme.client.post(
          `${payments}/${id}/advance`,
          { action: 'capture', amount: 10_001 },
          { idempotencyKey },
        );
      const first = await send();
      expect(first.code).toBe('amount_exceeds_capturable');
      expectReplay(await send(), first);
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.advance);
});
