import { type Advance, advance, catchUp, type Position, type Step } from '../../kernel/advance.ts';
import { AssertionFailed, unreachable } from '../../kernel/assert.ts';
import { accepted, type CommandContext, type CommandKind, change } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { type ActionOf, defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import { type Due, dayMs } from '../../kernel/time.ts';
import { disputeLost, disputeOpened, disputeWon } from '../../ledger/payment.ts';
import {
  amountToReturn,
  bookOf,
  movePayment,
  paymentProviderMove,
  restingStatus,
} from '../payments/machine.ts';
import type { PaymentRow } from '../payments/table.ts';
import { type DisputeRow, disputeStages, disputeStates } from './table.ts';

export const disputeMachine = defineMachine<DisputeRow>()({
  resource: 'dispute',
  states: disputeStates,
  goal: 'won',
  setbacks: ['lost'],
  moves: [
    { action: 'create', from: [], to: ['needs_response'], event: 'created' },
    { action: 'submit_evidence', from: ['needs_response'], to: ['under_review'] },
    { action: 'accept', from: ['needs_response'], to: ['lost'] },
    { action: 'expire', from: ['needs_response'], to: ['lost'] },
    { action: 'win', from: ['under_review'], to: ['won'] },
    { action: 'lose', from: ['under_review'], to: ['lost'] },
    {
      action: 'escalate',
      from: ['under_review'],
      to: ['needs_response'],
      when: { description: 'there is a next stage', holds: ({ stage }) => nextStage(stage) !== undefined },
    },
  ],
  eventDescriptions: {
    created: 'A customer disputes a payment; respond by `respondBy`.',
    under_review: 'Evidence was submitted, and the bank now reviews it.',
    lost: 'The dispute was accepted, not answered in time, or decided for the customer; the money is gone.',
    won: 'The dispute was decided for the merchant; the money is back with the payment.',
    needs_response: 'The dispute moved to its next `stage`; respond again by `respondBy`.',
  },
});

export type DisputeAction = ActionOf<typeof disputeMachine>;

const reasonDefault = 'general';

function nextStage(stage: DisputeRow['stage']): DisputeRow['stage'] | undefined {
  return disputeStages[disputeStages.indexOf(stage) + 1];
}

function deadline(now: Instant): Instant {
  return now + limits.disputeResponseDays * dayMs;
}

export interface DisputePosition extends Position<DisputeRow> {
  readonly payment: PaymentRow;
}

export interface DisputeFields {
  /** Null disputes the whole remaining amount. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly reason: string | null;
}

/** Opens a dispute and marks its payment as disputed. The caller has checked the payment's state. */
export function openDispute(
  payment: PaymentRow,
  fields: DisputeFields,
  context: CommandContext,
): DisputePosition | Refusal {
  const disputed = amountToReturn(payment, fields, 'disputable');
  if (!disputed.ok) return disputed;
  const { amount } = disputed;
  // From here it must succeed.
  const row: DisputeRow = {
    orgId: context.orgId,
    id: formatId('dispute', context.suffix),
    appId: payment.appId,
    status: 'needs_response',
    version: 1,
    paymentId: payment.id,
    amount,
    currency: payment.currency,
    reason: fields.reason ?? reasonDefault,
    stage: 'chargeback',
    evidence: null,
    respondBy: deadline(context.now),
    closedAt: null,
    createdAt: context.now,
    updatedAt: context.now,
  };
  const opened = change(disputeMachine, 'create', null, row);
  const paymentMove = movePayment(
    payment,
    'dispute',
    {
      status: 'disputed',
      amountDisputed: payment.amountDisputed + amount,
      disputeId: row.id,
      instants: { ...payment.instants, disputedAt: context.now },
    },
    { amount, entries: disputeOpened(bookOf(payment), amount), causeId: row.id },
    context,
  );
  return { ok: true, row, payment: paymentMove.row, changes: [opened, paymentMove] };
}

export interface AdvanceDispute {
  readonly id: Id<'dispute'>;
  readonly request: Advance<DisputeRow['status'], DisputeAction, Evidence>;
}

export type Evidence = DisputeRow['evidence'];

export const advanceDispute: CommandKind<AdvanceDispute> = {
  name: 'disputes.advance',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'dispute', id, lock: 'update' }],
  thenReads: ({ id }, rows) => {
    const dispute = rows.get<DisputeRow>('dispute', id);
    return dispute ? [{ resource: 'payment', id: dispute.paymentId, lock: 'update' }] : [];
  },
  decide: ({ id, request }, context, rows) => {
    const row = rows.get<DisputeRow>('dispute', id);
    if (!row) return refuse('resource_not_found');
    const payment = rows.get<PaymentRow>('payment', row.paymentId);
    if (!payment) throw new Error(`the payment of ${id} is missing`);
    const start = catchUp<DisputeRow, DisputeAction, DisputePosition>(
      { ok: true, row, payment, changes: [] },
      context.now,
      disputeDue,
      (at, due) => fireDispute(at, due, context),
    );
    const end = advance(request, start, {
      machine: disputeMachine,
      defaults: null,
      next: ({ row }) => {
        const action = nextDisputeAction(row);
        return action && { action, params: null };
      },
      apply: (at, step) => moveDispute(at, step, context),
    });
    return end.ok ? accepted(end.changes, 'dispute', end.row) : end;
  },
};

