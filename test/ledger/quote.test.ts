import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FxSettings, pairRate, parseRate, toSource, toTarget } from '../../src/ledger/fx.ts';
import { type Quote, quote, transferFee } from '../../src/ledger/quote.ts';
import {
  amountMax,
  amounts,
  codes,
  margins,
  pairs,
  plain,
  quoteRequests,
  scales,
  unit,
} from './arbitraries.ts';

function accepted(result: ReturnType<typeof quote>): Quote {
  if (!result.ok) throw new Error(`not quoted: ${result.reason}`);
  return result;
}

describe('the transfer fee', () => {
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
  ])('of %d is %d: 0.5 %%, half-even, and at least one unit', (amount, fee) => {
    expect(transferFee(amount)).toBe(fee);
  });

  it('is within half a unit of 0.5 %, and even in a tie', () => {
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
  const settings: FxSettings = { fxMarginBasisPoints: 50, fxRates: {} };

  it('fixes either side, and adds the fee to the source amount', () => {
    expect(quote({ ...usdEur, fixedSide: 'source', amount: 10_000n }, settings)).toEqual({
      ok: true,
      sourceAmount: 10_000n,
      targetAmount: 8_567n,
      feeAmount: 50n,
      rate: '0.8567945',
      midMarketRate: '0.8611',
      marginBasisPoints: 50,
    });
    const fixed = quote({ ...usdEur, fixedSide: 'target', amount: 8_567n }, settings);
    expect(fixed).toMatchObject({ sourceAmount: 9_999n, targetAmount: 8_567n, feeAmount: 50n });
  });

  it('within one currency has equal amounts, in every currency', () => {
    for (const code of codes) {
      const pair = { sourceCurrency: code, targetCurrency: code };
      for (const fixedSide of ['source', 'target'] as const) {
        const found = accepted(quote({ ...pair, fixedSide, amount: 777n }, settings));
        expect([found.sourceAmount, found.targetAmount, found.rate]).toEqual([777n, 777n, '1']);
      }
    }
  });

  it.each<[string, Parameters<typeof quote>[0], string]>([
    [
      'a target that rounds down to zero',
      { sourceCurrency: 'JPY', targetCurrency: 'USD', fixedSide: 'source', amount: 1n },
      'amount_too_small',
    ],
    [
      'a source that exceeds the maximum with its fee',
      { ...usdEur, fixedSide: 'source', amount: amountMax },
      'amount_too_large',
    ],
    [
      'a target above the maximum',
      { sourceCurrency: 'USD', targetCurrency: 'VND', fixedSide: 'source', amount: 10n ** 11n },
      'amount_too_large',
    ],
    [
      'a source above the maximum',
      { sourceCurrency: 'VND', targetCurrency: 'USD', fixedSide: 'target', amount: 10n ** 11n },
      'amount_too_large',
    ],
    [
      'a currency without a rate',
      { sourceCurrency: 'USD', targetCurrency: 'AOA', fixedSide: 'source', amount: 100n },
      'unsupported_currency',
    ],
  ])('is rejected for %s', (_what, request, reason) => {
    expect(quote(request, settings)).toEqual({ ok: false, reason });
  });

  it('has the requested amount, stays within the limits, and never exceeds the mid-market value', () => {
    fc.assert(
      fc.property(quoteRequests, ({ request, settings: own }) => {
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

  it('is rejected only for a true reason', () => {
    fc.assert(
      fc.property(quoteRequests, ({ request, settings: own }) => {
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

  it('two quotes there and back never gain as much as one fee', () => {
    fc.assert(
      fc.property(pairs, amounts, margins, (pair, amount, fxMarginBasisPoints) => {
        const settings = { ...plain, fxMarginBasisPoints };
        const there = quote({ ...pair, fixedSide: 'source', amount }, settings);
        if (!there.ok) return;
        const opposite = { sourceCurrency: pair.targetCurrency, targetCurrency: pair.sourceCurrency };
        const back = quote({ ...opposite, fixedSide: 'source', amount: there.targetAmount }, settings);
        // Mid-market rates are rounded to nearest, so 10^-12 can be gained, but the fee is larger.
        if (back.ok) expect(back.targetAmount < amount + there.feeAmount).toBe(true);
      }),
    );
  });
});
