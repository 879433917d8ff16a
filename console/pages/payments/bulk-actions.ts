import { amountText } from '../../client/amount.ts';
import type { BulkAction } from '../../client/bulk.ts';
import type { Path } from '../../client/request.ts';
import type { Payment, PaymentAction, PaymentScenario } from '../../generated/shapes.ts';

const pathOf = ({ id }: Payment, command: 'advance' | 'refund'): Path =>
  `app/developer_api_payments/${id}/${command}`;

/** Actions that no scenario takes; `dispute` is the only scenario that disputes. */
const byPeople: readonly PaymentAction[] = ['cancel', 'dispute', 'refund'];
const disputing: PaymentScenario = 'dispute';

/** Whether the scenario of the payment may have a next step. The server decides: this only avoids requests that it would refuse. */
function mayHaveNextStep({ scenario, allowedActions }: Payment): boolean {
  const isDisputed = [scenario].flat().includes(disputing) && allowedActions.includes('dispute');
  return isDisputed || allowedActions.some((action) => !byPeople.includes(action));
}

export function paymentName({ amount, currency, description, reference }: Payment): string {
  return [amountText(amount, currency), reference ?? description].filter((part) => part !== null).join(' · ');
}

export const paymentBulkActions: readonly BulkAction<Payment>[] = [
  {
    label: 'Advance',
    done: 'advanced',
    effect: 'Runs the next step of each scenario.',
    isAllowed: mayHaveNextStep,
    request: (payment) => ({ path: pathOf(payment, 'advance'), body: {} }),
  },
  {
    label: 'Capture',
    done: 'captured',
    effect: 'Captures the full remaining amount of each payment.',
    isAllowed: ({ allowedActions }) => allowedActions.includes('capture'),
    request: (payment) => ({ path: pathOf(payment, 'advance'), body: { action: 'capture' } }),
  },
  {
    label: 'Refund',
    done: 'refunded',
    isDanger: true,
    effect: 'Refunds the full remaining amount of each payment. This cannot be undone.',
    isAllowed: ({ allowedActions }) => allowedActions.includes('refund'),
    request: (payment) => ({ path: pathOf(payment, 'refund'), body: {} }),
  },
  {
    label: 'Cancel',
    done: 'canceled',
    isDanger: true,
    effect: 'Cancels each payment. This cannot be undone.',
    isAllowed: ({ allowedActions }) => allowedActions.includes('cancel'),
    request: (payment) => ({ path: pathOf(payment, 'advance'), body: { action: 'cancel' } }),
  },
];
