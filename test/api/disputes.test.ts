import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, expectOk, listAll, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { disputes, type PaymentApi, paymentApi, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

/** Stages, deadlines, balances and refusals are tested beside the machine, in src/resources/disputes. */
describe.each(databaseKinds)('disputes on %s', (kind) => {
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

  async function disputed(
    steps: readonly (string | object)[] = ['capture', 'dispute'],
    client: ApiClient = acme.client,
  ): Promise<{ payment: Body; dispute: Body }> {
    const payment = await paymentApi(client).createAndAdvance(steps);
    return { payment, dispute: expectOk(await client.get(`${disputes}/${payment.disputeId}`)) };
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
      const { id } = await life.createAndAdvance(['capture']);
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
      await paymentApi(shop.client).advanceDispute(made[1]?.id ?? '', { to: 'won' });
      const ids = async (query: string) =>
        (await listAll((page) => shop.client.get(disputes, `${page}${query}`), 2)).map(({ id }) => id);
      expect(await ids('')).toEqual(made.map(({ id }) => id));
      expect(await ids('&status=won')).toEqual([made[1]?.id]);
      expect(await ids(`&paymentId=${made[3]?.paymentId}`)).toEqual([made[3]?.id]);
    });
  });

  describe('400', () => {
    test('a body that is not valid is refused, param points at the field, and nothing changes', async () => {
      const { dispute } = await disputed();
      const body = { action: 'submit_evidence', evidence: { a: 1 } };
      const answer = await life.advanceDispute(dispute.id, body);
      expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: '/evidence/a' });
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
    test('a dispute that is won is stored, and refuses further steps', async () => {
      const { payment, dispute } = await disputed(['capture', 'settle', 'dispute']);
      const won = expectOk(await life.advanceDispute(dispute.id, { to: 'won' }));
      expect(won).toMatchObject({ status: 'won', closedAt: time, version: 3 });
      expect(await life.read(payment.id)).toMatchObject({ status: 'settled', disputeId: dispute.id });
      const answer = await life.advanceDispute(dispute.id, { action: 'accept' });
      expect(answer.body.error).toMatchObject({
        code: 'invalid_state_transition',
        details: { status: 'won' },
        allowedActions: [],
      });
    });

    test('more than is left is refused', async () => {
      const { id } = await life.createAndAdvance(['capture']);
      const answer = await life.advance(id, { action: 'dispute', amount: 10_001 });
      expect(answer.body.error).toMatchObject({
        code: 'amount_exceeds_disputable',
        details: { disputable: 10_000, requested: 10_001 },
      });
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.disputes);
});
