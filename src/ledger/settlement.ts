import { assert } from '../kernel/assert.ts';
import type { Movement, ReconciledLine, ReportedLine, Settlement } from '../kernel/ledger.ts';
import type { Instant } from '../kernel/table.ts';
import { dayMs, hourMs } from '../kernel/time.ts';

/** The provider's report lines for a movement in a scenario. */
export function reportOf({ recordId, gross, fee }: Movement, scenario: string): readonly ReportedLine[] {
  const correct: ReportedLine = { subject: recordId, gross, fee };
  switch (scenario) {
    case 'settle_short':
      return [{ ...correct, gross: shortOf(gross) }];
    case 'settle_missing':
      return [];
    case 'settle_duplicate':
      return [correct, correct];
    case 'settle_unknown':
      return [correct, { ...correct, subject: `unknown ${recordId}` }];
    default:
      return [correct];
  }
}

/** One percent less, and at least one unit. */
function shortOf(gross: bigint): bigint {
  const isOut = gross < 0n;
  const size = isOut ? -gross : gross;
  const short = size - (size >= 100n ? size / 100n : 1n);
  return isOut ? -short : short;
}

/** Compares a ledger movement with its report lines. */
export function reconcile(movement: Movement, report: readonly ReportedLine[]): Settlement {
  const ledger = { gross: movement.gross, fee: movement.fee };
  const lines: ReconciledLine[] = [];
  for (const { subject, gross, fee } of report) {
    const reported = { gross, fee };
    const isOfRecord = subject === movement.recordId;
    const isRepeated = lines.some((line) => line.subject === subject);
    if (isRepeated) {
      lines.push({ subject, isOfRecord, ledger: null, reported, result: 'duplicate' });
    } else if (!isOfRecord) {
      lines.push({ subject, isOfRecord, ledger: null, reported, result: 'missing_in_ledger' });
    } else {
      const isEqual = gross === ledger.gross && fee === ledger.fee;
      lines.push({ subject, isOfRecord, ledger, reported, result: isEqual ? 'matched' : 'amount_mismatch' });
    }
  }
  if (!lines.some(({ isOfRecord }) => isOfRecord)) {
    const subject = movement.recordId;
    lines.push({ subject, isOfRecord: true, ledger, reported: null, result: 'missing_at_provider' });
  }
  const own = lines.filter(({ isOfRecord }) => isOfRecord);
  const last = own.at(-1);
  assert(last, 'a movement must have a line');
  return { movement, lines, result: last.result };
}

/** Reports a movement and reconciles it. */
export function settle(movement: Movement, scenario: string): Settlement {
  return reconcile(movement, reportOf(movement, scenario));
}

/** Providers pay out once a day, at six in the morning, UTC. */
const payoutHour = 6;
/** Days from the capture to the payout, by provider. */
export const payoutDays: Readonly<Record<string, number>> = { meridian: 1, tidewater: 2 };

/**
 * When a payment is paid out: in the run of the day that its provider promises, or, if it changed since (a dispute was won), in
 * the next run after the change.
 */
export function payoutAt(provider: string, capturedAt: Instant, changedAt: Instant): Instant {
  const payoutMs = payoutHour * hourMs;
  const promised = dayStart(capturedAt) + (payoutDays[provider] ?? 1) * dayMs + payoutMs;
  const sameDay = dayStart(changedAt) + payoutMs;
  const next = changedAt <= sameDay ? sameDay : sameDay + dayMs;
  return promised > next ? promised : next;
}

function dayStart(instant: Instant): Instant {
  return instant - (((instant % dayMs) + dayMs) % dayMs);
}
