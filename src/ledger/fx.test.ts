import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCurrency } from '../kernel/currency.ts';
import { limits } from '../kernel/limits.ts';
import { ratePattern } from '../kernel/terms.ts';
import {
  type FxTerms,
  formatRate,
  inverseRate,
  type Pair,
  pairRate,
  parseRate,
  type Quote,
  quote,
  toSource,
  toTarget,
  transferFee,
} from './fx.ts';
import { usdRates } from './rates.ts';

const unit = 10n ** 12n;
const amountMax = BigInt(limits.amountMax);
const plain: FxTerms = { fxMarginBasisPoints: 0, fxRates: {} };
const codes = Object.keys(usdRates);

const amounts = fc.oneof(
  fc.bigInt({ min: 1n, max: 200n }),
  fc.bigInt({ min: 1n, max: amountMax }),
  fc.constantFrom(1n, amountMax, amountMax - 1n),
);
const pairs = fc.record({
  sourceCurrency: fc.constantFrom(...codes),
  targetCurrency: fc.constantFrom(...codes),
});
/** Any rate that an application may set. */
const rates = fc
  .bigInt({ min: 1n, max: 10n ** 21n - 1n })
  .chain((most) => fc.bigInt({ min: 1n, max: most }))
  .map(formatRate);
const margins = fc.integer({ min: 0, max: limits.fxMarginMax });
const asks = fc
  .record({
    pair: pairs,
    own: fc.option(rates, { nil: undefined }),
    isOpposite: fc.boolean(),
    fxMarginBasisPoints: margins,
    fixedSide: fc.constantFrom('source' as const, 'target' as const),
    amount: amounts,
  })
  .map(({ pair, own, isOpposite, fxMarginBasisPoints, fixedSide, amount }) => {
    const { sourceCurrency: source, targetCurrency: target } = pair;
    const name = isOpposite ? `${target}/${source}` : `${source}/${target}`;
    const terms: FxTerms = { fxMarginBasisPoints, fxRates: own === undefined ? {} : { [name]: own } };
    return { request: { ...pair, fixedSide, amount }, terms };
  });

/** 10 to the exponents of both currencies, as the fraction that a rate is multiplied with. */
function scales({ sourceCurrency, targetCurrency }: Pair): { source: bigint; target: bigint } {
  const power = (code: string) => 10n ** BigInt(findCurrency(code)?.exponent ?? 0);
  return { source: power(sourceCurrency), target: power(targetCurrency) };
}

function made(result: ReturnType<typeof quote>): Quote {
  if (!result.ok) throw new Error(`not quoted: ${result.reason}`);
  return result;
}

describe('the table of rates', () => {
  it('has at least 35 currencies of the ISO table, with no, two and three decimals', () => {
    expect(codes.length).toBeGreaterThanOrEqual(35);
    for (const code of codes) expect(findCurrency(code)?.code).toBe(code);
    const exponents = new Set(codes.map((code) => findCurrency(code)?.exponent));
    expect([...exponents].sort()).toEqual([0, 2, 3]);
    const needed = [
      'JPY',
      'KRW',
      'CLP',
      'VND',
      'ISK',
      'PYG',
      'UGX',
      'XAF',
      'KWD',
      'BHD',
      'JOD',
      'OMR',
      'TND',
    ];
    expect(codes).toEqual(expect.arrayContaining([...needed, 'USD', 'EUR', 'GBP', 'CHF']));
  });

  it('is written as rates are, sorted, and one dollar is one dollar', () => {
    for (const rate of Object.values(usdRates)) {
      expect(rate).toMatch(new RegExp(ratePattern));
      expect(formatRate(parseRate(rate))).toBe(rate);
    }
    expect(codes).toEqual(codes.toSorted());
    expect(usdRates.USD).toBe('1');
  });
});

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

  it('drops the zeros at its end, and takes them', () => {
    expect(formatRate(parseRate('0.917100'))).toBe('0.9171');
    expect(formatRate(parseRate('1.000000000000'))).toBe('1');
    expect(formatRate(parseRate('10'))).toBe('10');
  });

  it('comes back as it went, whatever the rate', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (rate) => {
        const text = formatRate(rate);
        expect(parseRate(text)).toBe(rate);
        expect(text).not.toMatch(/\.\d*0$|\.$/);
      }),
    );
  });

  it.each(['', '.5', '1.', '-1', '1e3', '1.0000000000001', ' 1', 'NaN'])(
    'refuses %j: that is our bug',
    (text) => {
      expect(() => parseRate(text)).toThrow('no rate');
    },
  );
});

