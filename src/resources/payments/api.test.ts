import { describe, expect, test } from 'vitest';
import { CommandRunner, expectOk, type Response } from '../../../test/support/command-runner.ts';

const payments = 'developer_api_payments';
const start = Date.parse('2026-11-15T09:00:00.000Z');
const unknownId = 'pay_01m7epxwjmf7za77rhky2f93cc';

type Step = string | Readonly<Record<string, unknown>>;

function advance(runner: CommandRunner, id: string, body: object = {}): Response {
  return runner.post(`${payments}/${id}/advance`, body);
}

function paid(steps: readonly Step[], body: object = {}): { runner: CommandRunner; id: string } {
  const runner = new CommandRunner({ now: start });
  const { id } = expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', ...body }));
  for (const step of steps) expectOk(advance(runner, id, typeof step === 'string' ? { action: step } : step));
  return { runner, id };
}

describe('an advance of a payment', () => {
  test('stores the time of each step', () => {
    const { runner, id } = paid([]);
    for (const action of ['authorize', 'capture', 'settle', 'refund']) {
      runner.wallNow += 60_000;
      expectOk(advance(runner, id, { action }));
    }
    const at = (minute: string) => `2026-11-15T09:${minute}:00.000Z`;
    expect(runner.show(id)).toMatchObject({
      ...{ createdAt: at('00'), authorizedAt: at('01'), capturedAt: at('02'), settledAt: at('03') },
      ...{ refundedAt: at('04'), updatedAt: at('04') },
    });
    for (const never of ['authorizationExpiresAt', 'failedAt', 'disputedAt', 'expiredAt', 'chargedBackAt'])
      expect(runner.show(id)).not.toHaveProperty(never);
  });

  test('shows when its authorization expires', () => {
    const { runner, id } = paid(['authorize']);
    expect(runner.show(id)).toMatchObject({
      authorizedAt: '2026-11-15T09:00:00.000Z',
      authorizationExpiresAt: '2026-11-22T09:00:00.000Z',
    });
  });

  // 2.9 % and 30 of each part, half-even.
  test.each<[parts: readonly number[], fee: number]>([
    [[10_000], 320],
    // 102.5 is even at 102, twice, and 175.
    [[2_500, 2_500, 5_000], 379],
    [[5_000, 5_000], 350],
    [[1, 9_999], 321],
    [[9_999, 1], 321],
    [Array.from({ length: 10 }, () => 1_000), 590],
  ])('with captures of %j has a fee for each, and the last one empties the hold', (parts, fee) => {
    const { runner, id } = paid(['authorize'], { captureMethod: 'manual' });
    let captured = 0;
    for (const amount of parts) {
      captured += amount;
      expect(expectOk(advance(runner, id, { action: 'capture', amount, currency: 'eur' }))).toMatchObject({
        ...{ status: captured === 10_000 ? 'captured' : 'partially_captured', amountCaptured: captured },
        amountCapturable: 10_000 - captured,
      });
    }
    expect(runner.show(id).feeAmount).toBe(fee);
    expect(runner.balancesOf(id)).toEqual({
      ...{ 'provider_receivable EUR': 10_000, 'merchant_pending EUR': fee - 10_000, 'fees EUR': -fee },
    });
  });

  test.each([1, 4_000, 9_999])('with a final capture of %d releases the rest', (amount) => {
    const { runner, id } = paid(['authorize']);
    const body = expectOk(advance(runner, id, { action: 'capture', amount, final: true }));
    expect(body).toMatchObject({ status: 'captured', amountCaptured: amount, amountCapturable: 0 });
    const reasons = runner.written.entries.map(({ reason }) => reason);
    expect(reasons).toEqual(['authorize', 'capture', 'release']);
    expect(runner.balancesOf(id)).not.toHaveProperty('provider_holds EUR');
    expect(runner.balancesOf(id)).not.toHaveProperty('hold_obligations EUR');
  });

  test.each<[what: string, body: object, param: string]>([
    ['an amount of zero', { action: 'capture', amount: 0 }, '/amount'],
    ['a negative amount', { action: 'capture', amount: -5 }, '/amount'],
    ['a fraction', { action: 'refund', amount: 1.5 }, '/amount'],
    ['an amount as text', { action: 'dispute', amount: '5' }, '/amount'],
    ['a null amount', { action: 'capture', amount: null }, '/amount'],
    ['an amount of 1e12', { action: 'capture', amount: 1e12 }, '/amount'],
    ['a currency of two letters', { action: 'capture', amount: 5, currency: 'EU' }, '/currency'],
    ['an unknown action', { action: 'explode' }, '/action'],
    ['the action that creates a payment', { action: 'create' }, '/action'],
    ['an action that only a refund triggers', { action: 'refund_succeeded' }, '/action'],
    ['an action that only a dispute triggers', { action: 'dispute_lost' }, '/action'],
    ['a null action', { action: null }, '/action'],
    ['an unknown state', { to: 'paid' }, '/to'],
    ['both an action and a state', { action: 'capture', to: 'captured' }, '/to'],
    ['an unknown decline code', { action: 'fail', failureCode: 'bad_luck' }, '/failureCode'],
    ['an unknown decline code on the way', { to: 'failed', failureCode: 'bad_luck' }, '/failureCode'],
    ['an amount for a step without one', { action: 'settle', amount: 5 }, '/amount'],
    ['an amount for a state without one', { to: 'settled', amount: 5 }, '/amount'],
    ['a decline code for a capture', { action: 'capture', failureCode: 'lost_card' }, '/failureCode'],
    ['final for a refund', { action: 'refund', final: true }, '/final'],
    ['final as text', { action: 'capture', final: 'true' }, '/final'],
    ['metadata for a dispute', { action: 'dispute', metadata: {} }, '/metadata'],
    ['an empty reason', { action: 'dispute', reason: '' }, '/reason'],
    ['a reason of 201 characters', { action: 'refund', reason: 'r'.repeat(201) }, '/reason'],
    ['only an amount', { amount: 5 }, '/amount'],
    ['an unknown field', { action: 'capture', amuont: 5 }, '/amuont'],
    ['a scenario', { scenario: 'approve' }, '/scenario'],
  ])('is not valid with %s', (_what, body, param) => {
    for (const steps of [[], ['authorize'], ['capture']]) {
      const { runner, id } = paid(steps);
      const before = runner.show(id);
      const response = advance(runner, id, body);
      expect([response.code, response.body.error.param], steps.join()).toEqual(['invalid_request', param]);
      expect(runner.show(id)).toEqual(before);
    }
    // The body is checked before the payment is read.
    expect(advance(new CommandRunner(), unknownId, body).code).toBe('invalid_request');
  });

  const codes = {
    capture: ['amount_exceeds_capturable', 'capturable'],
    refund: ['amount_exceeds_refundable', 'refundable'],
    dispute: ['amount_exceeds_disputable', 'disputable'],
  } as const;
  const refunded = (amount: number) => ({ action: 'refund', amount });
  test.each<[action: keyof typeof codes, left: number, steps: readonly Step[]]>([
    ['capture', 10_000, ['authorize']],
    ['capture', 6_000, ['authorize', { action: 'capture', amount: 4_000 }]],
    ['refund', 10_000, ['capture']],
    ['refund', 6_000, ['capture', refunded(4_000)]],
    ['refund', 1, ['capture', 'settle', refunded(9_999)]],
    ['dispute', 10_000, ['capture']],
    ['dispute', 6_000, ['capture', refunded(4_000)]],
    ['dispute', 1, ['capture', 'settle', refunded(9_999)]],
  ])('refuses a %s of more than the %d that are left after %j', (action, left, steps) => {
    const { runner, id } = paid(steps);
    const before = runner.show(id);
    const [code, name] = codes[action];
    for (const amount of [left + 1, 999_999_999_999]) {
      const { status, body } = advance(runner, id, { action, amount });
      const details = { [name]: left, requested: amount };
      expect([status, body.error]).toMatchObject([422, { code, param: '/amount', details }]);
    }
    expect(runner.show(id)).toEqual(before);
    expectOk(advance(runner, id, { action, amount: left }));
  });

  test.each(['capture', 'refund', 'dispute'])('accepts only its own currency for a %s', (action) => {
    const { runner, id } = paid(action === 'capture' ? ['authorize'] : ['capture']);
    const before = runner.show(id);
    for (const currency of ['USD', 'usd', 'XXX']) {
      const { body } = advance(runner, id, { action, amount: 100, currency });
      expect(body.error).toMatchObject({ code: 'currency_mismatch', param: '/currency' });
    }
    expect(runner.show(id)).toEqual(before);
    for (const currency of ['EUR', 'eur'])
      expectOk(advance(runner.fork(), id, { action, amount: 100, currency }));
  });

  test('names the condition that is not met', () => {
    const { runner, id } = paid([], { captureMethod: 'manual' });
    const { body } = advance(runner, id, { action: 'capture' });
    expect(body.error.message).toContain('only when it is captured automatically');
  });

  test('is checked for existence before state, and for state before amounts', () => {
    const { runner, id } = paid([]);
    expect(advance(runner, unknownId, { action: 'settle' }).code).toBe('resource_not_found');
    const refund = { action: 'refund', amount: 99_999, currency: 'USD' };
    expect(advance(runner, id, refund).code).toBe('invalid_state_transition');
  });
});
