import { type Advance, advance, catchUp, type Position } from '../../kernel/advance.ts';
import { AssertionFailed, assert, unreachable } from '../../kernel/assert.ts';
import { accepted, type CommandContext, type CommandKind } from '../../kernel/command.ts';
import type { DeclineCode } from '../../kernel/decline.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { refuseMove } from '../../kernel/machine.ts';
import { refuseAmount } from '../../kernel/refuse-amount.ts';
import { declineOf } from '../../kernel/scenario.ts';
import { type Due, dayMs } from '../../kernel/time.ts';
import { feeOf } from '../../ledger/fee.ts';
import { authorized, captured, released, settled } from '../../ledger/payment.ts';
import { settle } from '../../ledger/settlement.ts';
import { type DisputePosition, moveDispute, openDispute } from '../disputes/machine.ts';
import type { DisputeRow } from '../disputes/table.ts';
import { createRefund, type Ending, endingOf } from '../refunds/machine.ts';
import {
  bookOf,
  currentScenario,
  type MoveEffects,
  movePayment,
  type PaymentAction,
  paymentMachine,
  refuseCurrency,
  returnable,
  withDispute,
} from './machine.ts';
import { type MoveParams, nextStep, noParams, type PaymentStep, paymentDue } from './scenario.ts';
import type { PaymentRow } from './table.ts';

export interface AdvancePayment {
  readonly id: Id<'payment'>;
  readonly request: Advance<PaymentRow['status'], PaymentAction, MoveParams>;
}

export interface PaymentPosition extends Position<PaymentRow> {
  /** A dispute that this advance opened. */
  readonly dispute: DisputeRow | null;
}

// The failure code of a refused capture: the provider failed, not the payer.
const captureFailure: DeclineCode = 'processing_error';
const failureDefault: DeclineCode = 'generic_decline';

export const advancePayment: CommandKind<AdvancePayment> = {
  name: 'payments.advance',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'payment', id, lock: 'update' }],
  decide: ({ id, request }, context, rows) => {
    const row = rows.get<PaymentRow>('payment', id);
    if (!row) return refuse('resource_not_found');
    const start = catchUpPayment({ ok: true, row, dispute: null, changes: [] }, context);
    const end = advance(request, start, {
      machine: paymentMachine,
      defaults: noParams,
      next: ({ row: at }) => nextStep(at),
      // A request with `to` reaches its state whatever the scenario would do.
      apply: (at, step) =>
        request.by === 'to'
          ? apply(at, step, 'succeed', context)
          : apply(at, simulatedStep(at.row, step), endingOf(at.row), context),
      triggered: (at) => loseDispute(at, context),
    });
    if (end.ok) return accepted(end.changes, 'payment', end.row);
    // A refusal discards the overdue steps: a dispute that they opened does not exist, so the message must not name it.
    return start.row.disputeId === row.disputeId ? withDispute(end, start.row) : end;
  },
};

/** Applies the overdue steps of a payment. */
export function catchUpPayment(start: PaymentPosition, context: CommandContext): PaymentPosition {
  return catchUp(start, context.now, paymentDue, (at, due) => firePayment(at, due, context));
}

/** Applies the step of a payment that its timer triggers, at the instant it is due. */
export function firePayment(
  at: PaymentPosition,
  due: Due<PaymentAction>,
  context: CommandContext,
): PaymentPosition {
  const step = nextStep(at.row);
  // A scenario step has the parameters of the scenario. Expiry and payout have none.
  const fired = step?.action === due.action ? step : { action: due.action, params: noParams };
  const end = apply(at, simulatedStep(at.row, fired), endingOf(at.row), { ...context, now: due.at });
  assert(end.ok, `${due.action} was due and is refused`);
  return end;
}

/** The merchant requests a capture, and the provider may refuse it. All other steps are the provider's. */
function simulatedStep(row: PaymentRow, step: PaymentStep): PaymentStep {
  const isRefused =
    step.action === 'capture' &&
    currentScenario(row) === 'capture_fails' &&
    refuseMove(paymentMachine, 'fail', row) === undefined &&
    refuseCapture(row, step.params) === undefined;
  return isRefused ? { action: 'fail', params: { ...noParams, failureCode: captureFailure } } : step;
}

