import type { Position, Step } from '../../kernel/advance.ts';
import { assert } from '../../kernel/assert.ts';
import { type Change, type CommandContext, change } from '../../kernel/command.ts';
import type { Refusal } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { type ActionOf, defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import { refundCreated, refundReturned, refundSucceeded } from '../../ledger/payment.ts';
import { amountToReturn, bookOf, currentScenario, movePayment, restingStatus } from '../payments/machine.ts';
import type { PaymentRow } from '../payments/table.ts';
import { type RefundRow, refundStates } from './table.ts';

export const refundMachine = defineMachine<RefundRow>()({
  resource: 'refund',
  states: refundStates,
  goal: 'succeeded',
  setbacks: ['failed', 'canceled'],
  moves: [
    { action: 'create', from: [], to: ['pending'], event: 'created' },
    { action: 'succeed', from: ['pending'], to: ['succeeded'] },
    { action: 'fail', from: ['pending'], to: ['failed'] },
    { action: 'cancel', from: ['pending'], to: ['canceled'] },
  ],
  eventDescriptions: {
    created: 'A refund was created, and its amount is set aside.',
    succeeded: 'The money has gone back to the customer.',
    failed: 'The provider could not return the money; it stays with the payment.',
    canceled: 'The refund was canceled while it was pending; the money stays with the payment.',
  },
});

export type RefundAction = ActionOf<typeof refundMachine>;

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

/** The outcome that the payment's scenario gives its refunds; undefined leaves them pending. */
export function endingOf(payment: PaymentRow): Ending | undefined {
  const scenario = currentScenario(payment);
  if (scenario === 'refund_pending') return undefined;
  return scenario === 'refund_fails' ? 'fail' : 'succeed';
}

/** Creates a refund and ends it immediately unless `ending` is undefined. The payment's state has been checked. */
export function createRefund(
  payment: PaymentRow,
  fields: RefundFields,
  ending: Ending | undefined,
  context: CommandContext,
): RefundPosition | Refusal {
  const requested = amountToReturn(payment, fields, 'refundable');
  if (!requested.ok) return requested;
  const { amount } = requested;
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
  const created = change(refundMachine, 'create', null, pending);
  const book = bookOf(payment);
  const reserved: PaymentRow = { ...payment, amountRefundPending: payment.amountRefundPending + amount };
  const entries = refundCreated(book, amount);
  const causeId = pending.id;
  if (ending === undefined) {
    const { amountRefundPending } = reserved;
    const paymentMove = movePayment(
      payment,
      'refund_pending',
      { amountRefundPending },
      { amount, entries, causeId },
      context,
    );
    return { ok: true, row: pending, payment: paymentMove.row, changes: [created, paymentMove] };
  }
  const ended = endRefund(pending, ending, context);
  const { patch, entries: more } = effectOf(reserved, amount, ending, context.now);
  const action = ending === 'succeed' ? 'refund' : 'refund_failed';
  const paymentMove = movePayment(
    payment,
    action,
    patch,
    { amount, entries: [...entries, ...more], causeId },
    context,
  );
  return { ok: true, row: ended.row, payment: paymentMove.row, changes: [created, ended, paymentMove] };
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

/** The effect of ending a pending refund on its payment. */
function effectOf(payment: PaymentRow, amount: bigint, ending: Ending, now: Instant) {
  const book = bookOf(payment);
  const amountRefundPending = payment.amountRefundPending - amount;
  if (ending !== 'succeed') {
    const reason = ending === 'fail' ? 'refund_failed' : 'refund_canceled';
    return { patch: { amountRefundPending }, entries: refundReturned(book, amount, reason) };
  }
  const amountRefunded = payment.amountRefunded + amount;
  const statusByAmounts = restingStatus({ ...payment, amountRefunded });
  const instants =
    statusByAmounts === 'refunded' ? { ...payment.instants, refundedAt: now } : payment.instants;
  // An open dispute determines the payment's status, whatever is refunded in the meantime.
  const status = payment.status === 'disputed' ? payment.status : statusByAmounts;
  return {
    patch: { amountRefundPending, amountRefunded, status, instants },
    entries: refundSucceeded(book, amount),
  };
}

/** Ends a pending refund and updates its payment. The state has been checked. */
export function applyEnding(
  at: RefundPosition,
  { action }: Step<RefundAction, null>,
  context: CommandContext,
): RefundPosition {
  assert(action !== 'create', 'a refund that exists is not created again');
  const ended = endRefund(at.row, action, context);
  const { amount, id: causeId } = at.row;
  const { patch, entries } = effectOf(at.payment, amount, action, context.now);
  const paymentMove = movePayment(
    at.payment,
    `refund_${outcomes[action]}`,
    patch,
    { amount, entries, causeId },
    context,
  );
  return { ok: true, row: ended.row, payment: paymentMove.row, changes: [...at.changes, ended, paymentMove] };
}
