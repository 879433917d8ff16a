import { describe, expect, it } from 'vitest';
import { feeOf, halfEven } from './fee.ts';

const settings = { feeBasisPoints: 290, feeFixed: 30n };

describe('half-even', () => {
  it.each([
    [0n, 10n, 0n],
    [4n, 10n, 0n],
    [5n, 10n, 0n],
    [6n, 10n, 1n],
    [14n, 10n, 1n],
    [15n, 10n, 2n],
    [25n, 10n, 2n],
    [26n, 10n, 3n],
    [35n, 10n, 4n],
    [1n, 3n, 0n],
    [2n, 3n, 1n],
    // An odd divisor has no exact half.
    [3n, 7n, 0n],
    [4n, 7n, 1n],
    [10n ** 30n + 5n, 10n, 10n ** 29n],
  ])('%d over %d is %d', (dividend, divisor, quotient) => {
    expect(halfEven(dividend, divisor)).toBe(quotient);
  });

  it('differs from the exact quotient by at most one half', () => {
    for (let dividend = 0n; dividend < 500n; dividend += 1n) {
      for (const divisor of [1n, 2n, 7n, 10n, 16n]) {
        const twiceOff = 2n * (halfEven(dividend, divisor) * divisor - dividend);
        expect(twiceOff <= divisor && twiceOff >= -divisor).toBe(true);
      }
    }
  });
});

describe('the fee', () => {
  it.each([
    [1n, 1n],
    [29n, 29n],
    [30n, 30n],
    [31n, 31n],
    [32n, 31n],
    [100n, 33n],
    [500n, 44n],
    [1_500n, 74n],
    [2_500n, 102n],
    [3_500n, 132n],
    [10_000n, 320n],
    [999_999_999_999n, 29_000_000_030n],
  ])('of %d is %d: 2.9 %% and 30, half-even, never more than the amount', (amount, fee) => {
    expect(feeOf(amount, settings)).toBe(fee);
  });

  it('can be zero or the whole amount', () => {
    expect(feeOf(1_000n, { feeBasisPoints: 0, feeFixed: 0n })).toBe(0n);
    expect(feeOf(1_000n, { feeBasisPoints: 10_000, feeFixed: 0n })).toBe(1_000n);
    expect(feeOf(1_000n, { feeBasisPoints: 10_000, feeFixed: 1n })).toBe(1_000n);
    expect(feeOf(1_000n, { feeBasisPoints: 0, feeFixed: 999_999_999_999n })).toBe(1_000n);
  });
});
