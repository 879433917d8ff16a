import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk, type Response } from '../../../test/support/command-runner.ts';

const transfers = 'developer_api_transfers';
const payments = 'developer_api_payments';
const start = Date.parse('2031-03-04T10:00:00.000Z');
const second = 1_000;
const day = 86_400 * second;
const beneficiary = { name: 'Grace Hopper' };
/** 1 EUR is 1.25 USD, and payments have no fee. */
const settings = {
  ...{ fxMarginBasisPoints: 0, fxRates: { 'EUR/USD': '1.25' }, feeBasisPoints: 0, feeFixed: 0n },
};

function opened(): CommandRunner {
  return new CommandRunner({ now: start, settings });
}

function quoted(runner: CommandRunner, body: object = {}): Body {
  const request = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 };
  return expectOk(runner.post(transfers, { ...request, beneficiary, ...body }));
}

function advance(runner: CommandRunner, id: string, body: object = {}): Response {
  return runner.post(`${transfers}/${id}/advance`, body);
}

function reached(runner: CommandRunner, to: string, body: object = {}): Body {
  return expectOk(advance(runner, quoted(runner, body).id, { to }));
}

/** Puts settled money on the merchant's balance. */
function earn(runner: CommandRunner, amount: number): void {
  const { id } = expectOk(runner.post(payments, { amount, currency: 'EUR' }));
  expectOk(runner.post(`${payments}/${id}/advance`, { to: 'settled' }));
}

const moves = ({ written: { history } }: CommandRunner, id: string) =>
  history
    .filter(({ resourceId }) => resourceId === id)
    .map(({ action, at }) => [action, (at - start) / second]);

