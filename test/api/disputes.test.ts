import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, seenCodes } from '../support/api-client.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { provokedBy } from './codes.ts';
import { done, type Lifecycle, lifecycle, unknownIds, walked } from './lifecycle.ts';
import { disputes } from './trails.ts';

const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

describe.each(databaseKinds)('disputes on %s', (kind) => {
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

  async function disputed(
    steps: readonly (string | object)[] = ['capture', 'dispute'],
    client: ApiClient = acme.client,
  ): Promise<{ payment: Body; dispute: Body }> {
    const payment = await lifecycle(client).paid(steps);
    return { payment, dispute: done(await client.get(`${disputes}/${payment.disputeId}`)) };
  }

  describe('200', () => {
    test('a dispute shows every field, and its payment names it and is put aside', async () => {
      const { payment, dispute } = await disputed([
        'capture',
        { action: 'dispute', amount: 2_500, reason: 'never came' },
      ]);
      expect(dispute).toEqual({
        object: 'dispute',
        sandbox: true,
        requestId: expect.any(String),
        status: 'needs_response',
        id: expect.stringMatching(/^dsp_[0-9a-z]{26}$/),
        paymentId: payment.id,
        amount: 2_500,
        currency: 'EUR',
        reason: 'never came',
        stage: 'chargeback',
        evidence: null,
        respondBy: time,
        allowedActions: ['submit_evidence', 'accept', 'expire'],
        version: 1,
        createdAt: time,
        updatedAt: dispute.createdAt,
        closedAt: null,
      });
      expect(payment).toMatchObject({
        status: 'disputed',
        amountDisputed: 2_500,
        amountRefundable: 7_500,
        disputedAt: dispute.createdAt,
        allowedActions: [],
      });
    });

    test('without an amount it is about all that is left', async () => {
      const { dispute } = await disputed(['capture', { action: 'refund', amount: 4_000 }, 'dispute']);
      expect(dispute).toMatchObject({ amount: 6_000, reason: 'general' });
    });

    test('each stage gives seven days to answer, and the third is the last', async () => {
      const day = 86_400_000;
      let now = Date.parse('2026-11-15T00:00:00.000Z');
      const client = acme.clientOn(openApp(server, { wallClock: () => now }));
      const { dispute } = await disputed(['capture', 'dispute'], client);
      expect(dispute).toMatchObject({ stage: 'chargeback', respondBy: '2026-11-22T00:00:00.000Z' });
      const stages: unknown[] = [];
      for (let i = 0; i < 2; i += 1) {
        now += day;
        await lifecycle(client).advanceDispute(dispute.id, { action: 'submit_evidence' });
        const { body } = await lifecycle(client).advanceDispute(dispute.id, { action: 'escalate' });
        stages.push([body.status, body.stage, body.respondBy]);
      }
      expect(stages).toEqual([
        ['needs_response', 'pre_arbitration', '2026-11-23T00:00:00.000Z'],
        ['needs_response', 'arbitration', '2026-11-24T00:00:00.000Z'],
      ]);
      const last = await lifecycle(client).advanceDispute(dispute.id, { action: 'submit_evidence' });
      expect(last.body.allowedActions).toEqual(['win', 'lose']);
      const refused = await lifecycle(client).advanceDispute(dispute.id, { action: 'escalate' });
      expect(refused.code).toBe('invalid_state_transition');
      expect(refused.body.error.message).toContain('next stage');
    });

    test('evidence is kept as it was given, stays through a stage, and is replaced by new', async () => {
      const { dispute } = await disputed();
      const evidence = { receipt: 'No. 7 🎉', 'tracking number': 'x'.repeat(2_000) };
      const submit = (some?: object) =>
        life.advanceDispute(dispute.id, { action: 'submit_evidence', ...(some ? { evidence: some } : {}) });
      expect((await submit(evidence)).body).toMatchObject({ status: 'under_review', evidence });
      await life.advanceDispute(dispute.id, { action: 'escalate' });
      expect((await submit()).body.evidence).toEqual(evidence);
      await life.advanceDispute(dispute.id, { action: 'escalate' });
      expect((await submit({ other: 'x' })).body.evidence).toEqual({ other: 'x' });
    });

    test('a won dispute gives everything back; the payment goes on as before', async () => {
      const { payment, dispute } = await disputed(['capture', 'settle', 'dispute']);
      const { body } = await life.advanceDispute(dispute.id, { to: 'won' });
      expect(body).toMatchObject({ status: 'won', closedAt: time, allowedActions: [], version: 3 });
      const read = await life.read(payment.id);
      expect(read).toMatchObject({
        status: 'settled',
        amountDisputed: 0,
        amountRefundable: 10_000,
        disputeId: dispute.id,
      });
      expect(read).not.toHaveProperty('chargedBackAt');
      expect(await life.balances(payment.id)).toEqual({
        bank: 10_000,
        merchant_available: -9_680,
        fees: -320,
      });
      expect((await life.advance(payment.id, { action: 'dispute' })).status).toBe(200);
    });

    test.each(['accept', 'expire'])('%s loses it, and all of it charges the payment back', async (action) => {
      const { payment, dispute } = await disputed();
      expect((await life.advanceDispute(dispute.id, { action })).body.status).toBe('lost');
      expect(await life.read(payment.id)).toMatchObject({
        status: 'charged_back',
        amountDisputed: 10_000,
        amountRefundable: 0,
        chargedBackAt: time,
        allowedActions: [],
      });
      expect(await life.balances(payment.id)).toEqual({ fees: -320, merchant_pending: 320 });
    });

    test('a lost part leaves the payment where it was; losing the rest charges it back', async () => {
      const { payment, dispute } = await disputed(['capture', { action: 'dispute', amount: 3_000 }]);
      done(await life.advanceDispute(dispute.id, { action: 'accept' }));
      expect(await life.read(payment.id)).toMatchObject({ status: 'captured', amountRefundable: 7_000 });
      done(await life.advance(payment.id, { action: 'settle' }));
      expect((await life.balances(payment.id)).bank).toBe(7_000);
      const { disputeId } = done(await life.advance(payment.id, { action: 'dispute' }));
      expect(disputeId).not.toBe(dispute.id);
      done(await life.advanceDispute(String(disputeId), { to: 'lost' }));
      expect((await life.read(payment.id)).status).toBe('charged_back');
    });

    test('the scenario dispute opens one once the payment is captured, and only one', async () => {
      const { id } = await life.create({ scenario: 'dispute' });
      await life.advance(id);
      const opened = await life.advance(id);
      expect(opened.body.status).toBe('disputed');
      done(await life.advanceDispute(String(opened.body.disputeId), { to: 'won' }));
      expect((await life.advance(id)).body.status).toBe('settled');
    });

    test('by itself a dispute is answered and then won', async () => {
      const { dispute } = await disputed();
      expect((await life.advanceDispute(dispute.id)).body.status).toBe('under_review');
      expect((await life.advanceDispute(dispute.id, {})).body.status).toBe('won');
    });

    test('twenty ends at once are one', async () => {
      const { payment, dispute } = await disputed();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          life.advanceDispute(dispute.id, { action: i % 2 === 0 ? 'accept' : 'expire' }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect((await life.balances(payment.id)).dispute_reserve).toBeUndefined();
    });

    test('refunds and disputes of one payment at once never give back more than was captured', async () => {
      const { id } = await life.paid(['capture']);
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          i % 2 === 0
            ? life.refund(id, { amount: 900 })
            : life.advance(id, { action: 'dispute', amount: 900 }),
        ),
      );
      const after = (await life.read(id)) as unknown as Record<string, number>;
      expect(Number(after.amountRefunded) + Number(after.amountDisputed)).toBeLessThanOrEqual(10_000);
      expect((await acme.client.get(disputes, `paymentId=${id}`)).body.data).toHaveLength(1);
    });

    test('disputes are listed newest first, by payment and by status, in pages', async () => {
      const shop = await tenant(server);
      const made: Body[] = [];
      for (let i = 0; i < 5; i += 1)
        made.unshift((await disputed(['capture', 'dispute'], shop.client)).dispute);
      await lifecycle(shop.client).advanceDispute(made[1]?.id ?? '', { to: 'won' });
      const ids = async (query: string) =>
        (await walked((page) => shop.client.get(disputes, `${page}${query}`), 2)).map(({ id }) => id);
      expect(await ids('')).toEqual(made.map(({ id }) => id));
      expect(await ids('&status=won')).toEqual([made[1]?.id]);
      expect(await ids(`&paymentId=${made[3]?.paymentId}`)).toEqual([made[3]?.id]);
    });
  });

  describe('400', () => {
    test.each<[what: string, body: Record<string, unknown>, param: string]>([
      ['an unknown action', { action: 'appeal' }, '/action'],
      ['an unknown state', { to: 'closed' }, '/to'],
      ['evidence for an action that takes none', { action: 'accept', evidence: {} }, '/evidence'],
      ['evidence of numbers', { action: 'submit_evidence', evidence: { a: 1 } }, '/evidence/a'],
      [
        'evidence of 2001 characters',
        { action: 'submit_evidence', evidence: { a: 'x'.repeat(2_001) } },
        '/evidence/a',
      ],
      [
        'evidence under 21 names',
        {
          action: 'submit_evidence',
          evidence: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, ''])),
        },
        '/evidence',
      ],
    ])('%s is refused, and nothing changes', async (_what, body, param) => {
      const { dispute } = await disputed();
      const answer = await life.advanceDispute(dispute.id, body);
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
      expect((await acme.client.get(`${disputes}/${dispute.id}`)).body.version).toBe(1);
    });
  });

  describe('401, 403 and 404', () => {
    test('disputes need a key, and the scopes of payments', async () => {
      const { dispute } = await disputed();
      expect((await new ApiClient(server.app, null).get(disputes)).code).toBe('api_key_missing');
      const reader = await acme.addKey({ scopes: ['payments:read'] });
      expect((await reader.client.get(`${disputes}/${dispute.id}`)).status).toBe(200);
      expect((await reader.client.post(`${disputes}/${dispute.id}/advance`, {})).code).toBe('scope_missing');
    });

    test('what is unknown or foreign is not found', async () => {
      const { dispute, payment } = await disputed(['capture', 'dispute'], other.client);
      for (const id of [dispute.id, unknownIds.dispute, payment.id, 'x']) {
        expect((await acme.client.get(`${disputes}/${id}`)).code).toBe('resource_not_found');
        expect((await life.advanceDispute(id, { action: 'accept' })).code).toBe('resource_not_found');
      }
      expect((await other.client.get(`${disputes}/${dispute.id}`)).body.version).toBe(1);
    });
  });

  describe('409 and 422', () => {
    test.each(['won', 'lost'])('a dispute that is %s stays so', async (to) => {
      const { dispute } = await disputed();
      done(await life.advanceDispute(dispute.id, { to }));
      for (const body of [{}, { action: 'accept' }, { to: 'under_review' }]) {
        const answer = await life.advanceDispute(dispute.id, body);
        expect(answer.code).toBe('invalid_state_transition');
        expect(answer.body.error).toMatchObject({ details: { status: to }, allowedActions: [] });
      }
    });

    test('more than is left is refused; refunds, pending ones too, and lost disputes count', async () => {
      const { id } = await life.paid(['capture'], { scenario: 'refund_pending' });
      done(await life.refund(id, { amount: 4_000 }));
      const { disputeId } = done(await life.advance(id, { action: 'dispute', amount: 1_000 }));
      done(await life.advanceDispute(String(disputeId), { action: 'accept' }));
      const answer = await life.advance(id, { action: 'dispute', amount: 5_001 });
      expect(answer.body.error).toMatchObject({
        code: 'amount_exceeds_disputable',
        details: { disputable: 5_000, requested: 5_001 },
      });
      expect((await life.advance(id, { action: 'dispute', amount: 5_000 })).status).toBe(200);
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(provokedBy.disputes);
});
