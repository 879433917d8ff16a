import { describe, expect, test } from 'vitest';
import type { Body } from '../support/api-client.ts';
import { CommandRunner } from '../support/command-runner.ts';
import { disputeSituations, paymentSituations, reach } from './situations.ts';

const payments = 'developer_api_payments';
const disputes = 'developer_api_disputes';
const transfers = 'developer_api_transfers';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const week = 7 * day;
const text = (instant: number) => new Date(instant).toISOString();
const nextMorning = '2031-03-05T06:00:00.000Z';
const morningAfter = '2031-03-06T06:00:00.000Z';
const bank = { paymentMethod: { type: 'bank_debit' } };

type Step = string | Readonly<Record<string, unknown>>;

function posted(runner: CommandRunner, path: string, body: object = {}): Body {
  const response = runner.post(path, body);
  expect(response.status, response.text).toBeLessThan(300);
  return response.body;
}

function advanced(runner: CommandRunner, path: string, steps: readonly Step[]): void {
  for (const step of steps)
    posted(runner, `${path}/advance`, typeof step === 'string' ? { action: step } : step);
}

describe('the timer of a payment', () => {
  type Row = readonly [steps: readonly Step[], byHand: string | null, automatic: string | null];
  const later = (ms: number) => text(start + ms);
  const part = { action: 'capture', amount: 1 };
  const refundOfPart = { action: 'refund', amount: 1 };
  const hard = { action: 'fail', failureCode: 'lost_card' };
  const rows: Readonly<Record<string, Row>> = {
    pending: [[], null, later(second)],
    requires_action: [['require_action'], null, later(10 * second)],
    processing: [['process'], null, later(60 * second)],
    authorized: [['authorize'], later(week), later(second)],
    'partially captured': [['authorize', part], later(week), later(second)],
    captured: [['capture'], nextMorning, nextMorning],
    'captured after its authorization': [['authorize', 'capture'], nextMorning, nextMorning],
    settled: [['capture', 'settle'], null, null],
    'partially refunded': [['capture', refundOfPart], nextMorning, nextMorning],
    'partially refunded and settled': [['capture', refundOfPart, 'settle'], null, null],
    'settled and partially refunded': [['capture', 'settle', refundOfPart], null, null],
    refunded: [['capture', 'refund'], null, null],
    'charged back': [[{ to: 'charged_back' }], null, null],
    canceled: [['cancel'], null, null],
    'canceled after its authorization': [['authorize', 'cancel'], null, null],
    expired: [['authorize', 'expire'], null, null],
    'failed with a soft decline': [['fail'], null, later(60 * second)],
    'failed with a hard decline': [[hard], null, null],
    'failed for the third time': [['fail', 'retry', 'fail', 'retry', 'fail'], null, null],
    'pending again': [['fail', 'retry'], null, later(second)],
  };

  describe.each(Object.entries(rows))('that is %s', (_what, [steps, byHand, automatic]) => {
    test.each([
      { autoAdvance: false, due: byHand },
      { autoAdvance: true, due: automatic },
    ])('with autoAdvance $autoAdvance is at $due', ({ autoAdvance, due }) => {
      const runner = new CommandRunner({ now: start });
      const { id } = posted(runner, payments, { amount: 10_000, currency: 'EUR', autoAdvance });
      advanced(runner, `${payments}/${id}`, steps);
      expect(runner.timers).toEqual(due === null ? {} : { [id]: due });
    });
  });

  test.each<[what: string, steps: readonly Step[], body: object, due: string]>([
    ['captured at a bank', ['capture'], bank, morningAfter],
    ['captured at a bank with autoAdvance', ['capture'], { ...bank, autoAdvance: true }, morningAfter],
    ['to be disputed', ['capture'], { autoAdvance: true, scenario: 'dispute' }, later(hour)],
    ['to be disputed, by hand', ['capture'], { scenario: 'dispute' }, nextMorning],
    ['with a pending refund', ['capture', 'refund'], { scenario: 'refund_pending' }, nextMorning],
    ['with a failed refund', ['capture', 'refund'], { scenario: 'refund_fails' }, nextMorning],
  ])('that is %s', (_what, steps, body, due) => {
    const runner = new CommandRunner({ now: start });
    const { id } = posted(runner, payments, { amount: 10_000, currency: 'EUR', ...body });
    advanced(runner, `${payments}/${id}`, steps);
    expect(runner.timers).toEqual({ [id]: due });
  });
});

