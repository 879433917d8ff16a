import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, expectOk, expectReplay, listAll, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type PaymentApi, paymentApi, payments, refunds, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const waiting = { scenario: 'refund_pending' };

/** Amounts, balances and rejections are tested next to the machine, in src/resources/refunds. */
describe.each(databaseKinds)('refunds on %s', (kind) => {
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

  const refunded = async (id: string, body: unknown = {}) => expectOk(await paymentsApi.refund(id, body));

  describe('201', () => {
    test('a refund has every field, and succeeds at once by default', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture']);
      const answer = await paymentsApi.refund(id, {
        amount: 2_500,
        reason: 'too small',
        metadata: { order: '7' },
      });
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({
        object: 'refund',
        sandbox: true,
        requestId: expect.any(String),
        status: 'succeeded',
        id: expect.stringMatching(/^rfd_[0-9a-z]{26}$/),
        paymentId: id,
        amount: 2_500,
        currency: 'EUR',
        reason: 'too small',
        metadata: { order: '7' },
        allowedActions: [],
        version: 2,
        createdAt: time,
        updatedAt: time,
        endedAt: time,
      });
      const read = await paymentsApi.read(id);
      expect(read).toMatchObject({
        status: 'partially_refunded',
        amountRefunded: 2_500,
        amountRefundable: 7_500,
      });
      expect(read).not.toHaveProperty('refundedAt');
    });

    test('twenty concurrent refunds never exceed the captured amount', async () => {
      for (const scenario of ['approve', 'refund_pending']) {
        const { id } = await paymentsApi.createAndAdvance(['capture'], { scenario });
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => paymentsApi.refund(id, { amount: 1_000 })),
        );
        expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
        const after = await paymentsApi.read(id);
        expect(after.amountRefundable).toBe(0);
        const listed = await acme.client.get(refunds, `paymentId=${id}`);
        expect(listed.body.data).toHaveLength(10);
      }
    });

    test('the same idempotency key returns the same refund byte for byte, and money moves once', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture']);
      const idempotencyKey = randomUUID();
      const send = () => acme.client.post(`${payments}/${id}/refund`, { amount: 1_000 }, { idempotencyKey });
      const first = await send();
      for (const replay of await Promise.all([send(), send(), send()])) expectReplay(replay, first);
      expect(await paymentsApi.read(id)).toMatchObject({ amountRefunded: 1_000, version: 3 });
    });

    test('?expand=ledgerEntries returns the ledger entries of the refund', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture']);
      const { body } = await paymentsApi.refund(id, { amount: 1_000 }, 'expand=ledgerEntries');
      expect(body.ledgerEntries).toMatchObject([
        {
          reason: 'refund',
          paymentId: id,
          postings: [
            { account: 'merchant_pending', currency: 'EUR', amount: 1_000 },
            { account: 'refunds_in_transit', currency: 'EUR', amount: -1_000 },
          ],
        },
        {
          reason: 'refund_succeeded',
          postings: [
            { account: 'refunds_in_transit', currency: 'EUR', amount: 1_000 },
            { account: 'provider_receivable', currency: 'EUR', amount: -1_000 },
          ],
        },
      ]);
    });
  });

  describe('200', () => {
    test('a pending refund is stored and completes later', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      expect(refund).toMatchObject({ status: 'pending', version: 1, endedAt: null });
      expect((await paymentsApi.balances(id)).refunds_in_transit).toBe(-4_000);
      const ended = expectOk(await paymentsApi.advanceRefund(refund.id, undefined));
      expect(ended).toMatchObject({ id: refund.id, status: 'succeeded', version: 2, endedAt: time });
      expect((await paymentsApi.read(id)).amountRefundable).toBe(6_000);
    });

    test('of twenty concurrent requests to complete a refund, one succeeds', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      const actions = Array.from({ length: 20 }, (_, i) => ['succeed', 'fail', 'cancel'][i % 3]);
      const answers = await Promise.all(
        actions.map((action) => paymentsApi.advanceRefund(refund.id, { action })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect((await paymentsApi.balances(id)).refunds_in_transit).toBeUndefined();
    });

    test('lists refunds newest first, by payment and by status, in pages', async () => {
      const shop = await tenant(server);
      const shopPayments = paymentApi(shop.client);
      const [one, two] = [
        await shopPayments.createAndAdvance(['capture'], waiting),
        await shopPayments.createAndAdvance(['capture']),
      ];
      const createdIds: string[] = [];
      for (const { id } of [one, two, one, two, one]) {
        createdIds.unshift(expectOk(await shopPayments.refund(id, { amount: 100 })).id);
      }
      const ids = async (query: string) =>
        (await listAll((page) => shop.client.get(refunds, `${page}${query}`), 2)).map(({ id }) => id);
      expect(await ids('')).toEqual(createdIds);
      expect(await ids(`&paymentId=${two.id}`)).toEqual([createdIds[1], createdIds[3]]);
      expect(await ids('&status=pending')).toEqual([createdIds[0], createdIds[2], createdIds[4]]);
      expect(await ids(`&status=succeeded&paymentId=${one.id}`)).toEqual([]);
      expect((await acme.client.get(refunds, `paymentId=${one.id}`)).body.data).toEqual([]);
      const read = await shop.client.get(`${refunds}/${createdIds[0]}`);
      expect(read.body).toMatchObject({ id: createdIds[0], paymentId: one.id, status: 'pending' });
    });
  });

  describe('400', () => {
    test('rejects an invalid body, and param points at the field', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture'], waiting);
      const created = await paymentsApi.refund(id, { metadata: { a: 1 } });
      expect(created.body.error).toMatchObject({ code: 'invalid_request', param: '/metadata/a' });
      const advanced = await paymentsApi.advanceRefund((await refunded(id)).id, {
        action: 'succeed',
        amount: 1,
      });
      expect(advanced.body.error).toMatchObject({ code: 'invalid_request', param: '/amount' });
    });

    test('rejects a cursor of another list', async () => {
      const created = await Promise.all([paymentsApi.create(), paymentsApi.create()]);
      expect(created).toHaveLength(2);
      const { nextCursor } = (await acme.client.get(payments, 'limit=1')).body;
      expect((await acme.client.get(refunds, `cursor=${nextCursor}`)).code).toBe('invalid_cursor');
    });
  });

  describe('401, 403 and 404', () => {
    test('requires a key with the payment scopes', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture'], waiting);
      const refund = await refunded(id);
      expect((await new ApiClient(server.app, null).get(refunds)).code).toBe('api_key_missing');
      const reader = await acme.addKey({ scopes: ['payments:read'] });
      expect((await reader.client.get(`${refunds}/${refund.id}`)).status).toBe(200);
      for (const path of [`${payments}/${id}/refund`, `${refunds}/${refund.id}/advance`]) {
        expect((await reader.client.post(path, {})).code).toBe('scope_missing');
      }
      const writer = await acme.addKey({ scopes: ['payments:write'] });
      expect((await writer.client.get(`${refunds}/${refund.id}`)).code).toBe('scope_missing');
    });

    test('unknown refunds and those of other organizations are not found', async () => {
      const foreign = paymentApi(other.client);
      const { id } = await foreign.createAndAdvance(['capture'], waiting);
      const refund = expectOk(await foreign.refund(id));
      for (const refundId of [refund.id, unknownIds.refund, id, 'x']) {
        expect((await acme.client.get(`${refunds}/${refundId}`)).code).toBe('resource_not_found');
        expect((await paymentsApi.advanceRefund(refundId, {})).code).toBe('resource_not_found');
      }
      expect((await paymentsApi.refund(id, {})).code).toBe('resource_not_found');
      expect((await foreign.advanceRefund(refund.id)).body.status).toBe('succeeded');
    });
  });

  describe('409', () => {
    test('a completed refund does not change, and the rejection is stored for its idempotency key', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture'], waiting);
      const refund = await refunded(id);
      await paymentsApi.advanceRefund(refund.id, { action: 'cancel' });
      const idempotencyKey = randomUUID();
      const send = () =>
        acme.client.post(`${refunds}/${refund.id}/advance`, { action: 'succeed' }, { idempotencyKey });
      const first = await send();
      expect(first.body.error).toMatchObject({
        code: 'invalid_state_transition',
        details: { status: 'canceled', action: 'succeed' },
        allowedActions: [],
      });
      expectReplay(await send(), first);
    });
  });

  describe('422', () => {
    test('rejects more than the remaining amount, and another currency', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture']);
      const tooMuch = await paymentsApi.refund(id, { amount: 10_001 });
      expect(tooMuch.body.error).toMatchObject({
        code: 'amount_exceeds_refundable',
        details: { refundable: 10_000, requested: 10_001 },
      });
      const wrong = await paymentsApi.refund(id, { amount: 1, currency: 'GBP' });
      expect(wrong.body.error).toMatchObject({ code: 'currency_mismatch', param: '/currency' });
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.refunds);
});
