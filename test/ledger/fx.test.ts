import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FxSettings,
  formatRate,
  inverseRate,
  type Pair,
  pairRate,
  parseRate,
  toSource,
  toTarget,
} from '../../src/ledger/fx.ts';
import { amounts, codes, pairs, plain, quoteRequests, rates, scales, unit } from './arbitraries.ts';

describe('decimal text', () => {
  it.each([
    ['1', unit],
    ['0.9171', 917_100_000_000n],
    ['152.3', 152_300_000_000_000n],
    ['0.000000000001', 1n],
    ['999999999.999999999999', 10n ** 21n - 1n],
    ['100', 100n * unit],
  ])('%s is %d of 10^-12, and back', (text, scaled) => {
    expect(parseRate(text)).toBe(scaled);
    expect(formatRate(scaled)).toBe(text);
  });

  it('drops trailing zeros, and accepts them', () => {
    expect(formatRate(parseRate('0.917100'))).toBe('0.9171');
    expect(formatRate(parseRate('1.000000000000'))).toBe('1');
    expect(formatRate(parseRate('10'))).toBe('10');
  });

  it('round-trips any rate', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (rate) => {
        const text = formatRate(rate);
        expect(parseRate(text)).toBe(rate);
        expect(text).not.toMatch(/\.\d*0$|\.$/);
      }),
    );
  });

  it.each(['', '.5', '1.', '-1', '1e3', '1.0000000000001', ' 1', 'NaN'])(
    'throws for %j, which is a bug of the caller',
    (text) => {
      expect(() => parseRate(text)).toThrow('not a rate');
    },
  );
});

describe('the rate of a currency pair', () => {
  const own = { 'EUR/USD': '1.25', 'USD/JPY': '160' };

  it.each<[string, string, Partial<FxSettings>, string, string]>([
    // Without a margin the customer gets the mid-market rate.
    ['USD', 'EUR', {}, '0.8611', '0.8611'],
    ['EUR', 'USD', {}, '1.161305307165', '1.161305307165'],
    ['USD', 'EUR', { fxMarginBasisPoints: 50 }, '0.8611', '0.8567945'],
    // The margin rounds down: 1.161305307165 * 0.995 = 1.155498780629175.
    ['EUR', 'USD', { fxMarginBasisPoints: 50 }, '1.161305307165', '1.155498780629'],
    ['EUR', 'USD', { fxRates: own }, '1.25', '1.25'],
    ['EUR', 'USD', { fxRates: own, fxMarginBasisPoints: 100 }, '1.25', '1.2375'],
    // The opposite direction is the inverse, unless it is set explicitly.
    ['USD', 'EUR', { fxRates: own }, '0.8', '0.8'],
    ['JPY', 'USD', { fxRates: own }, '0.00625', '0.00625'],
    ['USD', 'EUR', { fxRates: { ...own, 'USD/EUR': '0.7' } }, '0.7', '0.7'],
    // A cross rate does not use configured rates.
    ['EUR', 'JPY', { fxRates: own }, '179.479735222390', '179.479735222390'],
    // One third, rounded half-even at twelve decimals.
    ['GBP', 'USD', { fxRates: { 'USD/GBP': '3' } }, '0.333333333333', '0.333333333333'],
  ])('%s to %s with %j is %s, for the customer %s', (source, target, settings, mid, rate) => {
    const found = pairRate(source, target, { ...plain, ...settings });
    expect(found?.midMarketRate).toBe(formatRate(parseRate(mid)));
    expect(found?.rate).toBe(formatRate(parseRate(rate)));
  });

  it('is 1 without a margin within one currency, regardless of configured rates', () => {
    const settings = { fxMarginBasisPoints: 500, fxRates: { 'EUR/EUR': '2' } };
    const expected = { rate: '1', midMarketRate: '1', marginBasisPoints: 0, isOverridden: false };
    expect(pairRate('EUR', 'EUR', settings)).toEqual(expected);
  });

  it('exists for every pair of the table, and never exceeds the mid-market rate', () => {
    for (const source of codes) {
      for (const target of codes) {
        const found = pairRate(source, target, { ...plain, fxMarginBasisPoints: 50 });
        if (!found) throw new Error(`${source}/${target} has no rate`);
        expect(parseRate(found.rate) <= parseRate(found.midMarketRate)).toBe(true);
      }
    }
  });

  it('does not exist for an unknown currency, a currency without a rate, or a rate below 10^-12', () => {
    expect(pairRate('EUR', 'XXX', plain)).toBeUndefined();
    expect(pairRate('XXX', 'XXX', plain)).toBeUndefined();
    expect(pairRate('EUR', 'AOA', plain)).toBeUndefined();
    expect(pairRate('EUR', 'AOA', { ...plain, fxRates: { 'EUR/AOA': '1000' } })?.rate).toBe('1000');
    const tiny = { 'EUR/USD': '0.000000000001' };
    expect(pairRate('EUR', 'USD', { ...plain, fxRates: tiny })?.rate).toBe('0.000000000001');
    expect(pairRate('EUR', 'USD', { fxMarginBasisPoints: 1, fxRates: tiny })).toBeUndefined();
  });

  it('is the mid-market rate minus the margin, rounded down by less than 10^-12', () => {
    fc.assert(
      fc.property(quoteRequests, ({ request: { sourceCurrency, targetCurrency }, settings }) => {
        const found = pairRate(sourceCurrency, targetCurrency, settings);
        if (!found) return;
        const [rate, mid] = [parseRate(found.rate), parseRate(found.midMarketRate)];
        const exact = mid * (10_000n - BigInt(found.marginBasisPoints));
        expect(rate * 10_000n <= exact && exact < (rate + 1n) * 10_000n).toBe(true);
      }),
    );
  });

  it('has an inverse within half of 10^-12 of the exact value', () => {
    fc.assert(
      fc.property(rates, (text) => {
        const rate = parseRate(text);
        const twiceOff = 2n * (parseRate(inverseRate(text)) * rate - unit * unit);
        expect(twiceOff <= rate && twiceOff >= -rate).toBe(true);
      }),
    );
    expect(inverseRate('1.25')).toBe('0.8');
    expect(inverseRate('1')).toBe('1');
  });
});

