/** Where the money of a payment must be, by its amounts alone: no postings are added up here. */
import { disputed, disputeLost, disputeOpen, type Payment, refunded, refundPending } from './model.ts';

export type Books = Readonly<Record<string, bigint>>;

export function booksOf(payment: Payment): Books {
  const { held, captured, fee, isSettled } = payment;
  // With the provider until it is settled, in the bank from then on.
  const money = captured - refunded(payment) - disputeLost(payment);
  const share = captured - fee - refunded(payment) - refundPending(payment) - disputed(payment);
  return {
    provider_holds: held,
    hold_obligations: -held,
    provider_receivable: isSettled ? 0n : money,
    bank: isSettled ? money : 0n,
    merchant_pending: isSettled ? 0n : -share,
    merchant_available: isSettled ? -share : 0n,
    fees: -fee,
    refunds_in_transit: -refundPending(payment),
    dispute_reserve: -disputeOpen(payment),
  };
}

export const accountNames: readonly string[] = [
  ...['provider_holds', 'hold_obligations', 'provider_receivable', 'bank', 'merchant_pending'],
  ...['merchant_available', 'fees', 'refunds_in_transit', 'dispute_reserve'],
];

/** What a step posted: the books after it without the books before it, accounts that did not move left out. */
export function difference(before: Books, after: Books): Books {
  const moved = accountNames.map((account) => [account, (after[account] ?? 0n) - (before[account] ?? 0n)]);
  return Object.fromEntries(moved.filter(([, amount]) => amount !== 0n));
}
