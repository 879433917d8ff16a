import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, seenCodes } from '../support/api-client.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { provokedBy } from './codes.ts';
import { done, expectReplay, type Lifecycle, lifecycle, unknownIds, walked } from './lifecycle.ts';
import { payments, refunds } from './trails.ts';

const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const waiting = { scenario: 'refund_pending' };

describe.each(databaseKinds)('refunds on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;
  let life: Lifecycle;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    other = await tenant(server);
    life = lifecycle(acme.client);
  });

  const refunded = async (id: string, body: unknown = {}) => done(await life.refund(id, body));

  describe('201', () => {
    test('a refund shows every field, and by default has succeeded at once', async () => {
      const { id } = await life.paid(['capture']);
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

    test('without a body it takes all that is left', async () => {
      const { id } = await life.paid(['capture']);
      expect((await life.refund(id, undefined)).body).toMatchObject({ amount: 10_000, reason: null });
      expect(await life.read(id)).toMatchObject({
        status: 'refunded',
        amountRefundable: 0,
        refundedAt: time,
        allowedActions: [],
      });
    });

    test('many small refunds come to the whole, and the payment says when it is reached', async () => {
      const { id } = await life.paid(['capture', 'settle']);
      const statuses: string[] = [];
      for (const amount of [1, 4_999, 5_000]) {
        await refunded(id, { amount });
        statuses.push((await life.read(id)).status);
      }
      expect(statuses).toEqual(['partially_refunded', 'partially_refunded', 'refunded']);
      // The fee stays with the provider: the merchant has paid it.
      expect(await life.balances(id)).toEqual({ fees: -320, merchant_available: 320 });
    });

    test('refund_pending keeps it pending: the state stays, and what is refundable is already less', async () => {
      const { id } = await life.paid(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      expect(refund).toMatchObject({
        status: 'pending',
        version: 1,
        endedAt: null,
        allowedActions: ['succeed', 'fail', 'cancel'],
      });
      expect(await life.read(id)).toMatchObject({
        status: 'captured',
        amountRefunded: 0,
        amountRefundable: 6_000,
      });
      expect((await life.balances(id)).refunds_in_transit).toBe(-4_000);
    });

    test('refund_fails makes it and fails it, and gives everything back', async () => {
      const { id } = await life.paid(['capture'], { scenario: 'refund_fails' });
      const before = await life.balances(id);
      expect(await refunded(id)).toMatchObject({ status: 'failed', endedAt: time });
      expect(await life.read(id)).toMatchObject({ status: 'captured', amountRefundable: 10_000 });
      expect(await life.balances(id)).toEqual(before);
    });

    test('twenty refunds at once give back no more than was captured', async () => {
      for (const scenario of ['approve', 'refund_pending']) {
        const { id } = await life.paid(['capture'], { scenario });
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
      const { id } = await life.paid(['capture']);
      const idempotencyKey = randomUUID();
      const send = () => acme.client.post(`${payments}/${id}/refund`, { amount: 1_000 }, { idempotencyKey });
      const first = await send();
      for (const replay of await Promise.all([send(), send(), send()])) expectReplay(replay, first);
      expect(await life.read(id)).toMatchObject({ amountRefunded: 1_000, version: 3 });
    });

    test('?expand=ledgerEntries shows what it posted', async () => {
      const { id } = await life.paid(['capture']);
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
    test('a pending refund ends as it is told, and by itself it succeeds', async () => {
      for (const [body, status] of [
        [undefined, 'succeeded'],
        [{}, 'succeeded'],
        [{ action: 'fail' }, 'failed'],
        [{ to: 'canceled' }, 'canceled'],
      ] as const) {
        const { id } = await life.paid(['capture'], waiting);
        const refund = await refunded(id, { amount: 4_000 });
        expect((await life.advanceRefund(refund.id, body)).body).toMatchObject({
          id: refund.id,
          status,
          version: 2,
          endedAt: time,
        });
        const left = status === 'succeeded' ? 6_000 : 10_000;
        expect((await life.read(id)).amountRefundable).toBe(left);
      }
    });

    test('a refund made before the settlement and ended after it is paid from the bank', async () => {
      const { id } = await life.paid(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      await life.advance(id, { action: 'settle' });
      expect(await life.balances(id)).toEqual({
        bank: 10_000,
        merchant_available: -5_680,
        fees: -320,
        refunds_in_transit: -4_000,
      });
      await life.advanceRefund(refund.id, { action: 'succeed' });
      expect(await life.balances(id)).toEqual({ bank: 6_000, merchant_available: -5_680, fees: -320 });
      expect((await life.read(id)).status).toBe('partially_refunded');
    });

    test('one that ends while a dispute is open leaves the payment disputed, and counts when that is won', async () => {
      const { id } = await life.paid(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      const { disputeId } = done(await life.advance(id, { action: 'dispute' }));
      done(await life.advanceRefund(refund.id, { action: 'succeed' }));
      expect(await life.read(id)).toMatchObject({
        status: 'disputed',
        amountRefunded: 4_000,
        amountDisputed: 6_000,
      });
      done(await life.advanceDispute(String(disputeId), { to: 'won' }));
      expect(await life.read(id)).toMatchObject({ status: 'partially_refunded', amountRefundable: 6_000 });
    });

    test('one that ends after the rest was lost in a dispute still counts', async () => {
      const { id } = await life.paid(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      const { disputeId } = done(await life.advance(id, { action: 'dispute' }));
      done(await life.advanceDispute(String(disputeId), { action: 'accept' }));
      expect((await life.read(id)).status).toBe('captured');
      done(await life.advanceRefund(refund.id, { action: 'succeed' }));
      expect(await life.balances(id)).toEqual({ fees: -320, merchant_pending: 320 });
    });

    test('twenty ends at once are one', async () => {
      const { id } = await life.paid(['capture'], waiting);
      const refund = await refunded(id, { amount: 4_000 });
      const actions = Array.from({ length: 20 }, (_, i) => ['succeed', 'fail', 'cancel'][i % 3]);
      const answers = await Promise.all(actions.map((action) => life.advanceRefund(refund.id, { action })));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect((await life.balances(id)).refunds_in_transit).toBeUndefined();
    });

    test('refunds are listed newest first, by payment and by status, in pages', async () => {
      const shop = await tenant(server);
      const own = lifecycle(shop.client);
      const [one, two] = [await own.paid(['capture'], waiting), await own.paid(['capture'])];
      const made: string[] = [];
      for (const { id } of [one, two, one, two, one]) {
        made.unshift(done(await own.refund(id, { amount: 100 })).id);
      }
      const ids = async (query: string) =>
        (await walked((page) => shop.client.get(refunds, `${page}${query}`), 2)).map(({ id }) => id);
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
    test.each<[what: string, body: Record<string, unknown>, param: string]>([
      ['an amount of zero', { amount: 0 }, '/amount'],
      ['a negative amount', { amount: -1 }, '/amount'],
      ['a fraction', { amount: 0.5 }, '/amount'],
      ['an amount as text', { amount: '1' }, '/amount'],
      ['an empty reason', { reason: '' }, '/reason'],
      ['metadata of numbers', { metadata: { a: 1 } }, '/metadata/a'],
      ['an action', { action: 'refund' }, '/action'],
    ])('%s is refused', async (_what, body, param) => {
      const { id } = await life.paid(['capture']);
      const answer = await life.refund(id, body);
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
      expect((await life.read(id)).amountRefunded).toBe(0);
    });

    test.each<[body: Record<string, unknown>, param: string]>([
      [{ action: 'refund' }, '/action'],
      [{ to: 'refunded' }, '/to'],
      [{ action: 'succeed', amount: 1 }, '/amount'],
      [{ action: 'succeed', to: 'failed' }, '/to'],
    ])('advancing one with %j is refused', async (body, param) => {
      const { id } = await life.paid(['capture'], waiting);
      const answer = await life.advanceRefund((await refunded(id)).id, body);
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
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
      const { id } = await life.paid(['capture'], waiting);
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
      const foreign = lifecycle(other.client);
      const { id } = await foreign.paid(['capture'], waiting);
      const refund = done(await foreign.refund(id));
      for (const refundId of [refund.id, unknownIds.refund, id, 'x']) {
        expect((await acme.client.get(`${refunds}/${refundId}`)).code).toBe('resource_not_found');
        expect((await life.advanceRefund(refundId, {})).code).toBe('resource_not_found');
      }
      expect((await life.refund(id, {})).code).toBe('resource_not_found');
      expect((await foreign.advanceRefund(refund.id)).body.status).toBe('succeeded');
    });
  });

  describe('409', () => {
    test.each(['pending', 'authorized', 'refunded', 'disputed', 'charged_back', 'failed', 'canceled'])(
      'a payment that is %s gives nothing back',
      async (status) => {
        const payment = await life.paid(status === 'pending' ? [] : [{ to: status }]);
        const answer = await life.refund(payment.id, { amount: 1 });
        expect(answer.code).toBe('invalid_state_transition');
        expect(answer.body.error).toMatchObject({
          details: { status, action: 'refund' },
          allowedActions: payment.allowedActions,
        });
      },
    );

    test('a refund that has ended stays as it is, and the refusal is kept for its key', async () => {
      const { id } = await life.paid(['capture'], waiting);
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
    test('more than is left is refused; pending refunds and disputes count', async () => {
      const { id } = await life.paid(['capture'], waiting);
      await refunded(id, { amount: 4_000 });
      const tooMuch = await life.refund(id, { amount: 6_001 });
      expect(tooMuch.body.error).toMatchObject({
        code: 'amount_exceeds_refundable',
        details: { refundable: 6_000, requested: 6_001 },
      });
      await refunded(id, { amount: 6_000 });
      expect((await life.refund(id)).code).toBe('amount_exceeds_refundable');
    });

    test('another currency is refused', async () => {
      const { id } = await life.paid(['capture']);
      const answer = await life.refund(id, { amount: 1, currency: 'GBP' });
      expect(answer.body.error).toMatchObject({ code: 'currency_mismatch', param: '/currency' });
      expect((await life.refund(id, { amount: 1, currency: 'eur' })).status).toBe(201);
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(provokedBy.refunds);
});
