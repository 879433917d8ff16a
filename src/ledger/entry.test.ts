import { describe, expect, it } from 'vitest';
import { credit, debit, entry } from './entry.ts';
import {
  authorized,
  captured,
  disputeLost,
  disputeOpened,
  disputeWon,
  refundCreated,
  refundReturned,
  refundSucceeded,
  released,
  settled,
} from './payment.ts';

describe('an entry', () => {
  it('is rejected when it does not sum to zero', () => {
    expect(() => entry('capture', 'EUR', [debit('bank', 5n), credit('fees', 4n)])).toThrow('sum to 1 EUR');
    expect(() => entry('capture', 'EUR', [debit('bank', 5n)])).toThrow('sum to 5');
  });

  it('omits zero amounts, and is not created when all amounts are zero', () => {
    const lines = [debit('bank', 5n), credit('fees', 0n), credit('provider_receivable', 5n)];
    expect(entry('settle', 'EUR', lines)).toEqual([
      {
        reason: 'settle',
        postings: [
          { account: 'bank', currency: 'EUR', amount: 5n },
          { account: 'provider_receivable', currency: 'EUR', amount: -5n },
        ],
      },
    ]);
    expect(entry('release', 'EUR', [debit('bank', 0n), credit('fees', 0n)])).toEqual([]);
  });
});

const open = { currency: 'EUR', isSettled: false };
const after = { currency: 'EUR', isSettled: true };

/** Section 7 of the design, row by row; debits positive. */
describe('postings of a payment', () => {
  it.each([
    ['authorize', authorized(open, 9n), { provider_holds: 9n, hold_obligations: -9n }],
    [
      'capture of a held amount',
      captured(open, 9n, 2n, true),
      {
        hold_obligations: 9n,
        provider_receivable: 9n,
        provider_holds: -9n,
        merchant_pending: -7n,
        fees: -2n,
      },
    ],
    [
      'capture of an amount that is not held',
      captured(open, 9n, 2n, false),
      { provider_receivable: 9n, merchant_pending: -7n, fees: -2n },
    ],
    [
      'capture without a fee',
      captured(open, 9n, 0n, false),
      { provider_receivable: 9n, merchant_pending: -9n },
    ],
    [
      'capture with a fee of the whole amount',
      captured(open, 9n, 9n, false),
      { provider_receivable: 9n, fees: -9n },
    ],
    ['release', released(open, 9n), { hold_obligations: 9n, provider_holds: -9n }],
    [
      'settle',
      settled(open, 9n, 7n),
      { bank: 9n, merchant_pending: 7n, provider_receivable: -9n, merchant_available: -7n },
    ],
    [
      'settle with a negative share',
      settled(open, 1n, -2n),
      { bank: 1n, merchant_pending: -2n, provider_receivable: -1n, merchant_available: 2n },
    ],
    ['refund', refundCreated(open, 9n), { merchant_pending: 9n, refunds_in_transit: -9n }],
    ['refund, settled', refundCreated(after, 9n), { merchant_available: 9n, refunds_in_transit: -9n }],
    ['refund succeeded', refundSucceeded(open, 9n), { refunds_in_transit: 9n, provider_receivable: -9n }],
    ['refund succeeded, settled', refundSucceeded(after, 9n), { refunds_in_transit: 9n, bank: -9n }],
    [
      'refund failed',
      refundReturned(open, 9n, 'refund_failed'),
      { refunds_in_transit: 9n, merchant_pending: -9n },
    ],
    [
      'refund canceled, settled',
      refundReturned(after, 9n, 'refund_canceled'),
      { refunds_in_transit: 9n, merchant_available: -9n },
    ],
    ['dispute', disputeOpened(open, 9n), { merchant_pending: 9n, dispute_reserve: -9n }],
    ['dispute, settled', disputeOpened(after, 9n), { merchant_available: 9n, dispute_reserve: -9n }],
    ['dispute won', disputeWon(open, 9n), { dispute_reserve: 9n, merchant_pending: -9n }],
    ['dispute won, settled', disputeWon(after, 9n), { dispute_reserve: 9n, merchant_available: -9n }],
    ['dispute lost', disputeLost(open, 9n), { dispute_reserve: 9n, provider_receivable: -9n }],
    ['dispute lost, settled', disputeLost(after, 9n), { dispute_reserve: 9n, bank: -9n }],
  ])('%s', (_action, entries, expected) => {
    const postings = entries.flatMap((one) => one.postings);
    expect(Object.fromEntries(postings.map(({ account, amount }) => [account, amount]))).toEqual(expected);
    expect(postings).toHaveLength(Object.keys(expected).length);
  });
});