describe('the rate of a pair', () => {
  const own = { 'EUR/USD': '1.25', 'USD/JPY': '160' };

  it.each<[string, string, Partial<FxTerms>, string, string]>([
    // Without a margin the middle is what one gets.
    ['USD', 'EUR', {}, '0.8611', '0.8611'],
    ['EUR', 'USD', {}, '1.161305307165', '1.161305307165'],
    ['USD', 'EUR', { fxMarginBasisPoints: 50 }, '0.8611', '0.8567945'],
    // The margin is taken off downwards: 1.161305307165 * 0.995 = 1.155498780629175.
    ['EUR', 'USD', { fxMarginBasisPoints: 50 }, '1.161305307165', '1.155498780629'],
    ['EUR', 'USD', { fxRates: own }, '1.25', '1.25'],
    ['EUR', 'USD', { fxRates: own, fxMarginBasisPoints: 100 }, '1.25', '1.2375'],
    // The other direction follows, unless it is set itself.
    ['USD', 'EUR', { fxRates: own }, '0.8', '0.8'],
    ['JPY', 'USD', { fxRates: own }, '0.00625', '0.00625'],
    ['USD', 'EUR', { fxRates: { ...own, 'USD/EUR': '0.7' } }, '0.7', '0.7'],
    // A cross is not made of own rates.
    ['EUR', 'JPY', { fxRates: own }, '179.479735222390', '179.479735222390'],
    // One third, half-even at twelve decimals.
    ['GBP', 'USD', { fxRates: { 'USD/GBP': '3' } }, '0.333333333333', '0.333333333333'],
  ])('%s to %s with %j is %s, for the customer %s', (source, target, terms, mid, rate) => {
    const found = pairRate(source, target, { ...plain, ...terms });
    expect(found?.midMarketRate).toBe(formatRate(parseRate(mid)));
    expect(found?.rate).toBe(formatRate(parseRate(rate)));
  });

  it('is 1 without a margin within a currency, whatever is overridden', () => {
    const terms = { fxMarginBasisPoints: 500, fxRates: { 'EUR/EUR': '2' } };
    const expected = { rate: '1', midMarketRate: '1', marginBasisPoints: 0, isOverridden: false };
    expect(pairRate('EUR', 'EUR', terms)).toEqual(expected);
  });

  it('is there for every pair of the table, and never above the middle', () => {
    for (const source of codes) {
      for (const target of codes) {
        const found = pairRate(source, target, { ...plain, fxMarginBasisPoints: 50 });
        if (!found) throw new Error(`${source}/${target} has no rate`);
        expect(parseRate(found.rate) <= parseRate(found.midMarketRate)).toBe(true);
      }
    }
  });

  it('is not there for what is no currency, has no rate, or whose rate is too small to be written', () => {
    expect(pairRate('EUR', 'XXX', plain)).toBeUndefined();
    expect(pairRate('XXX', 'XXX', plain)).toBeUndefined();
    expect(pairRate('EUR', 'AOA', plain)).toBeUndefined();
    expect(pairRate('EUR', 'AOA', { ...plain, fxRates: { 'EUR/AOA': '1000' } })?.rate).toBe('1000');
    const tiny = { 'EUR/USD': '0.000000000001' };
    expect(pairRate('EUR', 'USD', { ...plain, fxRates: tiny })?.rate).toBe('0.000000000001');
    expect(pairRate('EUR', 'USD', { fxMarginBasisPoints: 1, fxRates: tiny })).toBeUndefined();
  });

  it('loses to the margin exactly what the margin says, and less than one 10^-12 more', () => {
    fc.assert(
      fc.property(asks, ({ request: { sourceCurrency, targetCurrency }, terms }) => {
        const found = pairRate(sourceCurrency, targetCurrency, terms);
        if (!found) return;
        const [rate, mid] = [parseRate(found.rate), parseRate(found.midMarketRate)];
        const exact = mid * (10_000n - BigInt(found.marginBasisPoints));
        expect(rate * 10_000n <= exact && exact < (rate + 1n) * 10_000n).toBe(true);
      }),
    );
  });

  it('has an inverse that is within half a 10^-12 of the truth', () => {
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

  it('to the target gives the most that the source is worth, and not one unit more', () => {
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

  it('to the source takes the least that is worth the target, and not one unit less', () => {
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

  it('there and back never gains, from either side', () => {
    fc.assert(
      fc.property(amounts, rates, pairs, (amount, rate, pair) => {
        const target = toTarget(amount, rate, pair);
        expect(toSource(target, rate, pair) <= amount).toBe(true);
        expect(toTarget(toSource(amount, rate, pair), rate, pair) >= amount).toBe(true);
      }),
    );
  });

  it('through another currency and back, by two quotes, never gains', () => {
    fc.assert(
      fc.property(pairs, amounts, margins, (pair, amount, fxMarginBasisPoints) => {
        const terms = { ...plain, fxMarginBasisPoints };
        const there = quote({ ...pair, fixedSide: 'source', amount }, terms);
        if (!there.ok) return;
        const opposite = { sourceCurrency: pair.targetCurrency, targetCurrency: pair.sourceCurrency };
        const back = quote({ ...opposite, fixedSide: 'source', amount: there.targetAmount }, terms);
        // Each middle is rounded to the nearest, so a trillionth may be won, but the fee is more than that.
        if (back.ok) expect(back.targetAmount < amount + there.feeAmount).toBe(true);
      }),
    );
  });
});

describe('the fee of a transfer', () => {
  it.each([
    [1n, 1n],
    [99n, 1n],
    [100n, 1n],
    [200n, 1n],
    [299n, 1n],
    [300n, 2n],
    [301n, 2n],
    [500n, 2n],
    [700n, 4n],
    [10_000n, 50n],
    [999_999_999_999n, 5_000_000_000n],
  ])('of %d is %d: 0.5 %%, half-even, and at least one', (amount, fee) => {
    expect(transferFee(amount)).toBe(fee);
  });

  it('is within half a unit of 0.5 %, and even where it is exactly between', () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        const fee = transferFee(amount);
        if (amount <= 300n) return;
        const twiceOff = 2n * (fee * 200n - amount);
        expect(twiceOff <= 200n && twiceOff >= -200n).toBe(true);
        if (amount % 200n === 100n) expect(fee % 2n).toBe(0n);
      }),
    );
  });
});

describe('a quote', () => {
  const usdEur = { sourceCurrency: 'USD', targetCurrency: 'EUR' };
  const terms: FxTerms = { fxMarginBasisPoints: 50, fxRates: {} };

  it('fixes either side, and the fee comes on top of the source', () => {
    expect(quote({ ...usdEur, fixedSide: 'source', amount: 10_000n }, terms)).toEqual({
      ok: true,
      sourceAmount: 10_000n,
      targetAmount: 8_567n,
      feeAmount: 50n,
      rate: '0.8567945',
      midMarketRate: '0.8611',
      marginBasisPoints: 50,
    });
    const fixed = quote({ ...usdEur, fixedSide: 'target', amount: 8_567n }, terms);
    expect(fixed).toMatchObject({ sourceAmount: 9_999n, targetAmount: 8_567n, feeAmount: 50n });
  });

  it('within a currency gives what it takes, in every currency', () => {
    for (const code of codes) {
      const pair = { sourceCurrency: code, targetCurrency: code };
      for (const fixedSide of ['source', 'target'] as const) {
        const found = made(quote({ ...pair, fixedSide, amount: 777n }, terms));
        expect([found.sourceAmount, found.targetAmount, found.rate]).toEqual([777n, 777n, '1']);
      }
    }
  });

  it.each<[string, Parameters<typeof quote>[0], string]>([
    [
      'what rounds down to nothing',
      { sourceCurrency: 'JPY', targetCurrency: 'USD', fixedSide: 'source', amount: 1n },
      'amount_too_small',
    ],
    [
      'a source that leaves no room for its fee',
      { ...usdEur, fixedSide: 'source', amount: amountMax },
      'amount_too_large',
    ],
    [
      'a target that becomes too much',
      { sourceCurrency: 'USD', targetCurrency: 'VND', fixedSide: 'source', amount: 10n ** 11n },
      'amount_too_large',
    ],
    [
      'a source that would be too much',
      { sourceCurrency: 'VND', targetCurrency: 'USD', fixedSide: 'target', amount: 10n ** 11n },
      'amount_too_large',
    ],
    [
      'a currency without a rate',
      { sourceCurrency: 'USD', targetCurrency: 'AOA', fixedSide: 'source', amount: 100n },
      'unsupported_currency',
    ],
  ])('is refused for %s', (_what, request, reason) => {
    expect(quote(request, terms)).toEqual({ ok: false, reason });
  });

  it('keeps what was asked for, stays within the bounds, and never gives more than it took', () => {
    fc.assert(
      fc.property(asks, ({ request, terms: own }) => {
        const result = quote(request, own);
        if (!result.ok) return;
        const { sourceAmount, targetAmount, feeAmount } = result;
        expect(request.fixedSide === 'source' ? sourceAmount : targetAmount).toBe(request.amount);
        expect(sourceAmount >= 1n && targetAmount >= 1n && feeAmount >= 1n).toBe(true);
        expect(sourceAmount + feeAmount <= amountMax && targetAmount <= amountMax).toBe(true);
        expect(feeAmount).toBe(transferFee(sourceAmount));
        const scale = scales(request);
        const worth = sourceAmount * parseRate(result.midMarketRate) * scale.target;
        expect(targetAmount * unit * scale.source <= worth).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is refused for a reason that holds', () => {
    fc.assert(
      fc.property(asks, ({ request, terms: own }) => {
        const result = quote(request, own);
        if (result.ok) return;
        const found = pairRate(request.sourceCurrency, request.targetCurrency, own);
        if (result.reason === 'unsupported_currency') {
          expect(found).toBeUndefined();
          return;
        }
        if (!found) throw new Error('a pair without a rate is unsupported');
        const isSource = request.fixedSide === 'source';
        const source = isSource ? request.amount : toSource(request.amount, found.rate, request);
        const target = isSource ? toTarget(request.amount, found.rate, request) : request.amount;
        if (result.reason === 'amount_too_small') expect(target).toBe(0n);
        else expect(target > amountMax || source + transferFee(source) > amountMax).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});