/** The rules for records that wait for their caller, for every situation of the model. */
describe('without autoAdvance', () => {
  test.each([...paymentSituations, ...disputeSituations])(
    'a payment $name has the documented timer',
    (one) => {
      const { runner, paymentId, provider } = reach(one);
      const payment = runner.show(paymentId);
      const dispute = runner.rows('dispute').at(-1);
      const expected: Record<string, string> = {};
      const isHeld = ['authorized', 'partially_captured'].includes(payment.status);
      if (isHeld && payment.authorizationExpiresAt !== undefined)
        expected[paymentId] = text(Date.parse(String(payment.authorizedAt)) + week);
      const isUnsettled = payment.settledAt === undefined;
      // The tests start on November 16, at nine. The first provider pays out a day later, the second one two days later.
      const payout = provider === 'meridian' ? '2026-11-17T06:00:00.000Z' : '2026-11-18T06:00:00.000Z';
      if (['captured', 'partially_refunded'].includes(payment.status) && isUnsettled)
        expected[paymentId] = payout;
      if (dispute) {
        const { id, status, respondBy } = runner.show(dispute.id);
        expect(Date.parse(String(respondBy))).toBe(runner.now + week);
        if (status === 'needs_response') expected[id] = String(respondBy);
      }
      expect(runner.timers).toEqual(expected);
    },
  );
});

describe('the timer of a dispute', () => {
  test('follows each step of the dispute and its payment', () => {
    const runner = new CommandRunner({ now: start });
    const { id } = posted(runner, payments, { amount: 10_000, currency: 'EUR' });
    advanced(runner, `${payments}/${id}`, ['capture', 'dispute']);
    const disputeId = String(runner.show(id).disputeId);
    const seen: unknown[] = [runner.timers];
    for (const action of ['submit_evidence', 'escalate', 'submit_evidence', 'escalate', 'submit_evidence']) {
      runner.wallNow += day;
      advanced(runner, `${disputes}/${disputeId}`, [action]);
      seen.push(runner.timers);
    }
    expect(seen).toEqual([
      { [disputeId]: text(start + week) },
      {},
      { [disputeId]: text(start + 2 * day + week) },
      {},
      { [disputeId]: text(start + 4 * day + week) },
      {},
    ]);
    // Won five days later, four hours after that morning's payout.
    advanced(runner, `${disputes}/${disputeId}`, ['win']);
    expect(runner.timers).toEqual({ [id]: '2031-03-10T06:00:00.000Z' });
  });

  test.each(['accept', 'expire', 'lose'])('is gone when the dispute is lost with %s', (action) => {
    const runner = new CommandRunner({ now: start });
    const { id } = posted(runner, payments, { amount: 10_000, currency: 'EUR' });
    advanced(runner, `${payments}/${id}`, ['capture', 'dispute']);
    const path = `${disputes}/${runner.show(id).disputeId}`;
    advanced(runner, path, action === 'lose' ? ['submit_evidence', 'lose'] : [action]);
    expect(runner.timers).toEqual({});
  });
});

describe('the timer of a transfer', () => {
  const toSent = ['accept', 'fund', 'convert', 'send'];
  const halfHour = text(start + 30 * 60 * second);
  const inDay = text(start + day);
  const seconds = (count: number) => text(start + count * second);
  const rows: Readonly<
    Record<string, readonly [steps: readonly string[], byHand: string | null, automatic: string | null]>
  > = {
    quoted: [[], halfHour, seconds(1)],
    requoted: [['requote'], halfHour, seconds(1)],
    accepted: [['accept'], inDay, seconds(1)],
    funded: [['accept', 'fund'], null, seconds(1)],
    'in review': [['accept', 'fund', 'review'], null, seconds(60)],
    converted: [['accept', 'fund', 'convert'], null, seconds(1)],
    sent: [toSent, null, seconds(3_600)],
    completed: [[...toSent, 'complete'], null, null],
    returned: [[...toSent, 'return'], null, null],
    'sent again': [[...toSent, 'return', 'resend'], null, seconds(3_600)],
    refunded: [[...toSent, 'return', 'refund'], null, null],
    canceled: [['cancel'], null, null],
    expired: [['expire'], null, null],
    failed: [['accept', 'fail'], null, null],
  };

  describe.each(Object.entries(rows))('that is %s', (_what, [steps, byHand, automatic]) => {
    test.each([
      { autoAdvance: false, due: byHand },
      { autoAdvance: true, due: automatic },
    ])('with autoAdvance $autoAdvance is at $due', ({ autoAdvance, due }) => {
      const runner = new CommandRunner({ now: start });
      const { id } = posted(runner, transfers, {
        ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 },
        ...{ beneficiary: { name: 'Grace Hopper' }, autoAdvance },
      });
      advanced(runner, `${transfers}/${id}`, steps);
      expect(runner.timers).toEqual(due === null ? {} : { [id]: due });
    });
  });
});
