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
import { formatId } from '../../kernel/ids.ts';
import { limits } from '../../kernel/limits.ts';
import { defineMachine } from '../../kernel/machine.ts';
import { scenarioOf } from '../../kernel/scenario.ts';
import type { Reconciliation } from '../../kernel/settlement.ts';
import type { Instant } from '../../kernel/table.ts';
import type { Terms } from '../../kernel/terms.ts';
import { inverseRate, pairRate } from '../../ledger/fx.ts';
import { type Quote, quote } from '../../ledger/quote.ts';
import { totalOf } from '../../ledger/transfer.ts';
import { readsCustomer, refuseCustomer } from '../customers/machine.ts';

export const transferStates = [
  'quoted',
  'accepted',
  'funded',
  'in_review',
  'converted',
  'sent',
  'completed',
  'returned',
  'refunded',
  'canceled',
  'expired',
  'failed',
] as const;

export const fundingSources = ['external', 'balance'] as const;

export interface TransferRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: (typeof transferStates)[number];
  readonly version: number;
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly sourceAmount: bigint;
  readonly targetAmount: bigint;
  readonly feeAmount: bigint;
  /** Which of the two amounts was asked for: the other one follows from it, also when it is quoted anew. */
  readonly fixedSide: 'source' | 'target';
  readonly rate: string;
  readonly midMarketRate: string;
  readonly marginBasisPoints: number;
  readonly fundFrom: (typeof fundingSources)[number];
  /** Never shown: the record is neutral. */
  readonly provider: string;
  readonly customerId: string | null;
  readonly beneficiary: Beneficiary | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** One name, or a list for the times it is sent. */
  readonly scenario: string | readonly string[];
  readonly autoAdvance: boolean;
  readonly failureCode: string | null;
  readonly returnCode: string | null;
  /** How often it was sent: a transfer that came back may be sent again. */
  readonly sends: number;
  readonly reconciliation: Reconciliation | null;
  readonly expiresAt: Instant;
  readonly instants: TransferInstants;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface Beneficiary {
  readonly name: string;
  readonly country?: string;
  readonly account?: string;
}

/** When what happened. */
export const transferInstantNames = [
  'acceptedAt',
  'fundingExpiresAt',
  'fundedAt',
  'reviewedAt',
  'convertedAt',
  'sentAt',
  'completedAt',
  'returnedAt',
  'refundedAt',
  'canceledAt',
  'expiredAt',
  'failedAt',
] as const;
type TransferInstants = {
  readonly [Name in (typeof transferInstantNames)[number]]?: Instant | undefined;
};

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
  eventWords: {
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
    provider: context.terms.provider ?? usualProvider,
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
  { terms, now }: CommandContext,
): { readonly ok: true; readonly terms: QuotedTerms } | Refusal {
  const made = quote(asked, terms);
  if (made.ok) {
    const { ok, ...quoted } = made;
    return { ok, terms: { ...quoted, expiresAt: now + limits.quoteMinutes * minuteMs } };
  }
  if (made.reason === 'unsupported_currency') return refusePair(asked, terms);
  return refuse(made.reason, { param: `/${asked.fixedSide}Amount` });
}

/** Of a pair without a rate, the side to change is the one that is not even rated against the dollar. */
function refusePair({ sourceCurrency, targetCurrency }: Asked, terms: Terms): Refusal {
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
