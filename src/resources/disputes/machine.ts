import { type Advance, advance, type Position, type Step } from '../../kernel/advance.ts';
import type { Due } from '../../kernel/clock.ts';
import { accepted, type CommandContext, type CommandKind, change } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Instant } from '../../kernel/table.ts';
import { disputeLost, disputeOpened, disputeWon } from '../../ledger/payment.ts';
import { amountToReturn, bookOf, movePayment, restingStatus, tell } from '../payments/machine.ts';
import type { PaymentRow } from '../payments/table.ts';
import { type DisputeRow, disputeStages, disputeStates } from './table.ts';

export const disputeMachine = defineMachine<DisputeRow>({
  resource: 'dispute',
  states: disputeStates,
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
    created: 'A customer disputes a payment; answer until `respondBy`.',
    under_review: 'Evidence was submitted, and the bank now decides.',
    lost: 'The dispute was accepted, not answered in time, or decided for the customer; the money is gone.',
    won: 'The dispute was decided for the merchant; the money is back with the payment.',
    needs_response: 'The dispute went on to its next `stage`; answer again until `respondBy`.',
  },
});

const dayMs = 86_400_000;
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
  /** Null disputes all that is left. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly reason: string | null;
}

/** Opens a dispute and puts its payment aside. The payment's state has been checked. */
export function openDispute(
  payment: PaymentRow,
  fields: DisputeFields,
  context: CommandContext,
): DisputePosition | Refusal {
  const asked = amountToReturn(payment, fields, 'disputable');
  if (!asked.ok) return asked;
  const { amount } = asked;
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
  const paid = movePayment(
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
  return { ok: true, row, payment: paid.row, changes: [opened, paid] };
}

export interface AdvanceDispute {
  readonly id: string;
  readonly request: Advance<Evidence>;
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
    if (!payment) throw new Error(`${id} is a dispute of a payment that is not there`);
    const start = caughtUp({ ok: true, row, payment, changes: [] }, context);
    const end = advance<DisputeRow, Evidence, DisputePosition>(request, start, {
      machine: disputeMachine,
      defaults: null,
      next: ({ row: { status } }) =>
        status === 'needs_response'
          ? { action: 'submit_evidence', params: null }
          : status === 'under_review'
            ? { action: 'win', params: null }
            : undefined,
      apply: (at, step) => moveDispute(at, step, context),
    });
    return end.ok ? accepted(end.changes, 'dispute', end.row) : end;
  },
};

/** What a dispute waits for: that nobody answers in time. */
export function disputeDue({ status, respondBy }: DisputeRow): Due | null {
  return status === 'needs_response' ? { at: respondBy, action: 'expire' } : null;
}

/** A dispute that was not answered in time is lost, whether its timer has come round yet or not. */
function caughtUp(start: DisputePosition, context: CommandContext): DisputePosition {
  const due = disputeDue(start.row);
  return due && due.at <= context.now ? fireDispute(start, due, context) : start;
}

export function fireDispute(at: DisputePosition, due: Due, context: CommandContext): DisputePosition {
  return moveDispute(at, { action: due.action, params: null }, { ...context, now: due.at });
}

/** One move of a dispute, with what it brings to the payment. The state has been checked. */
export function moveDispute(
  at: DisputePosition,
  { action, params }: Step<Evidence>,
  context: CommandContext,
): DisputePosition {
  switch (action) {
    case 'submit_evidence':
      return stayed(at, action, { status: 'under_review', evidence: params ?? at.row.evidence }, context);
    case 'escalate': {
      const stage = nextStage(at.row.stage) ?? at.row.stage;
      const respondBy = deadline(context.now);
      return stayed(at, action, { status: 'needs_response', stage, respondBy }, context);
    }
    case 'win':
      return closed(at, action, 'won', context);
    default:
      return closed(at, action, 'lost', context);
  }
}

function moved(before: DisputeRow, patch: Partial<DisputeRow>, { now }: CommandContext): DisputeRow {
  return { ...before, ...patch, version: before.version + 1, updatedAt: now };
}

/** A move that leaves the payment as it is. The provider, who carries the dispute, is told of it by itself. */
function stayed(
  at: DisputePosition,
  action: string,
  patch: Partial<DisputeRow>,
  context: CommandContext,
): DisputePosition {
  const { row: before, payment } = at;
  const row = moved(before, patch, context);
  const providerMove = tell(payment, {
    subject: row,
    action,
    from: before.status,
    amount: row.amount,
    causeId: row.id,
  });
  const made = change(disputeMachine, action, before, row, { providerMove });
  return { ...at, row, changes: [...at.changes, made] };
}

function closed(
  at: DisputePosition,
  action: string,
  status: 'won' | 'lost',
  context: CommandContext,
): DisputePosition {
  const { payment } = at;
  const { amount, id: causeId } = at.row;
  const row = moved(at.row, { status, closedAt: context.now }, context);
  const made = change(disputeMachine, action, at.row, row);
  const book = bookOf(payment);
  const isAllLost = status === 'lost' && payment.amountDisputed === payment.amountCaptured;
  const patch: Partial<PaymentRow> = isAllLost
    ? { status: 'charged_back', instants: { ...payment.instants, chargedBackAt: context.now } }
    : {
        status: restingStatus(payment),
        amountDisputed: status === 'won' ? payment.amountDisputed - amount : payment.amountDisputed,
      };
  const entries = status === 'won' ? disputeWon(book, amount) : disputeLost(book, amount);
  const paid = movePayment(payment, `dispute_${status}`, patch, { amount, entries, causeId }, context);
  return { ok: true, row, payment: paid.row, changes: [...at.changes, made, paid] };
}
