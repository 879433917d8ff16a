import { expect, test } from 'vitest';
import type { Payment } from '../../generated/shapes.ts';
import { paymentBulkActions, paymentName } from './bulk-actions.ts';

const payment = (status: string, allowedActions: readonly string[], amountRefundable = 100) =>
  ({ id: 'pay_1', status, allowedActions, amountRefundable }) as unknown as Payment;

test.each([
  [
    payment('pending', ['authorize', 'capture', 'fail', 'cancel']),
    'capture',
    ['Advance', 'Capture', 'Cancel'],
  ],
  [payment('captured', ['settle', 'refund', 'dispute']), 'settle', ['Advance', 'Refund']],
  [payment('settled', ['refund', 'dispute']), null, ['Refund']],
  [payment('settled', ['refund', 'dispute']), 'dispute', ['Advance', 'Refund']],
  [payment('settled', ['refund', 'dispute'], 0), null, []],
  [payment('failed', ['retry']), 'retry', ['Advance']],
  [payment('failed', []), null, []],
])('the actions on %j with the next action %s are %j', (row, nextAction, expected) => {
  const actions = paymentBulkActions([{ id: 'pay_1', nextAction }]);
  expect(actions.filter(({ isAllowed }) => isAllowed(row)).map(({ label }) => label)).toEqual(expected);
});

test('nothing is advanced until the next actions are known', () => {
  const [advance] = paymentBulkActions([]);
  expect(advance?.isAllowed(payment('captured', ['settle']))).toBe(false);
});

test('a refund goes to its own route, and the other actions advance the payment', () => {
  expect(paymentBulkActions([]).map(({ request }) => request(payment('pending', [])))).toEqual([
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
