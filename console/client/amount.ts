/** Amounts are integers in minor units (1250 is 12.50 EUR); large sums arrive as strings. All arithmetic is on strings. */
export type Minor = number | string;

/** '123456', 2 -> '1,234.56'. The sign is U+2212, a true minus. */
export function formatMinor(amount: Minor, exponent: number): string {
  const text = String(amount);
  const isNegative = text.startsWith('-');
  const digits = (isNegative ? text.slice(1) : text).padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = exponent === 0 ? '' : `.${digits.slice(-exponent)}`;
  return `${isNegative ? '\u2212' : ''}${whole}${fraction}`;
}

/** User input such as '12.5' or '1,250.00' in minor units; undefined if it is not a valid amount in that currency. */
export function parseMajor(text: string, exponent: number): number | undefined {
  const match = /^(\d{1,12})(?:\.(\d*))?$/.exec(text.trim().replaceAll(',', ''));
  if (!match) return undefined;
  const fraction = match[2] ?? '';
  if (fraction.length > exponent) return undefined;
  const minor = Number(`${match[1]}${fraction.padEnd(exponent, '0')}`);
  return Number.isSafeInteger(minor) ? minor : undefined;
}

/** '1250', 2 -> '12.50', the format of an input. */
export function majorText(amount: Minor, exponent: number): string {
  return formatMinor(amount, exponent).replaceAll(',', '').replace('\u2212', '-');
}
