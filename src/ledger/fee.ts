import type { ApplicationSettings } from '../kernel/application-settings.ts';

const basisPoints = 10_000n;

/** The provider's fee for one capture: a percentage and a fixed part, at most the amount itself. */
export function feeOf(
  amount: bigint,
  settings: Pick<ApplicationSettings, 'feeBasisPoints' | 'feeFixed'>,
): bigint {
  const fee = halfEven(amount * BigInt(settings.feeBasisPoints), basisPoints) + settings.feeFixed;
  return fee < amount ? fee : amount;
}

/** Divides non-negative numbers and rounds half to even. */
export function halfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}
