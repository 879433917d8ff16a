import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';

const payments = 'developer_api_payments';
const refunds = 'developer_api_refunds';
const disputes = 'developer_api_disputes';
const now = Date.parse('2026-11-15T09:00:00.000Z');
const time = new Date(now).toISOString();

type Step = string | Readonly<Record<string, unknown>>;

function paid(steps: readonly Step[], scenario = 'approve') {
  const runner = new CommandRunner({ now });
  const { id } = expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', scenario }));
  const advance = (body: object) => expectOk(runner.post(`${payments}/${id}/advance`, body));
  for (const step of steps) advance(typeof step === 'string' ? { action: step } : step);
  return {
    ...{ runner, id, advance },
    payment: () => runner.show(id),
    refund: (body: object = {}) => runner.post(`${payments}/${id}/refund`, body),
    end: (refund: Body, body: object = {}) => runner.post(`${refunds}/${refund.id}/advance`, body),
    dispute: (body: object) =>
      expectOk(runner.post(`${disputes}/${runner.show(id).disputeId}/advance`, body)),
  };
}

describe('a refund', () => {
  test('shows every field and succeeds immediately', () => {
    const { id, refund, payment } = paid(['capture']);
    const response = refund({ amount: 2_500, reason: 'too small', metadata: { order: '7' } });
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      ...{ object: 'refund', sandbox: true, requestId: expect.any(String), status: 'succeeded' },
      ...{ id: expect.stringMatching(/^rfd_/), paymentId: id, amount: 2_500, currency: 'EUR' },
      ...{ reason: 'too small', metadata: { order: '7' }, allowedActions: [], version: 2 },
      ...{ createdAt: time, updatedAt: time, endedAt: time },
    });
    expect(payment()).toMatchObject({ status: 'partially_refunded', amountRefundable: 7_500 });
    expect(payment()).not.toHaveProperty('refundedAt');
  });

  test.each([
    [['capture'], 10_000],
    [['capture', 'settle'], 10_000],
    [['capture', { action: 'refund', amount: 4_000 }], 6_000],
    [['authorize', { action: 'capture', amount: 4_000, final: true }], 4_000],
  ])('without an amount after %j takes all %d that are left', (steps, amount) => {
    const { refund, payment } = paid(steps);
    expect(expectOk(refund())).toMatchObject({ amount, reason: null });
    const expected = { status: 'refunded', amountRefundable: 0, refundedAt: time, allowedActions: [] };
    expect(payment()).toMatchObject(expected);
  });

  test.each([
    [['capture'], 'merchant_pending EUR'],
    [['capture', 'settle'], 'merchant_available EUR'],
  ])('in parts after %j leaves the fee with the provider', (steps, account) => {
    const { runner, id, refund, payment } = paid(steps);
    const statuses = [1, 4_999, 5_000].map((amount) => {
      expectOk(refund({ amount }));
      return payment().status;
    });
    expect(statuses).toEqual(['partially_refunded', 'partially_refunded', 'refunded']);
    expect(runner.balancesOf(id)).toEqual({ 'fees EUR': -320, [account]: 320 });
  });

  test.each(['merchant_pending', 'merchant_available'])('that is pending is taken from %s', (account) => {
    const isSettled = account === 'merchant_available';
    const { runner, id, refund, payment } = paid(
      isSettled ? ['capture', 'settle'] : ['capture'],
      'refund_pending',
    );
    const actions = ['succeed', 'fail', 'cancel'];
    const expected = { status: 'pending', version: 1, endedAt: null, allowedActions: actions };
    expect(expectOk(refund({ amount: 4_000 }))).toMatchObject(expected);
    const status = isSettled ? 'settled' : 'captured';
    expect(payment()).toMatchObject({ status, amountRefunded: 0, amountRefundable: 6_000 });
    expect(runner.balancesOf(id)).toMatchObject({
      'refunds_in_transit EUR': -4_000,
      [`${account} EUR`]: -5_680,
    });
  });

  test.each([[['capture']], [['capture', 'settle']]])('that fails after %j returns everything', (steps) => {
    const { runner, id, refund, payment } = paid(steps, 'refund_fails');
    const [balances, status] = [runner.balancesOf(id), payment().status];
    expect(expectOk(refund())).toMatchObject({ status: 'failed', endedAt: time });
    expect(payment()).toMatchObject({ status, amountRefundable: 10_000 });
    expect(runner.balancesOf(id)).toEqual(balances);
  });

  test.each<[what: string, body: object, param: string]>([
    ['an amount of zero', { amount: 0 }, '/amount'],
    ['a negative amount', { amount: -1 }, '/amount'],
    ['a fraction', { amount: 0.5 }, '/amount'],
    ['an amount as text', { amount: '1' }, '/amount'],
    ['an empty reason', { reason: '' }, '/reason'],
    ['a reason of 201 characters', { reason: 'r'.repeat(201) }, '/reason'],
    ['metadata of numbers', { metadata: { a: 1 } }, '/metadata/a'],
    ['an action', { action: 'refund' }, '/action'],
  ])('is not valid with %s', (_what, body, param) => {
    const { runner, refund, payment } = paid(['capture']);
    const before = payment();
    const response = refund(body);
    expect([response.code, response.body.error.param]).toEqual(['invalid_request', param]);
    expect(payment()).toEqual(before);
    expect(runner.rows('refund')).toEqual([]);
  });

  test.each([
    ...['pending', 'requires_action', 'processing', 'authorized', 'refunded', 'disputed', 'charged_back'],
    ...['failed', 'canceled', 'expired'],
  ])('of a payment that is %s is refused', (status) => {
    const { runner, refund, payment } = paid(status === 'pending' ? [] : [{ to: status }]);
    const before = payment();
    const { code, body } = refund({ amount: 1 });
    expect(code).toBe('invalid_state_transition');
    const { allowedActions } = before;
    expect(body.error).toMatchObject({ details: { status, action: 'refund' }, allowedActions });
    expect(payment()).toEqual(before);
    expect(runner.rows('refund')).toHaveLength(status === 'refunded' ? 1 : 0);
  });

  test('counts pending refunds against the amount that is left', () => {
    const { refund } = paid(['capture'], 'refund_pending');
    expectOk(refund({ amount: 4_000 }));
    const details = { refundable: 6_000, requested: 6_001 };
    expect(refund({ amount: 6_001 }).body.error).toMatchObject({
      code: 'amount_exceeds_refundable',
      details,
    });
    expectOk(refund({ amount: 6_000 }));
    expect(refund().code).toBe('amount_exceeds_refundable');
  });

  test('counts lost disputes against the amount that is left', () => {
    const { refund, advance, dispute } = paid(['capture']);
    advance({ action: 'dispute', amount: 4_000 });
    dispute({ action: 'accept' });
    expect(refund({ amount: 6_001 }).body.error.details).toEqual({ refundable: 6_000, requested: 6_001 });
    expect(expectOk(refund()).amount).toBe(6_000);
  });

  test('accepts only the currency of its payment', () => {
    const { refund } = paid(['capture']);
    const expected = { code: 'currency_mismatch', param: '/currency' };
    expect(refund({ amount: 1, currency: 'GBP' }).body.error).toMatchObject(expected);
    expect(refund({ amount: 1, currency: 'eur' }).status).toBe(201);
  });
});

