import { amountText } from '../../client/amount.ts';
import type { BulkAction } from '../../client/bulk.ts';
import type { Path } from '../../client/request.ts';
import type { NextActions, Payment } from '../../generated/shapes.ts';

const pathOf = ({ id }: Payment, command: 'advance' | 'refund'): Path =>
  `app/developer_api_payments/${id}/${command}`;

export function paymentName({ amount, currency, description, reference }: Payment): string {
  return [amountText(amount, currency), reference ?? description].filter((part) => part !== null).join(' · ');
}

/** Actions are offered as the server allows them: by the allowed actions and amounts of the payment, and by its next action. */
export function paymentBulkActions(nextActions: NextActions['payments']): readonly BulkAction<Payment>[] {
  const advanceable = new Set(nextActions.flatMap(({ id, nextAction }) => (nextAction === null ? [] : [id])));
  return [
    {
      label: 'Advance',
      done: 'advanced',
      effect: 'Runs the next step of each scenario.',
      isAllowed: ({ id }) => advanceable.has(id),
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
      // While refunds of the full amount are pending, nothing is left to refund.
      isAllowed: ({ allowedActions, amountRefundable }) =>
        allowedActions.includes('refund') && amountRefundable > 0,
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
}
