import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';

const payments = 'developer_api_payments';
const transfers = 'developer_api_transfers';
const refunds = 'developer_api_refunds';
const disputes = 'developer_api_disputes';
const start = Date.parse('2031-03-04T10:00:00.000Z');

type Step = string | Readonly<Record<string, unknown>>;
type Side = readonly [gross: number, fee: number] | null;

interface Line {
  readonly result: string;
  readonly isOfRecord: boolean;
  readonly ledger: Side;
  readonly reported: Side;
}

function advanced(runner: CommandRunner, path: string, steps: readonly Step[]): Body {
  const bodies = steps.map((step) => {
    return expectOk(runner.post(`${path}/advance`, typeof step === 'string' ? { action: step } : step));
  });
  return bodies.at(-1) as Body;
}

function paid(runner: CommandRunner, steps: readonly Step[], body: object = {}): Body {
  const { id } = expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', ...body }));
  return advanced(runner, `${payments}/${id}`, steps);
}

const side = (gross: bigint | null, fee: bigint | null): Side =>
  gross === null || fee === null ? null : [Number(gross), Number(fee)];

function linesOf({ written: { settlementLines } }: CommandRunner): readonly Line[] {
  return settlementLines.map((line) => ({
    result: line.result,
    isOfRecord: line.paymentId !== null || line.transferId !== null,
    ledger: side(line.ledgerGross, line.ledgerFee),
    reported: side(line.gross, line.fee),
  }));
}

/** The report that each scenario produces, and the result that the record itself shows. */
interface Report {
  readonly own: string;
  readonly lines: readonly Line[];
}

function reportOf(scenario: string, gross: number, fee: number, short: number): Report {
  const right = [gross, fee] as const;
  const line = (result: string, ledger: Side, reported: Side, isOfRecord = true): Line => {
    return { result, isOfRecord, ledger, reported };
  };
  const matched = line('matched', right, right);
  switch (scenario) {
    case 'settle_short':
      return { own: 'amount_mismatch', lines: [line('amount_mismatch', right, [short, fee])] };
    case 'settle_missing':
      return { own: 'missing_at_provider', lines: [line('missing_at_provider', right, null)] };
    case 'settle_duplicate':
      return { own: 'duplicate', lines: [matched, line('duplicate', null, right)] };
    case 'settle_unknown':
      return { own: 'matched', lines: [matched, line('missing_in_ledger', null, right, false)] };
    default:
      return { own: 'matched', lines: [matched] };
  }
}

const scenarios = ['approve', 'settle_short', 'settle_missing', 'settle_duplicate', 'settle_unknown'];
const methods = [
  { provider: 'meridian', body: {}, date: '2031-03-05' },
  { provider: 'tidewater', body: { paymentMethod: { type: 'bank_debit' } }, date: '2031-03-06' },
];
const amounts: readonly (readonly [amount: number, fee: number, short: number])[] = [
  // 2.9 % and 30, never more than the amount; a hundredth less, and at least one.
  [1, 1, 0],
  [99, 33, 98],
  [100, 33, 99],
  [199, 36, 198],
  [200, 36, 198],
  [10_000, 320, 9_900],
  [999_999_999_999, 29_000_000_030, 990_000_000_000],
];

