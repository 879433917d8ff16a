import type { FastifyInstance } from 'fastify';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { providers } from '../../src/provider/index.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, expectOk, listAll } from '../support/api-client.ts';
import { clockApi, dayMs, hourMs, startTime } from '../support/clock.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { paymentApi } from '../support/payments.ts';
import { databaseKinds, openApp, queryRows, sharedServer } from '../support/server.ts';

const settlements = 'developer_api_settlements';
const bank = { paymentMethod: { type: 'bank_debit' } } as const;
const head = 'date,provider,provider_transaction_id,currency,gross,fee,net,settled_at';
const tomorrow = '2031-03-05';
const morning = `${tomorrow}T06:00:00.000Z`;

/** Settlement dates and amounts are tested next to this resource, in src/resources/settlements. */
describe.each(databaseKinds)('settlements on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let wall = startTime;
  let shop: Merchant;

  beforeAll(async () => {
    // Without the timer worker: it follows real time, and these tests use their own clock.
    server = await sharedServer(kind, 'api');
    app = openApp(server, { wallClock: () => wall });
  });
  beforeEach(async () => {
    wall = startTime;
    shop = await openMerchant(server, { app });
  });

  const listed = async (query = '') => expectOk(await shop.client.get(settlements, query));
  const report = async (date: string, query = '') =>
    expectOk(await shop.client.get(`${settlements}/${date}`, query));
  /** The provider's transaction id of a payment. */
  const nameOf = (id: string, provider = 'meridian') => providers.get(provider)?.transactionId(id);

  async function csv(date: string, query = '', accept = 'text/csv') {
    const response = await app.inject({
      url: `/_api/${settlements}/${date}${query}`,
      headers: { authorization: `Bearer ${shop.key}`, accept },
    });
    return { status: response.statusCode, headers: response.headers, text: response.body };
  }

  describe('a captured payment', () => {
    test("of another application settles by that application's clock, in the organization's report", async () => {
      const otherApp = await shop.addKey({ application: 'second' });
      const client = otherApp.clientOn(app);
      await clockApi(client).advanceTo(startTime + 100 * dayMs);
      await paymentApi(client).createAndAdvance(['capture']);
      await shop.clock.advance({ seconds: 5 * 86_400 });
      expect((await listed()).data).toEqual([]);
      await clockApi(client).advance({ seconds: 86_400 });
      // The other application's day is far ahead of ours, so it is not over for us.
      expect((await listed()).data).toMatchObject([{ id: '2031-06-13', status: 'open', lines: 1 }]);
      await clockApi(client).advance({ seconds: 86_400 });
      expect(expectOk(await client.get(settlements)).data).toMatchObject([{ status: 'closed' }]);
      expect((await listed()).data).toMatchObject([{ status: 'open' }]);
    });
  });

  describe('200', () => {
    test("a report has the provider's ids in each line, and none of our ids", async () => {
      const payment = await shop.payments.createAndAdvance(['capture']);
      await shop.clock.advanceTo(Date.parse(morning));
      expect(await report(tomorrow)).toEqual({
        object: 'settlement',
        sandbox: true,
        requestId: expect.any(String),
        status: 'open',
        id: tomorrow,
        date: tomorrow,
        lines: 1,
        totals: [{ currency: 'EUR', lines: 1, gross: 10_000, fee: 320, net: 9_680 }],
        data: [
          {
            object: 'settlement_line',
            sandbox: true,
            status: 'reported',
            id: expect.stringMatching(/^stl_[0-9a-z]{26}$/),
            date: tomorrow,
            provider: 'meridian',
            providerTransactionId: nameOf(payment.id),
            currency: 'EUR',
            gross: 10_000,
            fee: 320,
            net: 9_680,
            settledAt: morning,
          },
        ],
        hasMore: false,
        nextCursor: null,
      });
      expect(JSON.stringify(await report(tomorrow))).not.toContain(payment.id);
    });

    test('lists report days newest first, in pages, with totals by currency', async () => {
      await shop.payments.createAndAdvance(['capture'], { amount: 20_000, currency: 'USD' });
      await shop.payments.createAndAdvance(['capture'], { amount: 5_000 });
      await shop.payments.createAndAdvance(['capture'], { amount: 1_000 });
      await shop.payments.createAndAdvance(['capture'], { amount: 700, currency: 'JPY', ...bank });
      for (let i = 0; i < 4; i += 1) {
        await shop.clock.advance({ seconds: 86_400 });
        await shop.payments.createAndAdvance(['capture']);
      }
      await shop.clock.advanceTo(startTime + 4 * dayMs + 20 * hourMs);
      const all = await listed();
      expect(all).toMatchObject({ object: 'list', status: 'ok', hasMore: false, nextCursor: null });
      expect(all.data.map(({ id, date, lines, status }) => [id, date, lines, status])).toEqual([
        ['2031-03-09', '2031-03-09', 1, 'open'],
        ['2031-03-08', '2031-03-08', 1, 'closed'],
        ['2031-03-07', '2031-03-07', 1, 'closed'],
        ['2031-03-06', '2031-03-06', 2, 'closed'],
        ['2031-03-05', '2031-03-05', 3, 'closed'],
      ]);
      const euros = { currency: 'EUR', lines: 1, gross: 10_000, fee: 320, net: 9_680 };
      expect(all.data.map(({ totals }) => totals)).toEqual([
        [euros],
        [euros],
        [euros],
        // 2.9 % of 700 is 20.3, plus 30.
        [euros, { currency: 'JPY', lines: 1, gross: 700, fee: 50, net: 650 }],
        // 175 and 59; 580 and 30.
        [
          { currency: 'EUR', lines: 2, gross: 6_000, fee: 234, net: 5_766 },
          { currency: 'USD', lines: 1, gross: 20_000, fee: 610, net: 19_390 },
        ],
      ]);
      for (const limit of [1, 2, 4, 5, 100])
        expect(await listAll((query) => shop.client.get(settlements, query), limit)).toEqual(all.data);
      for (const { id, totals, lines, status } of all.data)
        expect(await report(id)).toMatchObject({ totals, lines, status });
    });

    test('an organization without reports has an empty list', async () => {
      expect(await listed()).toMatchObject({ object: 'list', data: [], hasMore: false, nextCursor: null });
    });

    test('a report is open until its day is over by the clock, and open again when the clock goes back', async () => {
      await shop.payments.createAndAdvance(['capture']);
      await shop.clock.freeze();
      await shop.clock.advance({ to: `${tomorrow}T23:59:59.999Z` });
      expect((await report(tomorrow)).status).toBe('open');
      await shop.clock.advance({ to: '2031-03-06T00:00:00.000Z' });
      expect((await report(tomorrow)).status).toBe('closed');
      await shop.clock.reset();
      expect((await report(tomorrow)).status).toBe('open');
    });

    test('report lines come in pages, in settlement order', async () => {
      const settled = [];
      for (let i = 0; i < 7; i += 1)
        settled.push(await shop.payments.createAndAdvance(['capture', 'settle']));
      const names = settled.map(({ id }) => nameOf(id));
      const whole = await report('2031-03-04');
      expect(whole.data.map(({ providerTransactionId }) => providerTransactionId)).toEqual(names);
      for (const limit of [1, 3, 7, 8])
        expect(await listAll((query) => shop.client.get(`${settlements}/2031-03-04`, query), limit)).toEqual(
          whole.data,
        );
      expect(await report('2031-03-04', 'limit=2')).toMatchObject({ lines: 7, hasMore: true });
    });

    test('sums beyond the safe integer range are returned as text', async () => {
      await insertLines('2031-03-04', 10_000, 999_999_999_999n);
      const [total] = (await report('2031-03-04')).totals as { gross: unknown; fee: unknown; net: unknown }[];
      expect(total).toMatchObject({ gross: '9999999999990000', fee: 10_000, net: '9999999999980000' });
    });
  });

  /** Inserts lines as the engine would write them, many at once. */
  async function insertLines(date: string, count: number, gross: bigint): Promise<void> {
    await queryRows(
      server,
      `insert into settlement_lines (org_id, id, app_id, settled_on, provider, provider_transaction_id, payment_id,
          currency, ledger_gross, ledger_fee, gross, fee, result, request_id, created_at)
        select $1, 'stl_0' || lpad(n::text, 25, '0'), $2, $3, 'meridian', 'ch_' || n, null, 'EUR', $4, 1, $4, 1, 'matched',
          'req_0', $5 from generate_series(1, $6::integer) n`,
      [shop.orgId, shop.appId, date, gross.toString(), `${date}T06:00:00.000Z`, count],
    );
  }

  describe('as CSV', () => {
    test('a report is a file with the same lines and a file name', async () => {
      const one = await shop.payments.createAndAdvance(['capture']);
      const two = await shop.payments.createAndAdvance(['capture'], { amount: 1_000, currency: 'usd' });
      await shop.clock.advance({ seconds: 86_400 });
      const file = await csv(tomorrow);
      expect(file.status).toBe(200);
      expect(file.text).toBe(
        [
          head,
          `${tomorrow},meridian,${nameOf(one.id)},EUR,10000,320,9680,${morning}`,
          `${tomorrow},meridian,${nameOf(two.id)},USD,1000,59,941,${morning}`,
          '',
        ].join('\r\n'),
      );
      expect(file.headers).toMatchObject({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': `attachment; filename="settlement-${tomorrow}.csv"`,
        'request-id': expect.stringMatching(/^req_/),
        'api-version': apiVersion,
        'cache-control': 'no-store',
      });
      expect(file.headers).not.toHaveProperty('next-cursor');
    });

    const accepted: readonly (readonly [accept: string, isCsv: boolean])[] = [
      ['text/csv', true],
      ['TEXT/CSV', true],
      ['text/csv;charset=utf-8', true],
      ['text/csv; q=0.5', true],
      ['application/json, text/csv', true],
      ['text/html, text/csv;q=0.9, */*;q=0.1', true],
      ['application/json', false],
      ['*/*', false],
      ['text/*', false],
      ['', false],
      ['text/csvx', false],
      ['text/csv;q=0', false],
      ['text/csv; q=0.000, application/json', false],
    ];

    test('the Accept header decides whether a report is CSV or JSON', async () => {
      await shop.payments.createAndAdvance(['capture', 'settle']);
      for (const [accept, isCsv] of accepted) {
        const { status, headers, text: body } = await csv('2031-03-04', '', accept);
        expect(status, accept).toBe(200);
        const type = `${isCsv ? 'text/csv' : 'application/json'}; charset=utf-8`;
        expect(headers['content-type'], accept).toBe(type);
        if (isCsv) expect(body.startsWith(`${head}\r\n`), accept).toBe(true);
        else expect(JSON.parse(body), accept).toMatchObject({ object: 'settlement' });
      }
    });

    test('a paginated report repeats the header row in each part, and a response header has the next cursor', async () => {
      for (let i = 0; i < 5; i += 1) await shop.payments.createAndAdvance(['capture', 'settle']);
      const whole = (await csv('2031-03-04')).text.split('\r\n').slice(1, -1);
      expect(whole).toHaveLength(5);
      const parts: string[][] = [];
      let cursor: string | undefined;
      for (let i = 0; i < 10; i += 1) {
        const { text: part, headers } = await csv(
          '2031-03-04',
          `?limit=2${cursor ? `&cursor=${cursor}` : ''}`,
        );
        const [first, ...lines] = part.split('\r\n').slice(0, -1);
        expect(first).toBe(head);
        parts.push(lines);
        cursor = headers['next-cursor'] as string | undefined;
        if (cursor === undefined) break;
      }
      expect(parts.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(parts.flat()).toEqual(whole);
      // A report that ends with a full part has no further part.
      expect((await csv('2031-03-04', '?limit=5')).headers).not.toHaveProperty('next-cursor');
    });

    test('without a limit, a long report is complete in one response', async () => {
      await insertLines('2031-03-04', 2_500, 100n);
      const { text: file, headers } = await csv('2031-03-04');
      const lines = file.split('\r\n').slice(1, -1);
      expect(lines.map((line) => line.split(',')[2])).toEqual(
        Array.from({ length: 2_500 }, (_, i) => `ch_${i + 1}`),
      );
      expect(headers).not.toHaveProperty('next-cursor');
      expect(await report('2031-03-04')).toMatchObject({ lines: 2_500, hasMore: true });
    });

    test('a day without reported lines has only the header row', async () => {
      await shop.payments.createAndAdvance(['capture', 'settle'], { scenario: 'settle_missing' });
      expect((await csv('2031-03-04')).text).toBe(`${head}\r\n`);
      expect(await report('2031-03-04')).toMatchObject({ lines: 0, data: [] });
    });

    test('the list of days is always JSON', async () => {
      await shop.payments.createAndAdvance(['capture', 'settle']);
      const answer = await shop.client.get(settlements, '', { headers: { accept: 'text/csv' } });
      expect(answer.body).toMatchObject({ object: 'list', data: [{ id: '2031-03-04' }] });
    });

    test('errors are JSON', async () => {
      const { status, headers, text: body } = await csv(tomorrow);
      expect(status).toBe(404);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'resource_not_found' } });
    });
  });

  describe('400', () => {
    test('rejects an unknown query on the list and on a report', async () => {
      await shop.payments.createAndAdvance(['capture', 'settle']);
      const refused: readonly (readonly [query: string, param: string])[] = [
        ['limit=0', 'limit'],
        ['limit=101', 'limit'],
        ['limit=x', 'limit'],
        ['cursor=', 'cursor'],
        ['date=2031-03-04', 'date'],
        ['status=open', 'status'],
      ];
      for (const [query, param] of refused) {
        for (const path of [settlements, `${settlements}/2031-03-04`]) {
          const answer = await shop.client.get(path, query);
          expect([answer.code, answer.body.error.param], query).toEqual(['invalid_request', param]);
        }
      }
    });

    test('rejects a cursor of another list', async () => {
      await shop.payments.createAndAdvance(['capture', 'settle']);
      const line = cursorOf('stl_01m7epxwjmf7za77rhky2f93cc');
      const day = cursorOf('2031-03-04');
      const refused: readonly (readonly [path: string, cursor: string])[] = [
        [`${settlements}/2031-03-04`, 'x'],
        [`${settlements}/2031-03-04`, cursorOf('pay_01m7epxwjmf7za77rhky2f93cc')],
        [`${settlements}/2031-03-04`, day],
        [settlements, 'x'],
        [settlements, line],
        [settlements, `${day}=`],
      ];
      for (const [path, cursor] of refused) {
        const answer = await shop.client.get(path, `cursor=${cursor}`);
        expect([answer.code, answer.body.error?.param], cursor).toEqual(['invalid_cursor', 'cursor']);
      }
    });
  });

  describe('401, 403 and 404', () => {
    test('requires a key with payments:read', async () => {
      await shop.payments.createAndAdvance(['capture', 'settle']);
      const limited = await shop.addKey({ scopes: ['payments:write', 'transfers:read', 'customers:read'] });
      for (const path of [settlements, `${settlements}/2031-03-04`]) {
        expect((await new ApiClient(app, null).get(path)).code).toBe('api_key_missing');
        const refused = await limited.clientOn(app).get(path);
        expect(refused.code).toBe('scope_missing');
        expect(refused.body.error.details).toEqual({ scope: 'payments:read' });
      }
    });

    test('a day without a report, or an invalid date, is not found', async () => {
      await shop.payments.createAndAdvance(['capture', 'settle']);
      const dates = [
        '2031-03-05',
        '2031-02-30',
        '2031-13-01',
        '2031-3-4',
        'today',
        '20310304',
        'stl_1',
        '%20',
      ];
      for (const date of dates)
        expect((await shop.client.get(`${settlements}/${date}`)).code, date).toBe('resource_not_found');
    });

    test('reports of another organization are not found', async () => {
      const otherOrg = await openMerchant(server, { app });
      await otherOrg.payments.createAndAdvance(['capture', 'settle']);
      expect((await otherOrg.client.get(`${settlements}/2031-03-04`)).status).toBe(200);
      expect((await shop.client.get(`${settlements}/2031-03-04`)).code).toBe('resource_not_found');
      expect((await listed()).data).toEqual([]);
    });
  });
});

function cursorOf(text: string): string {
  return Buffer.from(text).toString('base64url');
}
