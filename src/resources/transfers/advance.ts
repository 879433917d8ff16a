import { type Advance, advance, catchUp } from '../../kernel/advance.ts';
import { assert, unreachable } from '../../kernel/assert.ts';
import {
  accepted,
  type CommandContext,
  type CommandKind,
  change,
  type LoadedRows,
  type Read,
} from '../../kernel/command.ts';
import { exact } from '../../kernel/currency.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Entry, Settlement } from '../../kernel/ledger.ts';
import { limits } from '../../kernel/limits.ts';
import { refuseMove } from '../../kernel/machine.ts';
import type { ProviderMove } from '../../kernel/provider.ts';
import { failureOf, returnOf } from '../../kernel/scenario.ts';
import { type Due, hourMs } from '../../kernel/time.ts';
import { settle } from '../../ledger/settlement.ts';
import { completed, converted, funded, returned, sent, totalOf, unwound } from '../../ledger/transfer.ts';
import {
  noTransferParams,
  quoteOf,
  refuseExpired,
  type TransferAction,
  type TransferParams,
  type TransferPosition,
  transferMachine,
  transferScenarioOf,
} from './machine.ts';
import { nextStep, type TransferStep, transferDue } from './scenario.ts';
import type { TransferRow } from './table.ts';

export interface AdvanceTransfer {
  readonly id: Id<'transfer'>;
  readonly request: Advance<TransferRow['status'], TransferAction, TransferParams>;
}

const insufficientFunds = 'insufficient_funds';
const returnDefault = 'account_closed';
const failureDefault = 'payout_rejected';
const rejectionDefault = 'compliance_rejected';

