import fc from 'fast-check';
import { findCurrency } from '../../src/kernel/currency.ts';
import { limits } from '../../src/kernel/limits.ts';
import { type FxSettings, formatRate, type Pair } from '../../src/ledger/fx.ts';
import { usdRates } from '../../src/ledger/rates.ts';

/** Arbitrary amounts, pairs, rates and margins for quotes: typical values, limits, and any value in between. */
export const unit = 10n ** 12n;
export const amountMax = BigInt(limits.amountMax);
export const plain: FxSettings = { fxMarginBasisPoints: 0, fxRates: {} };
export const codes = Object.keys(usdRates);

export const amounts = fc.oneof(
  fc.bigInt({ min: 1n, max: 200n }),
  fc.bigInt({ min: 1n, max: amountMax }),
  fc.constantFrom(1n, amountMax, amountMax - 1n),
);
export const pairs = fc.record({
  sourceCurrency: fc.constantFrom(...codes),
  targetCurrency: fc.constantFrom(...codes),
});
/** Any rate that an application may configure. */
export const rates = fc
  .bigInt({ min: 1n, max: 10n ** 21n - 1n })
  .chain((most) => fc.bigInt({ min: 1n, max: most }))
  .map(formatRate);
export const margins = fc.integer({ min: 0, max: limits.fxMarginMax });
export const quoteRequests = fc
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
    const settings: FxSettings = { fxMarginBasisPoints, fxRates: own === undefined ? {} : { [name]: own } };
    return { request: { ...pair, fixedSide, amount }, settings };
  });

/** 10 to the power of each currency's exponent, the scale factors of a conversion. */
export function scales({ sourceCurrency, targetCurrency }: Pair): { source: bigint; target: bigint } {
  const power = (code: string) => 10n ** BigInt(findCurrency(code)?.exponent ?? 0);
  return { source: power(sourceCurrency), target: power(targetCurrency) };
}
