import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Movement, ReconciledLine, Reconciliation, ReportedLine } from '../kernel/ledger.ts';
import { payoutAt, payoutDays, reconcile, reportOf, settle } from './settlement.ts';

const movement: Movement = {
  recordId: 'pay_1',
  provider: 'meridian',
  currency: 'EUR',
  gross: 10_000n,
  fee: 320n,
};
const right: ReportedLine = { subject: 'pay_1', gross: 10_000n, fee: 320n };

/** For each scenario: the results of its lines in order, and the result of the record. */
const injected: Readonly<Record<string, readonly [lines: readonly Reconciliation[], own: Reconciliation]>> = {
  approve: [['matched'], 'matched'],
  'decline:lost_card': [['matched'], 'matched'],
  settle_short: [['amount_mismatch'], 'amount_mismatch'],
  settle_missing: [['missing_at_provider'], 'missing_at_provider'],
  settle_duplicate: [['matched', 'duplicate'], 'duplicate'],
  settle_unknown: [['matched', 'missing_in_ledger'], 'matched'],
};
const scenarios = Object.keys(injected);

const amount = fc.bigInt({ min: -999_999_999_999n, max: 999_999_999_999n });
const movements: fc.Arbitrary<Movement> = fc.record({
  recordId: fc.constantFrom('pay_1', 'pay_2', 'trf_1'),
  provider: fc.constantFrom('meridian', 'tidewater'),
  currency: fc.constantFrom('EUR', 'JPY'),
  gross: amount,
  fee: fc.bigInt({ min: 0n, max: 999_999_999_999n }),
});

type Side = Pick<ReportedLine, 'gross' | 'fee'>;

function sum(sides: readonly (Side | null)[]): Side {
  return sides.reduce<Side>(
    (total, side) => ({ gross: total.gross + (side?.gross ?? 0n), fee: total.fee + (side?.fee ?? 0n) }),
    { gross: 0n, fee: 0n },
  );
}

const results = (lines: readonly ReconciledLine[]) => lines.map(({ result }) => result);

describe('a report', () => {
  it.each<[scenario: string, lines: readonly ReportedLine[]]>([
    ['approve', [right]],
    ['dispute', [right]],
    ['settle_short', [{ ...right, gross: 9_900n }]],
    ['settle_missing', []],
    ['settle_duplicate', [right, right]],
    ['settle_unknown', [right, { ...right, subject: 'unknown pay_1' }]],
  ])('under %s', (scenario, lines) => {
    expect(reportOf(movement, scenario)).toEqual(lines);
  });

  it.each<[gross: bigint, short: bigint]>([
    [1n, 0n],
    [2n, 1n],
    [99n, 98n],
    [100n, 99n],
    [199n, 198n],
    [200n, 198n],
    [10_050n, 9_950n],
    [-1n, 0n],
    [-99n, -98n],
    [-10_000n, -9_900n],
  ])('that is short of %d says %d: a hundredth less, rounded down, and at least one', (gross, short) => {
    expect(reportOf({ ...movement, gross }, 'settle_short')[0]?.gross).toBe(short);
  });

  it('of settle_short is never larger, has the same sign, and has the same fee', () => {
    fc.assert(
      fc.property(movements, (some) => {
        fc.pre(some.gross !== 0n);
        const [line] = reportOf(some, 'settle_short');
        const [size, short] = [some.gross, line?.gross ?? 0n].map((n) => (n < 0n ? -n : n)) as [
          bigint,
          bigint,
        ];
        expect(short).toBeLessThan(size);
        expect((line?.gross ?? 0n) * some.gross).toBeGreaterThanOrEqual(0n);
        expect(line?.fee).toBe(some.fee);
      }),
    );
  });
});

describe('the comparison', () => {
  it('finds the injected mismatch of each scenario, for any movement', () => {
    fc.assert(
      fc.property(movements, fc.constantFrom(...scenarios), (some, scenario) => {
        const { lines, result, movement: compared } = settle(some, scenario);
        expect([results(lines), result]).toEqual(injected[scenario]);
        expect(compared).toBe(some);
      }),
    );
  });

  it('finds exactly the injected mismatches in a day with many movements, and the sums of both sides', () => {
    const day = fc.array(fc.tuple(movements, fc.constantFrom(...scenarios)), { maxLength: 60 });
    fc.assert(
      fc.property(day, (many) => {
        const lines = many.flatMap(([some, scenario]) => settle(some, scenario).lines);
        const expected = many.flatMap(([, scenario]) => injected[scenario]?.[0] ?? []);
        expect(results(lines)).toEqual(expected);
        expect(sum(lines.map(({ ledger }) => ledger))).toEqual(sum(many.map(([some]) => some)));
        const reports = many.flatMap(([some, scenario]) => reportOf(some, scenario));
        expect(sum(lines.map(({ reported }) => reported))).toEqual(sum(reports));
      }),
    );
  });

  /** Arbitrary reports, including those that no scenario creates. */
  const reports = fc.array(
    fc.record({
      subject: fc.constantFrom('pay_1', 'pay_1', 'unknown a', 'unknown b'),
      gross: fc.constantFrom(10_000n, 9_999n, -10_000n, 0n),
      fee: fc.constantFrom(320n, 0n),
    }),
    { maxLength: 6 },
  );

  it('classifies the lines of any report as matched, mismatched, unknown, duplicate or missing', () => {
    fc.assert(
      fc.property(reports, (report) => {
        const { lines, result } = reconcile(movement, report);
        const own = report.filter(({ subject }) => subject === 'pay_1');
        const expected = report.map(({ subject, gross, fee }, i): Reconciliation => {
          if (report.findIndex((other) => other.subject === subject) < i) return 'duplicate';
          if (subject !== 'pay_1') return 'missing_in_ledger';
          return gross === 10_000n && fee === 320n ? 'matched' : 'amount_mismatch';
        });
        expect(results(lines)).toEqual(own.length === 0 ? [...expected, 'missing_at_provider'] : expected);
        const last = expected[report.findLastIndex(({ subject }) => subject === 'pay_1')];
        expect(result).toBe(last ?? 'missing_at_provider');
      }),
    );
  });

  it('counts each side once', () => {
    fc.assert(
      fc.property(reports, (report) => {
        const { lines } = reconcile(movement, report);
        expect(lines.flatMap(({ ledger }) => ledger ?? [])).toEqual([{ gross: 10_000n, fee: 320n }]);
        const reported = report.map(({ gross, fee }) => ({ gross, fee }));
        expect(lines.flatMap((line) => line.reported ?? [])).toEqual(reported);
        for (const line of lines) expect(line.isOfRecord).toBe(line.subject === 'pay_1');
      }),
    );
  });

  it('treats a different fee like a different amount', () => {
    expect(reconcile(movement, [{ ...right, fee: 321n }]).result).toBe('amount_mismatch');
    expect(reconcile(movement, [{ ...right, gross: 10_001n }]).result).toBe('amount_mismatch');
  });
});

