import { type Change, type CommandContext, change } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Entry } from '../../kernel/posting.ts';
import type { ProviderMove } from '../../kernel/provider.ts';
import type { Settlement } from '../../kernel/settlement.ts';
import type { Book } from '../../ledger/payment.ts';
import { type PaymentRow, paymentMachine } from '../payments/machine.ts';

/** What the moves of a payment are made of, whoever brings them: the payment itself, its refunds, its disputes. */

/** Where a payment stands by its amounts alone: that is where a dispute leaves it. */
export function restingStatus(row: PaymentRow): PaymentRow['status'] {
  if (row.amountRefunded > 0n) {
    return row.amountRefunded === row.amountCaptured ? 'refunded' : 'partially_refunded';
  }
  return row.instants.settledAt === undefined ? 'captured' : 'settled';
}

/** What can still go back to the payer, by refund or by dispute. */
export function returnable(row: PaymentRow): bigint {
  return row.amountCaptured - row.amountRefunded - row.amountRefundPending - row.amountDisputed;
}

export function bookOf({ currency, instants }: PaymentRow): Book {
  return { currency, isSettled: instants.settledAt !== undefined };
}

export function refuseCurrency(row: PaymentRow, currency: string | null): Refusal | undefined {
  if (currency === null || currency.toUpperCase() === row.currency) return undefined;
  return refuse('currency_mismatch', {
    message: `The payment is in ${row.currency}, not in ${currency.toUpperCase()}. Leave \`currency\` out, or send its own.`,
    param: '/currency',
  });
}

/** Nothing moves a disputed payment but its dispute: the refusal says where to go. */
export function withDispute(refusal: Refusal, { status, disputeId }: PaymentRow): Refusal {
  if (status !== 'disputed' || refusal.code !== 'invalid_state_transition') return refusal;
  return {
    ...refusal,
    message: `${refusal.message} Its dispute decides: advance ${disputeId}.`,
    details: { ...refusal.details, disputeId },
  };
}

/** What a refund or a dispute takes of a payment: all that is left, or the amount asked for. */
export function amountToReturn(
  row: PaymentRow,
  asked: { readonly amount: bigint | null; readonly currency: string | null },
  what: 'refundable' | 'disputable',
): { readonly ok: true; readonly amount: bigint } | Refusal {
  const mismatch = refuseCurrency(row, asked.currency);
  if (mismatch) return mismatch;
  const left = returnable(row);
  const amount = asked.amount ?? left;
  if (left > 0n && amount <= left) return { ok: true, amount };
  return refuse(`amount_exceeds_${what}`, {
    param: '/amount',
    details: { [what]: Number(left), requested: Number(amount) },
  });
}

export interface MoveEffects {
  readonly entries?: readonly Entry[];
  /** What the move is about, for the provider. */
  readonly amount: bigint;
  /** The refund or dispute that brings the move along. */
  readonly causeId?: string;
  /** What the provider's report says, when the move pays out. */
  readonly settlement?: Settlement;
}

/** The change that one move of a payment is. Its provider is told of all but the customer's new attempt. */
export function movePayment(
  before: PaymentRow,
  action: string,
  patch: Partial<PaymentRow>,
  effects: MoveEffects,
  { now }: CommandContext,
): Change & { readonly row: PaymentRow } {
  const row: PaymentRow = { ...before, ...patch, version: before.version + 1, updatedAt: now };
  const { amount, entries = [], causeId = null, settlement = null } = effects;
  const told =
    action === 'retry' ? null : tell(row, { subject: row, action, from: before.status, amount, causeId });
  return { ...change(paymentMachine, action, before, row, { entries, told, settlement }), row };
}

/** What the provider of a payment sees of a move: of the payment itself, or of its dispute. */
export function tell(
  payment: PaymentRow,
  move: Pick<ProviderMove, 'action' | 'from' | 'amount' | 'causeId'> & {
    /** The record after its move. */
    readonly subject: {
      readonly id: string;
      readonly version: number;
      readonly status: string;
      readonly updatedAt: number;
    };
  },
): ProviderMove {
  const { subject, action, from, amount, causeId } = move;
  return {
    provider: payment.provider,
    record: 'payment',
    recordId: payment.id,
    subjectId: subject.id,
    version: subject.version,
    action,
    from,
    to: subject.status,
    amount,
    currency: payment.currency,
    failureCode: payment.failureCode,
    causeId,
    at: subject.updatedAt,
  };
}
