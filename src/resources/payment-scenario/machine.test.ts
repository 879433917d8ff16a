import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, type Response } from '../../../test/support/command-runner.ts';
import { declineCodes, declines } from '../../kernel/decline.ts';
import { magicAmounts, paymentScenarios, testCards } from '../../kernel/scenario.ts';
import { stepDelaysMs } from './machine.ts';

const payments = 'developer_api_payments';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const hour = 3_600;
const day = 24 * hour;

type Scenario = string | readonly string[];

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
const hard = 'decline:lost_card';
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
    const failure = { code, message: declines[code].words, retryable: isSoft };
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

/** A step by the clock: seconds after the payment was created, action, new state. */
type Step = readonly [seconds: number, action: string, to: string];

/** Created at 10:00, paid out at 06:00 on the next day. */
const payout: Step = [20 * hour, 'settle', 'settled'];
const paid: readonly Step[] = [[1, 'capture', 'captured'], payout];
const threeAttempts: readonly Step[] = [
  [1, 'fail', 'failed'],
  [61, 'retry', 'pending'],
  [62, 'fail', 'failed'],
  [122, 'retry', 'pending'],
  [123, 'fail', 'failed'],
];

const automatic: readonly (readonly [scenario: Scenario, steps: readonly Step[]])[] = [
  ['approve', paid],
  ['require_action', [[1, 'require_action', 'requires_action'], [11, 'capture', 'captured'], payout]],
  ['async', [[1, 'process', 'processing'], [61, 'capture', 'captured'], payout]],
  [hard, [[1, 'fail', 'failed']]],
  [soft, threeAttempts],
  [
    'capture_fails',
    [
      [1, 'authorize', 'authorized'],
      [2, 'fail', 'failed'],
      [62, 'retry', 'pending'],
      [63, 'authorize', 'authorized'],
      [64, 'fail', 'failed'],
      [124, 'retry', 'pending'],
      [125, 'authorize', 'authorized'],
      [126, 'fail', 'failed'],
    ],
  ],
  ['refund_fails', paid],
  ['refund_pending', paid],
  ['settle_short', paid],
  ['settle_missing', paid],
  ['settle_duplicate', paid],
  ['settle_unknown', paid],
  [
    'dispute',
    [
      [1, 'capture', 'captured'],
      [1 + hour, 'dispute', 'disputed'],
      [1 + hour + 7 * day, 'dispute_lost', 'charged_back'],
    ],
  ],
  [
    [soft, 'approve'],
    [[1, 'fail', 'failed'], [61, 'retry', 'pending'], [62, 'capture', 'captured'], payout],
  ],
  [
    [soft, 'require_action'],
    [
      [1, 'fail', 'failed'],
      [61, 'retry', 'pending'],
      [62, 'require_action', 'requires_action'],
      [72, 'capture', 'captured'],
      payout,
    ],
  ],
  [
    [soft, soft, 'async'],
    [
      [1, 'fail', 'failed'],
      [61, 'retry', 'pending'],
      [62, 'fail', 'failed'],
      [122, 'retry', 'pending'],
      [123, 'process', 'processing'],
      [183, 'capture', 'captured'],
      payout,
    ],
  ],
  [
    [soft, hard, 'approve'],
    [
      [1, 'fail', 'failed'],
      [61, 'retry', 'pending'],
      [62, 'fail', 'failed'],
    ],
  ],
  [[soft, soft, soft, 'approve'], threeAttempts],
  [['approve', hard], paid],
];

const manual: typeof automatic = [
  ['approve', [[1, 'authorize', 'authorized'], [2, 'capture', 'captured'], payout]],
  [
    'require_action',
    [
      [1, 'require_action', 'requires_action'],
      [11, 'authorize', 'authorized'],
      [12, 'capture', 'captured'],
      payout,
    ],
  ],
  [
    'async',
    [[1, 'process', 'processing'], [61, 'authorize', 'authorized'], [62, 'capture', 'captured'], payout],
  ],
  [hard, [[1, 'fail', 'failed']]],
];