export const advanceTransfer: CommandKind<AdvanceTransfer> = {
  name: 'transfers.advance',
  success: 'ok',
  reads: ({ id }) => [{ resource: 'transfer', id, lock: 'update' }],
  thenReads: ({ id }, rows) => transferReads(rows.get<TransferRow>('transfer', id)),
  decide: ({ id, request }, context, rows) => {
    const row = rows.get<TransferRow>('transfer', id);
    if (!row) return refuse('resource_not_found');
    const start = catchUp<TransferRow, TransferAction, TransferPosition>(
      { ok: true, row, changes: [] },
      context.now,
      transferDue,
      (at, due) => fireTransfer(at, due, context, rows),
    );
    const expired =
      request.by === 'action' && request.action === 'accept' && refuseExpired(start.row, context);
    if (expired) return expired;
    // The refusal of a step on the path is more specific than "no path to this state".
    let blocked: Refusal | undefined;
    const end = advance(request, start, {
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
 * The additional reads of a move. A transfer's funding source and currency never change. The lock on the organization serializes
 * transfers that spend its balance.
 */
export function transferReads(row: TransferRow | undefined): readonly Read[] {
  if (row?.fundFrom !== 'balance') return [];
  return [
    { resource: 'organization', id: row.orgId, lock: 'update' },
    { balance: 'merchant_available', currency: row.sourceCurrency },
  ];
}

/** Applies the step that is due, at its instant. No caller would receive a refusal, so a transfer without funds fails. */
export function fireTransfer(
  at: TransferPosition,
  { action, at: now }: Due<TransferAction>,
  context: CommandContext,
  rows: LoadedRows,
): TransferPosition {
  const timerContext = { ...context, now };
  const refusal = refuseMove(transferMachine, action, at.row);
  assert(refusal === undefined, `${action} is due for a transfer that is ${at.row.status}`);
  const moved = moveTransfer(at, { action, params: noTransferParams }, timerContext, rows);
  if (moved.ok) return moved;
  const fallback = action === 'fund' ? 'fail' : 'expire';
  const params = { ...noTransferParams, failureCode: insufficientFunds };
  const ended = moveTransfer(at, { action: fallback, params }, timerContext, rows);
  assert(ended.ok, `a transfer can always ${fallback}`);
  return ended;
}

/** Applies one step to a transfer whose state has been checked. */
function moveTransfer(
  at: TransferPosition,
  step: TransferStep,
  context: CommandContext,
  rows: LoadedRows,
): TransferPosition | Refusal {
  const outcome = outcomeOf(at.row, step, context, rows);
  return outcome.ok ? applyOutcome(at, step.action, outcome, context) : outcome;
}

/** The new status of a transfer after a step, and all other changes. */
interface Outcome {
  readonly ok: true;
  readonly status: TransferRow['status'];
  readonly instants?: TransferRow['instants'];
  readonly patch?: Partial<TransferRow>;
  readonly entries?: readonly Entry[];
  readonly settlement?: Settlement | null;
}

/** Returns the transfer after its step, with the change that records it. */
function applyOutcome(
  { row, changes }: TransferPosition,
  action: TransferAction,
  { status, instants, patch, entries = [], settlement = null }: Outcome,
  { now }: CommandContext,
): TransferPosition {
  const after: TransferRow = {
    ...row,
    ...patch,
    ...(settlement ? { reconciliation: settlement.result } : {}),
    status,
    version: row.version + 1,
    instants: { ...row.instants, ...instants },
    updatedAt: now,
  };
  const providerMove = providerMoveOf(row, after, action);
  const move = change(transferMachine, action, row, after, { entries, providerMove, settlement });
  return { ok: true, row: after, changes: [...changes, move] };
}

function outcomeOf(
  row: TransferRow,
  { action, params }: TransferStep,
  context: CommandContext,
  rows: LoadedRows,
): Outcome | Refusal {
  assert(action !== 'quote', 'an existing transfer is requoted, not quoted');
  const { now } = context;
  switch (action) {
    case 'requote':
      return requote(row, context);
    case 'accept':
      return accept(row, params, context);
    case 'fund':
      return fund(row, context, rows);
    case 'review':
      return { ok: true, status: 'in_review', instants: { reviewedAt: now } };
    case 'release':
      return { ok: true, status: 'funded' };
    case 'convert':
      return { ok: true, status: 'converted', instants: { convertedAt: now }, entries: converted(row) };
    case 'send':
      return send(row, context);
    case 'resend':
      return resend(row, context);
    case 'complete':
      return complete(row, context);
    case 'return':
      return returnPayout(row, params, context);
    case 'refund':
      return {
        ok: true,
        status: 'refunded',
        instants: { refundedAt: now },
        entries: unwound(row, action, row.status),
      };
    case 'cancel':
      return cancel(row, context);
    case 'expire':
      return { ok: true, status: 'expired', instants: { ...noFundingDeadline, expiredAt: now } };
    case 'reject':
      return fail(row, action, params.failureCode ?? rejectionDefault, context);
    case 'fail':
      return fail(row, action, params.failureCode ?? scenarioFailure(row), context);
    default:
      return unreachable(action, 'the action of a transfer');
  }
}

/** Removes the funding deadline, when the transfer is funded or ends unfunded. */
const noFundingDeadline = { fundingExpiresAt: undefined };

function requote(row: TransferRow, context: CommandContext): Outcome | Refusal {
  const amount = row.fixedSide === 'source' ? row.sourceAmount : row.targetAmount;
  const quoted = quoteOf({ ...row, amount }, context);
  if (!quoted.ok) {
    // The quote is the problem, not a field of the request.
    const { param: _param, ...refusal } = quoted;
    return refusal;
  }
  const instants = { ...noFundingDeadline, acceptedAt: undefined, expiredAt: undefined };
  return { ok: true, status: 'quoted', instants, patch: quoted.terms };
}

function accept(row: TransferRow, params: TransferParams, context: CommandContext): Outcome | Refusal {
  const expired = refuseExpired(row, context);
  if (expired) return expired;
  const beneficiary = params.beneficiary ?? row.beneficiary;
  if (beneficiary === null) return refuse('beneficiary_missing', { param: '/beneficiary' });
  const fundingExpiresAt = context.now + limits.fundingHours * hourMs;
  const instants = { acceptedAt: context.now, fundingExpiresAt };
  return { ok: true, status: 'accepted', instants, patch: { beneficiary } };
}

function fund(row: TransferRow, { now }: CommandContext, rows: LoadedRows): Outcome | Refusal {
  const refusal = refuseFunding(row, rows);
  if (refusal) return refusal;
  const instants = { ...noFundingDeadline, fundedAt: now };
  return { ok: true, status: 'funded', instants, entries: funded(row) };
}

function refuseFunding(row: TransferRow, rows: LoadedRows): Refusal | undefined {
  if (row.fundFrom !== 'balance') return undefined;
  const { sourceCurrency: currency } = row;
  const available = -rows.balance('merchant_available', currency);
  const required = totalOf(row);
  if (available >= required) return undefined;
  return refuse('insufficient_funds', {
    details: { available: exact(available), required: exact(required), currency },
  });
}

function send(row: TransferRow, { now }: CommandContext): Outcome {
  const patch = { sends: row.sends + 1 };
  return { ok: true, status: 'sent', instants: { sentAt: now }, patch, entries: sent(row, 'send') };
}

function resend(row: TransferRow, { now }: CommandContext): Outcome {
  const instants = { sentAt: now, completedAt: undefined, returnedAt: undefined };
  const patch = { sends: row.sends + 1, returnCode: null };
  return { ok: true, status: 'sent', instants, patch, entries: sent(row, 'resend') };
}

function complete(row: TransferRow, { now }: CommandContext): Outcome {
  const settlement = settle(movementOf(row, -row.targetAmount), transferScenarioOf(row));
  const instants = { completedAt: now };
  return { ok: true, status: 'completed', instants, entries: completed(row), settlement };
}

function returnPayout(row: TransferRow, params: TransferParams, { now }: CommandContext): Outcome {
  const from = row.status === 'completed' ? 'completed' : 'sent';
  const returnCode = params.returnCode ?? returnOf(transferScenarioOf(row)) ?? returnDefault;
  // Until completion the ledger still has the money in the bank account, so no settlement report contains the payout.
  const settlement = from === 'completed' ? settle(movementOf(row, row.targetAmount), 'approve') : null;
  const instants = { returnedAt: now };
  return {
    ok: true,
    status: 'returned',
    instants,
    patch: { returnCode },
    entries: returned(row, from),
    settlement,
  };
}

function cancel(row: TransferRow, { now }: CommandContext): Outcome {
  const instants = { ...noFundingDeadline, canceledAt: now };
  return { ok: true, status: 'canceled', instants, entries: unwound(row, 'cancel', row.status) };
}

function fail(
  row: TransferRow,
  action: 'fail' | 'reject',
  failureCode: string,
  { now }: CommandContext,
): Outcome {
  const instants = { ...noFundingDeadline, failedAt: now };
  const entries = unwound(row, action, row.status);
  return { ok: true, status: 'failed', instants, patch: { failureCode }, entries };
}

function scenarioFailure(row: TransferRow): string {
  return failureOf(transferScenarioOf(row)) ?? failureDefault;
}

function movementOf({ id, provider, targetCurrency }: TransferRow, gross: bigint): Settlement['movement'] {
  return { recordId: id, provider, currency: targetCurrency, gross, fee: 0n };
}

/** The moves that do not involve the provider. */
const withoutProvider: readonly TransferAction[] = ['requote', 'accept', 'review', 'release', 'expire'];
/** The moves of the outgoing payment, in the target currency. The others are about the incoming money. */
const outgoing: readonly TransferAction[] = ['convert', 'send', 'resend', 'complete', 'return'];

function providerMoveOf(
  before: TransferRow,
  after: TransferRow,
  action: TransferAction,
): ProviderMove | null {
  if (withoutProvider.includes(action)) return null;
  const isOutgoing = outgoing.includes(action);
  return {
    provider: after.provider,
    record: 'transfer',
    recordId: after.id,
    subjectId: after.id,
    version: after.version,
    action,
    from: before.status,
    to: after.status,
    amount: isOutgoing ? after.targetAmount : totalOf(after),
    currency: isOutgoing ? after.targetCurrency : after.sourceCurrency,
    failureCode: after.failureCode ?? (action === 'return' ? after.returnCode : null),
    causeId: null,
    at: after.updatedAt,
  };
}
