/** Clock-driven transitions of payments, refunds and disputes: deadlines, overdue steps and their order. */
import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';
import type { Effect } from '../clocks/machine.ts';

const payments = 'developer_api_payments';
const disputes = 'developer_api_disputes';
const refunds = 'developer_api_refunds';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const second = 1_000;
const day = 86_400 * second;
const week = 7 * day;
const text = (instant: number) => new Date(instant).toISOString();
const nextMorning = '2031-03-05T06:00:00.000Z';

type Step = string | Readonly<Record<string, unknown>>;

/** A runner with one payment that went through these steps. */
function paid(
  steps: readonly Step[],
  body: object = {},
  runner = new CommandRunner({ now: start }),
): { runner: CommandRunner; id: string; payment: () => Body; dispute: () => Body } {
  const { id } = expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', ...body }));
  for (const step of steps)
    expectOk(runner.post(`${payments}/${id}/advance`, typeof step === 'string' ? { action: step } : step));
  const payment = () => runner.show(id);
  return { runner, id, payment, dispute: () => runner.show(String(payment().disputeId)) };
}

/** Advances the clock to an instant and returns the effects. */
function goTo(runner: CommandRunner, instant: number): readonly Effect[] {
  const body = expectOk(runner.post('developer_api_clock/advance', { to: text(instant) }));
  expect(body).toMatchObject({ complete: true, now: text(instant) });
  return body.happened as readonly Effect[];
}

const steps = (happened: readonly Effect[]) =>
  happened.map(({ at, type, action, from, to, event }) => [at, type, action, from, to, event]);

/** Time passes in one of three ways; the outcome is the same. */
const ways: readonly (readonly [name: string, pass: (runner: CommandRunner, ms: number) => void])[] = [
  ['in one advance', (runner, ms) => void goTo(runner, runner.now + ms)],
  ['in real time', (runner, ms) => void runner.advance(ms)],
  [
    'in advances of a day',
    (runner, ms) => {
      const end = runner.now + ms;
      while (runner.now < end) goTo(runner, Math.min(end, runner.now + day));
    },
  ],
];

