import type { ApplicationSettings } from '../kernel/application-settings.ts';
import { inverseRate, type PairRate, pairRate } from './fx.ts';
import { usdRates } from './rates.ts';

/** A rate as it is offered to an application, in both directions of reading. */
export interface FxRate extends PairRate {
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly inverseRate: string;
}

/** The currencies with a rate of the market, sorted. */
export const ratedCurrencies: readonly string[] = Object.keys(usdRates).sort();

export function fxRateOf(
  sourceCurrency: string,
  targetCurrency: string,
  terms: ApplicationSettings,
): FxRate | undefined {
  const found = pairRate(sourceCurrency, targetCurrency, terms);
  return found && { ...found, sourceCurrency, targetCurrency, inverseRate: inverseRate(found.rate) };
}

/** All that a currency can be changed into, itself left out. */
export function fxRatesFrom(sourceCurrency: string, terms: ApplicationSettings): readonly FxRate[] {
  const own = Object.keys(terms.fxRates).flatMap((pair) => pair.split('/'));
  const targets = [...new Set([...ratedCurrencies, ...own])].filter((target) => target !== sourceCurrency);
  return targets
    .sort()
    .map((target) => fxRateOf(sourceCurrency, target, terms))
    .filter((rate) => rate !== undefined);
}
