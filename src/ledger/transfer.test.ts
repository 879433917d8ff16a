import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../kernel/ledger.ts';
import { entryAcross } from './entry.ts';
import { quote } from './quote.ts';
import { usdRates } from './rates.ts';
import {
  completed,
  converted,
  funded,
  returned,
  sent,
  type TransferBook,
  totalOf,
  unwound,
} from './transfer.ts';

const book: TransferBook = {
  sourceCurrency: 'EUR',
  targetCurrency: 'JPY',
  sourceAmount: 100n,
  targetAmount: 170n,
  feeAmount: 1n,
  fundFrom: 'external',
};
const fromBalance: TransferBook = { ...book, fundFrom: 'balance' };
const within: TransferBook = { ...book, targetCurrency: 'EUR', targetAmount: 100n };

function sums(entries: readonly Entry[]): Record<string, bigint> {
  const all: Record<string, bigint> = {};
  for (const { account, currency, amount } of entries.flatMap(({ postings }) => postings)) {
    const key = `${account} ${currency}`;
    all[key] = (all[key] ?? 0n) + amount;
  }
  return Object.fromEntries(Object.entries(all).filter(([, amount]) => amount !== 0n));
}

/** Section 7 of the design, row by row; debits positive. */
describe('postings of a transfer', () => {
  const back = {
    'payout_clearing JPY': 170n,
    'fx_position JPY': -170n,
    'fx_position EUR': 100n,
    'fees EUR': 1n,
  };

  it.each<[string, readonly Entry[], Record<string, bigint>]>([
    ['funded from outside', funded(book), { 'bank EUR': 101n, 'transfer_funding EUR': -101n }],
    [
      'funded from the balance',
      funded(fromBalance),
      { 'merchant_available EUR': 101n, 'transfer_funding EUR': -101n },
    ],
    [
      'converted',
      converted(book),
      {
        'transfer_funding EUR': 101n,
        'fx_position EUR': -100n,
        'fees EUR': -1n,
        'fx_position JPY': 170n,
        'payout_clearing JPY': -170n,
      },
    ],
    [
      'converted within a currency',
      converted(within),
      { 'transfer_funding EUR': 101n, 'fees EUR': -1n, 'payout_clearing EUR': -100n },
    ],
    ['sent', sent(book, 'send'), { 'payout_clearing JPY': 170n, 'payouts_in_transit JPY': -170n }],
    ['completed', completed(book), { 'payouts_in_transit JPY': 170n, 'bank JPY': -170n }],
    [
      'returned on its way',
      returned(book, 'sent'),
      { 'payouts_in_transit JPY': 170n, 'payout_clearing JPY': -170n },
    ],
    [
      'returned after it arrived',
      returned(book, 'completed'),
      { 'bank JPY': 170n, 'payout_clearing JPY': -170n },
    ],
    ['refunded', unwound(book, 'refund', 'returned'), { ...back, 'bank EUR': -101n }],
    ['failed after conversion', unwound(book, 'fail', 'converted'), { ...back, 'bank EUR': -101n }],
    [
      'refunded to the balance',
      unwound(fromBalance, 'refund', 'returned'),
      { ...back, 'merchant_available EUR': -101n },
    ],
    [
      'canceled when funded',
      unwound(book, 'cancel', 'funded'),
      { 'transfer_funding EUR': 101n, 'bank EUR': -101n },
    ],
    [
      'failed in review',
      unwound(fromBalance, 'fail', 'in_review'),
      { 'transfer_funding EUR': 101n, 'merchant_available EUR': -101n },
    ],
    ['canceled before funding', unwound(book, 'cancel', 'quoted'), {}],
    ['failed before funding', unwound(book, 'fail', 'accepted'), {}],
  ])('%s', (_action, entries, expected) => {
    expect(sums(entries)).toEqual(expected);
    expect(entries).toHaveLength(Object.keys(expected).length === 0 ? 0 : 1);
    expect(entries.flatMap(({ postings }) => postings)).toHaveLength(Object.keys(expected).length);
  });

  it('cannot be unwound while the money is in transit or paid out', () => {
    for (const from of ['sent', 'completed', 'refunded'] as const) {
      expect(() => unwound(book, 'refund', from)).toThrow(`a ${from} transfer cannot be unwound`);
    }
  });
});

describe('an entry across currencies', () => {
  it('is rejected when one currency does not sum to zero, even if the total does', () => {
    expect(() =>
      entryAcross('convert', [
        ['EUR', [['bank', 5n]]],
        ['USD', [['bank', -5n]]],
      ]),
    ).toThrow('sum to 5 EUR');
  });

  it('is not created when all amounts are zero', () => {
    expect(
      entryAcross('convert', [
        [
          'EUR',
          [
            ['bank', 5n],
            ['bank', -5n],
          ],
        ],
      ]),
    ).toEqual([]);
  });
});

describe('any transfer', () => {
  const codes = Object.keys(usdRates);
  const books = fc
    .record({
      sourceCurrency: fc.constantFrom(...codes),
      targetCurrency: fc.constantFrom(...codes),
      amount: fc.bigInt({ min: 1n, max: 10n ** 11n }),
      fixedSide: fc.constantFrom('source' as const, 'target' as const),
      fundFrom: fc.constantFrom('external' as const, 'balance' as const),
    })
    .map(({ fundFrom, ...request }) => ({
      request: { ...request, fundFrom },
      quoted: quote(request, { fxMarginBasisPoints: 50, fxRates: {} }),
    }))
    .filter(({ quoted }) => quoted.ok)
    .map(({ request, quoted }) => ({ ...request, ...quoted }) as unknown as TransferBook);

  it('has entries that sum to zero in each currency, with one posting per account', () => {
    fc.assert(
      fc.property(books, (one) => {
        const all = [
          ...funded(one),
          ...converted(one),
          ...sent(one, 'send'),
          ...completed(one),
          ...returned(one, 'completed'),
          ...unwound(one, 'refund', 'returned'),
        ];
        for (const { postings } of all) {
          const names = postings.map(({ account, currency }) => `${account} ${currency}`);
          expect(new Set(names).size).toBe(names.length);
          for (const code of new Set(postings.map(({ currency }) => currency))) {
            const own = postings.filter(({ currency }) => currency === code);
            expect(own.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n);
          }
        }
      }),
    );
  });

  it('leaves no balances when refunded, and only fee, position and bank balances when completed', () => {
    fc.assert(
      fc.property(books, (one) => {
        const out = [...funded(one), ...converted(one), ...sent(one, 'send')];
        const refunded = [...returned(one, 'sent'), ...unwound(one, 'refund', 'returned')];
        expect(sums([...out, ...refunded])).toEqual({});
        expect(sums([...funded(one), ...unwound(one, 'cancel', 'funded')])).toEqual({});
        expect(sums([...funded(one), ...converted(one), ...unwound(one, 'fail', 'converted')])).toEqual({});
        const arrived = sums([...out, ...completed(one)]);
        expect(arrived[`fees ${one.sourceCurrency}`]).toBe(-one.feeAmount);
        const others = Object.keys(arrived).filter(
          (name) => !/^(fees|fx_position|bank|merchant_available) /.test(name),
        );
        expect(others).toEqual([]);
        if (one.fundFrom === 'balance')
          expect(arrived[`merchant_available ${one.sourceCurrency}`]).toBe(totalOf(one));
      }),
    );
  });
});