/** Applies one step to a payment whose state has been checked. */
function apply(
  at: PaymentPosition,
  step: PaymentStep,
  refundEnding: Ending | undefined,
  context: CommandContext,
): PaymentPosition | Refusal {
  const { action, params } = step;
  const { row } = at;
  const { now } = context;
  const book = bookOf(row);
  const moved = (patch: Partial<PaymentRow>, effects: MoveEffects): PaymentPosition => {
    const move = movePayment(row, action, patch, effects, context);
    return { ...at, row: move.row, changes: [...at.changes, move] };
  };
  const { amount, amountHeld } = row;
  const noHold = { amountCapturable: 0n, amountHeld: 0n };
  switch (action) {
    case 'require_action':
      return moved({ status: 'requires_action' }, { amount });
    case 'process':
      return moved({ status: 'processing' }, { amount });
    case 'authorize': {
      const authorizationExpiresAt = now + limits.authorizationDays * dayMs;
      const instants = { ...row.instants, authorizedAt: now, authorizationExpiresAt };
      return moved(
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
      return moved(
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
      return moved(
        {
          ...noHold,
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
      return moved({ status: 'pending', failureCode: null, instants }, { amount });
    }
    case 'cancel':
    case 'expire': {
      // Only the uncaptured rest of a partially captured payment is canceled or expires.
      const hasCaptured = row.status === 'partially_captured';
      const endStatus = action === 'cancel' ? 'canceled' : 'expired';
      const endInstant = hasCaptured ? {} : { [`${endStatus}At`]: now };
      return moved(
        {
          ...noHold,
          status: hasCaptured ? 'captured' : endStatus,
          instants: { ...row.instants, ...endInstant, authorizationExpiresAt: undefined },
        },
        { amount: amountHeld, entries: released(book, amountHeld) },
      );
    }
    case 'refund': {
      const part = params.amount ?? (params.isPart ? halfOf(returnable(row)) : null);
      const refund = createRefund(row, { ...params, amount: part }, refundEnding, context);
      return refund.ok ? { ...at, row: refund.payment, changes: [...at.changes, ...refund.changes] } : refund;
    }
    case 'dispute': {
      const opened = openDispute(row, params, context);
      if (!opened.ok) return opened;
      return { ...at, row: opened.payment, dispute: opened.row, changes: [...at.changes, ...opened.changes] };
    }
    case 'create':
    case 'update':
    case 'refund_pending':
    case 'refund_succeeded':
    case 'refund_failed':
    case 'refund_canceled':
    case 'dispute_won':
    case 'dispute_lost':
      throw new AssertionFailed(`${action} is not a step that a payment takes by itself`);
    default:
      return unreachable(action, 'the action of a payment');
  }
}

/** Rounded down, but at least one unit. */
function halfOf(amount: bigint): bigint {
  return amount > 1n ? amount / 2n : amount;
}

/** The maximum amount of the next capture: the full amount before authorization, later the uncaptured rest. */
function capturable(row: PaymentRow): bigint {
  const isNew = row.status !== 'authorized' && row.status !== 'partially_captured';
  return isNew ? row.amount : row.amountCapturable;
}

function refuseCapture(row: PaymentRow, { amount, currency }: MoveParams): Refusal | undefined {
  const mismatch = refuseCurrency(row, currency);
  if (mismatch) return mismatch;
  const amountMax = capturable(row);
  if (amount === null || amount <= amountMax) return undefined;
  return refuseAmount('capturable', row.currency, amountMax, amount);
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
  const amountMax = capturable(row);
  const amount = params.amount ?? (params.isPart ? halfOf(amountMax) : amountMax);
  const book = bookOf(row);
  const isHeld = row.amountHeld > 0n;
  const fee = feeOf(amount, row);
  const rest = amountMax - amount;
  const isDone = rest === 0n || params.isFinal;
  const heldRest = isHeld ? rest : 0n;
  const move = movePayment(
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
  return { ...at, row: move.row, changes: [...at.changes, move] };
}

/** An advance may continue through a dispute that it opened: accepting the dispute charges the payment back. */
function loseDispute(at: PaymentPosition, context: CommandContext): readonly PaymentPosition[] {
  if (at.dispute === null) return [];
  const opened: DisputePosition = { ok: true, row: at.dispute, payment: at.row, changes: at.changes };
  const lost = moveDispute(opened, { action: 'accept', params: null }, context);
  return [{ ...at, row: lost.payment, dispute: null, changes: lost.changes }];
}