describe.each(scenarios)('a payment with %s', (scenario) => {
  describe.each(methods)('at $provider', ({ provider, body, date }) => {
    test.each(amounts)('of %d is compared with the report of its payout', (amount, fee, short) => {
      const runner = new CommandRunner({ now: start });
      const { id, reconciliation } = paid(runner, ['capture'], { scenario, amount, ...body });
      expect(reconciliation).toBeNull();
      runner.advance(3 * 86_400_000);
      const { own, lines } = reportOf(scenario, amount, fee, short);
      expect(runner.show(id)).toMatchObject({ status: 'settled', reconciliation: own });
      expect(linesOf(runner)).toEqual(lines);
      const name = runner.written.providerEvents[0]?.providerTransactionId;
      expect(name).toBeDefined();
      for (const line of runner.written.settlementLines) {
        const isOwn = line.result !== 'missing_in_ledger';
        expect(line).toMatchObject({
          ...{ provider, currency: 'EUR', settledOn: date, transferId: null },
          ...{ paymentId: isOwn ? id : null, createdAt: Date.parse(`${date}T06:00:00.000Z`) },
        });
        if (isOwn) expect(line.providerTransactionId).toBe(name);
        else expect(line.providerTransactionId).not.toBe(name);
      }
      // The ledger is authoritative: the report does not change it.
      const books = { 'bank EUR': amount, 'merchant_available EUR': fee - amount, 'fees EUR': -fee };
      expect(runner.balancesOf(id)).toEqual(
        Object.fromEntries(Object.entries(books).filter(([, balance]) => balance !== 0)),
      );
    });

    test.each([
      [5_000, 4_950],
      [9_999, 0],
    ])('of which %d was refunded is compared by the rest', (refunded, short) => {
      const runner = new CommandRunner({ now: start });
      const refund = { action: 'refund', amount: refunded };
      const { reconciliation } = paid(runner, ['capture', refund, 'settle'], { scenario, ...body });
      const expected = reportOf(scenario, 10_000 - refunded, 320, short);
      expect(linesOf(runner)).toEqual(expected.lines);
      expect(reconciliation).toBe(expected.own);
    });

    test('keeps its result through refunds and disputes', () => {
      const runner = new CommandRunner({ now: start });
      const { id } = paid(runner, ['capture', 'settle'], { scenario, ...body });
      const { own, lines } = reportOf(scenario, 10_000, 320, 9_900);
      const check = () => {
        expect(runner.show(id).reconciliation).toBe(own);
        expect(linesOf(runner)).toEqual(lines);
      };
      expectOk(runner.post(`${payments}/${id}/refund`, { amount: 100 }));
      check();
      const { disputeId } = advanced(runner, `${payments}/${id}`, ['dispute']);
      check();
      advanced(runner, `${disputes}/${disputeId}`, [{ to: 'won' }]);
      check();
    });
  });

  test('has the result of the attempt that was captured', () => {
    const runner = new CommandRunner({ now: start });
    const list = ['decline:do_not_honor', scenario];
    const { reconciliation } = paid(runner, ['fail', 'retry', 'capture', 'settle'], { scenario: list });
    expect(reconciliation).toBe(reportOf(scenario, 10_000, 320, 9_900).own);
  });
});

describe.each(scenarios)('a transfer with %s', (scenario) => {
  test.each(['meridian', 'tidewater'])(
    'at %s is compared in the target currency, as a payout',
    (provider) => {
      const settings = { provider, fxMarginBasisPoints: 0, fxRates: { 'EUR/USD': '1.25' } };
      const runner = new CommandRunner({ now: start, settings });
      const { id } = expectOk(
        runner.post(transfers, {
          ...{ sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000, scenario },
          beneficiary: { name: 'Grace Hopper' },
        }),
      );
      const { reconciliation } = advanced(runner, `${transfers}/${id}`, [{ to: 'completed' }]);
      const { own, lines } = reportOf(scenario, -12_500, 0, -12_375);
      expect([reconciliation, linesOf(runner)]).toEqual([own, lines]);
      for (const line of runner.written.settlementLines) {
        const transferId = line.result === 'missing_in_ledger' ? null : id;
        expect(line).toMatchObject({ provider, currency: 'USD', paymentId: null, transferId });
      }
    },
  );
});

test('a pending refund that ends after the payout adds no line', () => {
  const runner = new CommandRunner({ now: start });
  const { id } = paid(runner, ['capture'], { scenario: 'refund_pending' });
  const refund = expectOk(runner.post(`${payments}/${id}/refund`, { amount: 100 }));
  advanced(runner, `${payments}/${id}`, ['settle']);
  advanced(runner, `${refunds}/${refund.id}`, ['succeed']);
  expect(linesOf(runner)).toEqual(reportOf('approve', 10_000, 320, 0).lines);
});
