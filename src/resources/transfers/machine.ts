import type { Position, Step } from '../../kernel/advance.ts';
import type { ApplicationSettings } from '../../kernel/application-settings.ts';
import {
  accepted,
  type CommandContext,
  type CommandKind,
  change,
  type Decision,
  type LoadedRows,
} from '../../kernel/command.ts';
import { exact, findCurrency } from '../../kernel/currency.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { defineMachine } from '../../kernel/machine.ts';
import type { Entry } from '../../kernel/posting.ts';
import type { ProviderMove } from '../../kernel/provider.ts';
import { failureOf, returnOf, scenarioOf } from '../../kernel/scenario.ts';
import type { Settlement } from '../../kernel/settlement.ts';
import { inverseRate, pairRate } from '../../ledger/fx.ts';
import { type Quote, quote } from '../../ledger/quote.ts';
import { settle } from '../../ledger/settlement.ts';
import { completed, converted, funded, returned, sent, totalOf, unwound } from '../../ledger/transfer.ts';
import { readsCustomer, refuseCustomer } from '../customers/machine.ts';
import { type Beneficiary, type TransferRow, transferStates } from './table.ts';

/** A transfer's life: a quote, the money that comes in, and the money that goes out and may come back. */
export const transferMachine = defineMachine<TransferRow>({
  resource: 'transfer',
  states: transferStates,
  moves: [
    { action: 'quote', from: [], to: ['quoted'] },
    { action: 'requote', from: ['quoted', 'expired'], to: ['quoted'] },
    { action: 'accept', from: ['quoted'], to: ['accepted'] },
    { action: 'fund', from: ['accepted'], to: ['funded'] },
    { action: 'review', from: ['funded'], to: ['in_review'] },
    { action: 'release', from: ['in_review'], to: ['funded'] },
    { action: 'reject', from: ['in_review'], to: ['failed'] },
    { action: 'convert', from: ['funded'], to: ['converted'] },
    { action: 'send', from: ['converted'], to: ['sent'] },
    { action: 'complete', from: ['sent'], to: ['completed'] },
    { action: 'return', from: ['sent', 'completed'], to: ['returned'] },
    { action: 'resend', from: ['returned'], to: ['sent'] },
    { action: 'refund', from: ['returned'], to: ['refunded'] },
    { action: 'cancel', from: ['quoted', 'accepted', 'funded'], to: ['canceled'] },
    { action: 'expire', from: ['quoted', 'accepted'], to: ['expired'] },
    { action: 'fail', from: ['accepted', 'funded', 'in_review', 'converted'], to: ['failed'] },
  ],
  eventDescriptions: {
    quoted: 'A transfer was quoted or requoted; its rate is valid until `expiresAt`.',
    accepted: 'The quote was accepted; the transfer waits for its money until `fundingExpiresAt`.',
    funded: 'The money for the transfer has come in, or a review has released the transfer.',
    in_review: 'The provider reviews the transfer before it converts the money.',
    failed:
      'The transfer failed or was rejected; `failure` says why, and what was paid in goes back to the payer.',
    converted: 'The money was converted at the rate of the quote.',
    sent: 'The money is on its way to the beneficiary, for the first time or again.',
    completed: 'The money has reached the beneficiary.',
    returned: 'The money came back from the beneficiary; `returnCode` says why.',
    refunded: 'A transfer that came back was refunded: the payer has the money and the fee back.',
    canceled:
      'The transfer was canceled before its money was converted; what was paid in goes back to the payer.',
    expired: 'The quote was not accepted in time, or the money for it did not come in time.',
  },
});

export interface QuoteTransfer {
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly fixedSide: TransferRow['fixedSide'];
  /** Of the fixed side. */
  readonly amount: bigint;
  readonly fundFrom: TransferRow['fundFrom'];
  readonly customerId: string | null;
  readonly beneficiary: Beneficiary | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly scenario: TransferRow['scenario'];
  readonly autoAdvance: boolean;
}

