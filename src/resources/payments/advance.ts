import { type Advance, advance, type Position, type Step } from '../../kernel/advance.ts';
import { assert } from '../../kernel/assert.ts';
import type { Due } from '../../kernel/clock.ts';
import { accepted, type CommandContext, type CommandKind } from '../../kernel/command.ts';
import type { DeclineCode } from '../../kernel/decline.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import { refuseMove } from '../../kernel/machine.ts';
import { declineOf } from '../../kernel/scenario.ts';
import { feeOf } from '../../ledger/fee.ts';
import { authorized, captured, released, settled } from '../../ledger/payment.ts';
import { settle } from '../../ledger/settlement.ts';
import { type DisputePosition, moveDispute, openDispute } from '../disputes/machine.ts';
import type { DisputeRow } from '../disputes/table.ts';
import { type Ending, endingOf, makeRefund } from '../refunds/machine.ts';
import {
  bookOf,
  currentScenario,
  type MoveEffects,
  movePayment,
  paymentMachine,
  refuseCurrency,
  returnable,
  withDispute,
} from './machine.ts';
import { type MoveParams, nextStep, noParams, paymentDue } from './scenario.ts';
import type { PaymentRow } from './table.ts';

export interface AdvancePayment {
  readonly id: string;
  readonly request: Advance<MoveParams>;
}

export interface PaymentPosition extends Position<PaymentRow> {
  /** A dispute that was opened on this very way. */
  readonly dispute: DisputeRow | null;
}

const dayMs = 86_400_000;
// What a refused capture is told with: the provider failed, the payer did not.
const captureFailure: DeclineCode = 'processing_error';
const failureDefault: DeclineCode = 'generic_decline';

export const advancePayment: CommandKind<AdvancePayment> = {
  name: 'payments.advance',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'payment', id, lock: 'update' }],
  decide: ({ id, request }, context, rows) => {
    const row = rows.get<PaymentRow>('payment', id);
    if (!row) return refuse('resource_not_found');
    const start = caughtUp({ ok: true, row, dispute: null, changes: [] }, context);
    const end = advance<PaymentRow, MoveParams, PaymentPosition>(request, start, {
      machine: paymentMachine,
      defaults: noParams,
      next: ({ row: at }) => nextStep(at),
      // Who names a state wants to be there, whatever the provider was going to do.
      apply: (at, step) =>
        request.by === 'to'
          ? apply(at, step, 'succeed', context)
          : apply(at, played(at.row, step), endingOf(at.row), context),
      triggered: (at) => loseDispute(at, context),
    });
    if (end.ok) return accepted(end.changes, 'payment', end.row);
    // What was caught up with is not kept when the request is refused: a dispute from there has no id yet.
    return start.row.disputeId === row.disputeId ? withDispute(end, start.row) : end;
  },
};

/** No payment waits for more than this at once: attempts, dispute and settlement together are fewer. */
const overdueMax = 32;

/** What is overdue happens first, each step at its own instant, whether its timer has come round yet or not. */
export function caughtUp(start: PaymentPosition, context: CommandContext): PaymentPosition {
  let at = start;
  for (let steps = 0; steps < overdueMax; steps += 1) {
    const due = paymentDue(at.row);
    if (!due || due.at > context.now) return at;
    at = firePayment(at, due, context);
  }
  throw new Error('a payment does not come to rest');
}

/** The step that a payment's clock brings, at the instant it is due. */
export function firePayment(at: PaymentPosition, due: Due, context: CommandContext): PaymentPosition {
  const step = nextStep(at.row);
  // Its own step with the parameters of the scenario; what merely lapses or is paid out has none.
  const fired = step?.action === due.action ? step : { action: due.action, params: noParams };
  const end = apply(at, played(at.row, fired), endingOf(at.row), { ...context, now: due.at });
  assert(end.ok, `${due.action} was due and is refused`);
  return end;
}

/** A capture is the merchant's wish, and the provider may refuse it. The other steps are the provider's own. */
function played(row: PaymentRow, step: Step<MoveParams>): Step<MoveParams> {
  const isRefused =
    step.action === 'capture' &&
    currentScenario(row) === 'capture_fails' &&
    refuseMove(paymentMachine, 'fail', row) === undefined &&
    refuseCapture(row, step.params) === undefined;
  return isRefused ? { action: 'fail', params: { ...noParams, failureCode: captureFailure } } : step;
}