describe('an authorization', () => {
  test.each(['automatic', 'manual'])('with %s capture expires after seven days', (captureMethod) => {
    const { runner, id, payment } = paid(['authorize'], { captureMethod });
    expect(runner.balancesOf(id)).toEqual({ 'provider_holds EUR': 10_000, 'hold_obligations EUR': -10_000 });
    const at = text(start + week);
    const { requestId, happened } = expectOk(runner.post('developer_api_clock/advance', { to: at }));
    const move = { action: 'expire', from: 'authorized', to: 'expired', event: 'payment.expired' };
    expect(happened).toEqual([{ at, type: 'payment', id, ...move }]);
    expect(payment()).toMatchObject({
      ...{ status: 'expired', amountCapturable: 0, expiredAt: at, updatedAt: at, version: 3 },
      allowedActions: [],
    });
    expect(payment()).not.toHaveProperty('authorizationExpiresAt');
    expect(runner.balancesOf(id)).toEqual({});
    const { entries, events, providerEvents } = runner.written;
    expect(entries.map(({ reason, createdAt }) => [reason, text(createdAt)])).toEqual([
      ['authorize', text(start)],
      ['release', at],
    ]);
    expect(events.at(-1)).toMatchObject({
      ...{ type: 'payment.expired', sequence: 3, appId: runner.appId, createdAt: start + week, requestId },
    });
    expect(JSON.parse(events.at(-1)?.data ?? '')).toEqual(payment());
    expect(providerEvents.at(-1)).toMatchObject({
      type: 'charge.authorization_expired',
      receivedAt: start + week,
    });
  });

  test.each(ways)('expires at its own instant, not a millisecond earlier, %s', (_way, pass) => {
    const { runner, payment } = paid(['authorize']);
    pass(runner, week - 1);
    expect(payment()).toMatchObject({ status: 'authorized', version: 2 });
    const late = runner.fork();
    pass(runner, 1);
    expect(payment()).toMatchObject({ status: 'expired', expiredAt: text(start + week) });
    pass(late, 365 * day);
    expect(late.show(payment().id)).toEqual(payment());
  });

  test.each(ways)('of a partially captured payment expires to captured, %s', (_way, pass) => {
    const { runner, id, payment } = paid(['authorize', { action: 'capture', amount: 4_000 }]);
    runner.wallNow += 2 * day;
    const capture = { action: 'capture', amount: 1_000 };
    expect(expectOk(runner.post(`${payments}/${id}/advance`, capture)).status).toBe('partially_captured');
    const count = runner.written.history.length;
    pass(runner, week);
    const own = runner.written.history.slice(count).filter(({ resource }) => resource === 'payment');
    expect(
      own.map(({ at, action, fromStatus, toStatus }) => [text(at), action, fromStatus, toStatus]),
    ).toEqual([
      [text(start + week), 'expire', 'partially_captured', 'captured'],
      ['2031-03-12T06:00:00.000Z', 'settle', 'captured', 'settled'],
    ]);
    expect(runner.written.events.slice(-2).map(({ type }) => type)).toEqual([
      'payment.captured',
      'payment.settled',
    ]);
    expect(payment()).toMatchObject({ status: 'settled', amountCaptured: 5_000, amountCapturable: 0 });
    expect(payment()).not.toHaveProperty('expiredAt');
    expect(runner.balancesOf(id)).not.toHaveProperty('provider_holds EUR');
  });

  describe.each([
    ['authorized', ['authorize'], 'expired'],
    ['partially captured', ['authorize', { action: 'capture', amount: 4_000 }], 'captured'],
  ] as const)('that has expired on a payment that is %s', (_what, way, status) => {
    test.each([{ action: 'cancel' }, { action: 'capture', amount: 1 }, { action: 'authorize' }])(
      'is not available to %j before its timer fires, and the timer still fires',
      (body) => {
        const { runner, id, payment } = paid(way, { captureMethod: 'manual' });
        const before = payment();
        runner.wallNow += week;
        const { code, body: answer } = runner.post(`${payments}/${id}/advance`, body);
        expect([code, answer.error.details?.status]).toEqual(['invalid_state_transition', status]);
        expect(payment()).toEqual(before);
        runner.advance(0);
        expect(payment()).toMatchObject({ status, updatedAt: text(start + week) });
      },
    );
  });

  test.each([{ action: 'capture' }, { to: 'captured' }, {}])('that has expired refuses %j', (body) => {
    const { runner, id, payment } = paid(['authorize'], { captureMethod: 'manual' });
    const early = runner.fork();
    early.wallNow += week - 1;
    expect(expectOk(early.post(`${payments}/${id}/advance`, body)).status).toBe('captured');
    runner.wallNow += week;
    const { code, body: answer } = runner.post(`${payments}/${id}/advance`, body);
    expect([code, answer.error.details?.status]).toEqual(['invalid_state_transition', 'expired']);
    expect(payment()).toMatchObject({ status: 'authorized', version: 2 });
  });

  test.each([
    ['capture', 'settled'],
    ['cancel', 'canceled'],
    ['expire', 'expired'],
  ])('does not expire after %s', (action, end) => {
    const { runner, payment } = paid(['authorize', action]);
    const happened = goTo(runner, start + 30 * day);
    expect(happened.filter((one) => one.action === 'expire')).toEqual([]);
    expect(payment().status).toBe(end);
  });
});

