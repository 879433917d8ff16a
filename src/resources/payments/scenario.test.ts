import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, type Response } from '../../../test/support/command-runner.ts';
import { declineCodes, declines } from '../../kernel/decline.ts';
import { magicAmounts, paymentScenarios, testCards } from '../../kernel/scenario.ts';

const payments = 'developer_api_payments';

function created(runner: CommandRunner, body: object): Body {
  const response = runner.post(payments, { amount: 10_000, currency: 'EUR', ...body });
  expect(response.status, response.text).toBe(201);
  return response.body;
}

function advance(runner: CommandRunner, id: string, body: object = {}): Response {
  return runner.post(`${payments}/${id}/advance`, body);
}

/** The states of a payment that is advanced until the scenario has no further step. */
function statuses(runner: CommandRunner, id: string): readonly string[] {
  const seen: string[] = [];
  for (let steps = 0; steps < 12; steps += 1) {
    const { status, body } = advance(runner, id);
    if (status !== 200) return seen;
    seen.push(body.status);
  }
  throw new Error('the scenario does not end');
}

const soft = 'decline:insufficient_funds';
const hardCodes = [
  ...['expired_card', 'incorrect_number', 'invalid_account', 'account_closed', 'lost_card', 'stolen_card'],
  ...['pickup_card', 'restricted_card', 'fraudulent', 'card_not_supported', 'currency_not_supported'],
  ...['transaction_not_allowed', 'mandate_revoked'],
];
const threeDeclines = ['failed', 'pending', 'failed', 'pending', 'failed'];

describe('a payment that is advanced step by step', () => {
  const walks: Readonly<Record<string, readonly string[]>> = {
    approve: ['captured', 'settled'],
    require_action: ['requires_action', 'captured', 'settled'],
    async: ['processing', 'captured', 'settled'],
    // A refused capture is a soft decline: three attempts are allowed.
    capture_fails: [
      ...['authorized', 'failed', 'pending', 'authorized', 'failed', 'pending', 'authorized', 'failed'],
    ],
    refund_fails: ['captured', 'settled'],
    refund_pending: ['captured', 'settled'],
    dispute: ['captured', 'disputed'],
    settle_short: ['captured', 'settled'],
    settle_missing: ['captured', 'settled'],
    settle_duplicate: ['captured', 'settled'],
    settle_unknown: ['captured', 'settled'],
  };

  test.each(paymentScenarios)('%s goes through its documented states', (scenario) => {
    const runner = new CommandRunner();
    const { id } = created(runner, { scenario });
    const code = scenario.startsWith('decline:') ? scenario.slice('decline:'.length) : undefined;
    const expected =
      code === undefined ? walks[scenario] : hardCodes.includes(code) ? ['failed'] : threeDeclines;
    expect(statuses(runner, id)).toEqual(expected);
  });

  test.each(declineCodes)('a decline shows its code, message and whether to retry: %s', (code) => {
    const runner = new CommandRunner();
    const { id } = created(runner, { scenario: `decline:${code}` });
    const { status, body } = advance(runner, id);
    const isSoft = !hardCodes.includes(code);
    const failure = { code, message: declines[code].description, retryable: isSoft };
    // A simulated decline is not an HTTP error.
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'failed',
      failure,
      attempts: [{ number: 1, scenario: `decline:${code}`, failure, failedAt: body.failedAt }],
      allowedActions: isSoft ? ['retry'] : [],
      amountCaptured: 0,
    });
  });

  test('a list applies to successive attempts, and its last entry to all that follow', () => {
    const runner = new CommandRunner();
    const scenario = [soft, 'require_action'];
    const { id } = created(runner, { scenario });
    expect(statuses(runner, id)).toEqual(['failed', 'pending', 'requires_action', 'captured', 'settled']);
    const shown = runner.show(id);
    expect(shown).not.toHaveProperty('failedAt');
    expect(shown).toMatchObject({
      scenario,
      failure: null,
      attempts: [
        { number: 1, scenario: soft, failure: { code: 'insufficient_funds' } },
        { number: 2, scenario: 'require_action', failure: null, failedAt: null },
      ],
    });
    const repeated = created(runner, { scenario: ['decline:do_not_honor'] });
    expect(statuses(runner, repeated.id)).toEqual(threeDeclines);
  });

  test('a fourth attempt is refused, even after soft declines', () => {
    const runner = new CommandRunner();
    const { id } = created(runner, { scenario: 'decline:try_again_later' });
    statuses(runner, id);
    const { code, body } = advance(runner, id, { action: 'retry' });
    expect(code).toBe('invalid_state_transition');
    expect(body.error.message).toContain('fewer than 3 attempts');
    expect(runner.show(id).attempts).toHaveLength(3);
  });

  test.each([
    ['approve', { action: 'fail', failureCode: 'lost_card' }, 'lost_card'],
    ['decline:expired_card', { action: 'fail' }, 'expired_card'],
    ['approve', { action: 'fail' }, 'generic_decline'],
    ['approve', { to: 'failed', failureCode: 'stolen_card' }, 'stolen_card'],
  ])('a failure of %s requested by %j has the code %s', (scenario, body, code) => {
    const runner = new CommandRunner();
    const { id } = created(runner, { scenario });
    expect(advance(runner, id, body).body.failure).toMatchObject({ code });
  });

  test('a refused capture releases the hold, and the next attempt holds again', () => {
    const runner = new CommandRunner();
    const { id } = created(runner, { scenario: ['capture_fails', 'approve'] });
    advance(runner, id, { action: 'authorize' });
    const { body } = advance(runner, id, { action: 'capture', amount: 4_000 });
    expect(body).toMatchObject({
      status: 'failed',
      failure: { code: 'processing_error', retryable: true },
      amountCapturable: 0,
    });
    expect(body).not.toHaveProperty('authorizationExpiresAt');
    expect([runner.balance('provider_holds', 'EUR'), runner.balance('hold_obligations', 'EUR')]).toEqual([
      0n,
      0n,
    ]);
    advance(runner, id, { action: 'retry' });
    expect(advance(runner, id, { to: 'captured' }).body.feeAmount).toBe(320);
  });
});

describe('magic values', () => {
  test.each(Object.entries(testCards))('the test card %s selects %s', (number, scenario) => {
    const body = created(new CommandRunner(), { paymentMethod: { type: 'card', number } });
    expect(body.scenario).toBe(scenario);
    expect(body.paymentMethod).toEqual({ type: 'card', lastFour: number.slice(-4) });
  });

  test.each([...magicAmounts].map(([amount, scenario]) => [Number(amount), scenario] as const))(
    'the amount %i selects %s in any currency',
    (amount, scenario) => {
      expect(created(new CommandRunner(), { amount, currency: 'JPY' }).scenario).toBe(scenario);
    },
  );

  test.each([999_000_000, 999_000_002, 51, 99_900_051])('the amount %i is not magic', (amount) => {
    expect(created(new CommandRunner(), { amount }).scenario).toBe('approve');
  });

  test('a named scenario overrides a test card, and a test card overrides an amount', () => {
    const runner = new CommandRunner();
    const paymentMethod = { type: 'card', number: '4000000000000069' };
    const both = { amount: 999_000_051, paymentMethod };
    expect(created(runner, both).scenario).toBe('decline:expired_card');
    expect(created(runner, { ...both, scenario: 'approve' }).scenario).toBe('approve');
    const approved = { type: 'card', number: '4242424242424242' };
    expect(created(runner, { amount: 999_000_051, paymentMethod: approved }).scenario).toBe('approve');
  });
});