describe('a transfer', () => {
  test('goes step by step to its beneficiary, with a timestamp for each step', () => {
    const runner = opened();
    const { id } = quoted(runner);
    const statuses: string[] = [];
    for (let step = 0; step < 5; step += 1) {
      runner.wallNow += second;
      statuses.push(expectOk(advance(runner, id)).status);
    }
    expect(statuses).toEqual(['accepted', 'funded', 'converted', 'sent', 'completed']);
    const instants = ['acceptedAt', 'fundedAt', 'convertedAt', 'sentAt', 'completedAt'].map((name, i) => {
      return [name, new Date(start + (i + 1) * second).toISOString()];
    });
    expect(runner.show(id)).toMatchObject(Object.fromEntries(instants));
    expect(runner.show(id)).not.toHaveProperty('fundingExpiresAt');
    expect(runner.show(id)).toMatchObject({
      ...{ reconciliation: 'matched', version: 6, allowedActions: ['return'] },
    });
  });

  test('within one currency has no exchange position', () => {
    const runner = opened();
    const { id } = reached(runner, 'completed', { targetCurrency: 'EUR' });
    expect(runner.balancesOf(id)).toEqual({ 'bank EUR': 50, 'fees EUR': -50 });
  });

  test.each([
    [{ action: 'accept' }, 'accepted'],
    [{ to: 'accepted' }, 'accepted'],
    [{ to: 'completed' }, 'completed'],
  ])('takes its beneficiary with %j', (body, status) => {
    const runner = opened();
    const { id } = quoted(runner, { beneficiary: undefined });
    const named = { name: 'Ada', country: 'gb' };
    const expected = { status, beneficiary: { name: 'Ada', country: 'GB' } };
    expect(expectOk(advance(runner, id, { ...body, beneficiary: named }))).toMatchObject(expected);
  });

  test.each([{ action: 'accept' }, {}, { to: 'accepted' }, { to: 'completed' }, { to: 'failed' }])(
    'without a beneficiary refuses %j',
    (body) => {
      const runner = opened();
      const { id } = quoted(runner, { beneficiary: undefined });
      const response = advance(runner, id, body);
      expect(response.code, response.text).toBe('beneficiary_missing');
      expect(runner.show(id).version).toBe(1);
    },
  );

  test.each<[what: string, body: object, param: string]>([
    ['an unknown action', { action: 'capture' }, '/action'],
    ['the action that creates it', { action: 'quote' }, '/action'],
    ['an unknown state', { to: 'settled' }, '/to'],
    ['a code with a blank', { action: 'return', returnCode: 'a b' }, '/returnCode'],
    ['a code of 41 characters', { action: 'fail', failureCode: 'x'.repeat(41) }, '/failureCode'],
    ['a code for another action', { action: 'complete', returnCode: 'x' }, '/returnCode'],
    ['a beneficiary too late', { action: 'fund', beneficiary }, '/beneficiary'],
    ['both an action and a state', { action: 'fund', to: 'funded' }, '/to'],
    ['an unknown field', { action: 'fund', amount: 1 }, '/amount'],
  ])('is not advanced by %s', (_what, body, param) => {
    const runner = opened();
    const { id } = quoted(runner);
    const response = advance(runner, id, body);
    expect([response.code, response.body.error.param]).toEqual(['invalid_request', param]);
    expect(runner.show(id).version).toBe(1);
  });

  test('shows the return code of its scenario', () => {
    const returned = reached(opened(), 'returned', { scenario: 'return:AC04' });
    expect(returned).toMatchObject({ returnCode: 'AC04', allowedActions: ['resend', 'refund'] });
  });

  test('shows the failure of its scenario', () => {
    expect(reached(opened(), 'failed', { scenario: 'fail:insufficient_funds' }).failure).toEqual({
      code: 'insufficient_funds',
      message: 'The available balance did not cover the transfer and its fee.',
      retryable: false,
    });
  });

  test.each(['XT99', 'constructor', '__proto__', 'toString'])(
    'shows a general message for the failure code %s',
    (failureCode) => {
      const runner = opened();
      const { id } = reached(runner, 'converted');
      const { failure } = expectOk(advance(runner, id, { action: 'fail', failureCode }));
      expect(failure).toMatchObject({
        code: failureCode,
        message: expect.stringMatching(/its own reason code/),
      });
    },
  );

  test('applies a list of scenarios to successive payouts', () => {
    const runner = opened();
    const { id } = reached(runner, 'sent', { scenario: ['return:R01', 'return:R02', 'approve'] });
    const seen = [{}, { action: 'resend' }, {}, { action: 'resend' }, {}].map((body) => {
      const { status, returnCode } = expectOk(advance(runner, id, body));
      return [status, returnCode];
    });
    expect(seen).toEqual([
      ['returned', 'R01'],
      ['sent', null],
      ['returned', 'R02'],
      ['sent', null],
      ['completed', null],
    ]);
  });
});

describe('a transfer from the balance', () => {
  test('takes the available money, and a refund returns it', () => {
    const runner = opened();
    earn(runner, 15_000);
    const { id } = reached(runner, 'returned', { fundFrom: 'balance' });
    expect(runner.balance('merchant_available', 'EUR')).toBe(-4_950n);
    expectOk(advance(runner, id, { action: 'refund' }));
    expect(runner.balance('merchant_available', 'EUR')).toBe(-15_000n);
    expect(runner.balancesOf(id)).toEqual({});
  });

  test.each([{ action: 'fund' }, {}, { to: 'funded' }, { to: 'completed' }])(
    'refuses %j when the balance lacks a cent, and accepts it when it does not',
    (body) => {
      const runner = opened();
      earn(runner, 10_049);
      const { id } = reached(runner, 'accepted', { fundFrom: 'balance' });
      const before = runner.show(id);
      const { code, body: answer } = advance(runner, id, body);
      expect(code).toBe('insufficient_funds');
      expect(answer.error.details).toEqual({ available: 10_049, required: 10_050, currency: 'EUR' });
      expect(runner.show(id)).toEqual(before);
      earn(runner, 1);
      expectOk(advance(runner, id, body));
      expect(runner.balance('merchant_available', 'EUR')).toBe(0n);
    },
  );
});

