import { decimalText, exponentOf, type Minor } from '../../sdk/amount.ts';

export type { Minor } from '../../sdk/amount.ts';
export { exponentOf, parseAmount, parseDecimal, splitDecimal } from '../../sdk/amount.ts';

/** '123456', 'EUR' -> '1,234.56'. The sign is U+2212, a true minus. */
export function formatAmount(amount: Minor, currency: string): string {
  const [whole = '', fraction] = decimalText(amount, exponentOf(currency)).split('.');
  const grouped = whole.replace('-', '\u2212').replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** 123456, 'EUR' -> '1234.56', as the value of an input. */
export function editableAmount(amount: Minor, currency: string): string {
  return decimalText(amount, exponentOf(currency));
}

/** '123456', 'EUR' -> '1,234.56 EUR'. */
export function amountText(amount: Minor, currency: string): string {
  return `${formatAmount(amount, currency)} ${currency}`;
}
