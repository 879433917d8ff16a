import { parseDecimal } from '../../client/amount.ts';

/** 290 -> '2.9'. Basis points are hundredths of a percent; computed on strings. */
export function percentText(basisPoints: number): string {
  const digits = String(basisPoints).padStart(3, '0');
  const fraction = digits.slice(-2).replace(/0+$/, '');
  return fraction === '' ? digits.slice(0, -2) : `${digits.slice(0, -2)}.${fraction}`;
}

/** '2.9' or '2,9' -> 290; undefined unless it is a number with up to two decimals. */
export function parsePercent(text: string): number | undefined {
  const parsed = parseDecimal(text, 2);
  return 'problem' in parsed ? undefined : parsed.units;
}
