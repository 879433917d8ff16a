import { describe, expect, test } from 'vitest';
import type { Body } from '../../../test/support/api-client.ts';
import { CommandRunner, expectOk } from '../../../test/support/command-runner.ts';
import type { Effect } from '../clocks/machine.ts';

const payments = 'developer_api_payments';
const disputes = 'developer_api_disputes';
const refunds = 'developer_api_refunds';
const start = '2031-03-04T10:00:00.000Z';
const morning = '2031-03-05T06:00:00.000Z';
const day = 86_400_000;
const card = {};
const bank = { paymentMethod: { type: 'bank_debit' } };

type Step = string | Readonly<Record<string, unknown>>;

function paid(runner: CommandRunner, steps: readonly Step[], body: object = {}): Body {
  let payment = expectOk(runner.post(payments, { amount: 10_000, currency: 'EUR', ...body }));
  for (const step of steps) {
    const advance = typeof step === 'string' ? { action: step } : step;
    payment = expectOk(runner.post(`${payments}/${payment.id}/advance`, advance));
  }
  return payment;
}

function goTo(runner: CommandRunner, instant: number): readonly Effect[] {
  const to = new Date(instant).toISOString();
  return expectOk(runner.post('developer_api_clock/advance', { to })).happened as readonly Effect[];
}

const opened = (now = start) => new CommandRunner({ now: Date.parse(now) });
/** The report lines as their day, gross and fee. */
const lines = ({ written: { settlementLines } }: CommandRunner) =>
  settlementLines.map(({ settledOn, gross, fee }) => [settledOn, Number(gross), Number(fee)]);
const books = (gross: number, fee = 320) => ({
  'bank EUR': gross,
  'merchant_available EUR': fee - gross,
  'fees EUR': -fee,
});

