import { type Advance, advance } from '../../kernel/advance.ts';
import { accepted, type CommandContext, type CommandKind } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import { refuseMove } from '../../kernel/machine.ts';
import { caughtUp, type PaymentPosition } from '../payments/advance.ts';
import { paymentMachine, withDispute } from '../payments/machine.ts';
import type { PaymentRow } from '../payments/table.ts';
import {
  applyEnding,
  endingOf,
  makeRefund,
  type RefundFields,
  type RefundPosition,
  refundMachine,
} from './machine.ts';
import type { RefundRow } from './table.ts';

/** The commands on refunds. What is overdue on the payment happens first: a refund before and after settlement differ. */

function payable(row: PaymentRow, context: CommandContext): PaymentPosition {
  return caughtUp({ ok: true, row, dispute: null, changes: [] }, context);
}

export interface RefundPayment extends RefundFields {
  readonly paymentId: string;
}

export const refundPayment: CommandKind<RefundPayment> = {
  name: 'payments.refund',
  success: 'created',
  reads: ({ paymentId }) => [{ resource: 'payment', id: paymentId, lock: 'update' }],
  decide: ({ paymentId, ...fields }, context, rows) => {
    const known = rows.get<PaymentRow>('payment', paymentId);
    if (!known) return refuse('resource_not_found');
    const { row: payment, changes } = payable(known, context);
    const refusal = refuseMove(paymentMachine, 'refund', payment);
    if (refusal) return payment.disputeId === known.disputeId ? withDispute(refusal, payment) : refusal;
    const made = makeRefund(payment, fields, endingOf(payment), context);
    return made.ok ? accepted([...changes, ...made.changes], 'refund', made.row) : made;
  },
};

export interface AdvanceRefund {
  readonly id: string;
  readonly request: Advance<null>;
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
    const known = rows.get<PaymentRow>('payment', row.paymentId);
    if (!known) throw new Error(`${id} is a refund of a payment that is not there`);
    const { row: payment, changes } = payable(known, context);
    const start: RefundPosition = { ok: true, row, payment, changes };
    const end = advance<RefundRow, null, RefundPosition>(request, start, {
      machine: refundMachine,
      defaults: null,
      next: (at) =>
        at.row.status === 'pending' ? { action: endingOf(at.payment) ?? 'succeed', params: null } : undefined,
      apply: (at, step) => applyEnding(at, step, context),
    });
    return end.ok ? accepted(end.changes, 'refund', end.row) : end;
  },
};
