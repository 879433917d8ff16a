import { Type } from 'typebox';

/** Sums know no maximum: what a JSON number does not hold exactly is written as text. */
export const AnyAmount = Type.Union([Type.Integer(), Type.String({ pattern: '^-?\\d+$' })], {
  description:
    'Minor units, with a sign. A sum beyond 2^53 is written as text, because JSON numbers end there.',
});

export function exact(amount: bigint): number | string {
  const number = Number(amount);
  return Number.isSafeInteger(number) ? number : amount.toString();
}
