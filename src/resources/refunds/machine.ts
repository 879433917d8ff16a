import type { Position, Step } from '../../kernel/advance.ts';
import { type Change, type CommandContext, change } from '../../kernel/command.ts';
import type { Refusal } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import { refundMade, refundReturned, refundSucceeded } from '../../ledger/payment.ts';
import { amountToReturn, bookOf, currentScenario, movePayment, restingStatus } from '../payments/machine.ts';
import type { PaymentRow } from '../payments/table.ts';
import { type RefundRow, refundStates } from './table.ts';

export const refundMachine = defineMachine<RefundRow>({
  resource: 'refund',
  states: refundStates,
  moves: [
    { action: 'create', from: [], to: ['pending'], event: 'created' },
    { action: 'succeed', from: ['pending'], to: ['succeeded'] },
    { action: 'fail', from: ['pending'], to: ['failed'] },
    { action: 'cancel', from: ['pending'], to: ['canceled'] },
  ],
  eventDescriptions: {
    created: 'A refund was created, and its amount is set aside.',
    succeeded: 'The money has gone back to the customer.',
    failed: 'The provider could not give the money back; it stays with the payment.',
    canceled: 'The refund was canceled while it was pending; the money stays with the payment.',
  },
});

const outcomes = { succeed: 'succeeded', fail: 'failed', cancel: 'canceled' } as const;
export type Ending = keyof typeof outcomes;

export interface RefundFields {
  /** Null refunds all that is left. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface RefundPosition extends Position<RefundRow> {
  readonly payment: PaymentRow;
}

/** The end that the provider has in store for a refund of this payment; undefined lets it wait. */
export function endingOf(payment: PaymentRow): Ending | undefined {
  const scenario = currentScenario(payment);
  if (scenario === 'refund_pending') return undefined;
  return scenario === 'refund_fails' ? 'fail' : 'succeed';
}

/** Makes a refund, and ends it at once unless `ending` lets it wait. The payment's state has been checked. */
export function makeRefund(
  payment: PaymentRow,
  fields: RefundFields,
  ending: Ending | undefined,
  context: CommandContext,
): RefundPosition | Refusal {
  const asked = amountToReturn(payment, fields, 'refundable');
  if (!asked.ok) return asked;
  const { amount } = asked;
  // From here it must succeed.
  const pending: RefundRow = {
    orgId: context.orgId,
    id: formatId('refund', context.suffix),
    appId: payment.appId,
    status: 'pending',
    version: 1,
    paymentId: payment.id,
    amount,
    currency: payment.currency,
    reason: fields.reason,
    metadata: fields.metadata,
    endedAt: null,
    createdAt: context.now,
    updatedAt: context.now,
  };
  const made = change(refundMachine, 'create', null, pending);
  const book = bookOf(payment);
  const reserved: PaymentRow = { ...payment, amountRefundPending: payment.amountRefundPending + amount };
  const entries = refundMade(book, amount);
  const causeId = pending.id;
  if (ending === undefined) {
    const { amountRefundPending } = reserved;
    const paid = movePayment(
      payment,
      'refund_pending',
      { amountRefundPending },
      { amount, entries, causeId },
      context,
    );
    return { ok: true, row: pending, payment: paid.row, changes: [made, paid] };
  }
  const ended = endRefund(pending, ending, context);
  const { patch, entries: more } = effectOf(reserved, amount, ending, context.now);
  const action = ending === 'succeed' ? 'refund' : 'refund_failed';
  const paid = movePayment(
    payment,
    action,
    patch,
    { amount, entries: [...entries, ...more], causeId },
    context,
  );
  return { ok: true, row: ended.row, payment: paid.row, changes: [made, ended, paid] };
}

function endRefund(
  before: RefundRow,
  action: Ending,
  { now }: CommandContext,
): Change & { readonly row: RefundRow } {
  const row: RefundRow = {
    ...before,
    status: outcomes[action],
    version: before.version + 1,
    endedAt: now,
    updatedAt: now,
  };
  return { ...change(refundMachine, action, before, row), row };
}

/** What the end of a pending refund does to its payment. */
function effectOf(payment: PaymentRow, amount: bigint, ending: Ending, now: Instant) {
  const book = bookOf(payment);
  const amountRefundPending = payment.amountRefundPending - amount;
  if (ending !== 'succeed') {
    const reason = ending === 'fail' ? 'refund_failed' : 'refund_canceled';
    return { patch: { amountRefundPending }, entries: refundReturned(book, amount, reason) };
  }
  const amountRefunded = payment.amountRefunded + amount;
  const rests = restingStatus({ ...payment, amountRefunded });
  const instants = rests === 'refunded' ? { ...payment.instants, refundedAt: now } : payment.instants;
  // An open dispute decides the state of its payment, whatever is refunded meanwhile.
  const status = payment.status === 'disputed' ? payment.status : rests;
  return {
    patch: { amountRefundPending, amountRefunded, status, instants },
    entries: refundSucceeded(book, amount),
  };
}

/** The end of a pending refund, with what it brings to the payment. The state has been checked. */
export function applyEnding(
  at: RefundPosition,
  { action }: Step<null>,
  context: CommandContext,
): RefundPosition {
  const ending = action as Ending;
  const ended = endRefund(at.row, ending, context);
  const { amount, id: causeId } = at.row;
  const { patch, entries } = effectOf(at.payment, amount, ending, context.now);
  const paid = movePayment(
    at.payment,
    `refund_${ended.row.status}`,
    patch,
    { amount, entries, causeId },
    context,
  );
  return { ok: true, row: ended.row, payment: paid.row, changes: [...at.changes, ended, paid] };
}
