import type { Position, Step } from '../../kernel/advance.ts';
import { exact } from '../../kernel/amount.ts';
import { type CommandContext, change, type LoadedRows } from '../../kernel/command.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import type { Entry } from '../../kernel/posting.ts';
import type { ProviderMove } from '../../kernel/provider.ts';
import { failureOf, returnOf } from '../../kernel/scenario.ts';
import { type Settlement, settle } from '../../kernel/settlement.ts';
import { completed, converted, funded, returned, sent, totalOf, unwound } from '../../ledger/transfer.ts';
import {
  type Beneficiary,
  quoteOf,
  type TransferRow,
  transferMachine,
  transferScenarioOf,
} from '../transfers/machine.ts';

/** What the moves of a transfer take. Each takes its own; the route has refused what is not for it. */
export interface TransferParams {
  readonly beneficiary: Beneficiary | null;
  readonly returnCode: string | null;
  readonly failureCode: string | null;
}

export const noTransferParams: TransferParams = { beneficiary: null, returnCode: null, failureCode: null };

export type TransferPosition = Position<TransferRow>;

const hourMs = 3_600_000;
const returnDefault = 'account_closed';
const failureDefault = 'payout_rejected';
const rejection = 'compliance_rejected';

/** A quote past its time cannot be accepted, whether its timer has fired or not. */
export function refuseExpired(
  { status, expiresAt }: TransferRow,
  { now }: CommandContext,
): Refusal | undefined {
  const isQuote = status === 'quoted' || status === 'expired';
  return isQuote && now >= expiresAt ? refuse('quote_expired') : undefined;
}

interface Effects {
  readonly entries?: readonly Entry[];
  readonly settlement?: Settlement;
}

/** One step of a transfer whose state has been checked. */
export function moveTransfer(
  at: TransferPosition,
  { action, params }: Step<TransferParams>,
  context: CommandContext,
  rows: LoadedRows,
): TransferPosition | Refusal {
  const { row } = at;
  const { now } = context;
  const went = (
    status: TransferRow['status'],
    instants: TransferRow['instants'],
    patch: Partial<TransferRow> = {},
    { entries = [], settlement }: Effects = {},
  ): TransferPosition => {
    const after: TransferRow = {
      ...row,
      ...patch,
      ...(settlement ? { reconciliation: settlement.result } : {}),
      status,
      version: row.version + 1,
      instants: { ...row.instants, ...instants },
      updatedAt: now,
    };
    const told = tell(row, after, action);
    const made = change(transferMachine, action, row, after, {
      entries,
      told,
      settlement: settlement ?? null,
    });
    return { ok: true, row: after, changes: [...at.changes, made] };
  };
  const unfunded = { fundingExpiresAt: undefined };
  const scenario = transferScenarioOf(row);
  switch (action) {
    case 'requote': {
      const amount = row.fixedSide === 'source' ? row.sourceAmount : row.targetAmount;
      const quoted = quoteOf({ ...row, amount }, context);
      // What is in the way is in the quote, not in the body that asked for a new one.
      if (!quoted.ok) {
        const { param: _param, ...refusal } = quoted;
        return refusal;
      }
      return went('quoted', { ...unfunded, acceptedAt: undefined, expiredAt: undefined }, quoted.terms);
    }
    case 'accept': {
      const expired = refuseExpired(row, context);
      if (expired) return expired;
      const beneficiary = params.beneficiary ?? row.beneficiary;
      if (beneficiary === null) return refuse('beneficiary_missing', { param: '/beneficiary' });
      const fundingExpiresAt = now + limits.fundingHours * hourMs;
      return went('accepted', { acceptedAt: now, fundingExpiresAt }, { beneficiary });
    }
    case 'fund': {
      const refusal = refuseFunding(row, rows);
      if (refusal) return refusal;
      return went('funded', { ...unfunded, fundedAt: now }, {}, { entries: funded(row) });
    }
    case 'review':
      return went('in_review', { reviewedAt: now });
    case 'release':
      return went('funded', {});
    case 'convert':
      return went('converted', { convertedAt: now }, {}, { entries: converted(row) });
    case 'send':
      return went('sent', { sentAt: now }, { sends: row.sends + 1 }, { entries: sent(row, 'send') });
    case 'resend':
      return went(
        'sent',
        { sentAt: now, completedAt: undefined, returnedAt: undefined },
        { sends: row.sends + 1, returnCode: null },
        { entries: sent(row, 'resend') },
      );
    case 'complete': {
      const settlement = settle(movementOf(row, -row.targetAmount), scenario);
      return went('completed', { completedAt: now }, {}, { entries: completed(row), settlement });
    }
    case 'return': {
      const from = row.status === 'completed' ? 'completed' : 'sent';
      const returnCode = params.returnCode ?? returnOf(scenario) ?? returnDefault;
      const effects: Effects = {
        entries: returned(row, from),
        // What is still on its way has not left the bank by the books, so no report shows it.
        ...(from === 'completed' ? { settlement: settle(movementOf(row, row.targetAmount), 'approve') } : {}),
      };
      return went('returned', { returnedAt: now }, { returnCode }, effects);
    }
    case 'refund':
      return went('refunded', { refundedAt: now }, {}, { entries: unwound(row, action, row.status) });
    case 'cancel':
      return went(
        'canceled',
        { ...unfunded, canceledAt: now },
        {},
        { entries: unwound(row, action, row.status) },
      );
    case 'expire':
      return went('expired', { ...unfunded, expiredAt: now });
    case 'reject':
    case 'fail': {
      const usual = action === 'reject' ? rejection : (failureOf(scenario) ?? failureDefault);
      return went(
        'failed',
        { ...unfunded, failedAt: now },
        { failureCode: params.failureCode ?? usual },
        { entries: unwound(row, action, row.status) },
      );
    }
    default:
      throw new Error(`${action} is no move of a transfer`);
  }
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

function movementOf({ id, provider, targetCurrency }: TransferRow, gross: bigint): Settlement['movement'] {
  return { recordId: id, provider, currency: targetCurrency, gross, fee: 0n };
}

/** What is between us and the customer alone; of all else the provider has a part. */
const untold: readonly string[] = ['requote', 'accept', 'review', 'release', 'expire'];
/** The moves of the money that goes out; the others are about what came in. */
const outgoing: readonly string[] = ['convert', 'send', 'resend', 'complete', 'return'];

function tell(before: TransferRow, after: TransferRow, action: string): ProviderMove | null {
  if (untold.includes(action)) return null;
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
