import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { providers } from '../../src/provider/index.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient, type Body, expectOk, listAll } from '../support/api-client.ts';
import { isoTime, startTime } from '../support/clock.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { databaseKinds, openApp, queryRows, sharedServer } from '../support/server.ts';

const reconciliation = 'developer_api_reconciliation';
const nextDay = '2031-03-05';
const zeroCounts = {
  matched: 0,
  amount_mismatch: 0,
  missing_at_provider: 0,
  missing_in_ledger: 0,
  duplicate: 0,
};
// A fee of 2.9 % plus 30 on 10,000.
const expectedAmounts = { gross: 10_000, fee: 320, net: 9_680 };

interface Compared extends Body {
  readonly counts: Readonly<Record<string, number>>;
  readonly totals: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The result of every scenario, amount and provider is tested next to this resource, in src/resources/reconciliation.
 */
describe.each(databaseKinds)('reconciliation on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let wall = startTime;

  beforeAll(async () => {
    // Without the timer worker: it follows real time, and these tests use their own clock.
    server = await sharedServer(kind, 'api');
    app = openApp(server, { wallClock: () => wall });
  });

  const compared = async (shop: Merchant, query = '') =>
    expectOk(await shop.client.get(reconciliation, query)) as Compared;

  describe('for one payment', () => {
    interface Kind {
      readonly scenario: string;
      /** The reconciliation result on the payment. */
      readonly paymentResult: string;
      readonly lines: readonly {
        result: string;
        isOfRecord: boolean;
        ledger: object | null;
        reported: object | null;
        difference: number;
      }[];
      /** The totals of the provider report. */
      readonly reported: { gross: number; fee: number; net: number };
      readonly difference: number;
    }
    const zeroAmounts = { gross: 0, fee: 0, net: 0 };
    const twice = { gross: 20_000, fee: 640, net: 19_360 };
    const short = { gross: 9_900, fee: 320, net: 9_580 };
    const matched = {
      result: 'matched',
      isOfRecord: true,
      ledger: expectedAmounts,
      reported: expectedAmounts,
      difference: 0,
    };
    const kinds: readonly Kind[] = [
      {
        scenario: 'approve',
        paymentResult: 'matched',
        lines: [matched],
        reported: expectedAmounts,
        difference: 0,
      },
      {
        scenario: 'settle_short',
        paymentResult: 'amount_mismatch',
        lines: [
          {
            result: 'amount_mismatch',
            isOfRecord: true,
            ledger: expectedAmounts,
            reported: short,
            difference: -100,
          },
        ],
        reported: short,
        difference: -100,
      },
      {
        scenario: 'settle_missing',
        paymentResult: 'missing_at_provider',
        lines: [
          {
            result: 'missing_at_provider',
            isOfRecord: true,
            ledger: expectedAmounts,
            reported: null,
            difference: -9_680,
          },
        ],
        reported: zeroAmounts,
        difference: -9_680,
      },
      {
        scenario: 'settle_duplicate',
        paymentResult: 'duplicate',
        lines: [
          {
            result: 'duplicate',
            isOfRecord: true,
            ledger: null,
            reported: expectedAmounts,
            difference: 9_680,
          },
          matched,
        ],
        reported: twice,
        difference: 9_680,
      },
      {
        scenario: 'settle_unknown',
        paymentResult: 'matched',
        lines: [
          {
            result: 'missing_in_ledger',
            isOfRecord: false,
            ledger: null,
            reported: expectedAmounts,
            difference: 9_680,
          },
          matched,
        ],
        reported: twice,
        difference: 9_680,
      },
    ];

    test.each(kinds)(
      '$scenario results in $paymentResult',
      async ({ scenario, paymentResult, lines, reported, difference }) => {
        const shop = await openMerchant(server, { app });
        const captured = await shop.payments.createAndAdvance(['capture'], { scenario });
        expect(captured.reconciliation).toBeNull();
        await shop.clock.advance({ seconds: 86_400 });
        expect(await shop.payments.read(captured.id)).toMatchObject({
          status: 'settled',
          reconciliation: paymentResult,
        });
        // The ledger follows the payment, whatever the report contains.
        expect(await shop.payments.balances(captured.id)).toEqual({
          bank: 10_000,
          merchant_available: -9_680,
          fees: -320,
        });
        const found = await compared(shop);
        const name = providers.get('meridian')?.transactionId(captured.id);
        expect(found).toEqual({
          object: 'reconciliation',
          sandbox: true,
          requestId: expect.any(String),
          status: 'ok',
          data: lines.map(({ result, isOfRecord, ledger, reported: side, difference: apart }) => ({
            object: 'reconciliation_line',
            sandbox: true,
            status: result,
            id: expect.stringMatching(/^stl_[0-9a-z]{26}$/),
            date: nextDay,
            result,
            provider: 'meridian',
            providerTransactionId: isOfRecord ? name : expect.stringMatching(/^ch_/),
            paymentId: isOfRecord ? captured.id : null,
            transferId: null,
            currency: 'EUR',
            ledger,
            reported: side,
            difference: apart,
            createdAt: `${nextDay}T06:00:00.000Z`,
          })),
          hasMore: false,
          nextCursor: null,
          counts: {
            ...zeroCounts,
            ...Object.fromEntries(lines.map(({ result }) => [result, 1])),
          },
          totals: [
            {
              currency: 'EUR',
              lines: lines.length,
              ledger: expectedAmounts,
              reported,
              difference,
            },
          ],
        });
        const unknown = found.data.filter(({ paymentId }) => paymentId === null);
        for (const { providerTransactionId } of unknown) expect(providerTransactionId).not.toBe(name);
      },
    );

    test('lines cannot be changed or deleted', async () => {
      const shop = await openMerchant(server, { app });
      await shop.payments.createAndAdvance(['capture', 'settle']);
      for (const sql of ['update settlement_lines set gross = 0', 'delete from settlement_lines'])
        await expect(queryRows(server, `${sql} where org_id = $1`, [shop.orgId])).rejects.toThrow(
          'append-only',
        );
    });
  });

  describe('for many payments', () => {
    let shop: Merchant;
    /** Every scenario, on two days, in two currencies. */
    const paymentCases: readonly (readonly [
      day: number,
      scenario: string,
      currency: string,
      amount: number,
    ])[] = [
      [0, 'approve', 'EUR', 10_000],
      [0, 'approve', 'USD', 20_000],
      [0, 'settle_short', 'EUR', 10_000],
      [0, 'settle_missing', 'EUR', 1_000],
      [0, 'settle_duplicate', 'USD', 1_000],
      [1, 'settle_unknown', 'USD', 10_000],
      [1, 'approve', 'EUR', 5_000],
      [1, 'settle_short', 'USD', 1_000],
      [1, 'settle_missing', 'USD', 10_000],
    ];

    beforeAll(async () => {
      wall = startTime;
      shop = await openMerchant(server, { app });
      for (const day of [0, 1]) {
        for (const [paymentDay, scenario, currency, amount] of paymentCases)
          if (paymentDay === day)
            await shop.payments.createAndAdvance(['capture'], { scenario, currency, amount });
        await shop.clock.advance({ seconds: 86_400 });
      }
    });

    /** The expected lines of the payments above, calculated independently. */
    const expected = paymentCases.flatMap(([day, scenario, currency, gross]) => {
      const fee = Math.round(gross * 0.029) + 30;
      const line = (result: string, ledger: number | null, reported: number | null) => ({
        date: day === 0 ? '2031-03-05' : '2031-03-06',
        currency,
        result,
        ledger: ledger === null ? { gross: 0, fee: 0 } : { gross: ledger, fee },
        reported: reported === null ? { gross: 0, fee: 0 } : { gross: reported, fee },
      });
      if (scenario === 'settle_short') return [line('amount_mismatch', gross, gross - gross / 100)];
      if (scenario === 'settle_missing') return [line('missing_at_provider', gross, null)];
      if (scenario === 'settle_duplicate')
        return [line('matched', gross, gross), line('duplicate', null, gross)];
      if (scenario === 'settle_unknown')
        return [line('matched', gross, gross), line('missing_in_ledger', null, gross)];
      return [line('matched', gross, gross)];
    });

    const days = [undefined, '2031-03-05', '2031-03-06', '2031-03-07'];
    const results = [undefined, ...Object.keys(zeroCounts)];
    const currencies = [undefined, 'EUR', 'USD', 'JPY'];
    const filters = days.flatMap((date) =>
      results.flatMap((result) => currencies.map((currency) => ({ date, result, currency }))),
    );

    test.each(filters)('$date, $result and $currency: the lines, their counts and totals', async (filter) => {
      const parameters = Object.entries(filter).filter(([, value]) => value !== undefined);
      const query = parameters.map(([name, value]) => `${name}=${value}`).join('&');
      const expectedLines = expected.filter((line) =>
        parameters.every(([name, value]) => line[name as 'date'] === value),
      );
      const { data, counts, totals } = await compared(shop, `limit=100&${query}`);
      expect(data.map(({ date, currency, result }) => `${date} ${currency} ${result}`).toSorted()).toEqual(
        expectedLines.map(({ date, currency, result }) => `${date} ${currency} ${result}`).toSorted(),
      );
      const count = (result: string) => expectedLines.filter((line) => line.result === result).length;
      expect(counts).toEqual(
        Object.fromEntries(Object.keys(zeroCounts).map((result) => [result, count(result)])),
      );
      const sum = (lines: typeof expectedLines, side: 'ledger' | 'reported') => {
        const gross = lines.reduce((total, line) => total + line[side].gross, 0);
        const fee = lines.reduce((total, line) => total + line[side].fee, 0);
        return { gross, fee, net: gross - fee };
      };
      expect(totals).toEqual(
        ['EUR', 'USD'].flatMap((currency) => {
          const lines = expectedLines.filter((line) => line.currency === currency);
          if (lines.length === 0) return [];
          const [ledger, reported] = [sum(lines, 'ledger'), sum(lines, 'reported')];
          return [{ currency, lines: lines.length, ledger, reported, difference: reported.net - ledger.net }];
        }),
      );
    });

    test('the ledger totals equal the bank balance', async () => {
      const { totals } = await compared(shop);
      const { accounts } = expectOk(await shop.client.get('developer_api_balances')) as unknown as {
        accounts: { account: string; currency: string; balance: number }[];
      };
      const bankAccounts = accounts.filter(({ account }) => account === 'bank');
      expect(totals.map(({ currency, ledger }) => [currency, (ledger as { gross: number }).gross])).toEqual(
        bankAccounts.map(({ currency, balance }) => [currency, balance]),
      );
    });

    test('lists lines newest first, in pages, and every page has the counts of all', async () => {
      const whole = await compared(shop, 'limit=100');
      expect(whole.data).toHaveLength(expected.length);
      const ids = whole.data.map(({ id }) => id);
      expect(ids).toEqual(ids.toSorted().toReversed());
      const pages: Answer[] = [];
      const page = async (query: string) => {
        const answer = await shop.client.get(reconciliation, query);
        pages.push(answer);
        return answer;
      };
      for (const limit of [1, 4, 11]) expect(await listAll(page, limit)).toEqual(whole.data);
      for (const { body } of pages) expect([body.counts, body.totals]).toEqual([whole.counts, whole.totals]);
      const filtered = 'date=2031-03-05&currency=usd';
      expect(await listAll((query) => shop.client.get(reconciliation, `${query}&${filtered}`), 1)).toEqual(
        whole.data.filter(({ date, currency }) => date === '2031-03-05' && currency === 'USD'),
      );
    });

    test('another organization sees none of them', async () => {
      const otherOrg = await openMerchant(server, { app });
      expect(await compared(otherOrg)).toMatchObject({ data: [], counts: zeroCounts, totals: [] });
    });
  });

  describe('400, 401 and 403', () => {
    test('rejects an unknown query', async () => {
      const shop = await openMerchant(server, { app });
      const refused: readonly (readonly [query: string, param: string])[] = [
        ['limit=0', 'limit'],
        ['limit=101', 'limit'],
        ['date=today', 'date'],
        ['date=2031-3-5', 'date'],
        ['date=', 'date'],
        ['result=lost', 'result'],
        ['result=', 'result'],
        ['currency=EU', 'currency'],
        ['currency=EURO', 'currency'],
        ['status=matched', 'status'],
        ['createdAfter=2031-03-05T00:00:00Z', 'createdAfter'],
      ];
      for (const [query, param] of refused) {
        const answer = await shop.client.get(reconciliation, query);
        expect([answer.code, answer.body.error.param], query).toEqual(['invalid_request', param]);
      }
    });

    test('rejects a cursor of another list', async () => {
      const shop = await openMerchant(server, { app });
      for (const id of ['pay_01m7epxwjmf7za77rhky2f93cc', '2031-03-05', 'x']) {
        const cursor = Buffer.from(id).toString('base64url');
        const answer = await shop.client.get(reconciliation, `cursor=${cursor}`);
        expect([answer.code, answer.body.error.param]).toEqual(['invalid_cursor', 'cursor']);
      }
    });

    test('requires a key with payments:read', async () => {
      const shop = await openMerchant(server, { app });
      expect((await new ApiClient(app, null).get(reconciliation)).code).toBe('api_key_missing');
      const limited = await shop.addKey({ scopes: ['payments:write', 'transfers:read'] });
      const refused = await limited.clientOn(app).get(reconciliation);
      expect(refused.body.error).toMatchObject({
        code: 'scope_missing',
        details: { scope: 'payments:read' },
      });
    });
  });

  test('a line has the time of the clock that settled it', async () => {
    const shop = await openMerchant(server, { app });
    await shop.clock.advanceTo(startTime + 3_600_000);
    await shop.payments.createAndAdvance(['capture', 'settle']);
    expect((await compared(shop)).data).toMatchObject([{ createdAt: isoTime(startTime + 3_600_000) }]);
  });
});
