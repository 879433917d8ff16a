import { beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../../src/ledger/accounts.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, expectOk, listAll } from '../support/api-client.ts';
import { type PaymentApi, paymentApi, payments, unknownIds } from '../support/payments.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const ledger = 'developer_api_ledger_entries';
const balances = 'developer_api_balances';

interface Balances {
  readonly accounts: readonly { account: string; currency: string; balance: number | string }[];
  readonly trialBalance: readonly { currency: string; amount: number | string }[];
}

/** Postings and fees are tested next to this resource, in src/resources/ledger. */
describe.each(databaseKinds)('the ledger on %s', (kind) => {
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

  const balancesOf = async (client: ApiClient, query = '') =>
    expectOk(await client.get(balances, query)) as Body & Balances;

  describe('entries', () => {
    test('have a reason, a payment, a time, and postings that sum to zero', async () => {
      const payment = await paymentsApi.createAndAdvance(['authorize']);
      const { body } = await paymentsApi.list(payment.id, 'ledger_entries');
      expect(body.data).toEqual([
        {
          object: 'ledger_entry',
          sandbox: true,
          status: 'posted',
          id: expect.stringMatching(/^lge_[0-9a-z]{26}$/),
          reason: 'authorize',
          paymentId: payment.id,
          postings: [
            { account: 'provider_holds', currency: 'EUR', amount: 10_000 },
            { account: 'hold_obligations', currency: 'EUR', amount: -10_000 },
          ],
          createdAt: payment.authorizedAt,
        },
      ]);
    });

    test('are listed newest first, by payment and by organization, in pages and by reason', async () => {
      const shop = await tenant(server);
      const shopPayments = paymentApi(shop.client);
      const one = await shopPayments.createAndAdvance(['authorize', 'capture', 'settle', 'refund']);
      const two = await shopPayments.createAndAdvance(['authorize', 'cancel']);
      const ofOne = await listAll((page) => shopPayments.list(one.id, 'ledger_entries', page), 2);
      expect(ofOne.map(({ reason }) => reason)).toEqual([
        'refund_succeeded',
        'refund',
        'settle',
        'capture',
        'authorize',
      ]);
      const all = await listAll((page) => shop.client.get(ledger, page), 3);
      expect(all.map(({ id }) => id)).toEqual(
        all
          .map(({ id }) => id)
          .toSorted()
          .reverse(),
      );
      expect(all.map(({ reason }) => reason)).toEqual([
        'release',
        'authorize',
        ...ofOne.map(({ reason }) => reason),
      ]);
      const authorized = (await shop.client.get(ledger, 'reason=authorize')).body.data;
      expect(authorized.map(({ paymentId }) => paymentId)).toEqual([two.id, one.id]);
      const both = await shop.client.get(ledger, `paymentId=${one.id}&reason=authorize`);
      expect(both.body.data).toHaveLength(1);
      expect((await shop.client.get(ledger, `createdAfter=${two.updatedAt}`)).body.data).toEqual([]);
      expect((await acme.client.get(ledger, `paymentId=${one.id}`)).body.data).toEqual([]);
    });

    test.each([
      "update ledger_entries set reason = 'other'",
      'delete from ledger_entries',
      'truncate ledger_entries',
      'truncate ledger_entries cascade',
    ])('the database rejects "%s"', async (sql) => {
      const { id } = await paymentsApi.createAndAdvance(['authorize']);
      await expect(server.database.script(sql)).rejects.toThrow('ledger_entries is append-only');
      expect((await paymentsApi.list(id, 'ledger_entries')).body.data).toHaveLength(1);
    });
  });

  describe('balances', () => {
    test('include every account in every used currency, and the trial balance is zero', async () => {
      const shop = await tenant(server);
      const shopPayments = paymentApi(shop.client);
      expect(await balancesOf(shop.client)).toMatchObject({
        object: 'balances',
        status: 'ok',
        accounts: [],
        trialBalance: [],
      });
      await shopPayments.createAndAdvance(['capture']);
      await shopPayments.createAndAdvance(['authorize'], { amount: 500, currency: 'JPY' });
      const shown = await balancesOf(shop.client);
      expect(shown.accounts.map(({ account, currency }) => `${currency} ${account}`)).toEqual(
        ['EUR', 'JPY'].flatMap((currency) =>
          Object.keys(accounts).map((account) => `${currency} ${account}`),
        ),
      );
      expect(shown.trialBalance).toEqual([
        { currency: 'EUR', amount: 0 },
        { currency: 'JPY', amount: 0 },
      ]);
      const held = shown.accounts.filter(({ balance }) => balance !== 0);
      expect(held).toEqual([
        { account: 'provider_receivable', currency: 'EUR', balance: 10_000 },
        { account: 'merchant_pending', currency: 'EUR', balance: -9_680 },
        { account: 'fees', currency: 'EUR', balance: -320 },
        { account: 'provider_holds', currency: 'JPY', balance: 500 },
        { account: 'hold_obligations', currency: 'JPY', balance: -500 },
      ]);
    });

    test('equal the sum of the postings after many concurrent payments in all states', async () => {
      const shop = await tenant(server);
      const shopPayments = paymentApi(shop.client);
      const targetStates = [
        'authorized',
        'captured',
        'settled',
        'refunded',
        'disputed',
        'charged_back',
        'canceled',
      ];
      await Promise.all(
        [...targetStates, ...targetStates, ...targetStates].map((to, i) =>
          shopPayments.createAndAdvance([{ to }], { amount: 1_000 + i }),
        ),
      );
      const entries = (await shop.client.get(ledger, 'limit=100')).body.data as unknown as {
        postings: { account: string; amount: number }[];
      }[];
      const sums = new Map(Object.keys(accounts).map((account) => [account, 0]));
      for (const { account, amount } of entries.flatMap(({ postings }) => postings)) {
        sums.set(account, (sums.get(account) ?? 0) + amount);
      }
      const shown = await balancesOf(shop.client);
      expect(new Map(shown.accounts.map(({ account, balance }) => [account, balance]))).toEqual(sums);
      expect(shown.trialBalance).toEqual([{ currency: 'EUR', amount: 0 }]);
    });

    test('of one payment are its share of each account', async () => {
      const { id } = await paymentsApi.createAndAdvance(['capture']);
      await paymentsApi.createAndAdvance(['capture']);
      const shown = await balancesOf(acme.client, `paymentId=${id}`);
      expect(shown.accounts).toHaveLength(Object.keys(accounts).length);
      expect(await paymentsApi.balances(id)).toEqual({
        provider_receivable: 10_000,
        merchant_pending: -9_680,
        fees: -320,
      });
    });

    test('beyond the safe integer range are returned exactly, as text', async () => {
      const shop = await tenant(server, { fee: { basisPoints: 0, fixedAmount: 0 } });
      await paymentApi(shop.client).createAndAdvance(['capture'], { amount: 999_999_999_999 });
      const huge = 9_007_199_254_740_993n;
      await server.database.query(
        {
          name: '',
          text: 'update ledger_balances set balance = sign(balance)::bigint * $2 where org_id = $1',
        },
        [shop.orgId, huge],
      );
      const shown = await balancesOf(shop.client);
      const held = shown.accounts.filter(({ balance }) => balance !== 0);
      expect(held.map(({ balance }) => balance)).toEqual([`${huge}`, `-${huge}`]);
    });
  });

  describe('the fee', () => {
    test('follows the application settings, and a payment retains the fee from its creation', async () => {
      const fee = { basisPoints: 100, fixedAmount: 5 };
      const shop = await tenant(server, { fee });
      const shopPayments = paymentApi(shop.client);
      const early = await shopPayments.create();
      const withoutFee = await shop.addKey({ fee: { basisPoints: 0, fixedAmount: 0 } });
      const late = await paymentApi(withoutFee.client).create();
      expect((await shopPayments.advance(early.id, { action: 'capture' })).body.feeAmount).toBe(105);
      expect((await shopPayments.advance(late.id, { action: 'capture' })).body.feeAmount).toBe(0);
      expect(await shopPayments.balances(late.id)).toEqual({
        provider_receivable: 10_000,
        merchant_pending: -10_000,
      });
    });
  });

  describe('400, 401, 403 and 404', () => {
    test.each(['limit=0', 'status=posted', 'reason=', 'paymentId=x', 'createdAfter=x', 'order=asc'])(
      'rejects the query %s',
      async (query) => {
        expect((await acme.client.get(ledger, query)).code).toBe('invalid_request');
      },
    );

    test('rejects a cursor of another list', async () => {
      await Promise.all([paymentsApi.create(), paymentsApi.create()]);
      const { nextCursor } = (await acme.client.get(payments, 'limit=1')).body;
      expect((await acme.client.get(ledger, `cursor=${nextCursor}`)).code).toBe('invalid_cursor');
    });

    test('requires a key with payments:read', async () => {
      const { id } = await paymentsApi.create();
      const writer = await acme.addKey({ scopes: ['payments:write', 'transfers:read'] });
      for (const path of [ledger, balances, `${payments}/${id}/ledger_entries`]) {
        expect((await new ApiClient(server.app, null).get(path)).code).toBe('api_key_missing');
        expect((await writer.client.get(path)).code).toBe('scope_missing');
      }
    });

    test('entries and balances of an unknown payment, or one of another organization, are not found', async () => {
      const { id } = await paymentApi(other.client).createAndAdvance(['capture']);
      for (const candidate of [id, unknownIds.payment]) {
        expect((await paymentsApi.list(candidate, 'ledger_entries')).code).toBe('resource_not_found');
        expect((await acme.client.get(balances, `paymentId=${candidate}`)).code).toBe('resource_not_found');
      }
      expect((await paymentsApi.list('x', 'ledger_entries')).code).toBe('resource_not_found');
    });
  });
});