describe('converting', () => {
  it.each<[bigint, string, Pair, bigint]>([
    [10_000n, '0.9171', { sourceCurrency: 'USD', targetCurrency: 'EUR' }, 9_171n],
    [10_001n, '0.9171', { sourceCurrency: 'USD', targetCurrency: 'EUR' }, 9_171n],
    [100n, '152.3', { sourceCurrency: 'USD', targetCurrency: 'JPY' }, 152n],
    [1n, '152.3', { sourceCurrency: 'USD', targetCurrency: 'JPY' }, 1n],
    [1n, '0.0066', { sourceCurrency: 'JPY', targetCurrency: 'USD' }, 0n],
    [2n, '0.0066', { sourceCurrency: 'JPY', targetCurrency: 'USD' }, 1n],
    [100n, '0.3068', { sourceCurrency: 'USD', targetCurrency: 'KWD' }, 306n],
    [1_000n, '502.1', { sourceCurrency: 'KWD', targetCurrency: 'JPY' }, 502n],
  ])('%d at %s of %j is %d, rounded down', (amount, rate, pair, expected) => {
    expect(toTarget(amount, rate, pair)).toBe(expected);
  });

  it.each<[bigint, string, Pair, bigint]>([
    [9_171n, '0.9171', { sourceCurrency: 'USD', targetCurrency: 'EUR' }, 10_000n],
    [9_172n, '0.9171', { sourceCurrency: 'USD', targetCurrency: 'EUR' }, 10_002n],
    [1n, '152.3', { sourceCurrency: 'USD', targetCurrency: 'JPY' }, 1n],
    [1n, '0.0066', { sourceCurrency: 'JPY', targetCurrency: 'USD' }, 2n],
    [306n, '0.3068', { sourceCurrency: 'USD', targetCurrency: 'KWD' }, 100n],
  ])('to reach %d at %s of %j takes %d, rounded up', (amount, rate, pair, expected) => {
    expect(toSource(amount, rate, pair)).toBe(expected);
  });

  it('to the target rounds down by less than one unit', () => {
    fc.assert(
      fc.property(amounts, rates, pairs, (source, text, pair) => {
        const target = toTarget(source, text, pair);
        const scale = scales(pair);
        const worth = source * parseRate(text) * scale.target;
        const price = unit * scale.source;
        expect(target * price <= worth && worth < (target + 1n) * price).toBe(true);
      }),
    );
  });

  it('to the source rounds up by less than one unit', () => {
    fc.assert(
      fc.property(amounts, rates, pairs, (target, text, pair) => {
        const source = toSource(target, text, pair);
        const scale = scales(pair);
        const worth = parseRate(text) * scale.target;
        const price = target * unit * scale.source;
        expect(source * worth >= price && (source - 1n) * worth < price).toBe(true);
      }),
    );
  });

  it('there and back never gains, in either direction', () => {
    fc.assert(
      fc.property(amounts, rates, pairs, (amount, rate, pair) => {
        const target = toTarget(amount, rate, pair);
        expect(toSource(target, rate, pair) <= amount).toBe(true);
        expect(toTarget(toSource(amount, rate, pair), rate, pair) >= amount).toBe(true);
      }),
    );
  });
});
