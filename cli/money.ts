import { decimalText, exponentOf, type Minor, parseAmount } from '../sdk/amount.ts';
import { wrongUsage } from './problem.ts';

export interface AmountOptions {
  /** Major units, with a dot: 12.50. */
  readonly amount?: string | undefined;
  /** Minor units, a whole number: 1250. */
  readonly minor?: string | undefined;
}

/**
 * The amount in minor units, as the API expects it. `--amount 12` is rejected for a currency with cents: it could mean twelve
 * euros or twelve cents, and nobody would notice a wrong guess.
 */
export function minorUnits({ amount, minor }: AmountOptions, currency: string): number | undefined {
  if (amount !== undefined && minor !== undefined) throw wrongUsage('Pass --amount or --minor, not both.');
  if (minor !== undefined) {
    if (!/^\d{1,12}$/.test(minor))
      throw wrongUsage(`--minor takes a whole number of minor units, not "${minor}".`);
    return Number(minor);
  }
  if (amount === undefined) return undefined;
  // Scripts write a dot. A comma would depend on who reads it.
  if (!/^\d+(\.\d+)?$/.test(amount))
    throw wrongUsage(`--amount takes major units such as 12.50, not "${amount}".`);
  const parsed = parseAmount(amount, currency);
  if ('problem' in parsed) throw wrongUsage(`--amount ${amount} is not valid. ${parsed.problem}`);
  const { minor: parsedMinor, hasDecimals } = parsed;
  const exponent = exponentOf(currency);
  if (!hasDecimals && exponent > 0) {
    const major = parsedMinor / 10 ** exponent;
    const code = currency.toUpperCase();
    throw wrongUsage(
      `--amount ${amount} is ambiguous: write --amount ${decimalText(parsedMinor, exponent)} for ${amountText(parsedMinor, code)}, or --minor ${major} for ${amountText(major, code)}.`,
    );
  }
  return parsedMinor;
}

/** 1250 of EUR is `12.50 EUR`. Sums beyond 2^53 arrive as text. */
export function amountText(minor: Minor, currency: string): string {
  return `${decimalText(minor, exponentOf(currency))} ${currency}`;
}
