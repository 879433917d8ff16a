import { type Advance, advance } from '../../kernel/advance.ts';
import { accepted, type CommandContext, type CommandKind } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { refuseMove } from '../../kernel/machine.ts';
import { catchUpPayment, type PaymentPosition } from '../payments/advance.ts';
import { paymentMachine, withDispute } from '../payments/machine.ts';
import type { PaymentRow } from '../payments/table.ts';
import {
  applyEnding,
  createRefund,
  endingOf,
  type RefundAction,
  type RefundFields,
  type RefundPosition,
  refundMachine,
} from './machine.ts';
import type { RefundRow } from './table.ts';

/** Refund commands. They apply overdue steps of the payment first, because a refund differs before and after settlement. */

function withOverdueSteps(row: PaymentRow, context: CommandContext): PaymentPosition {
  return catchUpPayment({ ok: true, row, dispute: null, changes: [] }, context);
}

export interface RefundPayment extends RefundFields {
  readonly paymentId: Id<'payment'>;
}

export const refundPayment: CommandKind<RefundPayment> = {
  name: 'payments.refund',
  success: 'created',
  reads: ({ paymentId }) => [{ resource: 'payment', id: paymentId, lock: 'update' }],
  decide: ({ paymentId, ...fields }, context, rows) => {
    const stored = rows.get<PaymentRow>('payment', paymentId);
    if (!stored) return refuse('resource_not_found');
    const { row: payment, changes } = withOverdueSteps(stored, context);
    const refusal = refuseMove(paymentMachine, 'refund', payment);
    if (refusal) return payment.disputeId === stored.disputeId ? withDispute(refusal, payment) : refusal;
    const refund = createRefund(payment, fields, endingOf(payment), context);
    return refund.ok ? accepted([...changes, ...refund.changes], 'refund', refund.row) : refund;
  },
};

export interface AdvanceRefund {
  readonly id: Id<'refund'>;
  readonly request: Advance<RefundRow['status'], RefundAction, null>;
}

/** What an advance without an action does: the refund ends as the scenario of its payment says. */
export function nextRefundAction({ status }: RefundRow, payment: PaymentRow): RefundAction | undefined {
  return status === 'pending' ? (endingOf(payment) ?? 'succeed') : undefined;
}

export const advanceRefund: CommandKind<AdvanceRefund> = {
  name: 'refunds.advance',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'refund', id, lock: 'update' }],
  thenReads: ({ id }, rows) => {
    const refund = rows.get<RefundRow>('refund', id);
    return refund ? [{ resource: 'payment', id: refund.paymentId, lock: 'update' }] : [];
  },
  decide: ({ id, request }, context, rows) => {
    const row = rows.get<RefundRow>('refund', id);
    if (!row) return refuse('resource_not_found');
    const stored = rows.get<PaymentRow>('payment', row.paymentId);
    if (!stored) throw new Error(`${id} is a refund of a missing payment`);
    const { row: payment, changes } = withOverdueSteps(stored, context);
    const start: RefundPosition = { ok: true, row, payment, changes };
    const end = advance(request, start, {
      machine: refundMachine,
      defaults: null,
      next: (at) => {
        const action = nextRefundAction(at.row, at.payment);
        return action && { action, params: null };
      },
      apply: (at, step) => applyEnding(at, step, context),
    });
    return end.ok ? accepted(end.changes, 'refund', end.row) : end;
  },
};