/** What an advance without an action does: the merchant responds, and wins. */
export function nextDisputeAction({ status }: DisputeRow): DisputeAction | undefined {
  if (status === 'needs_response') return 'submit_evidence';
  return status === 'under_review' ? 'win' : undefined;
}

/** The timer of a dispute: it expires without a response in time. */
export function disputeDue({ status, respondBy }: DisputeRow): Due<DisputeAction> | null {
  return status === 'needs_response' ? { at: respondBy, action: 'expire' } : null;
}

/** A dispute without a response in time is lost. */
export function fireDispute(
  at: DisputePosition,
  due: Due<DisputeAction>,
  context: CommandContext,
): DisputePosition {
  return moveDispute(at, { action: due.action, params: null }, { ...context, now: due.at });
}

/** One dispute move, with its effect on the payment. The caller has checked the state. */
export function moveDispute(
  at: DisputePosition,
  { action, params }: Step<DisputeAction, Evidence>,
  context: CommandContext,
): DisputePosition {
  switch (action) {
    case 'submit_evidence':
      return moveWithoutPayment(
        at,
        action,
        { status: 'under_review', evidence: params ?? at.row.evidence },
        context,
      );
    case 'escalate': {
      const stage = nextStage(at.row.stage) ?? at.row.stage;
      const respondBy = deadline(context.now);
      return moveWithoutPayment(at, action, { status: 'needs_response', stage, respondBy }, context);
    }
    case 'win':
      return close(at, action, 'won', context);
    case 'accept':
    case 'expire':
    case 'lose':
      return close(at, action, 'lost', context);
    case 'create':
      throw new AssertionFailed('a dispute that exists is not created again');
    default:
      return unreachable(action, 'the action of a dispute');
  }
}

function patched(before: DisputeRow, patch: Partial<DisputeRow>, { now }: CommandContext): DisputeRow {
  return { ...before, ...patch, version: before.version + 1, updatedAt: now };
}

/** A move that does not change the payment. The provider, which handles the dispute, gets a separate notification. */
function moveWithoutPayment(
  at: DisputePosition,
  action: DisputeAction,
  patch: Partial<DisputeRow>,
  context: CommandContext,
): DisputePosition {
  const { row: before, payment } = at;
  const row = patched(before, patch, context);
  const providerMove = paymentProviderMove(payment, {
    subject: row,
    action,
    from: before.status,
    amount: row.amount,
    causeId: row.id,
  });
  const disputeMove = change(disputeMachine, action, before, row, { providerMove });
  return { ...at, row, changes: [...at.changes, disputeMove] };
}

function close(
  at: DisputePosition,
  action: DisputeAction,
  status: 'won' | 'lost',
  context: CommandContext,
): DisputePosition {
  const { payment } = at;
  const { amount, id: causeId } = at.row;
  const row = patched(at.row, { status, closedAt: context.now }, context);
  const disputeMove = change(disputeMachine, action, at.row, row);
  const book = bookOf(payment);
  const isAllLost = status === 'lost' && payment.amountDisputed === payment.amountCaptured;
  const patch: Partial<PaymentRow> = isAllLost
    ? { status: 'charged_back', instants: { ...payment.instants, chargedBackAt: context.now } }
    : {
        status: restingStatus(payment),
        amountDisputed: status === 'won' ? payment.amountDisputed - amount : payment.amountDisputed,
      };
  const entries = status === 'won' ? disputeWon(book, amount) : disputeLost(book, amount);
  const paymentMove = movePayment(payment, `dispute_${status}`, patch, { amount, entries, causeId }, context);
  return { ok: true, row, payment: paymentMove.row, changes: [...at.changes, disputeMove, paymentMove] };
}
