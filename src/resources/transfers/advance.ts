import { type Advance, advance, type Step } from '../../kernel/advance.ts';
import { assert, unreachable } from '../../kernel/assert.ts';
import { type Due, earliest } from '../../kernel/clock.ts';
import {
  accepted,
  type CommandContext,
  type CommandKind,
  type LoadedRows,
  type Read,
} from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { refuseMove } from '../../kernel/machine.ts';
import { failureOf, returnOf } from '../../kernel/scenario.ts';
import type { Instant } from '../../kernel/table.ts';
import {
  moveTransfer,
  noTransferParams,
  refuseExpired,
  type TransferParams,
  type TransferPosition,
  transferMachine,
  transferScenarioOf,
} from './machine.ts';
import type { TransferRow } from './table.ts';

export interface AdvanceTransfer {
  readonly id: string;
  readonly request: Advance<TransferParams>;
}

const secondMs = 1_000;
/** More steps than a transfer can take by itself: nothing on its way comes twice. */
const stepsMax = 20;

/** How long a transfer that advances by itself waits before each step. */
export const stepSeconds: Readonly<Record<string, number>> = {
  accept: 1,
  fund: 1,
  review: 1,
  release: 60,
  reject: 60,
  convert: 1,
  send: 1,
  fail: 1,
  complete: 3_600,
  return: 3_600,
};

const lackOfFunds = 'insufficient_funds';

export const advanceTransfer: CommandKind<AdvanceTransfer> = {
  name: 'transfers.advance',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'transfer', id, lock: 'update' }],
  thenReads: ({ id }, rows) => transferReads(rows.get<TransferRow>('transfer', id)),
  decide: ({ id, request }, context, rows) => {
    const row = rows.get<TransferRow>('transfer', id);
    if (!row) return refuse('resource_not_found');
    const start = caughtUp({ ok: true, row, changes: [] }, context, rows);
    const expired =
      request.by === 'action' && request.action === 'accept' && refuseExpired(start.row, context);
    if (expired) return expired;
    // A step on the way that is refused says more than that no way leads there.
    let blocked: Refusal | undefined;
    const end = advance<TransferRow, TransferParams, TransferPosition>(request, start, {
      machine: transferMachine,
      defaults: request.by === 'to' ? request.params : noTransferParams,
      next: ({ row: at }) => nextStep(at),
      apply: (at, step) => {
        const moved = moveTransfer(at, step, context, rows);
        if (!moved.ok) blocked ??= moved;
        return moved;
      },
    });
    return end.ok ? accepted(end.changes, 'transfer', end.row) : (blocked ?? end);
  },
};

/**
 * What else is read before a transfer moves. Where its money comes from and in which currency never changes; the lock on
 * the organization makes those who spend its balance take turns.
 */
export function transferReads(row: TransferRow | undefined): readonly Read[] {
  if (row?.fundFrom !== 'balance') return [];
  return [
    { resource: 'organization', id: row.orgId, lock: 'update' },
    { balance: 'merchant_available', currency: row.sourceCurrency },
  ];
}

/** What a transfer waits for. Of a step and a deadline at the same instant the deadline comes first. */
export function transferDue(row: TransferRow): Due | null {
  const step = row.autoAdvance ? nextStep(row) : undefined;
  const waits = step?.action === 'accept' && row.beneficiary === null;
  const seconds = step === undefined || waits ? undefined : stepSeconds[step.action];
  const deadline = deadlineOf(row);
  return earliest([
    deadline === undefined ? null : { at: deadline, action: 'expire' },
    step === undefined || seconds === undefined
      ? null
      : { at: row.updatedAt + seconds * secondMs, action: step.action },
  ]);
}

function deadlineOf({ status, expiresAt, instants }: TransferRow): Instant | undefined {
  if (status === 'quoted') return expiresAt;
  return status === 'accepted' ? instants.fundingExpiresAt : undefined;
}

/** Takes the step that is due. One that cannot be taken for lack of money fails: nobody is there to be told. */
export function fireTransfer(
  row: TransferRow,
  action: string,
  context: CommandContext,
  rows: LoadedRows,
): TransferPosition {
  const start: TransferPosition = { ok: true, row, changes: [] };
  const refusal = refuseMove(transferMachine, action, row);
  assert(refusal === undefined, `${action} is due of a transfer that is ${row.status}`);
  const moved = moveTransfer(start, { action, params: noTransferParams }, context, rows);
  if (moved.ok) return moved;
  const instead = action === 'fund' ? 'fail' : 'expire';
  const params = { ...noTransferParams, failureCode: lackOfFunds };
  const ended = moveTransfer(start, { action: instead, params }, context, rows);
  assert(ended.ok, `a transfer can always ${instead}`);
  return ended;
}

/** Whatever fell due before now and was not fired yet happens first, each thing at its own instant. */
function caughtUp(start: TransferPosition, context: CommandContext, rows: LoadedRows): TransferPosition {
  let at = start;
  for (let steps = 0; steps < stepsMax; steps += 1) {
    const next = transferDue(at.row);
    if (next === null || next.at > context.now) return at;
    const fired = fireTransfer(at.row, next.action, { ...context, now: next.at }, rows);
    at = { ...fired, changes: [...at.changes, ...fired.changes] };
  }
  throw new Error('a transfer does not come to rest');
}

/** What the transfer's scenario does next. */
function nextStep(row: TransferRow): Step<TransferParams> | undefined {
  const scenario = transferScenarioOf(row);
  const step = (action: string): Step<TransferParams> => ({ action, params: noTransferParams });
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