/** One step of a payment whose state has been checked. */
function apply(
  at: PaymentPosition,
  step: Step<MoveParams>,
  refundEnding: Ending | undefined,
  context: CommandContext,
): PaymentPosition | Refusal {
  const { action, params } = step;
  const { row } = at;
  const { now } = context;
  const book = bookOf(row);
  const went = (patch: Partial<PaymentRow>, effects: MoveEffects): PaymentPosition => {
    const made = movePayment(row, action, patch, effects, context);
    return { ...at, row: made.row, changes: [...at.changes, made] };
  };
  const { amount, amountHeld } = row;
  const emptied = { amountCapturable: 0n, amountHeld: 0n };
  switch (action) {
    case 'require_action':
      return went({ status: 'requires_action' }, { amount });
    case 'process':
      return went({ status: 'processing' }, { amount });
    case 'authorize': {
      const authorizationExpiresAt = now + limits.authorizationDays * dayMs;
      const instants = { ...row.instants, authorizedAt: now, authorizationExpiresAt };
      return went(
        { status: 'authorized', amountCapturable: amount, amountHeld: amount, instants },
        { amount, entries: authorized(book, amount) },
      );
    }
    case 'capture':
      return capture(at, params, context);
    case 'settle': {
      const gross = row.amountCaptured - row.amountRefunded - row.amountDisputed;
      const net = gross - row.feeAmount - row.amountRefundPending;
      const status = row.status === 'captured' ? 'settled' : row.status;
      const { id: recordId, provider, currency, feeAmount: fee } = row;
      const settlement = settle({ recordId, provider, currency, gross, fee }, currentScenario(row));
      return went(
        {
          status,
          reconciliation: settlement.result,
          instants: { ...row.instants, settledAt: now },
        },
        { amount: gross, entries: settled(book, gross, net), settlement },
      );
    }
    case 'fail': {
      const scenario = currentScenario(row);
      const failureCode = params.failureCode ?? declineOf(scenario) ?? failureDefault;
      return went(
        {
          ...emptied,
          status: 'failed',
          failureCode,
          attempts: [...row.attempts, { scenario, failureCode, failedAt: now }],
          instants: { ...row.instants, failedAt: now, authorizationExpiresAt: undefined },
        },
        { amount, entries: released(book, amountHeld) },
      );
    }
    case 'retry': {
      const instants = { ...row.instants, failedAt: undefined, authorizedAt: undefined };
      return went({ status: 'pending', failureCode: null, instants }, { amount });
    }
    case 'cancel':
    case 'expire': {
      // Of a payment that was captured in part only the rest lapses.
      const hasCaptured = row.status === 'partially_captured';
      const ended = action === 'cancel' ? 'canceled' : 'expired';
      const when = hasCaptured ? {} : { [`${ended}At`]: now };
      return went(
        {
          ...emptied,
          status: hasCaptured ? 'captured' : ended,
          instants: { ...row.instants, ...when, authorizationExpiresAt: undefined },
        },
        { amount: amountHeld, entries: released(book, amountHeld) },
      );
    }
    case 'refund': {
      const part = params.amount ?? (params.isPart ? halfOf(returnable(row)) : null);
      const made = makeRefund(row, { ...params, amount: part }, refundEnding, context);
      return made.ok ? { ...at, row: made.payment, changes: [...at.changes, ...made.changes] } : made;
    }
    case 'dispute': {
      const opened = openDispute(row, params, context);
      if (!opened.ok) return opened;
      return { ...at, row: opened.payment, dispute: opened.row, changes: [...at.changes, ...opened.changes] };
    }
    default:
      throw new Error(`${action} is no move of a payment`);
  }
}

/** Rounded down; of a single unit there is no half. */
function halfOf(amount: bigint): bigint {
  return amount > 1n ? amount / 2n : amount;
}

/** What may be captured at once: all of it before anything was authorized, later what is left. */
function capturable(row: PaymentRow): bigint {
  const isNew = row.status !== 'authorized' && row.status !== 'partially_captured';
  return isNew ? row.amount : row.amountCapturable;
}

function refuseCapture(row: PaymentRow, { amount, currency }: MoveParams): Refusal | undefined {
  const mismatch = refuseCurrency(row, currency);
  if (mismatch) return mismatch;
  const most = capturable(row);
  if (amount === null || amount <= most) return undefined;
  return refuse('amount_exceeds_capturable', {
    param: '/amount',
    details: { capturable: Number(most), requested: Number(amount) },
  });
}

function capture(
  at: PaymentPosition,
  params: MoveParams,
  context: CommandContext,
): PaymentPosition | Refusal {
  const { row } = at;
  const refusal = refuseCapture(row, params);
  if (refusal) return refusal;
  // From here it must succeed.
  const most = capturable(row);
  const amount = params.amount ?? (params.isPart ? halfOf(most) : most);
  const book = bookOf(row);
  const isHeld = row.amountHeld > 0n;
  const fee = feeOf(amount, row);
  const rest = most - amount;
  const isDone = rest === 0n || params.isFinal;
  const heldRest = isHeld ? rest : 0n;
  const made = movePayment(
    row,
    'capture',
    {
      status: isDone ? 'captured' : 'partially_captured',
      amountCaptured: row.amountCaptured + amount,
      amountCapturable: isDone ? 0n : rest,
      amountHeld: isDone ? 0n : heldRest,
      feeAmount: row.feeAmount + fee,
      instants: {
        ...row.instants,
        capturedAt: context.now,
        ...(isDone ? { authorizationExpiresAt: undefined } : {}),
      },
    },
    {
      amount,
      entries: [...captured(book, amount, fee, isHeld), ...(isDone ? released(book, heldRest) : [])],
    },
    context,
  );
  return { ...at, row: made.row, changes: [...at.changes, made] };
}

/** A way may go on through the dispute that it opened itself: accepting it is what charges the payment back. */
function loseDispute(at: PaymentPosition, context: CommandContext): readonly PaymentPosition[] {
  if (at.dispute === null) return [];
  const opened: DisputePosition = { ok: true, row: at.dispute, payment: at.row, changes: at.changes };
  const lost = moveDispute(opened, { action: 'accept', params: null }, context);
  return [{ ...at, row: lost.payment, dispute: null, changes: lost.changes }];
}
