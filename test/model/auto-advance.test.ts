/** The timed steps of every scenario for payments with `autoAdvance`. Payments without it wait for their caller. */
import { describe, expect, test } from 'vitest';
import { paymentScenarios } from '../../src/kernel/scenario.ts';
import { stepDelaysMs } from '../../src/resources/payments/scenario.ts';
import type { Body } from '../support/api-client.ts';
import { CommandRunner, type Response } from '../support/command-runner.ts';

const payments = 'developer_api_payments';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const hour = 3_600;
const day = 24 * hour;
const soft = 'decline:insufficient_funds';
const hard = 'decline:lost_card';

type Scenario = string | readonly string[];

function created(runner: CommandRunner, body: object): Body {
  const response = runner.post(payments, { amount: 10_000, currency: 'EUR', ...body });
  expect(response.status, response.text).toBe(201);
  return response.body;
}

function advance(runner: CommandRunner, id: string, body: object = {}): Response {
  return runner.post(`${payments}/${id}/advance`, body);
}

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
  /** All transitions of the payment by the clock, in one jump of a year and in jumps of an hour: both have the same result. */
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
