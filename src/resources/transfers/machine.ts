import type { Position } from '../../kernel/advance.ts';
import type { ApplicationSettings } from '../../kernel/application-settings.ts';
import {
  accepted,
  type CommandContext,
  type CommandKind,
  change,
  type Decision,
  type LoadedRows,
} from '../../kernel/command.ts';
import { findCurrency } from '../../kernel/currency.ts';
import { type Refusal, refuse } from '../../kernel/errors.ts';
import { formatId, type Id } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { type ActionOf, defineMachine } from '../../kernel/machine.ts';
import { scenarioOf } from '../../kernel/scenario.ts';
import { minuteMs } from '../../kernel/time.ts';
import { inverseRate, pairRate } from '../../ledger/fx.ts';
import { type Quote, quote } from '../../ledger/quote.ts';
import { totalOf } from '../../ledger/transfer.ts';
import { readsCustomer, refuseCustomer } from '../customers/machine.ts';
import { type Beneficiary, type TransferRow, transferStates } from './table.ts';

/** The transfer life cycle: the quote, the funding, and the payout, which may be returned. */
export const transferMachine = defineMachine<TransferRow>()({
  resource: 'transfer',
  states: transferStates,
  goal: 'completed',
  setbacks: ['failed', 'returned', 'refunded', 'canceled', 'expired'],
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

export type TransferAction = ActionOf<typeof transferMachine>;

export interface QuoteTransfer {
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly fixedSide: TransferRow['fixedSide'];
  /** The amount of the fixed side. */
  readonly amount: bigint;
  readonly fundFrom: TransferRow['fundFrom'];
  readonly customerId: Id<'customer'> | null;
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

/** Transfers use the bank provider unless the application settings name another one. */
const defaultProvider = 'tidewater';

function decideQuote(input: QuoteTransfer, context: CommandContext, rows: LoadedRows): Decision {
  const sourceCurrency = input.sourceCurrency.toUpperCase();
  const targetCurrency = input.targetCurrency.toUpperCase();
  const pair = { sourceCurrency, targetCurrency };
  const { amount, ...fields } = input;
  const quoted = quoteOf({ ...pair, fixedSide: input.fixedSide, amount }, context);
  if (!quoted.ok) return quoted;
  const refusal = refuseCustomer(input.customerId, rows);
  if (refusal) return refusal;
  if (context.appId === null) throw new Error('quoteTransfer requires an application');
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
    provider: context.settings.provider ?? defaultProvider,
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

type QuoteRequest = Pick<TransferRow, 'sourceCurrency' | 'targetCurrency' | 'fixedSide'> & {
  readonly amount: bigint;
};

/** The values that a quote fixes. */
type QuotedTerms = Omit<Quote, 'ok'> & Pick<TransferRow, 'expiresAt'>;

/** Quotes at the current rates; the validity period of the quote starts now. */
export function quoteOf(
  request: QuoteRequest,
  { settings, now }: CommandContext,
): { readonly ok: true; readonly terms: QuotedTerms } | Refusal {
  const result = quotedAmounts(request, settings);
  if (!result.ok) return result;
  const { ok, ...quoted } = result;
  return { ok, terms: { ...quoted, expiresAt: now + limits.quoteMinutes * minuteMs } };
}

/** The amounts of a quote at the current rates. */
export function quotedAmounts(request: QuoteRequest, settings: ApplicationSettings): Quote | Refusal {
  const result = quote(request, settings);
  if (result.ok) return result;
  if (result.reason === 'unsupported_currency') return refusePair(request, settings);
  return refuse(result.reason, { param: `/${request.fixedSide}Amount` });
}

/** Refuses a pair without a rate. The invalid side is the one that has no rate against USD. */
function refusePair(
  { sourceCurrency, targetCurrency }: QuoteRequest,
  settings: ApplicationSettings,
): Refusal {
  const isSource = !pairRate(sourceCurrency, 'USD', settings);
  const code = isSource ? sourceCurrency : targetCurrency;
  const message = findCurrency(code)
    ? `There is no rate from ${sourceCurrency} to ${targetCurrency}. Use currencies listed by developer_api_fx_rates.`
    : `${code} is not a supported currency. Use a code listed by developer_api_capabilities.`;
  return refuse('unsupported_currency', { message, param: isSource ? '/sourceCurrency' : '/targetCurrency' });
}

/** The current entry of the scenario list: the first one until the transfer is sent, then one for each time it is sent. */
export function transferScenarioOf({ scenario, sends }: Pick<TransferRow, 'scenario' | 'sends'>): string {
  return scenarioOf(scenario, Math.max(sends, 1));
}

/** The fields of a quote that are computed and not stored. */
export function shownQuote(row: Pick<TransferRow, 'sourceAmount' | 'feeAmount' | 'rate'>): {
  readonly totalAmount: bigint;
  readonly inverseRate: string;
} {
  return { totalAmount: totalOf(row), inverseRate: inverseRate(row.rate) };
}

/** The parameters of transfer moves. Each move uses some of them; the route refuses parameters that do not apply. */
export interface TransferParams {
  readonly beneficiary: Beneficiary | null;
  readonly returnCode: string | null;
  readonly failureCode: string | null;
}

export const noTransferParams: TransferParams = { beneficiary: null, returnCode: null, failureCode: null };

export type TransferPosition = Position<TransferRow>;

/** Refuses to accept an expired quote, whether its timer has fired or not. */
export function refuseExpired(
  { status, expiresAt }: TransferRow,
  { now }: CommandContext,
): Refusal | undefined {
  const isQuote = status === 'quoted' || status === 'expired';
  return isQuote && now >= expiresAt ? refuse('quote_expired') : undefined;
}
