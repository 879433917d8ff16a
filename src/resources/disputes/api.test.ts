import { describe, expect, test } from 'vitest';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';

const payments = 'developer_api_payments';
const disputes = 'developer_api_disputes';
const now = Date.parse('2026-11-15T00:00:00.000Z');
const day = 86_400_000;
const text = (instant: number) => new Date(instant).toISOString();

type Step = string | Readonly<Record<string, unknown>>;

function paid(steps: readonly Step[], scenario = 'approve') {
  const runner = new CommandRunner({ now });
  const { id } = expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', scenario }));
  const advance = (body: object = {}) => runner.post(`${payments}/${id}/advance`, body);
  for (const step of steps) expectOk(advance(typeof step === 'string' ? { action: step } : step));
  const payment = () => runner.show(id);
  const dispute = () => runner.show(String(payment().disputeId));
  return {
    ...{ runner, id, advance, payment, dispute },
    move: (body: object = {}) => runner.post(`${disputes}/${dispute().id}/advance`, body),
  };
}

const disputed = () => paid(['capture', 'dispute']);

describe('a dispute', () => {
  test('shows every field, and its payment names it', () => {
    const { id, payment, dispute } = paid([
      'capture',
      { action: 'dispute', amount: 2_500, reason: 'never came' },
    ]);
    expect(dispute()).toEqual({
      ...{ object: 'dispute', sandbox: true, status: 'needs_response', id: payment().disputeId },
      ...{ paymentId: id, amount: 2_500, currency: 'EUR', reason: 'never came', stage: 'chargeback' },
      ...{ evidence: null, respondBy: text(now + 7 * day), version: 1, closedAt: null },
      ...{ allowedActions: ['submit_evidence', 'accept', 'expire'], createdAt: text(now) },
      updatedAt: text(now),
    });
    expect(payment()).toMatchObject({
      ...{ status: 'disputed', amountDisputed: 2_500, amountRefundable: 7_500, disputedAt: text(now) },
      allowedActions: [],
    });
  });

  test.each([
    [['capture'], 10_000],
    [['capture', 'settle'], 10_000],
    [['capture', { action: 'refund', amount: 4_000 }], 6_000],
    [['authorize', { action: 'capture', amount: 4_000, final: true }], 4_000],
  ])('without an amount after %j covers the remaining %d', (steps, amount) => {
    expect(paid([...steps, 'dispute']).dispute()).toMatchObject({ amount, reason: 'general' });
  });

  test('has seven days for a response in each stage, and the third stage is the last', () => {
    const { runner, dispute, move } = disputed();
    const seen: unknown[] = [[dispute().stage, dispute().respondBy]];
    for (let stage = 0; stage < 2; stage += 1) {
      runner.wallNow += day;
      expect(expectOk(move({ action: 'submit_evidence' })).allowedActions).toContain('escalate');
      const { status, stage: name, respondBy } = expectOk(move({ action: 'escalate' }));
      expect(status).toBe('needs_response');
      seen.push([name, respondBy]);
    }
    expect(seen).toEqual([
      ['chargeback', '2026-11-22T00:00:00.000Z'],
      ['pre_arbitration', '2026-11-23T00:00:00.000Z'],
      ['arbitration', '2026-11-24T00:00:00.000Z'],
    ]);
    expect(expectOk(move({ action: 'submit_evidence' })).allowedActions).not.toContain('escalate');
    const { code, body } = move({ action: 'escalate' });
    expect(code).toBe('invalid_state_transition');
    expect(body.error.message).toContain('next stage');
  });

  test('keeps its evidence through a stage until new evidence replaces it', () => {
    const { move } = disputed();
    const evidence = { receipt: 'No. 7 🎉', 'tracking number': 'x'.repeat(2_000) };
    const submit = (some: object) => expectOk(move({ action: 'submit_evidence', ...some })).evidence;
    expect(submit({ evidence })).toEqual(evidence);
    expectOk(move({ action: 'escalate' }));
    expect(submit({})).toEqual(evidence);
    expectOk(move({ action: 'escalate' }));
    expect(submit({ evidence: { other: 'x' } })).toEqual({ other: 'x' });
  });

  test.each([
    [['capture'], 'captured'],
    [['capture', 'settle'], 'settled'],
    [['capture', { action: 'refund', amount: 4_000 }], 'partially_refunded'],
  ])('that is won after %j returns the payment to its state', (steps, status) => {
    const { runner, id, payment, dispute, advance, move } = paid(steps);
    const balances = runner.balancesOf(id);
    const { amountRefundable } = payment();
    expectOk(advance({ action: 'dispute' }));
    const { id: disputeId } = dispute();
    expect(expectOk(move({ to: 'won' }))).toMatchObject({
      ...{ status: 'won', closedAt: text(now), allowedActions: [], version: 3 },
    });
    expect(payment()).toMatchObject({ status, amountDisputed: 0, amountRefundable, disputeId });
    expect(payment()).not.toHaveProperty('chargedBackAt');
    expect(runner.balancesOf(id)).toEqual(balances);
    expect(advance({ action: 'dispute' }).status).toBe(200);
  });

  describe.each([
    ['captured', ['capture', 'dispute'], 'merchant_pending EUR'],
    ['settled', ['capture', 'settle', 'dispute'], 'merchant_available EUR'],
  ] as const)('of a %s payment', (_what, steps, account) => {
    test.each([{ action: 'accept' }, { action: 'expire' }, { to: 'lost' }])(
      'that is lost with %j charges it back',
      (body) => {
        const { runner, id, payment, move } = paid(steps);
        expect(expectOk(move(body)).status).toBe('lost');
        expect(payment()).toMatchObject({
          ...{ status: 'charged_back', amountDisputed: 10_000, amountRefundable: 0 },
          ...{ chargedBackAt: text(now), allowedActions: [] },
        });
        expect(runner.balancesOf(id)).toEqual({ 'fees EUR': -320, [account]: 320 });
      },
    );
  });

  test('of a part that is lost leaves the payment, and the loss of the rest charges it back', () => {
    const { runner, id, payment, dispute, advance, move } = paid([
      'capture',
      { action: 'dispute', amount: 3_000 },
    ]);
    const first = dispute().id;
    expectOk(move({ action: 'accept' }));
    expect(payment()).toMatchObject({ status: 'captured', amountRefundable: 7_000 });
    expectOk(advance({ action: 'settle' }));
    expect(runner.balancesOf(id)['bank EUR']).toBe(7_000);
    expectOk(advance({ action: 'dispute' }));
    expect(dispute().id).not.toBe(first);
    expectOk(move({ to: 'lost' }));
    expect(payment().status).toBe('charged_back');
  });

  test('from the scenario is opened once after the capture', () => {
    const { advance, payment, move } = paid([], 'dispute');
    expectOk(advance());
    expect(expectOk(advance()).status).toBe('disputed');
    expectOk(move({ to: 'won' }));
    expectOk(advance());
    expect(payment().status).toBe('settled');
  });

  test('without an action gets a response and is then won', () => {
    const { move } = disputed();
    expect([expectOk(move()).status, expectOk(move()).status]).toEqual(['under_review', 'won']);
  });

  const many = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [i, '']));
  const submit = (evidence: object) => ({ action: 'submit_evidence', evidence });
  test.each<[what: string, body: object, param: string]>([
    ['an unknown action', { action: 'appeal' }, '/action'],
    ['an unknown state', { to: 'closed' }, '/to'],
    ['both an action and a state', { action: 'accept', to: 'lost' }, '/to'],
    ['evidence for another action', { action: 'accept', evidence: {} }, '/evidence'],
    ['evidence of numbers', submit({ a: 1 }), '/evidence/a'],
    ['evidence of 2001 characters', submit({ a: 'x'.repeat(2_001) }), '/evidence/a'],
    ['evidence with 21 names', submit(many), '/evidence'],
  ])('is not advanced by %s', (_what, body, param) => {
    const { dispute, move } = disputed();
    const before = dispute();
    const response = move(body);
    expect([response.code, response.body.error.param]).toEqual(['invalid_request', param]);
    expect(dispute()).toEqual(before);
  });

  describe.each(['won', 'lost'])('that is %s', (status) => {
    const actions = ['submit_evidence', 'accept', 'expire', 'escalate', 'win', 'lose'];
    const states = ['needs_response', 'under_review', 'won', 'lost'];
    test.each([{}, ...actions.map((action) => ({ action })), ...states.map((to) => ({ to }))])(
      'refuses %j',
      (body) => {
        const { dispute, move } = disputed();
        expectOk(move({ to: status }));
        const before = dispute();
        const { code, body: answer } = move(body);
        expect(code).toBe('invalid_state_transition');
        expect(answer.error).toMatchObject({ details: { status }, allowedActions: [] });
        expect(dispute()).toEqual(before);
      },
    );
  });

  test('counts refunds, pending ones too, and lost disputes against the amount that is left', () => {
    const { runner, id, advance, move, payment } = paid(['capture'], 'refund_pending');
    expectOk(runner.post(`${payments}/${id}/refund`, { amount: 4_000 }));
    expectOk(advance({ action: 'dispute', amount: 1_000 }));
    expectOk(move({ action: 'accept' }));
    // The form of the console offers this amount.
    expect(payment()).toMatchObject({ amountRefundable: 5_000 });
    expect(advance({ action: 'dispute', amount: 5_001 }).body.error).toMatchObject({
      code: 'amount_exceeds_disputable',
      details: { disputable: 5_000, requested: 5_001 },
    });
    expectOk(advance({ action: 'dispute', amount: 5_000 }));
  });
});
