import type { Entry } from '../kernel/ledger.ts';
import type { Account } from './accounts.ts';
import { credit, debit, entry } from './entry.ts';

/**
 * The ledger entries of a payment's state transitions. Before settlement the money is with the provider and the merchant's share
 * is pending; afterwards it is in the bank and available.
 */
export interface Book {
  readonly currency: string;
  readonly isSettled: boolean;
}

type Entries = readonly Entry[];

const share = ({ isSettled }: Book): Account => (isSettled ? 'merchant_available' : 'merchant_pending');
const money = ({ isSettled }: Book): Account => (isSettled ? 'bank' : 'provider_receivable');

export function authorized({ currency }: Book, amount: bigint): Entries {
  return entry('authorize', currency, [debit('provider_holds', amount), credit('hold_obligations', amount)]);
}

export function captured({ currency }: Book, amount: bigint, fee: bigint, isHeld: boolean): Entries {
  const held = isHeld ? amount : 0n;
  return entry('capture', currency, [
    debit('hold_obligations', held),
    debit('provider_receivable', amount),
    credit('provider_holds', held),
    credit('merchant_pending', amount - fee),
    credit('fees', fee),
  ]);
}

export function released({ currency }: Book, amount: bigint): Entries {
  return entry('release', currency, [debit('hold_obligations', amount), credit('provider_holds', amount)]);
}

/** `gross` is the provider's payout, `net` the merchant's share; refunds can make the share negative. */
export function settled({ currency }: Book, gross: bigint, net: bigint): Entries {
  return entry('settle', currency, [
    debit('bank', gross),
    debit('merchant_pending', net),
    credit('provider_receivable', gross),
    credit('merchant_available', net),
  ]);
}

export function refundCreated(book: Book, amount: bigint): Entries {
  return entry('refund', book.currency, [debit(share(book), amount), credit('refunds_in_transit', amount)]);
}

export function refundSucceeded(book: Book, amount: bigint): Entries {
  return entry('refund_succeeded', book.currency, [
    debit('refunds_in_transit', amount),
    credit(money(book), amount),
  ]);
}

export function refundReturned(
  book: Book,
  amount: bigint,
  reason: 'refund_failed' | 'refund_canceled',
): Entries {
  return entry(reason, book.currency, [debit('refunds_in_transit', amount), credit(share(book), amount)]);
}

export function disputeOpened(book: Book, amount: bigint): Entries {
  return entry('dispute', book.currency, [debit(share(book), amount), credit('dispute_reserve', amount)]);
}

export function disputeWon(book: Book, amount: bigint): Entries {
  return entry('dispute_won', book.currency, [debit('dispute_reserve', amount), credit(share(book), amount)]);
}

export function disputeLost(book: Book, amount: bigint): Entries {
  return entry('dispute_lost', book.currency, [
    debit('dispute_reserve', amount),
    credit(money(book), amount),
  ]);
}
