import type { ApplicationSettings } from '../kernel/application-settings.ts';
import { assert } from '../kernel/assert.ts';
import { findCurrency } from '../kernel/currency.ts';
import { halfEven } from './fee.ts';
import { usdRates } from './rates.ts';

/**
 * Foreign exchange in integers. A rate is the number of target units that one source unit buys, as a bigint in units of 10^-12,
 * formatted as decimal text. Rounding is always in the provider's favor: the rate and the target amount are rounded down, the
 * source amount up, so no conversion pays out more than it takes in.
 */
export type FxSettings = Pick<ApplicationSettings, 'fxMarginBasisPoints' | 'fxRates'>;

const rateDecimals = 12;
const rateScale = 10n ** BigInt(rateDecimals);
const basisPoints = 10_000n;

/** Decimal text in units of 10^-12. Text with more decimals is a bug, because input validation rejects it. */
export function parseRate(text: string): bigint {
  const [, whole = '', decimals = ''] = /^(\d+)(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  assert(whole !== '', `${text} is not a rate`);
  return BigInt(whole) * rateScale + BigInt(decimals.padEnd(rateDecimals, '0'));
}

/** Without trailing zeros: 0.9171, 1, 152.3. */
export function formatRate(rate: bigint): string {
  const decimals = (rate % rateScale).toString().padStart(rateDecimals, '0').replace(/0+$/, '');
  return `${rate / rateScale}${decimals === '' ? '' : `.${decimals}`}`;
}

/** The price of one target unit in the source currency. For display only: conversions use the rate. */
export function inverseRate(rate: string): string {
  return formatRate(inverse(parseRate(rate)));
}

function inverse(rate: bigint): bigint {
  return halfEven(rateScale * rateScale, rate);
}

export interface PairRate {
  /** The customer rate, including the margin. */
  readonly rate: string;
  /** The mid-market rate. */
  readonly midMarketRate: string;
  readonly marginBasisPoints: number;
  /** Whether the application overrides the mid-market rate, in this direction or the other. */
  readonly isOverridden: boolean;
}

/** The rate of a pair; undefined when there is none, or when it is below the precision. */
export function pairRate(source: string, target: string, settings: FxSettings): PairRate | undefined {
  if (!findCurrency(source) || !findCurrency(target)) return undefined;
  if (source === target) {
    return { rate: '1', midMarketRate: '1', marginBasisPoints: 0, isOverridden: false };
  }
  const overridden = overriddenRate(source, target, settings);
  const mid = overridden ?? crossRate(source, target);
  if (mid === undefined) return undefined;
  const marginBasisPoints = settings.fxMarginBasisPoints;
  const rate = (mid * (basisPoints - BigInt(marginBasisPoints))) / basisPoints;
  if (rate === 0n) return undefined;
  return {
    rate: formatRate(rate),
    midMarketRate: formatRate(mid),
    marginBasisPoints,
    isOverridden: overridden !== undefined,
  };
}

/** The application's override. An override for the opposite direction applies to both. */
function overriddenRate(source: string, target: string, { fxRates }: FxSettings): bigint | undefined {
  const direct = fxRates[`${source}/${target}`];
  if (direct !== undefined) return parseRate(direct);
  const opposite = fxRates[`${target}/${source}`];
  return opposite === undefined ? undefined : inverse(parseRate(opposite));
}

/** The cross rate through USD. */
function crossRate(source: string, target: string): bigint | undefined {
  const sourceRate = usdRates[source];
  const targetRate = usdRates[target];
  if (sourceRate === undefined || targetRate === undefined) return undefined;
  return halfEven(parseRate(targetRate) * rateScale, parseRate(sourceRate));
}

/** floor(source * rate), converted between the minor units of both currencies. */
export function toTarget(amount: bigint, rate: string, pair: Pair): bigint {
  const { dividend, divisor } = ratio(rate, pair);
  return (amount * dividend) / divisor;
}

/** Rounded up: the least source amount that reaches the target. */
export function toSource(amount: bigint, rate: string, pair: Pair): bigint {
  const { dividend, divisor } = ratio(rate, pair);
  return ceil(amount * divisor, dividend);
}

export interface Pair {
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
}

/** Minor units of the target per minor unit of the source, as a fraction. */
function ratio(rate: string, pair: Pair): { readonly dividend: bigint; readonly divisor: bigint } {
  return {
    dividend: parseRate(rate) * minorUnits(pair.targetCurrency),
    divisor: rateScale * minorUnits(pair.sourceCurrency),
  };
}

function minorUnits(code: string): bigint {
  const currency = findCurrency(code);
  assert(currency, `${code} is not a currency`);
  return 10n ** BigInt(currency.exponent);
}

function ceil(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
