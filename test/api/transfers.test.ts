import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import {
  type Answer,
  ApiClient,
  type Body,
  expectOk,
  expectReplay,
  listAll,
  seenCodes,
  withoutRequestId,
} from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { payments } from '../support/payments.ts';
import { databaseKinds, openApp, openEngine, sharedServer } from '../support/server.ts';
import { type KeyHolder, type Tenant, tenant } from '../support/tenant.ts';

const transfers = 'developer_api_transfers';
const customers = 'developer_api_customers';
const unknownId = 'trf_01m7epxwjmf7za77rhky2f93cc';
const beneficiary = { name: 'Grace Hopper', country: 'US', account: 'US64 0001 0002' };
/** 1 EUR is 1.25 USD in these tests, and the merchant's payments have no fee. */
const appSettings = {
  fx: { marginBasisPoints: 0, rates: { 'EUR/USD': '1.25' } },
  fee: { basisPoints: 0, fixedAmount: 0 },
} as const;
const quoteInput = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 } as const;

/**
 * Quotes, steps and their timers are tested next to the machines, in src/resources/transfers and
 * src/resources/transfer-moves; payout reports in src/resources/reconciliation.
 */
describe.each(databaseKinds)('transfers on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server, appSettings);
    other = await tenant(server, appSettings);
  });

  const advance = (client: ApiClient, id: string, body?: unknown, query = '') =>
    client.post(`${transfers}/${id}/advance`, body, { query });
  const quoted = async (body: object = {}, client = acme.client): Promise<Body> =>
    expectOk(await client.post(transfers, { ...quoteInput, beneficiary, ...body }));
  const reached = async (to: string, body: object = {}, client = acme.client): Promise<Body> =>
    expectOk(await advance(client, (await quoted(body, client)).id, { to }));
  /** Creates a settled payment, so that transfers can be funded from the balance. */
  const fundBalance = async ({ client }: KeyHolder, amount: number) => {
    const { id } = expectOk(await client.post(payments, { amount, currency: 'EUR' }));
    expectOk(await client.post(`${payments}/${id}/advance`, { to: 'settled' }));
  };
  const balance = async ({ client }: KeyHolder, account: string, query = ''): Promise<number> => {
    const { accounts } = expectOk(await client.get('developer_api_balances', query)) as unknown as {
      accounts: { account: string; currency: string; balance: number }[];
    };
    return accounts.find((one) => one.account === account && one.currency === 'EUR')?.balance ?? 0;
  };

  describe('201', () => {
    test('a quote has the amounts, the fee, the rate and its expiry', async () => {
      const customer = expectOk(await acme.client.post(customers, { name: 'Ada' }));
      const more = { customerId: customer.id, reference: 'invoice 7', metadata: { order: '7' } };
      const body = await quoted(more);
      expect(withoutRequestId(body)).toEqual({
        object: 'transfer',
        sandbox: true,
        status: 'quoted',
        id: expect.stringMatching(/^trf_/),
        ...quoteInput,
        targetAmount: 12_500,
        feeAmount: 50,
        totalAmount: 10_050,
        rate: '1.25',
        inverseRate: '0.8',
        midMarketRate: '1.25',
        marginBasisPoints: 0,
        fundFrom: 'external',
        beneficiary,
        ...more,
        scenario: 'approve',
        autoAdvance: false,
        failure: null,
        returnCode: null,
        expiresAt: new Date(Date.parse(body.createdAt) + 30 * 60_000).toISOString(),
        allowedActions: ['requote', 'accept', 'cancel', 'expire'],
        reconciliation: null,
        version: 1,
        createdAt: body.createdAt,
        updatedAt: body.createdAt,
      });
      expect(withoutRequestId(expectOk(await acme.client.get(`${transfers}/${body.id}`)))).toEqual(
        withoutRequestId(body),
      );
    });

    test('rates and margins follow the application settings', async () => {
      const defaultRates = await acme.addKey({ application: 'usual' });
      const customRates = await acme.addKey({
        application: 'dear',
        fx: { marginBasisPoints: 200, rates: { 'USD/EUR': '0.8' } },
      });
      const at = async ({ client }: KeyHolder) => quoted({}, client);
      expect(await at(defaultRates)).toMatchObject({
        rate: '1.155498780629',
        inverseRate: '0.865427135679',
        midMarketRate: '1.161305307165',
        marginBasisPoints: 50,
        targetAmount: 11_554,
      });
      expect(await at(customRates)).toMatchObject({
        rate: '1.225',
        midMarketRate: '1.25',
        marginBasisPoints: 200,
      });
      expect(await at(acme)).toMatchObject({ rate: '1.25' });
    });

    test('the same idempotency key returns the same response, and creates one transfer', async () => {
      const key = randomUUID();
      const send = () => acme.client.post(transfers, quoteInput, { idempotencyKey: key });
      const first = await send();
      expectReplay(await send(), first);
      const changed = await acme.client.post(
        transfers,
        { ...quoteInput, sourceAmount: 10_001 },
        { idempotencyKey: key },
      );
      expect(changed.code).toBe('idempotency_key_reused');
    });
  });

  describe('200', () => {
    test('?expand=ledgerEntries returns the ledger entries of the step', async () => {
      const { id } = await quoted();
      const entries = (answer: Answer) =>
        expectOk(answer).ledgerEntries as { reason: string; transferId: string; postings: unknown[] }[];
      const accepted = await advance(acme.client, id, { action: 'accept' }, 'expand=ledgerEntries');
      expect(entries(accepted)).toEqual([]);
      const answer = await advance(acme.client, id, { to: 'converted' }, 'expand=ledgerEntries');
      expect(entries(answer).map(({ reason, transferId }) => [reason, transferId])).toEqual([
        ['fund', id],
        ['convert', id],
      ]);
      expect(entries(answer)[1]?.postings).toEqual([
        { account: 'transfer_funding', currency: 'EUR', amount: 10_050 },
        { account: 'fx_position', currency: 'EUR', amount: -10_000 },
        { account: 'fees', currency: 'EUR', amount: -50 },
        { account: 'fx_position', currency: 'USD', amount: 12_500 },
        { account: 'payout_clearing', currency: 'USD', amount: -12_500 },
      ]);
    });

    test('lists history, ledger entries and provider events of the transfer, newest first', async () => {
      const { id } = await reached('completed');
      const history = expectOk(await acme.client.get(`${transfers}/${id}/history`));
      expect(history.data.map(({ action }) => action)).toEqual([
        ...['complete', 'send', 'convert', 'fund', 'accept', 'quote'],
      ]);
      expect(history.data[0]).toMatchObject({
        object: 'state_change',
        id: `${id}.6`,
        event: { type: 'transfer.completed' },
        ledgerEntries: [{ reason: 'complete', transferId: id }],
      });
      const entries = expectOk(await acme.client.get(`${transfers}/${id}/ledger_entries`));
      expect(entries.data.map(({ reason }) => reason)).toEqual(['complete', 'send', 'convert', 'fund']);
      for (const entry of entries.data) expect(entry).not.toHaveProperty('paymentId');
      const filtered = expectOk(await acme.client.get('developer_api_ledger_entries', `transferId=${id}`));
      expect(filtered.data).toEqual(entries.data);
      const events = expectOk(await acme.client.get(`${transfers}/${id}/provider_events`));
      expect(events.data.map(({ type, outcome }) => [type, outcome])).toEqual([
        ['TRANSFER.CREDITED', 'applied'],
        ['TRANSFER.ORDERED', 'duplicate'],
        ['TRANSFER.ORDERED', 'applied'],
        ['TRANSFER.EXCHANGED', 'applied'],
        ['TRANSFER.COVER_RECEIVED', 'applied'],
      ]);
      for (const event of events.data) {
        expect(event.transferId).toBe(id);
        expect(event).not.toHaveProperty('paymentId');
      }
      const repeated = expectOk(
        await acme.client.get(`${transfers}/${id}/provider_events`, 'outcome=duplicate'),
      );
      expect(repeated.data).toHaveLength(1);
      const pages = await listAll((query) => acme.client.get(`${transfers}/${id}/history`, query), 2);
      expect(pages).toEqual(history.data);
    });

    test("uses the provider's own event types and ids, for the provider set for the application", async () => {
      const { client } = await acme.addKey({
        application: 'modern',
        provider: 'meridian',
        fx: appSettings.fx,
      });
      const { id } = await reached('completed', {}, client);
      const { data } = expectOk(await client.get(`${transfers}/${id}/provider_events`));
      expect(data.map(({ type }) => type)).toEqual([
        ...['transfer.paid', 'transfer.submitted', 'transfer.converted', 'transfer.funded'],
      ]);
      const shown = JSON.stringify(expectOk(await client.get(`${transfers}/${id}`)));
      const providerId = String(data[0]?.providerTransactionId);
      expect(providerId).toMatch(/^po_/);
      expect(shown).not.toContain(providerId);
    });

    test('lists newest first, by status, customer and time', async () => {
      const org = await tenant(server, appSettings);
      const customer = expectOk(await org.client.post(customers, { name: 'Ada' }));
      const first = await quoted({ customerId: customer.id }, org.client);
      const second = await reached('canceled', {}, org.client);
      const third = await quoted({ customerId: customer.id }, org.client);
      const ids = async (query: string) =>
        expectOk(await org.client.get(transfers, query)).data.map(({ id }) => id);
      expect(await ids('')).toEqual([third.id, second.id, first.id]);
      expect(await ids('status=canceled')).toEqual([second.id]);
      expect(await ids(`customerId=${customer.id}`)).toEqual([third.id, first.id]);
      expect(await ids(`status=quoted&customerId=${customer.id}&limit=1`)).toEqual([third.id]);
      expect(await ids(`createdAfter=${third.createdAt}`)).toEqual([]);
      expect(await ids(`createdBefore=${first.createdAt}`)).toEqual([]);
      const all = await listAll((query) => org.client.get(transfers, query), 2);
      expect(all.map(({ id }) => id)).toEqual([third.id, second.id, first.id]);
    });

    test('every application of the organization sees and advances it', async () => {
      const { id } = await quoted();
      const { client } = await acme.addKey({ application: 'another' });
      expect(expectOk(await advance(client, id, { action: 'accept' })).status).toBe('accepted');
    });
  });

  describe('200, funded from the balance:', () => {
    test('concurrent funding, in one batch or several, succeeds only as far as the balance covers', async () => {
      const org = await tenant(server, appSettings);
      await fundBalance(org, 10_050 * 3 + 10_049);
      const waiting = await Promise.all(
        Array.from({ length: 12 }, () => reached('accepted', { fundFrom: 'balance' }, org.client)),
      );
      const answers = await Promise.all(waiting.map(({ id }) => advance(org.client, id, { action: 'fund' })));
      const codes = answers.map(({ code }) => code).filter((code) => code !== null);
      expect(codes).toEqual(Array(9).fill('insufficient_funds'));
      expect(await balance(org, 'merchant_available')).toBe(-10_049);
      expect(await balance(org, 'transfer_funding')).toBe(-30_150);
    });

    // PGlite has one session, and therefore one node.
    test.runIf(kind === 'postgres')(
      'of two nodes that spend the same balance concurrently, one succeeds',
      async () => {
        const nodes = [server.app, openApp(server, { engine: openEngine(server.database) })] as const;
        const rounds = await Promise.all(
          Array.from({ length: 20 }, async () => {
            const org = await tenant(server, appSettings);
            await fundBalance(org, 10_050);
            const waiting = await Promise.all(
              nodes.map(() => reached('accepted', { fundFrom: 'balance' }, org.client)),
            );
            return { org, waiting };
          }),
        );
        const spent = await Promise.all(
          rounds.flatMap(({ org, waiting }) =>
            nodes.map((node, i) => advance(org.clientOn(node), waiting[i]?.id ?? '', { action: 'fund' })),
          ),
        );
        expect(spent.filter(({ status }) => status === 200)).toHaveLength(rounds.length);
        for (const { org } of rounds) expect(await balance(org, 'merchant_available')).toBe(0);
      },
    );
  });

  describe('400', () => {
    test('rejects an invalid body, and param points at the field', async () => {
      const created = await acme.client.post(transfers, { ...quoteInput, targetAmount: 1 });
      expect(created.body.error).toMatchObject({ code: 'invalid_request', param: '/sourceAmount' });
      const advanced = await advance(acme.client, unknownId, { action: 'complete', returnCode: 'x' });
      expect(advanced.body.error).toMatchObject({ code: 'invalid_request', param: '/returnCode' });
    });

    test.each([
      ['status=settled', 'status'],
      ['customerId=x', 'customerId'],
      ['paymentId=x', 'paymentId'],
      ['limit=0', 'limit'],
    ])('rejects a list with %s', async (query, param) => {
      const answer = await acme.client.get(transfers, query);
      expect([answer.code, answer.body.error.param]).toEqual(['invalid_request', param]);
    });

    test('rejects a cursor of another list', async () => {
      expect((await acme.client.get(transfers, 'cursor=abc')).code).toBe('invalid_cursor');
    });

    test('rejects balances of a payment and a transfer together', async () => {
      const query = `transferId=${unknownId}&paymentId=${unknownId.replace('trf', 'pay')}`;
      const answer = await acme.client.get('developer_api_balances', query);
      expect([answer.code, answer.body.error.param]).toEqual(['invalid_request', 'transferId']);
    });
  });

  describe('401 and 403', () => {
    test('requires a key with the scope', async () => {
      expect((await new ApiClient(server.app, null).post(transfers, quoteInput)).code).toBe(
        'api_key_missing',
      );
      const { client } = await acme.addKey({ scopes: ['transfers:read', 'payments:write'] });
      expect((await client.post(transfers, quoteInput)).code).toBe('scope_missing');
      const { client: writer } = await acme.addKey({ scopes: ['transfers:write'] });
      expect((await writer.get('developer_api_fx_rates')).code).toBe('scope_missing');
    });
  });

  describe('404', () => {
    test('transfers of another organization and unknown transfers are not found', async () => {
      const { id } = await quoted();
      for (const [client, one] of [
        [other.client, id],
        [acme.client, unknownId],
        [acme.client, 'x'],
        [acme.client, id.replace('trf', 'pay')],
      ] as const) {
        for (const path of ['', '/history', '/ledger_entries', '/provider_events'])
          expect((await client.get(`${transfers}/${one}${path}`)).code, path).toBe('resource_not_found');
        expect((await advance(client, one, { action: 'accept' })).code).toBe('resource_not_found');
      }
      const balances = await other.client.get('developer_api_balances', `transferId=${id}`);
      expect(balances.code).toBe('resource_not_found');
    });
  });

  describe('409', () => {
    test('a step from another state returns the state and the allowed actions', async () => {
      const { id } = await reached('sent');
      const answer = await advance(acme.client, id, { action: 'cancel' });
      expect(answer.body.error).toMatchObject({
        code: 'invalid_state_transition',
        details: { status: 'sent', action: 'cancel' },
        allowedActions: ['complete', 'return'],
      });
    });
  });

  describe('422', () => {
    test.each<[code: string, body: object, param: string]>([
      ['unsupported_currency', { targetCurrency: 'AOA' }, '/targetCurrency'],
      [
        'amount_too_small',
        { sourceCurrency: 'JPY', targetCurrency: 'EUR', sourceAmount: 1 },
        '/sourceAmount',
      ],
      ['amount_too_large', { sourceAmount: 999_999_999_999 }, '/sourceAmount'],
      ['customer_not_found', { customerId: 'cus_01m7epxwjmf7za77rhky2f93cc' }, '/customerId'],
    ])('%s', async (code, body, param) => {
      const answer = await acme.client.post(transfers, { ...quoteInput, ...body });
      expect([answer.code, answer.body.error.param]).toEqual([code, param]);
    });

    test('rejects an archived customer', async () => {
      const { id } = expectOk(await acme.client.post(customers, { name: 'Ada' }));
      expectOk(await acme.client.post(`${customers}/${id}/archive`));
      const answer = await acme.client.post(transfers, { ...quoteInput, customerId: id });
      expect(answer.code).toBe('customer_archived');
    });

    test('stores the rejection for its idempotency key', async () => {
      const key = randomUUID();
      const send = () =>
        acme.client.post(transfers, { ...quoteInput, targetCurrency: 'AOA' }, { idempotencyKey: key });
      const first = await send();
      expectReplay(await send(), first);
    });

    test('rejects a transfer without a beneficiary', async () => {
      const { id } = await quoted({ beneficiary: undefined });
      expect((await advance(acme.client, id, { to: 'completed' })).code).toBe('beneficiary_missing');
      expect(expectOk(await acme.client.get(`${transfers}/${id}`)).version).toBe(1);
    });
  });

  describe('by the clock:', () => {
    /** A node with the test's own wall clock. */
    const timedApp = (clock: { readonly now: number }) => openApp(server, { wallClock: () => clock.now });
    const timed = (holder: KeyHolder) => {
      const clock = { now: Date.now() };
      return { clock, client: holder.clientOn(timedApp(clock)) };
    };

    test('a quote can be accepted until it expires, exclusive', async () => {
      const { clock, client } = timed(acme);
      const [early, late] = [await quoted({}, client), await quoted({}, client)];
      clock.now = Date.parse(String(late.expiresAt)) - 1;
      expect(expectOk(await advance(client, early.id, { action: 'accept' })).status).toBe('accepted');
      clock.now += 1;
      const answer = await advance(client, late.id, { action: 'accept' });
      expect(answer.code).toBe('quote_expired');
      // A rejection changes nothing, although the quote is overdue.
      expect(expectOk(await client.get(`${transfers}/${late.id}`))).toMatchObject({
        status: 'quoted',
        version: 1,
      });
    });

    test('overdue steps check the balance and are stored, each with its own due time', async () => {
      const { clock, client } = timed(other);
      const start = clock.now;
      const { id } = await quoted({ autoAdvance: true, fundFrom: 'balance' }, client);
      clock.now += 10_000;
      const refused = await advance(client, id, { action: 'convert' });
      expect(refused.body.error.details).toMatchObject({ status: 'failed' });
      const fundedOrg = await tenant(server, appSettings);
      await fundBalance(fundedOrg, 10_050);
      const funded = await quoted(
        { autoAdvance: true, fundFrom: 'balance' },
        fundedOrg.clientOn(timedApp(clock)),
      );
      clock.now += 3_000;
      expectOk(await advance(fundedOrg.clientOn(timedApp(clock)), funded.id, { action: 'send' }));
      const { data } = expectOk(await fundedOrg.client.get(`${transfers}/${funded.id}/history`));
      expect(data.map(({ action, at }) => [action, Date.parse(String(at)) - start - 10_000])).toEqual([
        ['send', 3_000],
        ['convert', 3_000],
        ['fund', 2_000],
        ['accept', 1_000],
        ['quote', 0],
      ]);
    });
  });

  describe('fx rates', () => {
    const rates = 'developer_api_fx_rates';

    test('200: rates from the dollar or from any currency, by the application settings', async () => {
      const all = expectOk(await acme.client.get(rates));
      expect([all.object, all.hasMore, all.nextCursor]).toEqual(['list', false, null]);
      expect(all.data.length).toBeGreaterThanOrEqual(34);
      for (const { sourceCurrency, targetCurrency, id } of all.data) {
        expect(sourceCurrency).toBe('USD');
        expect(id).toBe(`USD/${targetCurrency}`);
      }
      const { data } = expectOk(await acme.client.get(rates, 'sourceCurrency=eur&targetCurrency=usd'));
      expect(data).toEqual([
        {
          object: 'fx_rate',
          sandbox: true,
          status: 'ok',
          id: 'EUR/USD',
          sourceCurrency: 'EUR',
          targetCurrency: 'USD',
          rate: '1.25',
          inverseRate: '0.8',
          midMarketRate: '1.25',
          marginBasisPoints: 0,
          isOverridden: true,
        },
      ]);
      const opposite = expectOk(await acme.client.get(rates, 'targetCurrency=EUR'));
      expect(opposite.data[0]).toMatchObject({ id: 'USD/EUR', rate: '0.8', isOverridden: true });
      const same = expectOk(await acme.client.get(rates, 'targetCurrency=USD'));
      expect(same.data[0]).toMatchObject({ id: 'USD/USD', rate: '1', marginBasisPoints: 0 });
    });

    test('every listed rate can be quoted at exactly that rate', async () => {
      const { data } = expectOk(await acme.client.get(rates, 'sourceCurrency=GBP'));
      await Promise.all(
        data.map(async ({ targetCurrency, rate }) => {
          const body = { sourceCurrency: 'GBP', targetCurrency, sourceAmount: 100_000 };
          expect(expectOk(await acme.client.post(transfers, body)).rate).toBe(rate);
        }),
      );
    });

    test.each([
      ['sourceCurrency=XXX', 'sourceCurrency'],
      ['sourceCurrency=AOA', 'sourceCurrency'],
      ['targetCurrency=XXX', 'targetCurrency'],
      ['targetCurrency=AOA', 'targetCurrency'],
      ['sourceCurrency=EURO', 'sourceCurrency'],
      ['currency=EUR', 'currency'],
    ])('400: %s', async (query, param) => {
      const answer = await acme.client.get(rates, query);
      expect([answer.code, answer.body.error.param]).toEqual(['invalid_request', param]);
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.transfers);
});
