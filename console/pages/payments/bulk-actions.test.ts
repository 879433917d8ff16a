import { expect, test } from 'vitest';
import type { Payment } from '../../generated/shapes.ts';
import { paymentBulkActions, paymentName } from './bulk-actions.ts';

const payment = (status: string, allowedActions: readonly string[], scenario = 'approve') =>
  ({ id: 'pay_1', status, allowedActions, scenario }) as unknown as Payment;
const actionsOf = (row: Payment) =>
  paymentBulkActions.filter(({ isAllowed }) => isAllowed(row)).map(({ label }) => label);

test.each([
  [payment('pending', ['authorize', 'capture', 'fail', 'cancel']), ['Advance', 'Capture', 'Cancel']],
  [payment('captured', ['settle', 'refund', 'dispute']), ['Advance', 'Refund']],
  [payment('settled', ['refund', 'dispute']), ['Refund']],
  [payment('settled', ['refund', 'dispute'], 'dispute'), ['Advance', 'Refund']],
  [payment('partially_refunded', ['settle', 'refund', 'dispute']), ['Advance', 'Refund']],
  [payment('failed', ['retry']), ['Advance']],
  [payment('failed', []), []],
  [payment('refunded', []), []],
])('the actions on %j are %j', (row, expected) => {
  expect(actionsOf(row)).toEqual(expected);
});

test('a refund goes to its own route, and the other actions advance the payment', () => {
  expect(paymentBulkActions.map(({ request }) => request(payment('pending', [])))).toEqual([
    { path: 'app/developer_api_payments/pay_1/advance', body: {} },
    { path: 'app/developer_api_payments/pay_1/advance', body: { action: 'capture' } },
    { path: 'app/developer_api_payments/pay_1/refund', body: {} },
    { path: 'app/developer_api_payments/pay_1/advance', body: { action: 'cancel' } },
  ]);
});

test('a payment is named by its amount and its reference', () => {
  const named = { amount: 1_250, currency: 'EUR', description: 'Coffee', reference: 'order-1' } as Payment;
  expect(paymentName(named)).toBe('12.50 EUR · order-1');
  expect(paymentName({ ...named, reference: null, description: null })).toBe('12.50 EUR');
});