describe('a dispute', () => {
  const path = (dispute: Body) => `${disputes}/${dispute.id}/advance`;

  test('without a response is lost at its deadline, and the payment is charged back', () => {
    const { runner, id, payment, dispute } = paid(['capture', 'dispute']);
    const at = text(start + week);
    const { id: disputeId } = dispute();
    expect(goTo(runner, start + week)).toEqual([
      {
        ...{ at, type: 'dispute', id: disputeId, action: 'expire', from: 'needs_response', to: 'lost' },
        event: 'dispute.lost',
      },
      {
        ...{ at, type: 'payment', id, action: 'dispute_lost', from: 'disputed', to: 'charged_back' },
        event: 'payment.charged_back',
      },
    ]);
    expect(dispute()).toMatchObject({ status: 'lost', closedAt: at });
    expect(payment()).toMatchObject({ status: 'charged_back', chargedBackAt: at });
    expect(runner.balancesOf(id)).toEqual({ 'fees EUR': -320, 'merchant_pending EUR': 320 });
  });

  test('accepts evidence a millisecond before its deadline', () => {
    const { runner, dispute } = paid(['capture', 'dispute']);
    expect(goTo(runner, start + week - 1)).toEqual([]);
    expect(expectOk(runner.post(path(dispute()), { action: 'submit_evidence' })).status).toBe('under_review');
  });

  test.each([
    { action: 'submit_evidence', evidence: { a: 'b' } },
    { action: 'accept' },
    { to: 'won' },
    { to: 'under_review' },
    {},
  ])('refuses %j after its deadline, before its timer fires', (body) => {
    const { runner, dispute } = paid(['capture', 'dispute']);
    runner.wallNow += week;
    const { code, body: answer } = runner.post(path(dispute()), body);
    expect([code, answer.error.details?.status]).toEqual(['invalid_state_transition', 'lost']);
    expect(dispute()).toMatchObject({ status: 'needs_response', version: 1, evidence: null });
  });

  test('under review has no deadline, and each next stage has its own', () => {
    const { runner, payment, dispute } = paid(['capture', 'dispute']);
    for (let stage = 0; stage < 2; stage += 1) {
      expectOk(runner.post(path(dispute()), { action: 'submit_evidence' }));
      expect(goTo(runner, runner.now + 30 * day)).toEqual([]);
      const { respondBy } = expectOk(runner.post(path(dispute()), { action: 'escalate' }));
      expect(respondBy).toBe(text(runner.now + week));
    }
    const respondBy = Date.parse(String(dispute().respondBy));
    expect(goTo(runner, respondBy).map(({ type, to }) => [type, to])).toEqual([
      ['dispute', 'lost'],
      ['payment', 'charged_back'],
    ]);
    expect(payment().status).toBe('charged_back');
  });

  test('of a part that is lost leaves the rest of the payment to be settled', () => {
    const { runner, id } = paid(['capture', { action: 'dispute', amount: 2_500 }]);
    expect(steps(goTo(runner, start + 30 * day))).toEqual([
      [text(start + week), 'dispute', 'expire', 'needs_response', 'lost', 'dispute.lost'],
      [text(start + week), 'payment', 'dispute_lost', 'disputed', 'captured', 'payment.captured'],
      ['2031-03-12T06:00:00.000Z', 'payment', 'settle', 'captured', 'settled', 'payment.settled'],
    ]);
    expect(runner.balancesOf(id)['bank EUR']).toBe(7_500);
  });
});

describe('an overdue settlement comes first, at its own instant, before', () => {
  const refunded = { amount: 1_000 };
  test.each<[what: string, scenario: string, before: string, path: string, body: object, bank: number]>([
    ['a refund by action', 'approve', '', 'advance', { action: 'refund', ...refunded }, 9_000],
    ['a refund', 'approve', '', 'refund', refunded, 9_000],
    ['a pending refund', 'refund_pending', '', 'refund', refunded, 10_000],
    ['a refund that fails', 'refund_fails', '', 'refund', refunded, 10_000],
    ['a dispute', 'approve', '', 'advance', { action: 'dispute' }, 10_000],
    ['the end of a refund', 'refund_pending', 'refund', 'succeed', { action: 'succeed' }, 9_000],
    ['the failure of a refund', 'refund_pending', 'refund', 'fail', { action: 'fail' }, 10_000],
  ])('%s', (_what, scenario, before, path, body, bank) => {
    const { runner, id, payment } = paid(['capture'], { scenario });
    const isRefund = before === 'refund';
    const refund = isRefund ? expectOk(runner.post(`${payments}/${id}/refund`, refunded)) : undefined;
    runner.wallNow += 3 * day;
    expectOk(runner.post(refund ? `${refunds}/${refund.id}/advance` : `${payments}/${id}/${path}`, body));
    expect(payment().settledAt).toBe(nextMorning);
    expect(runner.balancesOf(id)['bank EUR']).toBe(bank);
    const own = runner.written.history.filter(({ resourceId }) => resourceId === id);
    const settled = own.findIndex(({ action }) => action === 'settle');
    expect(text(own[settled]?.at ?? 0)).toBe(nextMorning);
    for (const { at, action } of own.slice(settled + 1))
      expect([action, text(at)]).toEqual([action, text(start + 3 * day)]);
  });
});
