import { amountText } from './currency.ts';
import { type Refusal, refuse } from './errors.ts';

/** What also counts, and the way to request all that is left. */
const explanations = {
  capturable: 'Without an amount, all of it is captured.',
  refundable: 'Pending refunds and disputed amounts count. Without an amount, all of it is refunded.',
  disputable:
    'Refunds, including pending ones, and earlier disputes count. Without an amount, all of it is disputed.',
} as const;

/** Names the maximum in major units, so that the message also fits the form of a person; `details` has minor units. */
export function refuseAmount(
  what: keyof typeof explanations,
  currency: string,
  amountMax: bigint,
  requested: bigint,
): Refusal {
  return refuse(`amount_exceeds_${what}`, {
    message:
      amountMax === 0n
        ? `No ${what} amount is left.`
        : `${amountText(requested, currency)} exceeds the ${what} amount of ${amountText(amountMax, currency)}. ${explanations[what]}`,
    param: '/amount',
    details: { [what]: Number(amountMax), requested: Number(requested) },
  });
}