describe('a pending refund', () => {
  test.each<[body: object, status: string, left: number]>([
    [{}, 'succeeded', 6_000],
    [{ action: 'succeed' }, 'succeeded', 6_000],
    [{ to: 'succeeded' }, 'succeeded', 6_000],
    [{ action: 'fail' }, 'failed', 10_000],
    [{ to: 'failed' }, 'failed', 10_000],
    [{ action: 'cancel' }, 'canceled', 10_000],
    [{ to: 'canceled' }, 'canceled', 10_000],
  ])('ends with %j as %s, once', (body, status, left) => {
    const { refund, end, payment } = paid(['capture'], 'refund_pending');
    const created = expectOk(refund({ amount: 4_000 }));
    expect(expectOk(end(created, body))).toMatchObject({ id: created.id, status, version: 2, endedAt: time });
    expect(payment().amountRefundable).toBe(left);
    for (const action of ['succeed', 'fail', 'cancel']) {
      const { code, body: answer } = end(created, { action });
      expect(code).toBe('invalid_state_transition');
      expect(answer.error).toMatchObject({ details: { status, action }, allowedActions: [] });
    }
  });

  test.each<[body: object, param: string]>([
    [{ action: 'refund' }, '/action'],
    [{ to: 'refunded' }, '/to'],
    [{ action: 'succeed', amount: 1 }, '/amount'],
    [{ action: 'succeed', to: 'failed' }, '/to'],
  ])('is not advanced by %j', (body, param) => {
    const { refund, end } = paid(['capture'], 'refund_pending');
    const response = end(expectOk(refund()), body);
    expect([response.code, response.body.error.param]).toEqual(['invalid_request', param]);
  });

  test('that ends after the settlement is paid from the bank', () => {
    const { runner, id, refund, end, advance, payment } = paid(['capture'], 'refund_pending');
    const created = expectOk(refund({ amount: 4_000 }));
    advance({ action: 'settle' });
    const settled = { 'merchant_available EUR': -5_680, 'fees EUR': -320 };
    const transit = { 'refunds_in_transit EUR': -4_000 };
    expect(runner.balancesOf(id)).toEqual({ 'bank EUR': 10_000, ...settled, ...transit });
    expectOk(end(created, { action: 'succeed' }));
    expect(runner.balancesOf(id)).toEqual({ 'bank EUR': 6_000, ...settled });
    expect(payment().status).toBe('partially_refunded');
  });

  test('that ends during a dispute leaves the payment disputed, and counts when the dispute is won', () => {
    const { refund, end, advance, dispute, payment } = paid(['capture'], 'refund_pending');
    const created = expectOk(refund({ amount: 4_000 }));
    advance({ action: 'dispute' });
    expectOk(end(created, { action: 'succeed' }));
    const disputed = { status: 'disputed', amountRefunded: 4_000, amountDisputed: 6_000 };
    expect(payment()).toMatchObject(disputed);
    dispute({ to: 'won' });
    expect(payment()).toMatchObject({ status: 'partially_refunded', amountRefundable: 6_000 });
  });

  test('that ends after the rest was lost in a dispute still counts', () => {
    const { runner, id, refund, end, advance, dispute, payment } = paid(['capture'], 'refund_pending');
    const created = expectOk(refund({ amount: 4_000 }));
    advance({ action: 'dispute' });
    dispute({ action: 'accept' });
    expect(payment().status).toBe('captured');
    expectOk(end(created, { action: 'succeed' }));
    expect(runner.balancesOf(id)).toEqual({ 'fees EUR': -320, 'merchant_pending EUR': 320 });
  });
});
