import { describe, expect, test } from 'vitest';
import {
  disputeSituations,
  paymentSituations,
  reach,
  refundSituations,
} from '../../../test/model/situations.ts';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';
import type { ApplicationSettings } from '../../kernel/application-settings.ts';
import { accounts } from '../../ledger/accounts.ts';

const payments = 'developer_api_payments';

function advance(runner: CommandRunner, id: string, body: object): Body {
  return expectOk(runner.post(`${payments}/${id}/advance`, body));
}

function created(runner: CommandRunner, body: object = {}): Body {
  return expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', ...body }));
}

describe('the ledger', () => {
  test.each([...paymentSituations, ...refundSituations, ...disputeSituations])(
    'balances after a payment or its part is $name',
    (situation) => {
      const { runner, paymentId } = reach(situation);
      for (const { id, postings } of runner.written.entries) {
        const total = postings.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
        expect([id, total]).toEqual([id, 0n]);
      }
      const own = runner.balancesOf(paymentId);
      for (const account of Object.keys(accounts))
        expect([account, runner.balance(account, 'EUR')]).toEqual([
          account,
          BigInt(own[`${account} EUR`] ?? 0),
        ]);
    },
  );

  test.each<[steps: readonly string[]]>([
    [[]],
    [['cancel']],
    [['fail']],
    [['fail', 'retry', 'cancel']],
    [['require_action', 'fail']],
    [['process', 'fail']],
    [['expire']],
  ])('has no entries for a payment without money movement, after %j', (steps) => {
    const runner = new CommandRunner();
    const { id } = created(runner);
    for (const action of steps) advance(runner, id, { action });
    expect(runner.written.entries).toEqual([]);
  });
});

describe('the fee', () => {
  const free: Partial<ApplicationSettings> = { feeBasisPoints: 0, feeFixed: 0n };
  const all: Partial<ApplicationSettings> = { feeBasisPoints: 10_000, feeFixed: 999n };
  const low: Partial<ApplicationSettings> = { feeBasisPoints: 100, feeFixed: 5n };

  test.each<[why: string, amount: number, fee: number, settings: Partial<ApplicationSettings>]>([
    ['2.9 % and 30', 10_000, 320, {}],
    ['never more than the amount', 1, 1, {}],
    ['never more than the amount', 30, 30, {}],
    ['0.899 is 1, and 30', 31, 31, {}],
    ['0.928 is 1, and 30', 32, 31, {}],
    ['14.5 goes to the even 14', 500, 44, {}],
    ['43.5 goes to the even 44', 1_500, 74, {}],
    ['72.5 goes to the even 72', 2_500, 102, {}],
    ['the largest amount', 999_999_999_999, 29_000_000_030, {}],
    ['1 % and 5', 10_000, 105, low],
    ['nothing', 10_000, 0, free],
    ['everything', 10_000, 10_000, all],
  ])('is %s', (_why, amount, fee, settings) => {
    for (const currency of ['EUR', 'JPY', 'KWD']) {
      const runner = new CommandRunner({ settings });
      const { id } = created(runner, { amount, currency });
      expect(advance(runner, id, { action: 'capture' }).feeAmount).toBe(fee);
      const shown = runner.balancesOf(id);
      const share = [shown[`fees ${currency}`] ?? 0, shown[`merchant_pending ${currency}`] ?? 0];
      expect(share).toEqual([0 - fee, fee - amount]);
    }
  });

  test.each([
    [low, free, 105],
    [free, low, 0],
    [{}, all, 320],
    [all, {}, 10_000],
  ])('follows the settings %o at the creation of the payment', (before, after, fee) => {
    const runner = new CommandRunner({ settings: before });
    const { id } = created(runner);
    // The settings that `before` does not name are the defaults again.
    const changed = runner.fork({ feeBasisPoints: 290, feeFixed: 30n, ...after });
    expect(advance(changed, id, { action: 'capture' }).feeAmount).toBe(fee);
  });

  test('of 100 % allows the payment to be settled and refunded', () => {
    const runner = new CommandRunner({ settings: all });
    const { id } = created(runner);
    advance(runner, id, { action: 'capture' });
    advance(runner, id, { action: 'settle' });
    expect(runner.balancesOf(id)).toEqual({ 'bank EUR': 10_000, 'fees EUR': -10_000 });
    expectOk(runner.post(`${payments}/${id}/refund`));
    expect(runner.balancesOf(id)).toEqual({ 'merchant_available EUR': 10_000, 'fees EUR': -10_000 });
  });
});