describe('by the clock, a transfer', () => {
  test('that is accepted waits a day for its money', () => {
    const runner = opened();
    const { id, acceptedAt, fundingExpiresAt } = reached(runner, 'accepted');
    expect(Date.parse(String(fundingExpiresAt)) - Date.parse(String(acceptedAt))).toBe(day);
    runner.wallNow += day - 1;
    expect(expectOk(advance(runner.fork(), id, { action: 'fund' })).status).toBe('funded');
    runner.wallNow += 1;
    for (const body of [{ action: 'fund' }, { action: 'cancel' }, {}])
      expect(advance(runner, id, body).body.error.details).toMatchObject({ status: 'expired' });
    expect(advance(runner, id, { action: 'accept' }).code).toBe('quote_expired');
    expect(runner.show(id)).toMatchObject({ status: 'accepted', version: 2 });
    runner.advance(0);
    expect(runner.show(id)).toMatchObject({ status: 'expired', expiredAt: fundingExpiresAt });
  });

  const toSent = [
    ['quote', 0],
    ['accept', 1],
    ['fund', 2],
    ['convert', 3],
    ['send', 4],
  ] as const;
  const toReview = [...toSent.slice(0, 3), ['review', 3]] as const;
  test.each<[scenario: string, steps: readonly (readonly [string, number])[]]>([
    ['approve', [...toSent, ['complete', 3_604]]],
    ['return:R01', [...toSent, ['return', 3_604]]],
    ['fail:R99', [...toSent.slice(0, 4), ['fail', 4]]],
    ['review', [...toReview, ['release', 63], ['convert', 64], ['send', 65], ['complete', 3_665]]],
    ['reject', [...toReview, ['reject', 63]]],
  ])('with autoAdvance goes through %s, each step at its time', (scenario, steps) => {
    for (const jumps of [[30 * day], Array.from({ length: 120 }, () => 60 * second)]) {
      const runner = opened();
      const { id } = quoted(runner, { autoAdvance: true, scenario });
      for (const ms of jumps) runner.advance(ms);
      expect(moves(runner, id)).toEqual(steps);
    }
  });

  test('executes overdue steps, each at its own time, before a request', () => {
    const runner = opened();
    const { id } = quoted(runner, { autoAdvance: true, scenario: 'review' });
    runner.wallNow += 4 * second;
    expectOk(advance(runner, id));
    expect(moves(runner, id)).toEqual([...toReview, ['release', 4]]);
    runner.wallNow = start + 3_606 * second;
    const returned = expectOk(advance(runner, id, { action: 'return', returnCode: 'MS03' }));
    expect(returned).toMatchObject({ status: 'returned', returnCode: 'MS03' });
    expect(moves(runner, id).slice(5)).toEqual([
      ['convert', 5],
      ['send', 6],
      ['complete', 3_606],
      ['return', 3_606],
    ]);
  });

  test('waits for a beneficiary until its quote expires', () => {
    const runner = opened();
    const { id } = quoted(runner, { autoAdvance: true, beneficiary: undefined });
    runner.wallNow += 10 * second;
    expect(expectOk(advance(runner.fork(), id, { action: 'requote' })).version).toBe(2);
    runner.advance(day);
    expect(moves(runner, id)).toEqual([
      ['quote', 0],
      ['expire', 1_800],
    ]);
  });

  test.each([
    [10_049, 'failed'],
    [10_050, 'completed'],
  ])('with a balance of %d ends %s', (amount, status) => {
    const runner = opened();
    earn(runner, amount);
    const { id } = quoted(runner, { autoAdvance: true, fundFrom: 'balance' });
    const overdue = runner.fork();
    overdue.wallNow += 2 * second;
    const refused = advance(overdue, id, { action: 'cancel' });
    if (status === 'failed') expect(refused.body.error.details).toMatchObject({ status });
    else expect(refused.body.status).toBe('canceled');
    runner.advance(day);
    expect(runner.show(id).status).toBe(status);
  });
});
