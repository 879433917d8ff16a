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

/** Amounts, balances and refusals are tested beside the machine, in src/resources/refunds. */
describe.each(databaseKinds)('refunds on %s', (kind) => {
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

  const refunded = async (id: string, body: unknown = {}) => expectOk(await life.refund(id, body));

  describe('201', () => {
    test('a refund shows every field, and by default has succeeded at once', async () => {
      const { id } = await life.createAndAdvance(['capture']);
      const answer = await life.refund(id, { amount: 2_500, reason: 'too small', metadata: { order: '7' } });
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
      const read = await life.read(id);
      expect(read).toMatchObject({
        status: 'partially_refunded',
        amountRefunded: 2_500,
        amountRefundable: 7_500,
      });
      expect(read).not.toHaveProperty('refundedAt');
    });

    test('twenty refunds at once give back no more than was captured', async () => {
      for (const scenario of ['approve', 'refund_pending']) {
        const { id } = await life.createAndAdvance(['capture'], { scenario });
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => life.refund(id, { amount: 1_000 })),
        );
        expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
        const after = await life.read(id);
        expect(after.amountRefundable).toBe(0);
        const listed = await acme.client.get(refunds, `paymentId=${id}`);
        expect(listed.body.data).toHaveLength(10);
      }
    });

    test('the same key gives the same refund, byte for byte, and money moves once', async () => {
      const { id } = await life.createAndAdvance(['capture']);
      const idempotencyKey = randomUUID();
      const send = () => acme.client.post(`${payments}/${id}/refund`, { amount: 1_000 }, { idempotencyKey });
      const first = await send();
      for (const replay of await Promise.all([send(), send(), send()])) expectReplay(replay, first);
      expect(await life.read(id)).toMatchObject({ amountRefunded: 1_000, version: 3 });
    });

    test('?expand=ledgerEntries shows what it posted', async () => {
      const { id } = await life.createAndAdvance(['capture']);
      const { body } = await life.refund(id, { amount: 1_000 }, 'expand=ledgerEntries');
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
    test('a pending refund is stored and ends later', async () => {
      const { id } = await life.createAndAdvance(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      expect(refund).toMatchObject({ status: 'pending', version: 1, endedAt: null });
      expect((await life.balances(id)).refunds_in_transit).toBe(-4_000);
      const ended = expectOk(await life.advanceRefund(refund.id, undefined));
      expect(ended).toMatchObject({ id: refund.id, status: 'succeeded', version: 2, endedAt: time });
      expect((await life.read(id)).amountRefundable).toBe(6_000);
    });

    test('twenty ends at once are one', async () => {
      const { id } = await life.createAndAdvance(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      const actions = Array.from({ length: 20 }, (_, i) => ['succeed', 'fail', 'cancel'][i % 3]);
      const answers = await Promise.all(actions.map((action) => life.advanceRefund(refund.id, { action })));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect((await life.balances(id)).refunds_in_transit).toBeUndefined();
    });

    test('refunds are listed newest first, by payment and by status, in pages', async () => {
      const shop = await tenant(server);
      const own = paymentApi(shop.client);
      const [one, two] = [
        await own.createAndAdvance(['capture'], waiting),
        await own.createAndAdvance(['capture']),
      ];
      const made: string[] = [];
      for (const { id } of [one, two, one, two, one]) {
        made.unshift(expectOk(await own.refund(id, { amount: 100 })).id);
      }
      const ids = async (query: string) =>
        (await listAll((page) => shop.client.get(refunds, `${page}${query}`), 2)).map(({ id }) => id);
      expect(await ids('')).toEqual(made);
      expect(await ids(`&paymentId=${two.id}`)).toEqual([made[1], made[3]]);
      expect(await ids('&status=pending')).toEqual([made[0], made[2], made[4]]);
      expect(await ids(`&status=succeeded&paymentId=${one.id}`)).toEqual([]);
      expect((await acme.client.get(refunds, `paymentId=${one.id}`)).body.data).toEqual([]);
      const read = await shop.client.get(`${refunds}/${made[0]}`);
      expect(read.body).toMatchObject({ id: made[0], paymentId: one.id, status: 'pending' });
    });
  });

  describe('400', () => {
    test('a body that is not valid is refused, and param points at the field', async () => {
      const { id } = await life.createAndAdvance(['capture'], waiting);
      const created = await life.refund(id, { metadata: { a: 1 } });
      expect(created.body.error).toMatchObject({ code: 'invalid_request', param: '/metadata/a' });
      const advanced = await life.advanceRefund((await refunded(id)).id, { action: 'succeed', amount: 1 });
      expect(advanced.body.error).toMatchObject({ code: 'invalid_request', param: '/amount' });
    });

    test('a cursor of another list is refused', async () => {
      const made = await Promise.all([life.create(), life.create()]);
      expect(made).toHaveLength(2);
      const { nextCursor } = (await acme.client.get(payments, 'limit=1')).body;
      expect((await acme.client.get(refunds, `cursor=${nextCursor}`)).code).toBe('invalid_cursor');
    });
  });

  describe('401, 403 and 404', () => {
    test('refunds need a key, and the scopes of payments', async () => {
      const { id } = await life.createAndAdvance(['capture'], waiting);
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

    test('what is unknown or foreign is not found', async () => {
      const foreign = paymentApi(other.client);
      const { id } = await foreign.createAndAdvance(['capture'], waiting);
      const refund = expectOk(await foreign.refund(id));
      for (const refundId of [refund.id, unknownIds.refund, id, 'x']) {
        expect((await acme.client.get(`${refunds}/${refundId}`)).code).toBe('resource_not_found');
        expect((await life.advanceRefund(refundId, {})).code).toBe('resource_not_found');
      }
      expect((await life.refund(id, {})).code).toBe('resource_not_found');
      expect((await foreign.advanceRefund(refund.id)).body.status).toBe('succeeded');
    });
  });

  describe('409', () => {
    test('a refund that has ended stays as it is, and the refusal is kept for its key', async () => {
      const { id } = await life.createAndAdvance(['capture'], waiting);
      const refund = await refunded(id);
      await life.advanceRefund(refund.id, { action: 'cancel' });
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
    test('more than is left, or another currency, is refused', async () => {
      const { id } = await life.createAndAdvance(['capture']);
      const tooMuch = await life.refund(id, { amount: 10_001 });
      expect(tooMuch.body.error).toMatchObject({
        code: 'amount_exceeds_refundable',
        details: { refundable: 10_000, requested: 10_001 },
      });
      const wrong = await life.refund(id, { amount: 1, currency: 'GBP' });
      expect(wrong.body.error).toMatchObject({ code: 'currency_mismatch', param: '/currency' });
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.refunds);
});
