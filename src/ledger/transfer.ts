import { AssertionFailed, unreachable } from '../kernel/assert.ts';
import type { Entry, EntryReason } from '../kernel/ledger.ts';
import type { Account } from './accounts.ts';
import { credit, debit, entry, entryAcross, type Leg } from './entry.ts';

/** The ledger entries of a transfer's state transitions. The source amount with its fee comes in, the target amount goes out. */
export interface TransferBook {
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly sourceAmount: bigint;
  readonly targetAmount: bigint;
  readonly feeAmount: bigint;
  readonly fundFrom: 'external' | 'balance';
}

type Entries = readonly Entry[];

const payer = ({ fundFrom }: TransferBook): Account =>
  fundFrom === 'balance' ? 'merchant_available' : 'bank';

export function totalOf({
  sourceAmount,
  feeAmount,
}: Pick<TransferBook, 'sourceAmount' | 'feeAmount'>): bigint {
  return sourceAmount + feeAmount;
}

export function funded(book: TransferBook): Entries {
  const total = totalOf(book);
  return entry('fund', book.sourceCurrency, [debit(payer(book), total), credit('transfer_funding', total)]);
}

export function converted(book: TransferBook): Entries {
  return entryAcross('convert', [
    [
      book.sourceCurrency,
      [
        debit('transfer_funding', totalOf(book)),
        credit('fx_position', book.sourceAmount),
        credit('fees', book.feeAmount),
      ],
    ],
    [
      book.targetCurrency,
      [debit('fx_position', book.targetAmount), credit('payout_clearing', book.targetAmount)],
    ],
  ]);
}

export function sent({ targetCurrency, targetAmount }: TransferBook, reason: 'send' | 'resend'): Entries {
  return entry(reason, targetCurrency, [
    debit('payout_clearing', targetAmount),
    credit('payouts_in_transit', targetAmount),
  ]);
}

export function completed({ targetCurrency, targetAmount }: TransferBook): Entries {
  return entry('complete', targetCurrency, [
    debit('payouts_in_transit', targetAmount),
    credit('bank', targetAmount),
  ]);
}

/** Reverses the sending: the money comes back from transit, or from the beneficiary's bank. */
export function returned(
  { targetCurrency, targetAmount }: TransferBook,
  from: 'sent' | 'completed',
): Entries {
  return entry('return', targetCurrency, [
    debit(from === 'completed' ? 'bank' : 'payouts_in_transit', targetAmount),
    credit('payout_clearing', targetAmount),
  ]);
}

/** States in which the payer can be refunded. */
type MoneyIn = 'quoted' | 'accepted' | 'funded' | 'in_review' | 'converted' | 'returned';
/** States in which the money is in transit, with the beneficiary, or already refunded. */
type MoneyElsewhere = 'sent' | 'completed' | 'refunded' | 'canceled' | 'expired' | 'failed';

/**
 * Refunds the payer completely, including the fee. A conversion is reversed at its original rate, so there is no gain or loss.
 */
export function unwound(book: TransferBook, reason: EntryReason, from: MoneyIn | MoneyElsewhere): Entries {
  const total = totalOf(book);
  switch (from) {
    case 'quoted':
    case 'accepted':
      return [];
    case 'funded':
    case 'in_review':
      return entry(reason, book.sourceCurrency, [
        debit('transfer_funding', total),
        credit(payer(book), total),
      ]);
    case 'converted':
    case 'returned':
      return entryAcross(reason, unconverted(book, total));
    case 'sent':
    case 'completed':
    case 'refunded':
    case 'canceled':
    case 'expired':
    case 'failed':
      throw new AssertionFailed(`a ${from} transfer cannot be unwound`);
    default:
      return unreachable(from, 'the status of a transfer');
  }
}

function unconverted(book: TransferBook, total: bigint): readonly Leg[] {
  return [
    [
      book.targetCurrency,
      [debit('payout_clearing', book.targetAmount), credit('fx_position', book.targetAmount)],
    ],
    [
      book.sourceCurrency,
      [debit('fx_position', book.sourceAmount), debit('fees', book.feeAmount), credit(payer(book), total)],
    ],
  ];
}
