import { beforeAll, describe, expect, test } from 'vitest';
import { meridian } from '../../src/provider/meridian.ts';
import { tidewater } from '../../src/provider/tidewater.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, expectOk, listAll } from '../support/api-client.ts';
import { type PaymentApi, paymentApi, payments, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const allSteps = ['authorize', 'capture', 'settle', { action: 'refund', amount: 1_000 }, 'dispute'];

describe.each(databaseKinds)('provider events on %s', (kind) => {
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

  /** Oldest first, in order of arrival. */
  const eventsOf = async (id: string) =>
    (await paymentsApi.list(id, 'provider_events', 'limit=100')).body.data.toReversed();

  const viaBank = { paymentMethod: { type: 'bank_transfer' } };

  describe('200', () => {
    test('an event has the provider, its ids and event type, the raw payload and the outcome', async () => {
      const payment = await paymentsApi.createAndAdvance(['capture']);
      const [event] = await eventsOf(payment.id);
      expect(event).toEqual({
        object: 'provider_event',
        sandbox: true,
        status: 'applied',
        id: expect.stringMatching(/^pev_[0-9a-z]{26}$/),
        paymentId: payment.id,
        provider: 'meridian',
        providerTransactionId: expect.stringMatching(/^ch_/),
        providerEventId: expect.stringMatching(/^ev_/),
        type: 'charge.captured',
        outcome: 'applied',
        action: 'capture',
        payload: {
          id: event?.providerEventId,
          type: 'charge.captured',
          created: Math.trunc(Date.parse(String(payment.capturedAt)) / 1_000),
          data: { charge: event?.providerTransactionId, amount: 10_000, currency: 'eur' },
        },
        receivedAt: payment.capturedAt,
      });
    });

    test('the card processor sends every transition once and in order', async () => {
      const { id } = await paymentsApi.createAndAdvance(allSteps);
      const events = await eventsOf(id);
      expect(events.map(({ type, outcome }) => [type, outcome])).toEqual([
        ['charge.authorized', 'applied'],
        ['charge.captured', 'applied'],
        ['payout.paid', 'applied'],
        ['charge.refunded', 'applied'],
        ['dispute.opened', 'applied'],
      ]);
    });

    test('the bank gateway sends duplicates and late events; both are stored, and neither is applied', async () => {
      const { id } = await paymentsApi.createAndAdvance(allSteps, viaBank);
      const events = await eventsOf(id);
      expect(events.map(({ type, outcome }) => [type, outcome])).toEqual([
        ['PAYMENT.RESERVED', 'applied'],
        ['PAYMENT.RESERVED', 'duplicate'],
        ['PAYMENT.BOOKED', 'applied'],
        ['PAYMENT.CLEARING', 'ignored'],
        ['PAYMENT.CLEARED', 'applied'],
        ['PAYMENT.RETURNED_PART', 'applied'],
        ['PAYMENT.CLAIM_OPEN', 'applied'],
      ]);
      const [first, again] = events;
      expect(again?.providerEventId).toBe(first?.providerEventId);
      expect(events[2]).toMatchObject({
        provider: 'tidewater',
        providerTransactionId: expect.stringMatching(/^TW\d{14}$/),
        payload: { Amt: { Ccy: 'EUR', Value: '100.00' } },
      });
    });

    test('both lead to the same transitions: the records differ only in ids, times and the payment method', async () => {
      const shown = async (body: object) => {
        const { id } = await paymentsApi.createAndAdvance(allSteps, { ...body });
        const { paymentMethod: _method, ...payment } = await paymentsApi.read(id);
        const entries = (await paymentsApi.list(id, 'ledger_entries')).body.data as unknown as {
          reason: string;
          postings: unknown;
        }[];
        const neutral = JSON.stringify(payment)
          .replace(/[a-z]{3}_[0-9a-z]{26}/g, 'id')
          .replace(/\d{4}-[^"]+Z/g, 'time');
        return { neutral, entries: entries.map(({ reason, postings }) => ({ reason, postings })) };
      };
      expect(await shown(viaBank)).toEqual(await shown({ paymentMethod: { type: 'wallet' } }));
    });

    test.each([
      ['meridian', {}],
      ['tidewater', viaBank],
    ])('no record or event contains anything from %s', async (provider, body) => {
      const shop = await tenant(server);
      const shopPayments = paymentApi(shop.client);
      const payment = await shopPayments.createAndAdvance([...allSteps], body);
      const refund = (await shop.client.get('developer_api_refunds')).body.data[0] as Body;
      const { data } = (await shopPayments.list(payment.id, 'provider_events', 'limit=100')).body;
      const secrets = [
        provider,
        ...data.flatMap((event) => [String(event.providerTransactionId), String(event.providerEventId)]),
      ];
      const texts = [
        (await shop.client.get(`${payments}/${payment.id}`)).text,
        (await shop.client.get(payments)).text,
        (await shopPayments.list(payment.id, 'history')).text,
        (await shopPayments.list(payment.id, 'ledger_entries')).text,
        JSON.stringify(refund),
        (await shop.client.get(`developer_api_disputes/${payment.disputeId}`)).text,
      ];
      const stored = await server.database.query<{ data: unknown }>(
        { name: '', text: 'select data from events where org_id = $1' },
        [shop.orgId],
      );
      for (const text of [...texts, JSON.stringify(stored)]) {
        expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
      }
    });

    test('a payment has one transaction id at its provider, and each refund and dispute has its own', async () => {
      const { id } = await paymentsApi.create({ scenario: 'refund_pending' });
      await paymentsApi.advance(id, { to: 'captured' });
      const refund = expectOk(await paymentsApi.refund(id, { amount: 1_000 }));
      await paymentsApi.advanceRefund(refund.id, { action: 'succeed' });
      const { disputeId } = expectOk(await paymentsApi.advance(id, { action: 'dispute' }));
      await paymentsApi.advanceDispute(String(disputeId), { to: 'won' });
      const known = (await eventsOf(id)).map(({ type, providerTransactionId }) => [
        type,
        providerTransactionId,
      ]);
      const [charge, back, claim] = [id, refund.id, String(disputeId)].map(meridian.transactionId);
      expect(known).toEqual([
        ['charge.captured', charge],
        ['refund.accepted', back],
        ['refund.paid', back],
        ['dispute.opened', claim],
        ['dispute.evidence_received', claim],
        ['dispute.reversed', claim],
      ]);
    });

    test.each(['card', 'wallet', 'bank_debit', 'bank_transfer'])(
      'a payment by %s goes to its default provider, or to the provider set for the application',
      async (type) => {
        const byDefault = await paymentsApi.createAndAdvance(['authorize'], { paymentMethod: { type } });
        const expected = type === 'bank_debit' || type === 'bank_transfer' ? 'tidewater' : 'meridian';
        expect((await eventsOf(byDefault.id))[0]?.provider).toBe(expected);
        for (const { name } of [meridian, tidewater]) {
          const shop = await tenant(server, { provider: name });
          const { id } = await paymentApi(shop.client).createAndAdvance(['authorize'], {
            paymentMethod: { type },
          });
          const { data } = (await paymentApi(shop.client).list(id, 'provider_events')).body;
          expect(data.map(({ provider }) => provider)).toEqual([name]);
        }
      },
    );

    test("a decline has the provider's own code", async () => {
      const scenario = 'decline:lost_card';
      const [card] = await eventsOf((await paymentsApi.createAndAdvance(['fail'], { scenario })).id);
      expect(card).toMatchObject({
        type: 'charge.declined',
        payload: { data: { decline_code: 'lost_card' } },
      });
      const [bank] = await eventsOf(
        (await paymentsApi.createAndAdvance(['fail'], { scenario, ...viaBank })).id,
      );
      expect(bank).toMatchObject({ type: 'PAYMENT.REJECTED', payload: { Reason: 'LOST_CARD' } });
    });

    test('are listed newest first, in pages, and by outcome', async () => {
      const { id } = await paymentsApi.createAndAdvance(allSteps, viaBank);
      const all = await listAll((page) => paymentsApi.list(id, 'provider_events', page), 2);
      expect(all).toHaveLength(7);
      expect(all.map(({ id: eventId }) => eventId)).toEqual(
        all
          .map(({ id: eventId }) => eventId)
          .toSorted()
          .reverse(),
      );
      const late = (await paymentsApi.list(id, 'provider_events', 'outcome=ignored')).body.data;
      expect(late.map(({ type }) => type)).toEqual(['PAYMENT.CLEARING']);
      const applied = await listAll(
        (page) => paymentsApi.list(id, 'provider_events', `${page}&outcome=applied`),
        2,
      );
      expect(applied).toHaveLength(5);
    });

    test('actions without the provider, and rejected actions, create no provider event', async () => {
      const { id } = await paymentsApi.createAndAdvance(['fail', 'retry']);
      await paymentsApi.advance(id, { action: 'settle' });
      expect((await eventsOf(id)).map(({ action }) => action)).toEqual(['fail']);
    });
  });

  describe('the database', () => {
    test.each(["update provider_events set outcome = 'applied'", 'delete from provider_events'])(
      'rejects "%s"',
      async (sql) => {
        const { id } = await paymentsApi.createAndAdvance(['capture']);
        await expect(server.database.script(sql)).rejects.toThrow('provider_events is append-only');
        expect(await eventsOf(id)).toHaveLength(1);
      },
    );

    test('rejects applying one event twice, and accepts a duplicate of it', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture']);
      const again = (outcome: string) =>
        server.database.query(
          {
            name: '',
            text: `insert into provider_events select org_id, $2, payment_id, provider, provider_transaction_id,
              provider_event_id, type, payload, $3, action, request_id, received_at
              from provider_events where org_id = $1 and payment_id = $4`,
          },
          [acme.orgId, `pev_${outcome}_${id}`, outcome, id],
        );
      await expect(again('applied')).rejects.toThrow('provider_events_applied_once');
      await again('duplicate');
    });
  });

  describe('400, 401, 403 and 404', () => {
    test.each(['outcome=lost', 'outcome=', 'limit=0', 'status=applied', 'cursor='])(
      'rejects the query %s',
      async (query) => {
        const { id } = await paymentsApi.create();
        expect((await paymentsApi.list(id, 'provider_events', query)).code).toBe('invalid_request');
      },
    );

    test('requires a key with payments:read, and a payment of the organization', async () => {
      const { id } = await paymentsApi.create();
      const path = `${payments}/${id}/provider_events`;
      expect((await new ApiClient(server.app, null).get(path)).code).toBe('api_key_missing');
      const writer = await acme.addKey({ scopes: ['payments:write'] });
      expect((await writer.client.get(path)).code).toBe('scope_missing');
      for (const candidate of [id, unknownIds.payment, 'x']) {
        expect((await paymentApi(other.client).list(candidate, 'provider_events')).code).toBe(
          'resource_not_found',
        );
      }
    });
  });
});
