import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, expectOk, listAll, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { disputes, type PaymentApi, paymentApi, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);

/** Stages, deadlines, balances and rejections are tested next to the machine, in src/resources/disputes. */
describe.each(databaseKinds)('disputes on %s', (kind) => {
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

  async function disputed(
    steps: readonly (string | object)[] = ['capture', 'dispute'],
    client: ApiClient = acme.client,
  ): Promise<{ payment: Body; dispute: Body }> {
    const payment = await paymentApi(client).createAndAdvance(steps);
    return { payment, dispute: expectOk(await client.get(`${disputes}/${payment.disputeId}`)) };
  }

  describe('200', () => {
    test('a dispute has every field, and its payment references it and is disputed', async () => {
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

    test('evidence is stored unchanged, survives a stage change, and is replaced by new evidence', async () => {
      const { dispute } = await disputed();
      const evidence = { receipt: 'No. 7 🎉', 'tracking number': 'x'.repeat(2_000) };
      const submit = (submitted?: object) =>
        paymentsApi.advanceDispute(dispute.id, {
          action: 'submit_evidence',
          ...(submitted ? { evidence: submitted } : {}),
        });
      expect((await submit(evidence)).body).toMatchObject({ status: 'under_review', evidence });
      await paymentsApi.advanceDispute(dispute.id, { action: 'escalate' });
      expect((await submit()).body.evidence).toEqual(evidence);
      await paymentsApi.advanceDispute(dispute.id, { action: 'escalate' });
      expect((await submit({ other: 'x' })).body.evidence).toEqual({ other: 'x' });
    });

    test('of twenty concurrent requests to close a dispute, one succeeds', async () => {
      const { payment, dispute } = await disputed();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          paymentsApi.advanceDispute(dispute.id, { action: i % 2 === 0 ? 'accept' : 'expire' }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect((await paymentsApi.balances(payment.id)).dispute_reserve).toBeUndefined();
    });

    test('concurrent refunds and disputes of one payment never exceed the captured amount', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture']);
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          i % 2 === 0
            ? paymentsApi.refund(id, { amount: 900 })
            : paymentsApi.advance(id, { action: 'dispute', amount: 900 }),
        ),
      );
      const after = (await paymentsApi.read(id)) as unknown as Record<string, number>;
      expect(Number(after.amountRefunded) + Number(after.amountDisputed)).toBeLessThanOrEqual(10_000);
      expect((await acme.client.get(disputes, `paymentId=${id}`)).body.data).toHaveLength(1);
    });

    test('lists disputes newest first, by payment and by status, in pages', async () => {
      const shop = await tenant(server);
      const created: Body[] = [];
      for (let i = 0; i < 5; i += 1)
        created.unshift((await disputed(['capture', 'dispute'], shop.client)).dispute);
      await paymentApi(shop.client).advanceDispute(created[1]?.id ?? '', { to: 'won' });
      const ids = async (query: string) =>
        (await listAll((page) => shop.client.get(disputes, `${page}${query}`), 2)).map(({ id }) => id);
      expect(await ids('')).toEqual(created.map(({ id }) => id));
      expect(await ids('&status=won')).toEqual([created[1]?.id]);
      expect(await ids(`&paymentId=${created[3]?.paymentId}`)).toEqual([created[3]?.id]);
    });
  });

  describe('400', () => {
    test('rejects an invalid body, points param at the field and changes nothing', async () => {
      const { dispute } = await disputed();
      const body = { action: 'submit_evidence', evidence: { a: 1 } };
      const answer = await paymentsApi.advanceDispute(dispute.id, body);
      expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: '/evidence/a' });
      expect((await acme.client.get(`${disputes}/${dispute.id}`)).body.version).toBe(1);
    });
  });

  describe('401, 403 and 404', () => {
    test('requires a key with the payment scopes', async () => {
      const { dispute } = await disputed();
      expect((await new ApiClient(server.app, null).get(disputes)).code).toBe('api_key_missing');
      const reader = await acme.addKey({ scopes: ['payments:read'] });
      expect((await reader.client.get(`${disputes}/${dispute.id}`)).status).toBe(200);
      expect((await reader.client.post(`${disputes}/${dispute.id}/advance`, {})).code).toBe('scope_missing');
    });

    test('unknown disputes and those of other organizations are not found', async () => {
      const { dispute, payment } = await disputed(['capture', 'dispute'], other.client);
      for (const id of [dispute.id, unknownIds.dispute, payment.id, 'x']) {
        expect((await acme.client.get(`${disputes}/${id}`)).code).toBe('resource_not_found');
        expect((await paymentsApi.advanceDispute(id, { action: 'accept' })).code).toBe('resource_not_found');
      }
      expect((await other.client.get(`${disputes}/${dispute.id}`)).body.version).toBe(1);
    });
  });

  describe('409 and 422', () => {
    test('a won dispute is stored, and rejects further actions', async () => {
      const { payment, dispute } = await disputed(['capture', 'settle', 'dispute']);
      const won = expectOk(await paymentsApi.advanceDispute(dispute.id, { to: 'won' }));
      expect(won).toMatchObject({ status: 'won', closedAt: time, version: 3 });
      expect(await paymentsApi.read(payment.id)).toMatchObject({ status: 'settled', disputeId: dispute.id });
      const answer = await paymentsApi.advanceDispute(dispute.id, { action: 'accept' });
      expect(answer.body.error).toMatchObject({
        code: 'invalid_state_transition',
        details: { status: 'won' },
        allowedActions: [],
      });
    });

    test('rejects more than the remaining disputable amount', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture']);
      const answer = await paymentsApi.advance(id, { action: 'dispute', amount: 10_001 });
      expect(answer.body.error).toMatchObject({
        code: 'amount_exceeds_disputable',
        details: { disputable: 10_000, requested: 10_001 },
      });
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.disputes);
});
