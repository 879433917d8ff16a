/**
 * Amounts as people write and read them. The API has only integers in minor units: 1250 is 12.50 EUR. All arithmetic is on
 * digits, never on floats. The console and the CLI parse every amount here.
 */
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

/** The number of decimal digits of a currency. */
export function exponentOf(currency: string): number {
  return exponents.get(currency.toUpperCase()) ?? exponentDefault;
}

/** Integer minor units; a sum beyond 2^53 is a string. */
export type Minor = number | string;

/** 123456, 2 -> '1234.56'. */
export function decimalText(amount: Minor, exponent: number): string {
  const text = String(amount);
  const sign = text.startsWith('-') ? '-' : '';
  const digits = text.slice(sign.length).padStart(exponent + 1, '0');
  const fraction = exponent === 0 ? '' : `.${digits.slice(-exponent)}`;
  return `${sign}${digits.slice(0, digits.length - exponent)}${fraction}`;
}

/** Both meanings are possible, as in 1,250 for a currency with three decimals. */
interface Ambiguous {
  readonly problem: 'ambiguous';
  readonly meanings: readonly [string, string];
}

export type DecimalDigits =
  | { readonly whole: string; readonly fraction: string }
  | { readonly problem: 'invalid' | 'too_many_decimals' }
  | Ambiguous;

export type ParsedDecimal =
  | { readonly units: number; readonly hasDecimals: boolean }
  | { readonly problem: 'invalid' | 'too_large' | 'too_many_decimals' }
  | Ambiguous;

const wholeDigitsMax = 12;

/** Thousands in groups with the same space or apostrophe between them, then decimals. */
const spacedPattern = /^([1-9]\d{0,2}([\p{Zs}'\u2019])\d{3}(?:\2\d{3})*)([.,]\d*)?$/u;

/**
 * Splits a decimal number with up to `exponent` decimals into its digits before and after the decimal separator. A dot or a
 * comma may be the decimal separator, and spaces, apostrophes, dots or commas may group thousands. A separator counts as grouping
 * only if the groups have three digits. A single comma with three digits after it groups thousands, unless the currency has three
 * decimals: then the text is ambiguous, and nobody would notice a wrong guess.
 */
export function splitDecimal(text: string, exponent: number): DecimalDigits {
  const trimmed = text.trim();
  const [, whole, , rest = ''] = spacedPattern.exec(trimmed) ?? [];
  const compact = whole === undefined ? trimmed : whole.replace(/\D/g, '') + rest;
  if (!/^[\d.,]*$/.test(compact) || !/\d/.test(compact)) return { problem: 'invalid' };
  const split = splitAtDecimal(compact, exponent);
  if (split === undefined) return { problem: 'invalid' };
  if ('meanings' in split) return { problem: 'ambiguous', meanings: split.meanings };
  return split.fraction.length > exponent ? { problem: 'too_many_decimals' } : split;
}

/** Parses a decimal number into units of the last decimal: '12.50' is 1250 with 2 decimals. */
export function parseDecimal(text: string, exponent: number): ParsedDecimal {
  const split = splitDecimal(text, exponent);
  if ('problem' in split) return split;
  const { whole, fraction } = split;
  const units = Number(`${whole}${fraction.padEnd(exponent, '0')}`);
  if (whole.replace(/^0+/, '').length > wholeDigitsMax || !Number.isSafeInteger(units))
    return { problem: 'too_large' };
  return { units, hasDecimals: fraction !== '' };
}

type Split =
  | { readonly whole: string; readonly fraction: string }
  | { readonly meanings: readonly [string, string] };

function splitAtDecimal(text: string, exponent: number): Split | undefined {
  const last = text[Math.max(text.lastIndexOf('.'), text.lastIndexOf(','))];
  if (last === undefined) return { whole: text, fraction: '' };
  const before = text.slice(0, text.lastIndexOf(last));
  const after = text.slice(text.lastIndexOf(last) + 1);
  const other = last === ',' ? '.' : ',';
  if (before.includes(last)) return before.includes(other) ? undefined : grouped(text, last, '');
  if (before.includes(other)) return grouped(before, other, after);
  if (last === ',' && /^[1-9]\d{0,2}$/.test(before) && after.length === 3) {
    if (exponent >= after.length) return { meanings: [`${before}.${after}`, `${before}${after}`] };
    return { whole: `${before}${after}`, fraction: '' };
  }
  return { whole: before, fraction: after };
}

function grouped(whole: string, separator: string, fraction: string): Split | undefined {
  const [first = '', ...groups] = whole.split(separator);
  if (!/^[1-9]\d{0,2}$/.test(first) || groups.some((group) => group.length !== 3)) return undefined;
  return { whole: [first, ...groups].join(''), fraction };
}

export type ParsedAmount =
  | { readonly minor: number; readonly hasDecimals: boolean }
  | { readonly problem: string };

/** Parses an amount of a currency; `problem` is a sentence for the person who wrote it. */
export function parseAmount(text: string, currency: string): ParsedAmount {
  const code = currency.toUpperCase();
  const exponent = exponentOf(code);
  const parsed = parseDecimal(text, exponent);
  if (!('problem' in parsed)) return { minor: parsed.units, hasDecimals: parsed.hasDecimals };
  switch (parsed.problem) {
    case 'ambiguous':
      return { problem: `Ambiguous: enter ${parsed.meanings.join(' or ')}.` };
    case 'too_many_decimals':
      return { problem: `${code} has ${exponent === 0 ? 'no decimals' : `at most ${exponent} decimals`}.` };
    case 'too_large':
      return { problem: 'The amount is too large.' };
    case 'invalid':
      return { problem: `Enter a number such as ${decimalText(1250, exponent)}.` };
  }
}
