import { type Step, type StepDelaysMs, stepDue } from '../../kernel/advance.ts';
import { unreachable } from '../../kernel/assert.ts';
import { failureOf, returnOf } from '../../kernel/scenario.ts';
import type { Instant } from '../../kernel/table.ts';
import { type Due, earliest, hourMs, minuteMs, secondMs } from '../../kernel/time.ts';
import { noTransferParams, type TransferAction, type TransferParams, transferScenarioOf } from './machine.ts';
import type { TransferRow } from './table.ts';

export type TransferStep = Step<TransferAction, TransferParams>;

/** The next step of the transfer's scenario. */
export function nextStep(row: TransferRow): TransferStep | undefined {
  const scenario = transferScenarioOf(row);
  const step = (action: TransferAction) => ({ action, params: noTransferParams });
  switch (row.status) {
    case 'quoted':
      return step('accept');
    case 'accepted':
      return step('fund');
    case 'funded': {
      const isReviewed = row.instants.reviewedAt !== undefined;
      return step(!isReviewed && (scenario === 'review' || scenario === 'reject') ? 'review' : 'convert');
    }
    case 'in_review':
      return step(scenario === 'reject' ? 'reject' : 'release');
    case 'converted':
      return step(failureOf(scenario) === undefined ? 'send' : 'fail');
    case 'sent':
      return step(returnOf(scenario) === undefined ? 'complete' : 'return');
    case 'completed':
    case 'returned':
    case 'refunded':
    case 'canceled':
    case 'expired':
    case 'failed':
      return undefined;
    default:
      return unreachable(row.status, 'the status of a transfer');
  }
}

/** The step delays of a transfer with `autoAdvance`. */
export const stepDelaysMs: StepDelaysMs<TransferAction> = {
  accept: secondMs,
  fund: secondMs,
  review: secondMs,
  release: minuteMs,
  reject: minuteMs,
  convert: secondMs,
  send: secondMs,
  fail: secondMs,
  complete: hourMs,
  return: hourMs,
};

/** The next timer of a transfer. If a step and a deadline are due at the same instant, the deadline comes first. */
export function transferDue(row: TransferRow): Due<TransferAction> | null {
  const deadline = deadlineOf(row);
  return earliest([
    deadline === undefined ? null : { at: deadline, action: 'expire' },
    row.autoAdvance ? scenarioStepDue(row) : null,
  ]);
}

/** A quote without a beneficiary is not accepted automatically. */
function scenarioStepDue(row: TransferRow): Due<TransferAction> | null {
  const action = nextStep(row)?.action;
  const isBlocked = action === 'accept' && row.beneficiary === null;
  return isBlocked ? null : stepDue(row, action, (name) => stepDelaysMs[name]);
}

function deadlineOf({ status, expiresAt, instants }: TransferRow): Instant | undefined {
  if (status === 'quoted') return expiresAt;
  return status === 'accepted' ? instants.fundingExpiresAt : undefined;
}
