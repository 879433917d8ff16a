import { splitDecimal } from '../../client/amount.ts';
import type { Limits } from '../../client/limits.ts';
import type { Application } from '../../generated/shapes.ts';
import { parsePercent, percentText } from './percent.ts';

/** A custom rate as typed; `row` identifies it while its currency pair is being edited. */
export interface RateRow {
  readonly row: number;
  readonly source: string;
  readonly target: string;
  readonly rate: string;
}

/** Form state of the settings: strings where the person types. */
export interface Draft {
  readonly name: string;
  readonly feePercent: string;
  readonly feeFixed: string;
  readonly provider: string;
  readonly margin: string;
  readonly rates: readonly RateRow[];
  readonly eventTypes: readonly string[];
  readonly retryProfile: string;
  readonly concurrency: string;
}

export interface RateError {
  /** The wrong part of the row: its two currencies, or the rate. */
  readonly field: 'pair' | 'rate';
  readonly message: string;
}

export type FieldErrors = Partial<Record<keyof Draft, string>> & {
  readonly rateRows?: ReadonlyMap<number, RateError>;
};

export interface Patch {
  readonly name?: string;
  readonly fee?: { readonly basisPoints: number; readonly fixedAmount: number };
  readonly provider?: string | null;
  readonly fx?: { readonly marginBasisPoints?: number; readonly rates?: Readonly<Record<string, string>> };
  readonly webhookDefaults?: {
    readonly eventTypes: readonly string[];
    readonly retryProfile: string;
    readonly maxConcurrency: number;
  };
}

/** As on the server: up to nine digits before the decimal point, up to twelve after it, and not zero. */
const ratePattern = /^(?=.*[1-9])(0|[1-9]\d{0,8})(\.\d{1,12})?$/;
const rateDecimalsMax = 12;

/** '1,0842' -> '1.0842'. */
function parseRate(text: string): { readonly rate: string } | { readonly problem: string } {
  const split = splitDecimal(text, rateDecimalsMax);
  if ('meanings' in split) return { problem: `Ambiguous: enter ${split.meanings.join(' or ')}.` };
  const rate =
    'problem' in split ? '' : split.fraction === '' ? split.whole : `${split.whole}.${split.fraction}`;
  if (ratePattern.test(rate)) return { rate };
  return { problem: 'Enter a positive number with up to twelve decimals, for example 1.0842.' };
}

/** The rate as it is sent; an invalid one is not. */
function rateText(text: string): string {
  const parsed = parseRate(text);
  return 'problem' in parsed ? text.trim() : parsed.rate;
}

export function draftOf({ name, fee, provider, fx, webhookDefaults }: Application): Draft {
  return {
    name,
    feePercent: percentText(fee.basisPoints),
    feeFixed: String(fee.fixedAmount),
    provider: provider ?? '',
    margin: percentText(fx.marginBasisPoints),
    rates: Object.entries(fx.rates).map(([pair, rate], row) => {
      const [source = '', target = ''] = pair.split('/');
      return { row, source, target, rate };
    }),
    eventTypes: webhookDefaults.eventTypes,
    retryProfile: webhookDefaults.retryProfile,
    concurrency: String(webhookDefaults.maxConcurrency),
  };
}

/** Only the changed settings, in the groups that the API expects. */
export function patchOf(application: Application, draft: Draft): Patch {
  const saved = draftOf(application);
  const isNew = (...names: (keyof Draft)[]) => names.some((name) => !isSame(saved[name], draft[name]));
  const rates = Object.fromEntries(
    draft.rates.map(({ source, target, rate }) => [`${source}/${target}`, rateText(rate)]),
  );
  const fx = {
    ...(isNew('margin') ? { marginBasisPoints: parsePercent(draft.margin) ?? 0 } : {}),
    ...(isSame(ratesOf(saved), ratesOf(draft)) ? {} : { rates }),
  };
  return {
    ...(draft.name.trim() === saved.name ? {} : { name: draft.name.trim() }),
    ...(isNew('feePercent', 'feeFixed')
      ? { fee: { basisPoints: parsePercent(draft.feePercent) ?? 0, fixedAmount: Number(draft.feeFixed) } }
      : {}),
    ...(isNew('provider') ? { provider: draft.provider === '' ? null : draft.provider } : {}),
    ...(Object.keys(fx).length === 0 ? {} : { fx }),
    ...(isNew('eventTypes', 'retryProfile', 'concurrency')
      ? {
          webhookDefaults: {
            eventTypes: draft.eventTypes,
            retryProfile: draft.retryProfile,
            maxConcurrency: Number(draft.concurrency),
          },
        }
      : {}),
  };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function ratesOf({ rates }: Draft): readonly string[] {
  return rates.map(({ source, target, rate }) => `${source}/${target} ${rateText(rate)}`).sort();
}

export function fieldErrors(draft: Draft, limits: Limits): FieldErrors {
  const none = Number.POSITIVE_INFINITY;
  const { feeBasisPointsMax = none, fxMarginMax = none, webhookConcurrencyMax = none } = limits;
  const fee = parsePercent(draft.feePercent);
  const margin = parsePercent(draft.margin);
  const concurrency = /^\d+$/.test(draft.concurrency) ? Number(draft.concurrency) : 0;
  const rateRows = rateErrors(draft.rates);
  return {
    ...(draft.name.trim() === '' ? { name: 'Enter a name.' } : {}),
    ...(fee === undefined || fee > feeBasisPointsMax
      ? { feePercent: percentageError(feeBasisPointsMax, '2.9') }
      : {}),
    ...(/^\d{1,12}$/.test(draft.feeFixed)
      ? {}
      : { feeFixed: 'Enter a whole number of minor units, for example 30, without a currency.' }),
    ...(margin === undefined || margin > fxMarginMax ? { margin: percentageError(fxMarginMax, '0.5') } : {}),
    ...(draft.eventTypes.length === 0 ? { eventTypes: 'Select at least one event.' } : {}),
    ...(concurrency < 1 || concurrency > webhookConcurrencyMax
      ? { concurrency: `Enter a whole number from 1 to ${webhookConcurrencyMax}.` }
      : {}),
    ...(rateRows.size === 0 ? {} : { rateRows }),
  };
}

function percentageError(basisPointsMax: number, example: string): string {
  const range = Number.isFinite(basisPointsMax) ? ` from 0 to ${basisPointsMax / 100}` : '';
  return `Enter a percentage${range} with up to two decimals, for example ${example}.`;
}

function rateErrors(rates: readonly RateRow[]): ReadonlyMap<number, RateError> {
  const errors = new Map<number, RateError>();
  const seen = new Set<string>();
  for (const { row, source, target, rate } of rates) {
    const pair = `${source}/${target}`;
    const refuse = (field: RateError['field'], message: string) => errors.set(row, { field, message });
    if (!/^[A-Z]{3}\/[A-Z]{3}$/.test(pair)) refuse('pair', 'Enter two three-letter currency codes.');
    else if (source === target) refuse('pair', 'Enter two different currencies.');
    else if (seen.has(pair)) refuse('pair', `Duplicate pair ${pair}.`);
    else {
      const parsed = parseRate(rate);
      if ('problem' in parsed) refuse('rate', parsed.problem);
    }
    seen.add(pair);
  }
  return errors;
}