describe('a payment with autoAdvance', () => {
  /** All transitions of the payment by the clock, in one jump of a year and in jumps of an hour: both give the same. */
  function expectWalk(body: object, steps: readonly Step[]): void {
    for (const jumps of [[365 * day], Array.from({ length: 10 * 24 }, () => hour)]) {
      const runner = new CommandRunner({ now: start });
      const { id, createdAt } = created(runner, { autoAdvance: true, ...body });
      for (const seconds of jumps) runner.advance(seconds * 1_000);
      const own = runner.written.history.filter(({ resourceId }) => resourceId === id).slice(1);
      const walked = own.map(({ at, action, toStatus }) => {
        return [(at - Date.parse(createdAt)) / 1_000, action, toStatus];
      });
      expect(walked).toEqual(steps);
      const count = runner.written.history.length;
      runner.advance(365 * day * 1_000);
      expect(runner.written.history, 'no timer is left').toHaveLength(count);
    }
  }

  test('waits for the documented delays', () => {
    expect(stepDelaysMs).toEqual({
      require_action: 1_000,
      process: 1_000,
      authorize: 1_000,
      fail: 1_000,
      capture: 1_000,
      confirm: 10_000,
      clear: 60_000,
      retry: 60_000,
      dispute: 3_600_000,
    });
  });

  test('has a walk below for every scenario', () => {
    const covered = new Set(automatic.map(([scenario]) => scenario));
    expect(paymentScenarios.filter((name) => !name.startsWith('decline:') && !covered.has(name))).toEqual([]);
  });

  test.each(automatic)('and automatic capture goes through %j', (scenario, steps) => {
    expectWalk({ captureMethod: 'automatic', scenario }, steps);
  });

  test.each(manual)('and manual capture goes through %j', (scenario, steps) => {
    expectWalk({ captureMethod: 'manual', scenario }, steps);
  });

  test('goes through the scenario of its test card or magic amount', () => {
    const required = automatic.find(([scenario]) => scenario === 'require_action')?.[1] ?? [];
    expectWalk({ paymentMethod: { type: 'card', number: '4000002500003155' } }, required);
    expectWalk({ amount: 999_000_041 }, [[1, 'fail', 'failed']]);
  });

  test('is settled a day later when a bank pays out', () => {
    const late: Step = [20 * hour + day, 'settle', 'settled'];
    expectWalk({ paymentMethod: { type: 'bank_debit' } }, [[1, 'capture', 'captured'], late]);
  });

  test('does not advance after its caller canceled it', () => {
    const runner = new CommandRunner({ now: start });
    const { id } = created(runner, { autoAdvance: true });
    advance(runner, id, { action: 'cancel' });
    runner.advance(30 * day * 1_000);
    expect(runner.show(id)).toMatchObject({ status: 'canceled', version: 2 });
  });

  test('counts the next delay from a step that its caller requested', () => {
    const runner = new CommandRunner({ now: start });
    const { id } = created(runner, { autoAdvance: true, scenario: 'require_action' });
    runner.wallNow += 500;
    advance(runner, id);
    runner.advance(9_999);
    expect(runner.show(id).status).toBe('requires_action');
    runner.advance(1);
    expect(runner.show(id).status).toBe('captured');
  });

  test('executes overdue steps, each at its own time, before a request', () => {
    const runner = new CommandRunner({ now: start });
    const { id } = created(runner, { autoAdvance: true, scenario: [soft, 'async'] });
    runner.wallNow += 200_000;
    expect(advance(runner, id, { action: 'refund', amount: 1_000 }).body).toMatchObject({
      status: 'partially_refunded',
      version: 6,
    });
    const own = runner.written.history.filter(({ resourceId }) => resourceId === id);
    expect(own.map(({ action, at }) => [action, (at - start) / 1_000])).toEqual([
      ['create', 0],
      ['fail', 1],
      ['retry', 61],
      ['process', 62],
      ['capture', 122],
      ['refund', 200],
    ]);
  });

  test('is settled after a won dispute, which does not repeat', () => {
    const runner = new CommandRunner({ now: start });
    const { id } = created(runner, { autoAdvance: true, scenario: 'dispute' });
    runner.advance(2 * hour * 1_000);
    const { disputeId } = runner.show(id);
    expect(runner.post(`developer_api_disputes/${disputeId}/advance`, { to: 'won' }).body.status).toBe('won');
    const count = runner.written.history.length;
    runner.advance(30 * day * 1_000);
    expect(runner.written.history.slice(count)).toMatchObject([
      { resourceId: id, action: 'settle', at: Date.parse('2031-03-05T06:00:00.000Z') },
    ]);
  });
});

test.each(['approve', soft, 'require_action', 'async', 'dispute', 'capture_fails'])(
  'without autoAdvance %s waits for its caller',
  (scenario) => {
    const runner = new CommandRunner({ now: start });
    const { id } = created(runner, { scenario });
    runner.advance(365 * day * 1_000);
    expect(runner.show(id)).toMatchObject({ status: 'pending', version: 1, autoAdvance: false });
  },
);

test.each([
  [soft, 'fail', 'failed'],
  ['async', 'process', 'processing'],
  ['require_action', 'require_action', 'requires_action'],
])('without autoAdvance %s stays where its caller left it', (scenario, action, status) => {
  const runner = new CommandRunner({ now: start });
  const { id } = created(runner, { scenario });
  advance(runner, id, { action });
  runner.advance(365 * day * 1_000);
  expect(runner.show(id)).toMatchObject({ status, version: 2 });
});
