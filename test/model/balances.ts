/** Account balances of a payment, derived from its amounts alone; no postings are added up here. */
import { disputed, disputeLost, disputeOpen, type Payment, refunded, refundPending } from './payments.ts';

export type Balances = Readonly<Record<string, bigint>>;

export function balancesOf(payment: Payment): Balances {
  const { held, captured, fee, isSettled } = payment;
  // Held by the provider until the payment is settled, then in the bank.
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

/** The sum of postings between two states of a payment, without unchanged accounts. */
export function difference(before: Balances, after: Balances): Balances {
  const moved = accountNames.map((account) => [account, (after[account] ?? 0n) - (before[account] ?? 0n)]);
  return Object.fromEntries(moved.filter(([, amount]) => amount !== 0n));
}
