import { type Advance, advance, type Position, type Step } from '../../kernel/advance.ts';
import { unreachable } from '../../kernel/assert.ts';
import { accepted, type CommandContext, type CommandKind } from '../../kernel/command.ts';
import type { DeclineCode } from '../../kernel/decline.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import { allowedActions, refuseMove } from '../../kernel/machine.ts';
import { declineOf } from '../../kernel/scenario.ts';
import { feeOf } from '../../ledger/fee.ts';
import { authorized, captured, released, settled } from '../../ledger/payment.ts';
import { type DisputePosition, type DisputeRow, moveDispute, openDispute } from '../disputes/machine.ts';
import {
  bookOf,
  type MoveEffects,
  movePayment,
  refuseCurrency,
  returnable,
  withDispute,
} from '../payment-moves/machine.ts';
import { currentScenario, type PaymentRow, paymentMachine } from '../payments/machine.ts';
import { type Ending, endingOf, makeRefund } from '../refunds/machine.ts';

/** What the moves of a payment take. Each takes its own; the route has refused what is not for it. */
export interface MoveParams {
  /** Null takes all that is left, or half of it where only a part leads to the state that is asked for. */
  readonly amount: bigint | null;
  readonly isPart: boolean;
  readonly currency: string | null;
  /** A capture after which nothing more is captured: what is left of the hold is released. */
  readonly isFinal: boolean;
  readonly failureCode: DeclineCode | null;
  readonly reason: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

export const noParams: MoveParams = {
  amount: null,
  isPart: false,
  currency: null,
  isFinal: false,
  failureCode: null,
  reason: null,
  metadata: {},
};

export interface AdvancePayment {
  readonly id: string;
  readonly request: Advance<MoveParams>;
}

interface PaymentPosition extends Position<PaymentRow> {
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
    const start: PaymentPosition = { ok: true, row, dispute: null, changes: [] };
    const end = advance<PaymentRow, MoveParams, PaymentPosition>(request, start, {
      machine: paymentMachine,
      defaults: noParams,
      next: ({ row: at }) => nextStep(at),
      // Who names a state wants to be there, whatever the provider was going to do.
      apply: (at, step) =>
        request.by === 'to'
          ? apply(at, step, 'succeed', context)
          : apply(at, played(at.row, step), endingOf(at.row), context),
      brought: (at) => loseDispute(at, context),
    });
    return end.ok ? accepted(end.changes, 'payment', end.row) : withDispute(end, row);
  },
};

/** What the payment's scenario does next: the provider's and the customer's part of the play. */
function nextStep(row: PaymentRow): Step<MoveParams> | undefined {
  const scenario = currentScenario(row);
  const step = (action: string, params: Partial<MoveParams> = {}): Step<MoveParams> => ({
    action,
    params: { ...noParams, ...params },
  });
  const pay = step(row.captureMethod === 'automatic' ? 'capture' : 'authorize');
  switch (row.status) {
    case 'pending': {
      const failureCode = declineOf(scenario);
      if (failureCode !== undefined) return step('fail', { failureCode });
      if (scenario === 'require_action') return step('require_action');
      if (scenario === 'async') return step('process');
      return scenario === 'capture_fails' ? step('authorize') : pay;
    }
    case 'requires_action':
    case 'processing':
      return pay;
    case 'authorized':
    case 'partially_captured':
      return step('capture');
    case 'captured':
    case 'settled':
    case 'partially_refunded': {
      const isStillToDispute = scenario === 'dispute' && row.disputeId === null && returnable(row) > 0n;
      if (isStillToDispute) return step('dispute');
      return isOpen(row, 'settle') ? step('settle') : undefined;
    }
    case 'failed':
      return isOpen(row, 'retry') ? step('retry') : undefined;
    case 'disputed':
    case 'refunded':
    case 'charged_back':
    case 'canceled':
    case 'expired':
      return undefined;
    default:
      return unreachable(row.status, 'the status of a payment');
  }
}

function isOpen(row: PaymentRow, action: string): boolean {
  return allowedActions(paymentMachine, row).includes(action);
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
      return went(
        { status, instants: { ...row.instants, settledAt: now } },
        { amount: gross, entries: settled(book, gross, net) },
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
