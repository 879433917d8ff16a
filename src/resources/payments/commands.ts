import { accepted, type CommandKind, change } from '../../kernel/command.ts';
import { refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { paymentMachine } from './machine.ts';
import type { PaymentRow } from './table.ts';

export interface UpdatePayment {
  readonly id: Id<'payment'>;
  /** Absent fields do not change; null clears the description. `metadata` is replaced as a whole. */
  readonly fields: Partial<Pick<PaymentRow, 'description' | 'metadata'>>;
}

/** Edits a payment in any state. The provider is not informed, and timers keep their times. */
export const updatePayment: CommandKind<UpdatePayment> = {
  name: 'payments.update',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'payment', id, lock: 'update' }],
  decide: ({ id, fields }, { now }, rows) => {
    const before = rows.get<PaymentRow>('payment', id);
    if (!before) return refuse('resource_not_found');
    const { instants, updatedAt, version } = before;
    const row: PaymentRow = {
      ...before,
      ...fields,
      version: version + 1,
      instants: { ...instants, movedAt: instants.movedAt ?? updatedAt },
      updatedAt: now,
    };
    return accepted([change(paymentMachine, 'update', before, row)], 'payment', row);
  },
};
