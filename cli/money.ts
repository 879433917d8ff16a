import { wrongUsage } from './problem.ts';

const exponentDefault = 2;

/** ISO 4217 currencies whose minor unit is not a hundredth. The server has the whole table; a test compares the two. */
const otherExponents: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const exponents = new Map(
  Object.entries(otherExponents).flatMap(([exponent, codes]) =>
    codes.split(' ').map((code) => [code, Number(exponent)] as const),
  ),
);

export function exponentOf(currency: string): number {
  return exponents.get(currency.toUpperCase()) ?? exponentDefault;
}

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
  const [, whole = '', , decimals] = /^(\d{1,12})(\.(\d+))?$/.exec(amount) ?? [];
  if (whole === '') throw wrongUsage(`--amount takes major units such as 12.50, not "${amount}".`);
  const exponent = exponentOf(currency);
  const code = currency.toUpperCase();
  if (decimals === undefined && exponent > 0)
    throw wrongUsage(
      `--amount ${amount} is ambiguous: write --amount ${whole}.${'0'.repeat(exponent)} for ${amountText(Number(whole) * 10 ** exponent, code)}, or --minor ${amount} for ${amountText(Number(whole), code)}.`,
    );
  if ((decimals ?? '').length > exponent)
    throw wrongUsage(
      `${code} has ${exponent === 0 ? 'no' : `at most ${exponent}`} decimals, and --amount is ${amount}.`,
    );
  return Number(whole + (decimals ?? '').padEnd(exponent, '0'));
}

/** 1250 of EUR is `12.50 EUR`. Built from the digits, never from a float; sums beyond 2^53 arrive as text. */
export function amountText(minor: number | string, currency: string): string {
  const exponent = exponentOf(currency);
  const text = String(minor);
  const sign = text.startsWith('-') ? '-' : '';
  const digits = text.slice(sign.length).padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  return `${sign}${whole}${exponent === 0 ? '' : `.${digits.slice(-exponent)}`} ${currency}`;
}
