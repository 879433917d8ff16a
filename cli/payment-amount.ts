import type { Sandbank } from '../sdk/client.ts';
import { type AmountOptions, minorUnits } from './money.ts';

export const amountOptions = [
  ['--amount <major>', 'amount in major units, written with a dot: 12.50'],
  ['--minor <count>', 'amount in minor units, a whole number: 1250'],
] as const;

/** The amount for a call on an existing payment. Only `--amount` needs the payment's currency, so only then is the payment read. */
export async function paymentAmount(
  sandbank: Sandbank,
  id: string,
  options: AmountOptions,
): Promise<number | undefined> {
  if (options.amount === undefined) return minorUnits(options, '');
  const { currency } = await sandbank.payments.retrieve(id);
  return minorUnits(options, currency);
}