describe('a captured payment', () => {
  const rows: readonly (readonly [capturedAt: string, provider: string, body: object, paidAt: string])[] = [
    ['2031-03-04T10:00:00.000Z', 'meridian', card, '2031-03-05T06:00:00.000Z'],
    ['2031-03-04T10:00:00.000Z', 'tidewater', bank, '2031-03-06T06:00:00.000Z'],
    ['2031-03-05T00:00:00.000Z', 'meridian', card, '2031-03-06T06:00:00.000Z'],
    ['2031-03-05T00:00:00.000Z', 'tidewater', bank, '2031-03-07T06:00:00.000Z'],
    ['2031-03-05T05:59:59.999Z', 'meridian', card, '2031-03-06T06:00:00.000Z'],
    ['2031-03-05T06:00:00.000Z', 'meridian', card, '2031-03-06T06:00:00.000Z'],
    ['2031-03-05T06:00:00.001Z', 'meridian', card, '2031-03-06T06:00:00.000Z'],
    ['2031-03-05T23:59:59.999Z', 'meridian', card, '2031-03-06T06:00:00.000Z'],
    ['2031-03-05T23:59:59.999Z', 'tidewater', bank, '2031-03-07T06:00:00.000Z'],
    ['2032-02-28T12:00:00.000Z', 'meridian', card, '2032-02-29T06:00:00.000Z'],
    ['2032-02-28T12:00:00.000Z', 'tidewater', bank, '2032-03-01T06:00:00.000Z'],
    ['2031-12-31T12:00:00.000Z', 'meridian', card, '2032-01-01T06:00:00.000Z'],
    ['2031-12-31T12:00:00.000Z', 'tidewater', bank, '2032-01-02T06:00:00.000Z'],
  ];

  describe.each(rows)('at %s with %s', (capturedAt, provider, body, paidAt) => {
    test.each([['capture'], ['authorize', 'capture']])(`after %s, %s is settled at ${paidAt}`, (...steps) => {
      const runner = opened(capturedAt);
      const { id } = paid(
        runner,
        steps.filter((step) => step !== undefined),
        body,
      );
      expect(goTo(runner, Date.parse(paidAt) - 1)).toEqual([]);
      expect(runner.show(id).status).toBe('captured');
      expect(goTo(runner, Date.parse(paidAt))).toEqual([
        {
          ...{ at: paidAt, type: 'payment', id, action: 'settle', from: 'captured', to: 'settled' },
          event: 'payment.settled',
        },
      ]);
      expect(runner.show(id)).toMatchObject({
        status: 'settled',
        settledAt: paidAt,
        reconciliation: 'matched',
      });
      expect(runner.balancesOf(id)).toEqual(books(10_000));
      expect(lines(runner)).toEqual([[paidAt.slice(0, 10), 10_000, 320]]);
      // The provider uses one name for the payment in its events and in its report; the payment shows neither.
      const { providerEvents, settlementLines } = runner.written;
      const name = providerEvents[0]?.providerTransactionId ?? id;
      expect(name).not.toContain(id);
      expect(settlementLines[0]).toMatchObject({ provider, providerTransactionId: name });
      expect(new Set(providerEvents.map((event) => event.providerTransactionId))).toEqual(new Set([name]));
      expect(JSON.stringify(runner.show(id))).not.toMatch(new RegExp(`${name}|${provider}`));
    });
  });

  test('is settled by hand in the report of that day, and not a second time', () => {
    const runner = opened();
    const { id } = paid(runner, ['capture', 'settle']);
    expect(goTo(runner, Date.parse(start) + 10 * day)).toEqual([]);
    expect(lines(runner)).toEqual([['2031-03-04', 10_000, 320]]);
    expect(runner.show(id).settledAt).toBe(start);
  });

  test.each([1, 2_500, 9_679, 9_680, 9_681, 9_999])('is settled without a refund of %d', (amount) => {
    const runner = opened();
    const { id } = paid(runner, ['capture', { action: 'refund', amount }]);
    expect(goTo(runner, Date.parse(morning))).toMatchObject([
      { at: morning, action: 'settle', to: 'partially_refunded', event: 'payment.settled' },
    ]);
    const result = { status: 'partially_refunded', settledAt: morning, reconciliation: 'matched' };
    expect(runner.show(id)).toMatchObject(result);
    expect(lines(runner)).toEqual([['2031-03-05', 10_000 - amount, 320]]);
    const expected = Object.entries(books(10_000 - amount)).filter(([, balance]) => balance !== 0);
    expect(runner.balancesOf(id)).toEqual(Object.fromEntries(expected));
  });

  test.each([
    ['succeed', 7_500],
    ['fail', 10_000],
    ['cancel', 10_000],
  ])('with a pending refund is settled in full, and the refund leaves the bank with %s', (action, left) => {
    const runner = opened();
    const { id } = paid(runner, ['capture'], { scenario: 'refund_pending' });
    const refund = expectOk(runner.post(`${payments}/${id}/refund`, { amount: 2_500 }));
    goTo(runner, Date.parse(morning));
    expect(lines(runner)).toEqual([['2031-03-05', 10_000, 320]]);
    expectOk(runner.post(`${refunds}/${refund.id}/advance`, { action }));
    expect(runner.balancesOf(id)).toEqual(books(left));
    expect(lines(runner)).toHaveLength(1);
  });

  test.each<[what: string, steps: readonly Step[]]>([
    ['refunded', ['capture', 'refund']],
    ['refunded in two parts', ['capture', { action: 'refund', amount: 4_000 }, 'refund']],
    ['charged back', [{ to: 'charged_back' }]],
    ['canceled', ['authorize', 'cancel']],
    ['failed', ['fail']],
  ])('that is %s is never settled', (_what, steps) => {
    const runner = opened();
    paid(runner, steps);
    expect(goTo(runner, Date.parse(start) + 30 * day)).toEqual([]);
    expect(lines(runner)).toEqual([]);
  });

  test.each<[wonAt: string, paidAt: string]>([
    ['2031-03-04T20:00:00.000Z', morning],
    ['2031-03-05T05:59:59.999Z', morning],
    ['2031-03-05T06:00:00.000Z', morning],
    ['2031-03-05T06:00:00.001Z', '2031-03-06T06:00:00.000Z'],
    ['2031-03-07T06:00:00.000Z', '2031-03-07T06:00:00.000Z'],
    ['2031-03-07T06:00:00.001Z', '2031-03-08T06:00:00.000Z'],
  ])('whose dispute is won at %s is settled at %s', (wonAt, paidAt) => {
    const runner = opened();
    const { id, disputeId } = paid(runner, ['capture', 'dispute']);
    expect(goTo(runner, Date.parse(wonAt))).toEqual([]);
    expectOk(runner.post(`${disputes}/${disputeId}/advance`, { to: 'won' }));
    expect(goTo(runner, runner.now + 30 * day)).toMatchObject([{ at: paidAt, id, action: 'settle' }]);
    expect(lines(runner)).toEqual([[paidAt.slice(0, 10), 10_000, 320]]);
  });
});