describe('the payout', () => {
  const at = (text: string) => Date.parse(`${text}Z`);
  const day = '2031-03-04';

  it.each<[provider: string, capturedAt: string, changedAt: string, paidAt: string]>([
    // One or two days after the day of the capture, whatever its hour.
    ['meridian', `${day}T00:00:00.000`, `${day}T00:00:00.000`, '2031-03-05T06:00:00.000'],
    ['meridian', `${day}T05:59:59.999`, `${day}T05:59:59.999`, '2031-03-05T06:00:00.000'],
    ['meridian', `${day}T06:00:00.000`, `${day}T06:00:00.000`, '2031-03-05T06:00:00.000'],
    ['meridian', `${day}T23:59:59.999`, `${day}T23:59:59.999`, '2031-03-05T06:00:00.000'],
    ['meridian', '2031-03-05T00:00:00.000', '2031-03-05T00:00:00.000', '2031-03-06T06:00:00.000'],
    ['tidewater', `${day}T00:00:00.000`, `${day}T00:00:00.000`, '2031-03-06T06:00:00.000'],
    ['tidewater', `${day}T23:59:59.999`, `${day}T23:59:59.999`, '2031-03-06T06:00:00.000'],
    ['another', `${day}T10:00:00.000`, `${day}T10:00:00.000`, '2031-03-05T06:00:00.000'],
    // Months, years and leap days.
    ['meridian', '2031-12-31T10:00:00.000', '2031-12-31T10:00:00.000', '2032-01-01T06:00:00.000'],
    ['tidewater', '2032-02-28T10:00:00.000', '2032-02-28T10:00:00.000', '2032-03-01T06:00:00.000'],
    ['meridian', '1969-12-31T10:00:00.000', '1969-12-31T10:00:00.000', '1970-01-01T06:00:00.000'],
    // Changed before the run or at the same instant: in that run. After it: in the next.
    ['meridian', `${day}T10:00:00.000`, '2031-03-05T05:59:59.999', '2031-03-05T06:00:00.000'],
    ['meridian', `${day}T10:00:00.000`, '2031-03-05T06:00:00.000', '2031-03-05T06:00:00.000'],
    ['meridian', `${day}T10:00:00.000`, '2031-03-05T06:00:00.001', '2031-03-06T06:00:00.000'],
    ['meridian', `${day}T10:00:00.000`, '2031-03-09T23:59:59.999', '2031-03-10T06:00:00.000'],
    ['tidewater', `${day}T10:00:00.000`, '2031-03-05T23:00:00.000', '2031-03-06T06:00:00.000'],
    ['tidewater', `${day}T10:00:00.000`, '2031-03-06T06:00:00.001', '2031-03-07T06:00:00.000'],
  ])('of %s, captured at %s and changed at %s, is at %s', (provider, capturedAt, changedAt, paidAt) => {
    expect(new Date(payoutAt(provider, at(capturedAt), at(changedAt)))).toEqual(new Date(at(paidAt)));
  });

  it('is the first run at six that is not before the promised day or the last change', () => {
    const instant = fc.integer({ min: -2_000_000_000_000, max: 8_000_000_000_000 });
    const later = fc.integer({ min: 0, max: 10 * 86_400_000 });
    fc.assert(
      fc.property(fc.constantFrom('meridian', 'tidewater'), instant, later, (provider, capturedAt, ms) => {
        const changedAt = capturedAt + ms;
        const paidAt = payoutAt(provider, capturedAt, changedAt);
        expect(new Date(paidAt).toISOString().slice(11)).toBe('06:00:00.000Z');
        const promised = new Date(capturedAt);
        promised.setUTCDate(promised.getUTCDate() + (payoutDays[provider] ?? 0));
        promised.setUTCHours(6, 0, 0, 0);
        expect(paidAt).toBeGreaterThanOrEqual(Math.max(promised.getTime(), changedAt));
        const before = paidAt - 86_400_000;
        expect(before < promised.getTime() || before < changedAt).toBe(true);
      }),
    );
  });
});
