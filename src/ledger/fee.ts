import type { ApplicationSettings } from '../kernel/application-settings.ts';

const basisPoints = 10_000n;

/** What the provider keeps of one capture: a share and a fixed part, never more than the amount itself. */
export function feeOf(
  amount: bigint,
  terms: Pick<ApplicationSettings, 'feeBasisPoints' | 'feeFixed'>,
): bigint {
  const fee = halfEven(amount * BigInt(terms.feeBasisPoints), basisPoints) + terms.feeFixed;
  return fee < amount ? fee : amount;
}

/** Division of what is not negative, rounded to the nearest, and from the middle to the even neighbour. */
export function halfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend % divisor) * 2n;
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}