export const quoteTransfer: CommandKind<QuoteTransfer> = {
  name: 'transfers.create',
  success: 'created',
  reads: readsCustomer,
  decide: decideQuote,
};

const minuteMs = 60_000;
/** Transfers go through a bank unless the application has chosen its provider. */
const usualProvider = 'tidewater';

function decideQuote(input: QuoteTransfer, context: CommandContext, rows: LoadedRows): Decision {
  const sourceCurrency = input.sourceCurrency.toUpperCase();
  const targetCurrency = input.targetCurrency.toUpperCase();
  const pair = { sourceCurrency, targetCurrency };
  const { amount, ...fields } = input;
  const quoted = quoteOf({ ...pair, fixedSide: input.fixedSide, amount }, context);
  if (!quoted.ok) return quoted;
  const unfit = refuseCustomer(input.customerId, rows);
  if (unfit) return unfit;
  if (context.appId === null) throw new Error('a transfer is made by an application');
  // From here it must succeed.
  const row: TransferRow = {
    orgId: context.orgId,
    id: formatId('transfer', context.suffix),
    appId: context.appId,
    status: 'quoted',
    version: 1,
    ...fields,
    ...pair,
    ...quoted.terms,
    provider: context.settings.provider ?? usualProvider,
    failureCode: null,
    returnCode: null,
    sends: 0,
    reconciliation: null,
    instants: {},
    createdAt: context.now,
    updatedAt: context.now,
  };
  return accepted([change(transferMachine, 'quote', null, row)], 'transfer', row);
}

type Asked = Pick<TransferRow, 'sourceCurrency' | 'targetCurrency' | 'fixedSide'> & {
  readonly amount: bigint;
};

/** What a quote fixes. */
type QuotedTerms = Omit<Quote, 'ok'> & Pick<TransferRow, 'expiresAt'>;

/** Quotes by the rates of this moment; the quote holds from now on. */
export function quoteOf(
  asked: Asked,
  { settings, now }: CommandContext,
): { readonly ok: true; readonly terms: QuotedTerms } | Refusal {
  const made = quote(asked, settings);
  if (made.ok) {
    const { ok, ...quoted } = made;
    return { ok, terms: { ...quoted, expiresAt: now + limits.quoteMinutes * minuteMs } };
  }
  if (made.reason === 'unsupported_currency') return refusePair(asked, settings);
  return refuse(made.reason, { param: `/${asked.fixedSide}Amount` });
}

/** Of a pair without a rate, the side to change is the one that is not even rated against the dollar. */
function refusePair({ sourceCurrency, targetCurrency }: Asked, terms: ApplicationSettings): Refusal {
  const isSource = !pairRate(sourceCurrency, 'USD', terms);
  const code = isSource ? sourceCurrency : targetCurrency;
  const message = findCurrency(code)
    ? `There is no rate from ${sourceCurrency} to ${targetCurrency}. Use currencies listed by developer_api_fx_rates.`
    : `${code} is no currency that is supported. Use a code listed by developer_api_capabilities.`;
  return refuse('unsupported_currency', { message, param: isSource ? '/sourceCurrency' : '/targetCurrency' });
}

/** The entry of the scenario that holds now: the first until it was sent, then one for each time. */
export function transferScenarioOf({ scenario, sends }: Pick<TransferRow, 'scenario' | 'sends'>): string {
  return scenarioOf(scenario, Math.max(sends, 1));
}

/** What is shown of a quote beside what is kept. */
export function shownQuote(row: TransferRow): { readonly totalAmount: bigint; readonly inverseRate: string } {
  return { totalAmount: totalOf(row), inverseRate: inverseRate(row.rate) };
}

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
    const providerMove = tell(row, after, action);
    const made = change(transferMachine, action, row, after, {
      entries,
      providerMove,
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
