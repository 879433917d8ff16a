import { assert } from '../kernel/assert.ts';
import type { Entry, EntryReason, Posting } from '../kernel/ledger.ts';
import type { Account } from './accounts.ts';

export type Line = readonly [account: Account, amount: bigint];

/** One entry in one currency, or none when all amounts are zero. An entry that does not sum to zero is a bug and is never posted. */
export function entry(reason: EntryReason, currency: string, lines: readonly Line[]): readonly Entry[] {
  const postings: Posting[] = lines
    .filter(([, amount]) => amount !== 0n)
    .map(([account, amount]) => ({ account, currency, amount }));
  const sum = postings.reduce((total, { amount }) => total + amount, 0n);
  assert(sum === 0n, `${reason}: the postings sum to ${sum} ${currency}`);
  return postings.length === 0 ? [] : [{ reason, postings }];
}

export type Leg = readonly [currency: string, lines: readonly Line[]];

/**
 * One entry across currencies; each currency sums to zero. Legs in the same currency are merged to one posting per account.
 */
export function entryAcross(reason: EntryReason, legs: readonly Leg[]): readonly Entry[] {
  const currencies = [...new Set(legs.map(([currency]) => currency))];
  const postings = currencies.flatMap((currency) => {
    const sums = new Map<Account, bigint>();
    for (const [account, amount] of legs.filter(([one]) => one === currency).flatMap(([, lines]) => lines)) {
      sums.set(account, (sums.get(account) ?? 0n) + amount);
    }
    return entry(reason, currency, [...sums]).flatMap((one) => one.postings);
  });
  return postings.length === 0 ? [] : [{ reason, postings }];
}

export const debit = (account: Account, amount: bigint): Line => [account, amount];
export const credit = (account: Account, amount: bigint): Line => [account, -amount];
