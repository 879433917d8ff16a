import { assert } from '../kernel/assert.ts';
import type { Movement, ReconciledLine, ReportedLine, Settlement } from '../kernel/settlement.ts';
import type { Instant } from '../kernel/table.ts';

/** What the provider reports of a movement under a scenario. */
export function reportOf({ recordId, gross, fee }: Movement, scenario: string): readonly ReportedLine[] {
  const right: ReportedLine = { subject: recordId, gross, fee };
  switch (scenario) {
    case 'settle_short':
      return [{ ...right, gross: shortOf(gross) }];
    case 'settle_missing':
      return [];
    case 'settle_duplicate':
      return [right, right];
    case 'settle_unknown':
      return [right, { ...right, subject: `unknown ${recordId}` }];
    default:
      return [right];
  }
}

/** A hundredth less, and at least one unit. */
function shortOf(gross: bigint): bigint {
  const isOut = gross < 0n;
  const size = isOut ? -gross : gross;
  const short = size - (size >= 100n ? size / 100n : 1n);
  return isOut ? -short : short;
}

/** Compares a movement of ours with what was reported on the same occasion. */
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
  assert(last, 'a movement has a line of its own');
  return { movement, lines, result: last.result };
}

/** What a record's own report says: the two steps together. */
export function settle(movement: Movement, scenario: string): Settlement {
  return reconcile(movement, reportOf(movement, scenario));
}

const dayMs = 86_400_000;
/** Providers pay out once a day, at six in the morning, UTC. */
export const payoutHour = 6;
/** How many days after the day of capture a provider pays out. */
export const payoutDays: Readonly<Record<string, number>> = { meridian: 1, tidewater: 2 };

/**
 * When a payment is paid out: with the run of the day that its provider promises, or, when it was changed since (a dispute
 * was won), with the next run after that.
 */
export function payoutAt(provider: string, capturedAt: Instant, changedAt: Instant): Instant {
  const hourMs = payoutHour * 3_600_000;
  const promised = dayStart(capturedAt) + (payoutDays[provider] ?? 1) * dayMs + hourMs;
  const sameDay = dayStart(changedAt) + hourMs;
  const next = changedAt <= sameDay ? sameDay : sameDay + dayMs;
  return promised > next ? promised : next;
}

function dayStart(instant: Instant): Instant {
  return instant - (((instant % dayMs) + dayMs) % dayMs);
}
