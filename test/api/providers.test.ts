import { beforeAll, describe, expect, test } from 'vitest';
import { meridian } from '../../src/provider/meridian.ts';
import { tidewater } from '../../src/provider/tidewater.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, expectOk, listAll } from '../support/api-client.ts';
import { type PaymentApi, paymentApi, payments, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const whole = ['authorize', 'capture', 'settle', { action: 'refund', amount: 1_000 }, 'dispute'];

describe.each(databaseKinds)('provider events on %s', (kind) => {
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

  /** Oldest first, as they came in. */
  const eventsOf = async (id: string) =>
    (await life.list(id, 'provider_events', 'limit=100')).body.data.toReversed();

  const viaBank = { paymentMethod: { type: 'bank_transfer' } };

  describe('200', () => {
    test('an event shows the provider, its own ids and words, the raw payload and what came of it', async () => {
      const payment = await life.createAndAdvance(['capture']);
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

    test('the card processor tells every move once and in order', async () => {
      const { id } = await life.createAndAdvance(whole);
      const events = await eventsOf(id);
      expect(events.map(({ type, outcome }) => [type, outcome])).toEqual([
        ['charge.authorized', 'applied'],
        ['charge.captured', 'applied'],
        ['payout.paid', 'applied'],
        ['charge.refunded', 'applied'],
        ['dispute.opened', 'applied'],
      ]);
    });

    test('the bank gateway repeats itself and is late; both is stored, and neither is applied', async () => {
      const { id } = await life.createAndAdvance(whole, viaBank);
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

    test('the same moves come of both: the records differ in nothing but ids, times and the method', async () => {
      const shown = async (body: object) => {
        const { id } = await life.createAndAdvance(whole, { ...body });
        const { paymentMethod: _method, ...payment } = await life.read(id);
        const entries = (await life.list(id, 'ledger_entries')).body.data as unknown as {
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
    ])('nothing of %s is in any record or event of ours', async (provider, body) => {
      const shop = await tenant(server);
      const own = paymentApi(shop.client);
      const payment = await own.createAndAdvance([...whole], body);
      const refund = (await shop.client.get('developer_api_refunds')).body.data[0] as Body;
      const { data } = (await own.list(payment.id, 'provider_events', 'limit=100')).body;
      const secrets = [
        provider,
        ...data.flatMap((event) => [String(event.providerTransactionId), String(event.providerEventId)]),
      ];
      const texts = [
        (await shop.client.get(`${payments}/${payment.id}`)).text,
        (await shop.client.get(payments)).text,
        (await own.list(payment.id, 'history')).text,
        (await own.list(payment.id, 'ledger_entries')).text,
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

    test('a payment is known to its provider by one id, its refunds and disputes by their own', async () => {
      const { id } = await life.create({ scenario: 'refund_pending' });
      await life.advance(id, { to: 'captured' });
      const refund = expectOk(await life.refund(id, { amount: 1_000 }));
      await life.advanceRefund(refund.id, { action: 'succeed' });
      const { disputeId } = expectOk(await life.advance(id, { action: 'dispute' }));
      await life.advanceDispute(String(disputeId), { to: 'won' });
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
      'a payment by %s goes to its usual provider, and to the one of the application where that is set',
      async (type) => {
        const usual = await life.createAndAdvance(['authorize'], { paymentMethod: { type } });
        const expected = type === 'bank_debit' || type === 'bank_transfer' ? 'tidewater' : 'meridian';
        expect((await eventsOf(usual.id))[0]?.provider).toBe(expected);
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

    test('a decline tells its code in the words of the provider', async () => {
      const scenario = 'decline:lost_card';
      const [card] = await eventsOf((await life.createAndAdvance(['fail'], { scenario })).id);
      expect(card).toMatchObject({
        type: 'charge.declined',
        payload: { data: { decline_code: 'lost_card' } },
      });
      const [bank] = await eventsOf((await life.createAndAdvance(['fail'], { scenario, ...viaBank })).id);
      expect(bank).toMatchObject({ type: 'PAYMENT.REJECTED', payload: { Reason: 'LOST_CARD' } });
    });

    test('they are listed newest first, in pages, and by outcome', async () => {
      const { id } = await life.createAndAdvance(whole, viaBank);
      const all = await listAll((page) => life.list(id, 'provider_events', page), 2);
      expect(all).toHaveLength(7);
      expect(all.map(({ id: own }) => own)).toEqual(
        all
          .map(({ id: own }) => own)
          .toSorted()
          .reverse(),
      );
      const late = (await life.list(id, 'provider_events', 'outcome=ignored')).body.data;
      expect(late.map(({ type }) => type)).toEqual(['PAYMENT.CLEARING']);
      const applied = await listAll((page) => life.list(id, 'provider_events', `${page}&outcome=applied`), 2);
      expect(applied).toHaveLength(5);
    });

    test('what the provider has no part in, or what is refused, brings none', async () => {
      const { id } = await life.createAndAdvance(['fail', 'retry']);
      await life.advance(id, { action: 'settle' });
      expect((await eventsOf(id)).map(({ action }) => action)).toEqual(['fail']);
    });
  });

  describe('the database', () => {
    test.each(["update provider_events set outcome = 'applied'", 'delete from provider_events'])(
      'refuses "%s"',
      async (sql) => {
        const { id } = await life.createAndAdvance(['capture']);
        await expect(server.database.script(sql)).rejects.toThrow('provider_events is append-only');
        expect(await eventsOf(id)).toHaveLength(1);
      },
    );

    test('refuses to apply one event twice, and takes a duplicate of it', async () => {
      const { id } = await life.createAndAdvance(['capture']);
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
      'the query %s is refused',
      async (query) => {
        const { id } = await life.create();
        expect((await life.list(id, 'provider_events', query)).code).toBe('invalid_request');
      },
    );

    test('they need a key with payments:read, and a payment of the organization', async () => {
      const { id } = await life.create();
      const path = `${payments}/${id}/provider_events`;
      expect((await new ApiClient(server.app, null).get(path)).code).toBe('api_key_missing');
      const writer = await acme.addKey({ scopes: ['payments:write'] });
      expect((await writer.client.get(path)).code).toBe('scope_missing');
      for (const some of [id, unknownIds.payment, 'x']) {
        expect((await paymentApi(other.client).list(some, 'provider_events')).code).toBe(
          'resource_not_found',
        );
      }
    });
  });
});
