import type { Application } from '../../client/shapes.ts';
import { parsePercent, percentText } from './percent.ts';

/** A rate of the application's own, as typed; the number tells rows apart while their pair is being edited. */
export interface RateRow {
  readonly row: number;
  readonly source: string;
  readonly target: string;
  readonly rate: string;
}

/** The settings as the form holds them: text where a person types. */
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

export type Faults = Partial<Record<keyof Draft, string>> & {
  readonly rateRows?: ReadonlyMap<number, string>;
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

const feeMax = 10_000;
const marginMax = 5_000;
const concurrencyMax = 64;
/** As the server has it: up to nine digits before the point and twelve behind it, and not zero. */
const ratePattern = /^(?=.*[1-9])(0|[1-9]\d{0,8})(\.\d{1,12})?$/;

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

/** Only what differs from what is saved, in the groups in which the server takes it. */
export function patchOf(application: Application, draft: Draft): Patch {
  const saved = draftOf(application);
  const isNew = (...names: (keyof Draft)[]) => names.some((name) => !isSame(saved[name], draft[name]));
  const rates = Object.fromEntries(
    draft.rates.map(({ source, target, rate }) => [`${source}/${target}`, rate.trim()]),
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
  return rates.map(({ source, target, rate }) => `${source}/${target} ${rate.trim()}`).sort();
}

export function faultsOf(draft: Draft): Faults {
  const fee = parsePercent(draft.feePercent);
  const margin = parsePercent(draft.margin);
  const concurrency = /^\d{1,2}$/.test(draft.concurrency) ? Number(draft.concurrency) : 0;
  const rateRows = rateFaults(draft.rates);
  return {
    ...(draft.name.trim() === '' ? { name: 'Give the application a name.' } : {}),
    ...(fee === undefined || fee > feeMax
      ? { feePercent: 'A percentage from 0 to 100 with up to two decimals, as 2.9.' }
      : {}),
    ...(/^\d{1,12}$/.test(draft.feeFixed)
      ? {}
      : { feeFixed: 'A whole number of minor units, as 30. No point, no currency.' }),
    ...(margin === undefined || margin > marginMax
      ? { margin: 'A percentage from 0 to 50 with up to two decimals, as 0.5.' }
      : {}),
    ...(draft.eventTypes.length === 0 ? { eventTypes: 'Choose at least one event.' } : {}),
    ...(concurrency < 1 || concurrency > concurrencyMax
      ? { concurrency: `A whole number from 1 to ${concurrencyMax}.` }
      : {}),
    ...(rateRows.size === 0 ? {} : { rateRows }),
  };
}

function rateFaults(rates: readonly RateRow[]): ReadonlyMap<number, string> {
  const faults = new Map<number, string>();
  const seen = new Set<string>();
  for (const { row, source, target, rate } of rates) {
    const pair = `${source}/${target}`;
    if (!/^[A-Z]{3}\/[A-Z]{3}$/.test(pair)) faults.set(row, 'Two currencies of three letters each.');
    else if (source === target) faults.set(row, 'Two different currencies.');
    else if (seen.has(pair)) faults.set(row, `${pair} is there twice.`);
    else if (!ratePattern.test(rate.trim()))
      faults.set(row, 'A positive decimal, as 1.0842, with up to twelve decimals.');
    seen.add(pair);
  }
  return faults;
}
