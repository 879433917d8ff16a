import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient, type Body, seenCodes } from '../support/api-client.ts';
import { databaseKinds, openApp, openEngine, sharedServer } from '../support/server.ts';
import { type KeyHolder, type Tenant, tenant } from '../support/tenant.ts';
import { provokedBy } from './codes.ts';
import { done, expectReplay, walked } from './lifecycle.ts';
import { lasting, payments } from './trails.ts';

const transfers = 'developer_api_transfers';
const customers = 'developer_api_customers';
const unknownId = 'trf_01m7epxwjmf7za77rhky2f93cc';
const beneficiary = { name: 'Grace Hopper', country: 'US', account: 'US64 0001 0002' };
/** 1 EUR is 1.25 USD in these tests, and the merchant's payments bear no fee. */
const agreed = {
  fx: { marginBasisPoints: 0, rates: { 'EUR/USD': '1.25' } },
  fee: { basisPoints: 0, fixedAmount: 0 },
} as const;
const asked = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 } as const;

describe.each(databaseKinds)('transfers on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server, agreed);
    other = await tenant(server, agreed);
  });

  const advance = (client: ApiClient, id: string, body?: unknown, query = '') =>
    client.post(`${transfers}/${id}/advance`, body, { query });
  const quoted = async (body: object = {}, client = acme.client): Promise<Body> =>
    done(await client.post(transfers, { ...asked, beneficiary, ...body }));
  const reached = async (to: string, body: object = {}, client = acme.client): Promise<Body> =>
    done(await advance(client, (await quoted(body, client)).id, { to }));
  /** Money that is settled, so that transfers can be funded from it. */
  const earn = async ({ client }: KeyHolder, amount: number) => {
    const { id } = done(await client.post(payments, { amount, currency: 'EUR' }));
    done(await client.post(`${payments}/${id}/advance`, { to: 'settled' }));
  };
  const balance = async ({ client }: KeyHolder, account: string, query = ''): Promise<number> => {
    const { accounts } = done(await client.get('developer_api_balances', query)) as unknown as {
      accounts: { account: string; currency: string; balance: number }[];
    };
    return accounts.find((one) => one.account === account && one.currency === 'EUR')?.balance ?? 0;
  };

  describe('201', () => {
    test('a quote shows what is sent, what arrives, what it costs and how long it holds', async () => {
      const customer = done(await acme.client.post(customers, { name: 'Ada' }));
      const more = { customerId: customer.id, reference: 'invoice 7', metadata: { order: '7' } };
      const body = await quoted(more);
      expect(lasting(body)).toEqual({
        object: 'transfer',
        sandbox: true,
        status: 'quoted',
        id: expect.stringMatching(/^trf_/),
        ...asked,
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
      expect(lasting(done(await acme.client.get(`${transfers}/${body.id}`)))).toEqual(lasting(body));
    });

    test('either side may be given, in lower case too; the target rounds down and the source up', async () => {
      const lower = { sourceCurrency: 'eur', targetCurrency: 'jpy' };
      const terms = { marginBasisPoints: 0, rates: { 'EUR/JPY': '163.333' } };
      const { client } = await acme.addKey({ application: 'yen', fx: terms });
      const create = async (body: object) => done(await client.post(transfers, { ...lower, ...body }));
      // 1.00 EUR is 163.333 JPY, so 163; and 163 JPY are worth 99.79 cents, so 100.
      expect(await create({ sourceAmount: 100 })).toMatchObject({
        sourceCurrency: 'EUR',
        targetCurrency: 'JPY',
        targetAmount: 163,
        feeAmount: 1,
        totalAmount: 101,
      });
      expect(await create({ targetAmount: 163 })).toMatchObject({ sourceAmount: 100, targetAmount: 163 });
      expect(await create({ targetAmount: 164 })).toMatchObject({ sourceAmount: 101, targetAmount: 164 });
      // Three decimals against none: 1.000 KWD is 502 JPY.
      const dinar = await acme.addKey({
        application: 'dinar',
        fx: { rates: { 'KWD/JPY': '502' }, marginBasisPoints: 0 },
      });
      const pair = { sourceCurrency: 'KWD', targetCurrency: 'JPY', sourceAmount: 1_001 };
      expect(done(await dinar.client.post(transfers, pair))).toMatchObject({
        targetAmount: 502,
        feeAmount: 5,
      });
    });

    test('within one currency the rate is 1, without a margin, and the whole way is walked', async () => {
      const { client } = await acme.addKey({ application: 'wide', fx: { marginBasisPoints: 500 } });
      const same = await reached('completed', { targetCurrency: 'EUR' }, client);
      expect(same).toMatchObject({ rate: '1', inverseRate: '1', marginBasisPoints: 0, targetAmount: 10_000 });
      expect(await balance(acme, 'bank', `transferId=${same.id}`)).toBe(50);
      expect(await balance(acme, 'fees', `transferId=${same.id}`)).toBe(-50);
      expect(await balance(acme, 'fx_position', `transferId=${same.id}`)).toBe(0);
    });

    test('rates and margins are those of the application', async () => {
      const usual = await acme.addKey({ application: 'usual' });
      const dear = await acme.addKey({
        application: 'dear',
        fx: { marginBasisPoints: 200, rates: { 'USD/EUR': '0.8' } },
      });
      const at = async ({ client }: KeyHolder) => quoted({}, client);
      expect(await at(usual)).toMatchObject({
        rate: '1.155498780629',
        inverseRate: '0.865427135679',
        midMarketRate: '1.161305307165',
        marginBasisPoints: 50,
        targetAmount: 11_554,
      });
      expect(await at(dear)).toMatchObject({ rate: '1.225', midMarketRate: '1.25', marginBasisPoints: 200 });
      expect(await at(acme)).toMatchObject({ rate: '1.25' });
    });

    test('the same key gives the same answer, and makes one transfer', async () => {
      const key = randomUUID();
      const send = () => acme.client.post(transfers, asked, { idempotencyKey: key });
      const first = await send();
      expectReplay(await send(), first);
      const changed = await acme.client.post(
        transfers,
        { ...asked, sourceAmount: 10_001 },
        { idempotencyKey: key },
      );
      expect(changed.code).toBe('idempotency_key_reused');
    });
  });

  describe('200', () => {
    test('the way of a transfer: by itself, step by step, with its moments', async () => {
      const { id } = await quoted();
      const statuses: string[] = [];
      for (let step = 0; step < 5; step += 1) statuses.push(done(await advance(acme.client, id)).status);
      expect(statuses).toEqual(['accepted', 'funded', 'converted', 'sent', 'completed']);
      const body = done(await acme.client.get(`${transfers}/${id}`));
      for (const moment of ['acceptedAt', 'fundedAt', 'convertedAt', 'sentAt', 'completedAt'])
        expect(body[moment]).toMatch(/Z$/);
      expect(body).not.toHaveProperty('fundingExpiresAt');
      expect(body).toMatchObject({ reconciliation: 'matched', version: 6, allowedActions: ['return'] });
    });

    test('accepting waits a day for the money, and may name the beneficiary', async () => {
      const { id } = await quoted({ beneficiary: undefined });
      const body = done(
        await advance(acme.client, id, { action: 'accept', beneficiary: { name: 'Ada', country: 'gb' } }),
      );
      expect(body.beneficiary).toEqual({ name: 'Ada', country: 'GB' });
      const waits = Date.parse(String(body.fundingExpiresAt)) - Date.parse(String(body.acceptedAt));
      expect(waits).toBe(24 * 3_600_000);
    });

    test('a way to a state takes the beneficiary along', async () => {
      const { id } = await quoted({ beneficiary: undefined });
      const body = done(await advance(acme.client, id, { to: 'completed', beneficiary: { name: 'Ada' } }));
      expect(body).toMatchObject({ status: 'completed', version: 6, beneficiary: { name: 'Ada' } });
    });

    test('what a move posts is shown when it is asked for', async () => {
      const { id } = await quoted();
      const entries = (answer: Answer) =>
        done(answer).ledgerEntries as { reason: string; transferId: string; postings: unknown[] }[];
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

    test('requote takes the rate of the moment for the side that was fixed, and holds anew', async () => {
      const at = (rate: string) =>
        acme.addKey({ application: 'moving', fx: { marginBasisPoints: 0, rates: { 'EUR/USD': rate } } });
      const before = await at('2');
      const source = await quoted({}, before.client);
      const target = await quoted({ sourceAmount: undefined, targetAmount: 5_000 }, before.client);
      expect([source.targetAmount, target.sourceAmount]).toEqual([20_000, 2_500]);
      // With a key of its own, because a server keeps the terms of a key for a moment.
      const { client } = await at('4');
      const requoted = done(await advance(client, source.id, { action: 'requote' }));
      expect(requoted).toMatchObject({
        status: 'quoted',
        version: 2,
        rate: '4',
        targetAmount: 40_000,
        sourceAmount: 10_000,
      });
      expect(Date.parse(String(requoted.expiresAt))).toBeGreaterThanOrEqual(
        Date.parse(String(source.expiresAt)),
      );
      const fixed = done(await advance(client, target.id, { action: 'requote' }));
      expect(fixed).toMatchObject({ rate: '4', targetAmount: 5_000, sourceAmount: 1_250, feeAmount: 6 });
      const history = done(await client.get(`${transfers}/${source.id}/history`));
      expect(
        history.data.map(({ action, from, to, event }) => [action, from, to, (event as Body).type]),
      ).toEqual([
        ['requote', 'quoted', 'quoted', 'transfer.quoted'],
        ['quote', null, 'quoted', 'transfer.quoted'],
      ]);
    });

    test('reasons are those that were played; unknown ones have general words', async () => {
      const returned = await reached('returned', { scenario: 'return:AC04' });
      expect(returned).toMatchObject({ returnCode: 'AC04', allowedActions: ['resend', 'refund'] });
      const failed = await reached('failed', { scenario: 'fail:insufficient_funds' });
      expect(failed.failure).toEqual({
        code: 'insufficient_funds',
        message: 'The available balance did not cover the transfer and its fee.',
        retryable: false,
      });
      for (const failureCode of ['XT99', 'constructor', '__proto__', 'toString']) {
        const { id } = await reached('converted');
        const { failure } = done(await advance(acme.client, id, { action: 'fail', failureCode }));
        expect(failure).toMatchObject({ code: failureCode, message: expect.stringMatching(/of its own/) });
      }
    });

    test('a list of scenarios is for the times that it is sent', async () => {
      const { id } = await reached('sent', { scenario: ['return:R01', 'return:R02', 'approve'] });
      const seen: unknown[] = [];
      for (const action of [undefined, 'resend', undefined, 'resend', undefined]) {
        const body = done(await advance(acme.client, id, action === undefined ? {} : { action }));
        seen.push([body.status, body.returnCode]);
      }
      expect(seen).toEqual([
        ['returned', 'R01'],
        ['sent', null],
        ['returned', 'R02'],
        ['sent', null],
        ['completed', null],
      ]);
    });

    test('the report of what was paid out is what the scenario says, and each record shows its own result', async () => {
      const results = new Map<string, unknown>();
      for (const scenario of [
        'approve',
        'settle_short',
        'settle_missing',
        'settle_duplicate',
        'settle_unknown',
      ]) {
        const { id, reconciliation } = await reached('completed', { scenario });
        const lines = await server.database.query(
          {
            name: '',
            text: `select currency, ledger_gross::integer as ledger, gross::integer as gross, result from settlement_lines
              where org_id = $1 and request_id = (select request_id from state_history
                where org_id = $1 and resource_id = $2 and action = 'complete') order by id`,
          },
          [acme.orgId, id],
        );
        results.set(scenario, { reconciliation, lines });
      }
      const usd = { currency: 'USD' };
      const right = { ...usd, ledger: -12_500, gross: -12_500, result: 'matched' };
      expect(Object.fromEntries(results)).toEqual({
        approve: { reconciliation: 'matched', lines: [right] },
        settle_short: {
          reconciliation: 'amount_mismatch',
          lines: [{ ...right, gross: -12_375, result: 'amount_mismatch' }],
        },
        settle_missing: {
          reconciliation: 'missing_at_provider',
          lines: [{ ...right, gross: null, result: 'missing_at_provider' }],
        },
        settle_duplicate: {
          reconciliation: 'duplicate',
          lines: [right, { ...right, ledger: null, result: 'duplicate' }],
        },
        settle_unknown: {
          reconciliation: 'matched',
          lines: [right, { ...right, ledger: null, result: 'missing_in_ledger' }],
        },
      });
    });

    test('history, entries and provider events are read below the transfer, newest first', async () => {
      const { id } = await reached('completed');
      const history = done(await acme.client.get(`${transfers}/${id}/history`));
      expect(history.data.map(({ action }) => action)).toEqual([
        ...['complete', 'send', 'convert', 'fund', 'accept', 'quote'],
      ]);
      expect(history.data[0]).toMatchObject({
        object: 'state_change',
        id: `${id}.6`,
        event: { type: 'transfer.completed' },
        ledgerEntries: [{ reason: 'complete', transferId: id }],
      });
      const entries = done(await acme.client.get(`${transfers}/${id}/ledger_entries`));
      expect(entries.data.map(({ reason }) => reason)).toEqual(['complete', 'send', 'convert', 'fund']);
      for (const entry of entries.data) expect(entry).not.toHaveProperty('paymentId');
      const filtered = done(await acme.client.get('developer_api_ledger_entries', `transferId=${id}`));
      expect(filtered.data).toEqual(entries.data);
      const events = done(await acme.client.get(`${transfers}/${id}/provider_events`));
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
      const repeated = done(await acme.client.get(`${transfers}/${id}/provider_events`, 'outcome=duplicate'));
      expect(repeated.data).toHaveLength(1);
      const pages = await walked((query) => acme.client.get(`${transfers}/${id}/history`, query), 2);
      expect(pages).toEqual(history.data);
    });

    test('the provider that the application has chosen speaks in its own words', async () => {
      const { client } = await acme.addKey({ application: 'modern', provider: 'meridian', fx: agreed.fx });
      const { id } = await reached('completed', {}, client);
      const { data } = done(await client.get(`${transfers}/${id}/provider_events`));
      expect(data.map(({ type }) => type)).toEqual([
        ...['transfer.paid', 'transfer.submitted', 'transfer.converted', 'transfer.funded'],
      ]);
      const shown = JSON.stringify(done(await client.get(`${transfers}/${id}`)));
      const providerId = String(data[0]?.providerTransactionId);
      expect(providerId).toMatch(/^po_/);
      expect(shown).not.toContain(providerId);
    });

    test('lists are newest first, by status, customer and time', async () => {
      const mine = await tenant(server, agreed);
      const customer = done(await mine.client.post(customers, { name: 'Ada' }));
      const first = await quoted({ customerId: customer.id }, mine.client);
      const second = await reached('canceled', {}, mine.client);
      const third = await quoted({ customerId: customer.id }, mine.client);
      const ids = async (query: string) =>
        done(await mine.client.get(transfers, query)).data.map(({ id }) => id);
      expect(await ids('')).toEqual([third.id, second.id, first.id]);
      expect(await ids('status=canceled')).toEqual([second.id]);
      expect(await ids(`customerId=${customer.id}`)).toEqual([third.id, first.id]);
      expect(await ids(`status=quoted&customerId=${customer.id}&limit=1`)).toEqual([third.id]);
      expect(await ids(`createdAfter=${third.createdAt}`)).toEqual([]);
      expect(await ids(`createdBefore=${first.createdAt}`)).toEqual([]);
      const all = await walked((query) => mine.client.get(transfers, query), 2);
      expect(all.map(({ id }) => id)).toEqual([third.id, second.id, first.id]);
    });

    test('every application of the organization sees and moves it', async () => {
      const { id } = await quoted();
      const { client } = await acme.addKey({ application: 'another' });
      expect(done(await advance(client, id, { action: 'accept' })).status).toBe('accepted');
    });
  });

  describe('200, from the balance,', () => {
    test('funding takes what is available, and a refund gives it back', async () => {
      const mine = await tenant(server, agreed);
      await earn(mine, 15_000);
      expect(await balance(mine, 'merchant_available')).toBe(-15_000);
      const { id } = await reached('returned', { fundFrom: 'balance' }, mine.client);
      expect(await balance(mine, 'merchant_available')).toBe(-4_950);
      done(await advance(mine.client, id, { action: 'refund' }));
      expect(await balance(mine, 'merchant_available')).toBe(-15_000);
      for (const account of ['fees', 'fx_position', 'transfer_funding', 'bank'])
        expect(await balance(mine, account, `transferId=${id}`)).toBe(0);
    });

    test('of many that are funded at once, in one batch or in several, only so many win as the balance covers', async () => {
      const mine = await tenant(server, agreed);
      await earn(mine, 10_050 * 3 + 10_049);
      const waiting = await Promise.all(
        Array.from({ length: 12 }, () => reached('accepted', { fundFrom: 'balance' }, mine.client)),
      );
      const answers = await Promise.all(
        waiting.map(({ id }) => advance(mine.client, id, { action: 'fund' })),
      );
      const codes = answers.map(({ code }) => code).filter((code) => code !== null);
      expect(codes).toEqual(Array(9).fill('insufficient_funds'));
      expect(await balance(mine, 'merchant_available')).toBe(-10_049);
      expect(await balance(mine, 'transfer_funding')).toBe(-30_150);
    });

    // PGlite has one session, and so one node.
    test.runIf(kind === 'postgres')(
      'of two nodes that spend the same balance one wins, whenever they meet',
      async () => {
        const nodes = [server.app, openApp(server, { engine: openEngine(server.database) })] as const;
        const rounds = await Promise.all(
          Array.from({ length: 20 }, async () => {
            const mine = await tenant(server, agreed);
            await earn(mine, 10_050);
            const waiting = await Promise.all(
              nodes.map(() => reached('accepted', { fundFrom: 'balance' }, mine.client)),
            );
            return { mine, waiting };
          }),
        );
        const spent = await Promise.all(
          rounds.flatMap(({ mine, waiting }) =>
            nodes.map((node, i) => advance(mine.clientOn(node), waiting[i]?.id ?? '', { action: 'fund' })),
          ),
        );
        expect(spent.filter(({ status }) => status === 200)).toHaveLength(rounds.length);
        for (const { mine } of rounds) expect(await balance(mine, 'merchant_available')).toBe(0);
      },
    );
  });

  describe('400', () => {
    test.each<[string, object, string, RegExp]>([
      [
        'both amounts',
        { ...asked, targetAmount: 1 },
        '/sourceAmount',
        /^Exactly one of sourceAmount, targetAmount/,
      ],
      [
        'no amount',
        { ...asked, sourceAmount: undefined },
        '/sourceAmount',
        /^Exactly one of sourceAmount, targetAmount/,
      ],
      ['an amount of nothing', { ...asked, sourceAmount: 0 }, '/sourceAmount', /must be >= 1/],
      [
        'an amount beyond all bounds',
        { ...asked, sourceAmount: 1_000_000_000_000 },
        '/sourceAmount',
        /must be <=/,
      ],
      ['an amount in parts', { ...asked, sourceAmount: 1.5 }, '/sourceAmount', /integer/],
      ['an amount as text', { ...asked, sourceAmount: '100' }, '/sourceAmount', /integer/],
      ['a code of four letters', { ...asked, sourceCurrency: 'EURO' }, '/sourceCurrency', /form/],
      ['no target', { ...asked, targetCurrency: undefined }, '/targetCurrency', /required/],
      [
        'a beneficiary without a name',
        { ...asked, beneficiary: { country: 'DE' } },
        '/beneficiary/name',
        /required/,
      ],
      [
        'a country of three letters',
        { ...asked, beneficiary: { name: 'A', country: 'DEU' } },
        '/beneficiary/country',
        /form/,
      ],
      ['another source of money', { ...asked, fundFrom: 'card' }, '/fundFrom', /external, balance/],
      ['a scenario of payments', { ...asked, scenario: 'capture_fails' }, '/scenario', /form/],
      ['a return without a code', { ...asked, scenario: 'return:' }, '/scenario', /form/],
      ['a return with a code that is none', { ...asked, scenario: 'return:a b' }, '/scenario', /form/],
      ['no scenario in the list', { ...asked, scenario: [] }, '/scenario', /fewer than 1/],
      ['an unknown field', { ...asked, amount: 1 }, '/amount', /not a known field/],
    ])('%s', async (_what, body, param, message) => {
      const answer = await acme.client.post(transfers, body);
      expect(answer.code, answer.text).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
      expect(answer.body.error.message).toMatch(message);
    });

    test.each<[string, object, string]>([
      ['an unknown action', { action: 'capture' }, '/action'],
      ['the action that makes it', { action: 'quote' }, '/action'],
      ['an unknown state', { to: 'settled' }, '/to'],
      ['a code with a blank', { action: 'return', returnCode: 'a b' }, '/returnCode'],
      ['a code that is too long', { action: 'fail', failureCode: 'x'.repeat(41) }, '/failureCode'],
      ['a code where none belongs', { action: 'complete', returnCode: 'x' }, '/returnCode'],
      ['a beneficiary too late', { action: 'fund', beneficiary: { name: 'Ada' } }, '/beneficiary'],
      ['a way and a step', { action: 'fund', to: 'funded' }, '/to'],
    ])('advance with %s', async (_what, body, param) => {
      const answer = await advance(acme.client, unknownId, body);
      expect(answer.code, answer.text).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
    });

    test.each([
      ['status=settled', 'status'],
      ['customerId=x', 'customerId'],
      ['paymentId=x', 'paymentId'],
      ['limit=0', 'limit'],
    ])('a list with %s', async (query, param) => {
      const answer = await acme.client.get(transfers, query);
      expect([answer.code, answer.body.error.param]).toEqual(['invalid_request', param]);
    });

    test('a cursor of another list', async () => {
      expect((await acme.client.get(transfers, 'cursor=abc')).code).toBe('invalid_cursor');
    });

    test('balances of a payment and a transfer at once', async () => {
      const query = `transferId=${unknownId}&paymentId=${unknownId.replace('trf', 'pay')}`;
      const answer = await acme.client.get('developer_api_balances', query);
      expect([answer.code, answer.body.error.param]).toEqual(['invalid_request', 'transferId']);
    });
  });

  describe('401 and 403', () => {
    test('nobody without a key, and no key without the scope', async () => {
      expect((await new ApiClient(server.app, null).post(transfers, asked)).code).toBe('api_key_missing');
      const { client } = await acme.addKey({ scopes: ['transfers:read', 'payments:write'] });
      expect((await client.post(transfers, asked)).code).toBe('scope_missing');
      const { client: writer } = await acme.addKey({ scopes: ['transfers:write'] });
      expect((await writer.get('developer_api_fx_rates')).code).toBe('scope_missing');
    });
  });

  describe('404', () => {
    test("another organization's transfer is not there, and neither is one that never was", async () => {
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
    test('a step from elsewhere names the state and what is open', async () => {
      const { id } = await reached('sent');
      const answer = await advance(acme.client, id, { action: 'cancel' });
      expect(answer.body.error).toMatchObject({
        code: 'invalid_state_transition',
        details: { status: 'sent', action: 'cancel' },
        allowedActions: ['complete', 'return'],
      });
    });

    test('a quote that was made to expire before its time is in the wrong state, not too old', async () => {
      const { id } = await reached('expired');
      expect((await advance(acme.client, id, { action: 'accept' })).code).toBe('invalid_state_transition');
    });
  });

  describe('422', () => {
    test.each<[string, object, string, string]>([
      ['a source that is no currency', { sourceCurrency: 'XXX' }, 'unsupported_currency', '/sourceCurrency'],
      ['a target that is no currency', { targetCurrency: 'xts' }, 'unsupported_currency', '/targetCurrency'],
      [
        'neither a currency',
        { sourceCurrency: 'XXX', targetCurrency: 'XXX' },
        'unsupported_currency',
        '/sourceCurrency',
      ],
      ['a source without a rate', { sourceCurrency: 'AOA' }, 'unsupported_currency', '/sourceCurrency'],
      ['a target without a rate', { targetCurrency: 'AOA' }, 'unsupported_currency', '/targetCurrency'],
      [
        'an amount of which nothing arrives',
        { sourceCurrency: 'JPY', targetCurrency: 'EUR', sourceAmount: 1 },
        'amount_too_small',
        '/sourceAmount',
      ],
      [
        'an amount with no room for its fee',
        { sourceAmount: 999_999_999_999 },
        'amount_too_large',
        '/sourceAmount',
      ],
      [
        'an amount that becomes too much',
        { targetCurrency: 'VND', sourceAmount: 99_999_999_999 },
        'amount_too_large',
        '/sourceAmount',
      ],
      [
        'an amount that costs too much',
        { sourceCurrency: 'VND', sourceAmount: undefined, targetAmount: 99_999_999_999 },
        'amount_too_large',
        '/targetAmount',
      ],
      [
        'a customer that is not there',
        { customerId: 'cus_01m7epxwjmf7za77rhky2f93cc' },
        'customer_not_found',
        '/customerId',
      ],
    ])('%s', async (_what, body, code, param) => {
      const answer = await acme.client.post(transfers, { ...asked, ...body });
      expect(answer.code, answer.text).toBe(code);
      expect(answer.body.error.param).toBe(param);
    });

    test('a customer that is archived', async () => {
      const { id } = done(await acme.client.post(customers, { name: 'Ada' }));
      done(await acme.client.post(`${customers}/${id}/archive`));
      const answer = await acme.client.post(transfers, { ...asked, customerId: id });
      expect(answer.code).toBe('customer_archived');
    });

    test('a refusal is kept for its key', async () => {
      const key = randomUUID();
      const send = () =>
        acme.client.post(transfers, { ...asked, targetCurrency: 'AOA' }, { idempotencyKey: key });
      const first = await send();
      expectReplay(await send(), first);
    });

    test('a new quote that cannot be made: the rates have moved too far', async () => {
      const at = (rate: string) =>
        acme.addKey({ application: 'falling', fx: { marginBasisPoints: 0, rates: { 'EUR/USD': rate } } });
      const { id } = await quoted({ sourceAmount: 1 }, (await at('1')).client);
      for (const [rate, code] of [
        ['0.5', 'amount_too_small'],
        ['999999999', 'ok'],
      ] as const) {
        const answer = await advance((await at(rate)).client, id, { action: 'requote' });
        expect(answer.code ?? 'ok', answer.text).toBe(code);
        if (answer.code !== null) expect(answer.body.error).not.toHaveProperty('param');
      }
    });

    test.each([
      [{ action: 'accept' }],
      [{}],
      [{ to: 'accepted' }],
      [{ to: 'completed' }],
      [{ to: 'failed' }],
    ])('nobody to send it to: %j', async (body) => {
      const { id } = await quoted({ beneficiary: undefined });
      const answer = await advance(acme.client, id, body);
      expect(answer.code, answer.text).toBe('beneficiary_missing');
      expect(done(await acme.client.get(`${transfers}/${id}`)).version).toBe(1);
    });

    test('a balance that does not cover it, with what there is and what is needed', async () => {
      const mine = await tenant(server, agreed);
      await earn(mine, 10_049);
      const { id } = await reached('accepted', { fundFrom: 'balance' }, mine.client);
      for (const body of [{ action: 'fund' }, {}, { to: 'funded' }, { to: 'completed' }]) {
        const answer = await advance(mine.client, id, body);
        expect(answer.code, answer.text).toBe('insufficient_funds');
        expect(answer.body.error.details).toEqual({ available: 10_049, required: 10_050, currency: 'EUR' });
      }
      await earn(mine, 1);
      expect(done(await advance(mine.client, id, { action: 'fund' })).status).toBe('funded');
    });
  });

  describe('by the clock,', () => {
    /** A node whose time is the test's own. */
    const timed = (holder: KeyHolder = acme) => {
      const clock = { now: Date.now() };
      const app = openApp(server, { wallClock: () => clock.now });
      return { clock, client: holder.clientOn(app) };
    };
    const minutes = (n: number) => n * 60_000;
    const moves = async (client: ApiClient, id: string) =>
      done(await client.get(`${transfers}/${id}/history`))
        .data.map(({ action, at }) => [action, Date.parse(String(at))])
        .reverse();

    test('a quote can be accepted until it expires, and not at that instant', async () => {
      const { clock, client } = timed();
      const [early, late] = [await quoted({}, client), await quoted({}, client)];
      clock.now = Date.parse(String(late.expiresAt)) - 1;
      expect(done(await advance(client, early.id, { action: 'accept' })).status).toBe('accepted');
      clock.now += 1;
      const answer = await advance(client, late.id, { action: 'accept' });
      expect(answer.code).toBe('quote_expired');
      // A refusal changes nothing, although the time has come.
      expect(done(await client.get(`${transfers}/${late.id}`))).toMatchObject({
        status: 'quoted',
        version: 1,
      });
    });

    test('what else is asked of it then finds an expired quote, which expired in time', async () => {
      const { clock, client } = timed();
      const { id, expiresAt } = await quoted({}, client);
      clock.now += minutes(45);
      const refused = await advance(client, id, { action: 'cancel' });
      expect(refused.body.error.details).toMatchObject({ status: 'expired' });
      const requoted = done(await advance(client, id, { action: 'requote' }));
      expect(requoted).toMatchObject({ status: 'quoted', version: 3 });
      expect(Date.parse(String(requoted.expiresAt))).toBe(clock.now + minutes(30));
      expect(requoted).not.toHaveProperty('expiredAt');
      expect((await moves(client, id)).slice(1)).toEqual([
        ['expire', Date.parse(String(expiresAt))],
        ['requote', clock.now],
      ]);
      expect(done(await advance(client, id, { action: 'accept' })).status).toBe('accepted');
    });

    test('one that is expired already is still too old, and not in the wrong state', async () => {
      const { clock, client } = timed();
      const { id } = await quoted({}, client);
      done(await advance(client, id, { action: 'expire' }));
      clock.now += minutes(31);
      expect((await advance(client, id, { action: 'accept' })).code).toBe('quote_expired');
    });

    test('an accepted transfer waits a day for its money', async () => {
      const { clock, client } = timed();
      const { id } = await reached('accepted', {}, client);
      clock.now += minutes(24 * 60) - 1;
      const before = await reached('accepted', {}, client);
      clock.now += 1;
      expect((await advance(client, id, { action: 'fund' })).body.error.details).toMatchObject({
        status: 'expired',
      });
      expect(done(await advance(client, before.id, { action: 'fund' })).status).toBe('funded');
      expect((await advance(client, id, { action: 'accept' })).code).toBe('quote_expired');
    });

    test('what advances by itself has gone its way when it is asked, each step at its time', async () => {
      const { clock, client } = timed();
      const start = clock.now;
      const { id } = await quoted({ autoAdvance: true, scenario: 'review' }, client);
      clock.now += 4_000;
      done(await advance(client, id));
      expect(await moves(client, id)).toEqual([
        ['quote', start],
        ['accept', start + 1_000],
        ['fund', start + 2_000],
        ['review', start + 3_000],
        ['release', start + 4_000],
      ]);
      clock.now = start + 4_000 + 1_000 + 1_000 + 3_600_000;
      const returned = done(await advance(client, id, { action: 'return', returnCode: 'MS03' }));
      expect(returned).toMatchObject({ status: 'returned', returnCode: 'MS03' });
      expect((await moves(client, id)).slice(5)).toEqual([
        ['convert', start + 5_000],
        ['send', start + 6_000],
        ['complete', start + 3_606_000],
        ['return', start + 3_606_000],
      ]);
    });

    test('what advances by itself waits for a beneficiary, and fails when the balance does not cover it', async () => {
      const { clock, client } = timed(other);
      const nobody = await quoted({ autoAdvance: true, beneficiary: undefined }, client);
      const poor = await quoted({ autoAdvance: true, fundFrom: 'balance' }, client);
      clock.now += 10_000;
      expect(done(await advance(client, nobody.id, { action: 'requote' })).version).toBe(2);
      const answer = await advance(client, poor.id, { action: 'convert' });
      expect(answer.body.error.details).toMatchObject({ status: 'failed' });
    });
  });

  describe('fx rates', () => {
    const rates = 'developer_api_fx_rates';

    test('200: the rates from the dollar, or from any currency, as the application has them', async () => {
      const all = done(await acme.client.get(rates));
      expect([all.object, all.hasMore, all.nextCursor]).toEqual(['list', false, null]);
      expect(all.data.length).toBeGreaterThanOrEqual(34);
      for (const { sourceCurrency, targetCurrency, id } of all.data) {
        expect(sourceCurrency).toBe('USD');
        expect(id).toBe(`USD/${targetCurrency}`);
      }
      const { data } = done(await acme.client.get(rates, 'sourceCurrency=eur&targetCurrency=usd'));
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
      const opposite = done(await acme.client.get(rates, 'targetCurrency=EUR'));
      expect(opposite.data[0]).toMatchObject({ id: 'USD/EUR', rate: '0.8', isOverridden: true });
      const same = done(await acme.client.get(rates, 'targetCurrency=USD'));
      expect(same.data[0]).toMatchObject({ id: 'USD/USD', rate: '1', marginBasisPoints: 0 });
    });

    test('every rate that is shown can be quoted, at that very rate', async () => {
      const { data } = done(await acme.client.get(rates, 'sourceCurrency=GBP'));
      await Promise.all(
        data.map(async ({ targetCurrency, rate }) => {
          const body = { sourceCurrency: 'GBP', targetCurrency, sourceAmount: 100_000 };
          expect(done(await acme.client.post(transfers, body)).rate).toBe(rate);
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

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(provokedBy.transfers);
});
