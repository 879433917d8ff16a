import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, expectReplay, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type PaymentApi, paymentApi, payments, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { paymentTrails } from './payment-trails.ts';

/** Steps, amounts, timestamps and refusals are tested beside the machine, in src/resources/payments. */
describe.each(databaseKinds)('advance on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;
  let life: PaymentApi;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    other = await tenant(server);
    life = paymentApi(acme.client);
  });

  const trailOf = async (id: string) => (await paymentTrails(server, acme.orgId)).get(id);

  describe('200', () => {
    test('no body, an empty body and {} all take the next step of the scenario', async () => {
      for (const call of [{}, { headers: { 'content-type': 'application/json' } }, { body: {} }]) {
        const { id } = await life.create();
        const { body } = await acme.client.send(`${payments}/${id}/advance`, { method: 'POST', ...call });
        expect(body).toMatchObject({ object: 'payment', id, status: 'captured', version: 2 });
      }
    });

    test('a state by name is reached in one request, with a move, an event and entries for each step', async () => {
      const { id } = await life.create({ captureMethod: 'manual' });
      const answer = await life.advance(id, { to: 'settled' }, 'expand=ledgerEntries');
      expect(answer.body).toMatchObject({ status: 'settled', version: 4, amountCaptured: 10_000 });
      const { history, events, entries } = (await trailOf(id)) ?? { history: [], events: [], entries: [] };
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

    test('whoever moves a record, its events belong to the application that made it', async () => {
      const second = await acme.addKey({ application: 'second' });
      const { id } = await life.create();
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

    test('twenty partial captures at once take no more than is held', async () => {
      const { id } = await life.createAndAdvance(['authorize']);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => life.advance(id, { action: 'capture', amount: 1_000 })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
      expect(new Set(answers.flatMap(({ code }) => code ?? []))).toEqual(
        new Set(['invalid_state_transition']),
      );
      expect(await life.read(id)).toMatchObject({ status: 'captured', amountCaptured: 10_000, version: 12 });
      expect((await life.balances(id)).provider_receivable).toBe(10_000);
    });

    test('of twenty full captures at once one is done', async () => {
      const { id } = await life.create();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => life.advance(id, { action: 'capture' })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect((await life.list(id, 'ledger_entries')).body.data).toHaveLength(1);
    });

    test('a move sent again with its key is answered byte for byte, and nothing is doubled', async () => {
      const { id } = await life.create();
      const idempotencyKey = randomUUID();
      const send = (body: unknown) =>
        acme.client.post(`${payments}/${id}/advance`, body, {
          idempotencyKey,
          query: 'expand=ledgerEntries',
        });
      const first = await send({ action: 'capture', amount: 4_000 });
      const trail = await trailOf(id);
      for (const replay of await Promise.all(
        Array.from({ length: 5 }, () => send({ amount: 4_000, action: 'capture' })),
      )) {
        expectReplay(replay, first);
      }
      expect(await trailOf(id)).toEqual(trail);
      expect((await life.read(id)).amountCaptured).toBe(4_000);
    });

    test('twenty identical requests at once are one move', async () => {
      const { id } = await life.create();
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
      expect(await life.read(id)).toMatchObject({ amountCaptured: 100, version: 2 });
    });

    test('without being asked an answer does not show entries, and with it those of this request alone', async () => {
      const { id } = await life.create();
      const bare = await life.advance(id, { action: 'authorize' });
      expect(bare.body).not.toHaveProperty('ledgerEntries');
      const expanded = await life.advance(id, { action: 'capture' }, 'expand=ledgerEntries');
      const listed = (await life.list(id, 'ledger_entries', 'limit=1')).body.data;
      expect(expanded.body.ledgerEntries).toEqual(listed);
    });
  });

  describe('400', () => {
    test('a body that is not valid is refused, param points at the field, and nothing changes', async () => {
      const { id } = await life.create();
      const answer = await life.advance(id, { action: 'capture', amount: 1.5 });
      expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: '/amount' });
      expect(await life.read(id)).toMatchObject({ status: 'pending', version: 1 });
    });

    test.each(['[]', '1', 'null', '"capture"'])('the body %s is refused', async (raw) => {
      const { id } = await life.create();
      const answer = await acme.client.post(`${payments}/${id}/advance`, undefined, { raw });
      expect(answer.code).toBe('invalid_request');
    });

    test('only the ledger entries can be asked for beside the answer', async () => {
      const { id } = await life.create();
      for (const query of ['expand=events', 'expand=', 'limit=1']) {
        expect((await life.advance(id, {}, query)).code, query).toBe('invalid_request');
      }
    });

    test('a move needs an idempotency key', async () => {
      const { id } = await life.create();
      const answer = await acme.client.post(`${payments}/${id}/advance`, {}, { idempotencyKey: null });
      expect(answer.code).toBe('idempotency_key_missing');
    });
  });

  describe('401, 403 and 404', () => {
    test('a move needs a key with payments:write', async () => {
      const { id } = await life.create();
      const nobody = new ApiClient(server.app, null);
      expect((await nobody.post(`${payments}/${id}/advance`, {})).code).toBe('api_key_missing');
      const reader = await acme.addKey({ scopes: ['payments:read', 'customers:write', 'transfers:write'] });
      const refused = await reader.client.post(`${payments}/${id}/advance`, {});
      expect(refused.code).toBe('scope_missing');
      expect(refused.body.error.details).toEqual({ scope: 'payments:write' });
    });

    test('what is unknown, foreign or of another kind is not found, in the same words', async () => {
      const { id } = await paymentApi(other.client).create();
      const answers = await Promise.all(
        [id, unknownIds.payment, unknownIds.refund, 'x'].map((some) => life.advance(some, {})),
      );
      for (const { code, body } of answers) {
        expect(code).toBe('resource_not_found');
        expect(body.error).toEqual(answers[0]?.body.error);
      }
      expect(await paymentApi(other.client).read(id)).toMatchObject({ status: 'pending', version: 1 });
    });
  });

  describe('409', () => {
    test('a refused move is kept for its key, although the payment has moved on', async () => {
      const { id } = await life.create();
      const idempotencyKey = randomUUID();
      const settle = () =>
        acme.client.post(`${payments}/${id}/advance`, { action: 'settle' }, { idempotencyKey });
      const first = await settle();
      expect(first.status).toBe(409);
      await life.advance(id, { action: 'capture' });
      expectReplay(await settle(), first);
      expect((await life.read(id)).status).toBe('captured');
    });
  });

  describe('422', () => {
    test('more than what is left to capture, to refund or to dispute is refused, and says how much is left', async () => {
      const held = await life.createAndAdvance(['authorize', { action: 'capture', amount: 4_000 }]);
      const capture = await life.advance(held.id, { action: 'capture', amount: 6_001 });
      expect(capture.body.error).toMatchObject({
        code: 'amount_exceeds_capturable',
        param: '/amount',
        details: { capturable: 6_000, requested: 6_001 },
      });
      const paid = await life.createAndAdvance(['capture', { action: 'refund', amount: 4_000 }]);
      const refund = await life.advance(paid.id, { action: 'refund', amount: 6_001 });
      expect(refund.body.error).toMatchObject({
        code: 'amount_exceeds_refundable',
        param: '/amount',
        details: { refundable: 6_000, requested: 6_001 },
      });
      const dispute = await life.advance(paid.id, { action: 'dispute', amount: 6_001 });
      expect(dispute.body.error).toMatchObject({
        code: 'amount_exceeds_disputable',
        param: '/amount',
        details: { disputable: 6_000, requested: 6_001 },
      });
      expect(await life.read(held.id)).toMatchObject({ version: 3, amountCaptured: 4_000 });
      expect(await life.read(paid.id)).toMatchObject({ version: 3, amountRefunded: 4_000 });
    });

    test('another currency is refused', async () => {
      const { id, version } = await life.createAndAdvance(['authorize']);
      const wrong = await life.advance(id, { action: 'capture', amount: 100, currency: 'USD' });
      expect(wrong.body.error).toMatchObject({ code: 'currency_mismatch', param: '/currency' });
      expect((await life.read(id)).version).toBe(version);
    });

    test('a key is not taken for another move, nor for another payment', async () => {
      const [one, two] = [await life.create(), await life.create()];
      const idempotencyKey = randomUUID();
      const send = (id: string, body: unknown) =>
        acme.client.post(`${payments}/${id}/advance`, body, { idempotencyKey });
      expect((await send(one.id, { action: 'authorize' })).status).toBe(200);
      expect((await send(one.id, { action: 'capture' })).code).toBe('idempotency_key_reused');
      expect((await send(two.id, { action: 'authorize' })).code).toBe('idempotency_key_reused');
      expect((await life.read(two.id)).version).toBe(1);
    });

    test('a refusal of meaning is kept for its key', async () => {
      const { id } = await life.create();
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

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.advance);
});
