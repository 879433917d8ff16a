import type { ApplicationSettings } from '../kernel/application-settings.ts';
import { assert } from '../kernel/assert.ts';
import { findCurrency } from '../kernel/currency.ts';
import { halfEven } from './fee.ts';
import { usdRates } from './rates.ts';

/**
 * Foreign exchange in whole numbers. A rate is how many units of the target one unit of the source buys, kept as a bigint
 * of 10^-12 and written as decimal text. Wherever something has to be rounded against somebody, it is the customer: the
 * rate and the target amount go down, the source amount goes up, so no conversion gives more than it took.
 */
export type FxTerms = Pick<ApplicationSettings, 'fxMarginBasisPoints' | 'fxRates'>;

const rateDecimals = 12;
const one = 10n ** BigInt(rateDecimals);
const basisPoints = 10_000n;

/** Decimal text as a number of 10^-12. Text with more decimals than that is our bug: the border refuses it. */
export function parseRate(text: string): bigint {
  const [, whole = '', decimals = ''] = /^(\d+)(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  assert(whole !== '', `${text} is no rate`);
  return BigInt(whole) * one + BigInt(decimals.padEnd(rateDecimals, '0'));
}

/** Without zeros at the end: 0.9171, 1, 152.3. */
export function formatRate(rate: bigint): string {
  const decimals = (rate % one).toString().padStart(rateDecimals, '0').replace(/0+$/, '');
  return `${rate / one}${decimals === '' ? '' : `.${decimals}`}`;
}

/** How much of the source one unit of the target costs. For the eye: amounts are converted with the rate alone. */
export function inverseRate(rate: string): string {
  return formatRate(inverse(parseRate(rate)));
}

function inverse(rate: bigint): bigint {
  return halfEven(one * one, rate);
}

export interface PairRate {
  /** What the customer gets. */
  readonly rate: string;
  /** The middle of the market. */
  readonly midMarketRate: string;
  readonly marginBasisPoints: number;
  /** Whether the application has set the middle itself, for this direction or for the other. */
  readonly isOverridden: boolean;
}

/** The rate of a pair; undefined when there is none, or when it is too small to be written down. */
export function pairRate(source: string, target: string, terms: FxTerms): PairRate | undefined {
  if (!findCurrency(source) || !findCurrency(target)) return undefined;
  if (source === target) {
    return { rate: '1', midMarketRate: '1', marginBasisPoints: 0, isOverridden: false };
  }
  const overridden = overriddenRate(source, target, terms);
  const mid = overridden ?? crossRate(source, target);
  if (mid === undefined) return undefined;
  const marginBasisPoints = terms.fxMarginBasisPoints;
  const rate = (mid * (basisPoints - BigInt(marginBasisPoints))) / basisPoints;
  if (rate === 0n) return undefined;
  return {
    rate: formatRate(rate),
    midMarketRate: formatRate(mid),
    marginBasisPoints,
    isOverridden: overridden !== undefined,
  };
}

/** A rate of the application's own. One for the opposite direction alone speaks for both. */
function overriddenRate(source: string, target: string, { fxRates }: FxTerms): bigint | undefined {
  const direct = fxRates[`${source}/${target}`];
  if (direct !== undefined) return parseRate(direct);
  const opposite = fxRates[`${target}/${source}`];
  return opposite === undefined ? undefined : inverse(parseRate(opposite));
}

/** Crossed through the dollar. */
function crossRate(source: string, target: string): bigint | undefined {
  const sourceRate = usdRates[source];
  const targetRate = usdRates[target];
  if (sourceRate === undefined || targetRate === undefined) return undefined;
  return halfEven(parseRate(targetRate) * one, parseRate(sourceRate));
}

/** Rounded down: floor(source * rate), moved from the minor units of one currency to those of the other. */
export function toTarget(amount: bigint, rate: string, pair: Pair): bigint {
  const { dividend, divisor } = ratio(rate, pair);
  return (amount * dividend) / divisor;
}

/** Rounded up: what must be paid at least so that the target is reached. */
export function toSource(amount: bigint, rate: string, pair: Pair): bigint {
  const { dividend, divisor } = ratio(rate, pair);
  return ceil(amount * divisor, dividend);
}

export interface Pair {
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
}

/** How many minor units of the target one of the source is, as a fraction. */
function ratio(rate: string, pair: Pair): { readonly dividend: bigint; readonly divisor: bigint } {
  return {
    dividend: parseRate(rate) * minorUnits(pair.targetCurrency),
    divisor: one * minorUnits(pair.sourceCurrency),
  };
}

function minorUnits(code: string): bigint {
  const currency = findCurrency(code);
  assert(currency, `${code} is no currency`);
  return 10n ** BigInt(currency.exponent);
}

function ceil(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
