import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, expectOk, listAll } from '../support/api-client.ts';
import { type PaymentApi, paymentApi, payments, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

describe.each(databaseKinds)('the history on %s', (kind) => {
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

  describe('200', () => {
    test('returns actor, time, states, event and ledger entries of each transition', async () => {
      const created = await paymentsApi.create();
      const authorized = await paymentsApi.advance(
        created.id,
        { action: 'authorize' },
        'expand=ledgerEntries',
      );
      const { body } = await paymentsApi.list(created.id, 'history');
      const actor = { kind: 'api_key', id: acme.keyId };
      expect(body.data).toEqual([
        {
          object: 'state_change',
          sandbox: true,
          requestId: authorized.body.requestId,
          status: 'authorized',
          id: `${created.id}.2`,
          version: 2,
          action: 'authorize',
          from: 'pending',
          to: 'authorized',
          actor,
          event: { id: expect.stringMatching(/^evt_[0-9a-z]{26}$/), type: 'payment.authorized' },
          ledgerEntries: authorized.body.ledgerEntries,
          at: authorized.body.updatedAt,
        },
        {
          object: 'state_change',
          sandbox: true,
          requestId: created.requestId,
          status: 'pending',
          id: `${created.id}.1`,
          version: 1,
          action: 'create',
          from: null,
          to: 'pending',
          actor,
          event: { id: expect.stringMatching(/^evt_/), type: 'payment.created' },
          ledgerEntries: [],
          at: created.createdAt,
        },
      ]);
    });

    test('names the key that triggered each transition', async () => {
      const { id } = await paymentsApi.create();
      const second = await acme.addKey();
      expectOk(await paymentApi(second.client).advance(id, { action: 'cancel' }));
      const actors = (await paymentsApi.list(id, 'history')).body.data.map(({ actor }) => actor);
      expect(actors).toEqual([
        { kind: 'api_key', id: second.keyId },
        { kind: 'api_key', id: acme.keyId },
      ]);
    });

    test('has every step of a multi-step advance, and the transitions triggered by refunds and disputes', async () => {
      const { id } = await paymentsApi.create({ scenario: 'refund_pending' });
      await paymentsApi.advance(id, { to: 'settled' });
      const refund = expectOk(await paymentsApi.refund(id, { amount: 1_000 }));
      await paymentsApi.advanceRefund(refund.id, { action: 'succeed' });
      const { disputeId } = expectOk(await paymentsApi.advance(id, { action: 'dispute' }));
      await paymentsApi.advanceDispute(String(disputeId), { to: 'won' });
      const { data } = (await paymentsApi.list(id, 'history')).body;
      expect(data.map(({ action, from, to }) => [action, from, to]).reverse()).toEqual([
        ['create', null, 'pending'],
        ['capture', 'pending', 'captured'],
        ['settle', 'captured', 'settled'],
        ['refund_pending', 'settled', 'settled'],
        ['refund_succeeded', 'settled', 'partially_refunded'],
        ['dispute', 'partially_refunded', 'disputed'],
        ['dispute_won', 'disputed', 'partially_refunded'],
      ]);
      expect(data.map(({ event }) => (event as { type: string }).type).reverse()).toEqual([
        'payment.created',
        'payment.captured',
        'payment.settled',
        'payment.updated',
        'payment.partially_refunded',
        'payment.disputed',
        'payment.partially_refunded',
      ]);
    });

    test.each([1, 2, 7, 100])('pages of %d contain each transition once, newest first', async (limit) => {
      const { id } = await paymentsApi.createAndAdvance([
        'authorize',
        ...Array(5).fill({ action: 'capture', amount: 1_000 }),
      ]);
      const versions = await listAll((page) => paymentsApi.list(id, 'history', page), limit);
      expect(versions.map(({ version }) => version)).toEqual([7, 6, 5, 4, 3, 2, 1]);
      expect(versions.map(({ ledgerEntries }) => (ledgerEntries as unknown[]).length)).toEqual([
        1, 1, 1, 1, 1, 1, 0,
      ]);
    });

    test('has no entry for a rejected action', async () => {
      const { id } = await paymentsApi.create();
      await paymentsApi.advance(id, { action: 'settle' });
      await paymentsApi.advance(id, { action: 'capture', amount: 10_001 });
      expect((await paymentsApi.list(id, 'history')).body.data).toHaveLength(1);
    });
  });

  describe('400, 401, 403 and 404', () => {
    test.each(['limit=0', 'limit=101', 'status=pending', 'createdAfter=2026-01-01T00:00:00Z', 'x=1'])(
      'rejects the query %s',
      async (query) => {
        const { id } = await paymentsApi.create();
        expect((await paymentsApi.list(id, 'history', query)).code).toBe('invalid_request');
      },
    );

    test('rejects a malformed or modified cursor, and a cursor of another list', async () => {
      const { id } = await paymentsApi.createAndAdvance(['authorize', 'capture']);
      const ownCursor = (await paymentsApi.list(id, 'history', 'limit=1')).body.nextCursor;
      const foreign = (await acme.client.get(payments, 'limit=1')).body.nextCursor ?? 'x';
      const encoded = ['v0', 'v01', 'v-1', 'v1.5', 'v9999999999', 'v'].map((text) =>
        Buffer.from(text).toString('base64url'),
      );
      for (const cursor of ['garbage', foreign, `${ownCursor}A`, ...encoded]) {
        expect((await paymentsApi.list(id, 'history', `cursor=${cursor}`)).code, cursor).toBe(
          'invalid_cursor',
        );
      }
    });

    test('requires a key with payments:read', async () => {
      const { id } = await paymentsApi.create();
      const path = `${payments}/${id}/history`;
      expect((await new ApiClient(server.app, null).get(path)).code).toBe('api_key_missing');
      const writer = await acme.addKey({ scopes: ['payments:write'] });
      expect((await writer.client.get(path)).code).toBe('scope_missing');
    });

    test('is not found for an unknown payment or one of another organization', async () => {
      const { id } = await paymentApi(other.client).create();
      for (const candidate of [id, unknownIds.payment, unknownIds.refund, 'x']) {
        expect((await paymentsApi.list(candidate, 'history')).code).toBe('resource_not_found');
      }
    });
  });
});
