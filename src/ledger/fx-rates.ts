import type { ApplicationSettings } from '../kernel/application-settings.ts';
import { inverseRate, type PairRate, pairRate } from './fx.ts';
import { usdRates } from './rates.ts';

/** A rate offered to an application, with its inverse. */
export interface FxRate extends PairRate {
  readonly sourceCurrency: string;
  readonly targetCurrency: string;
  readonly inverseRate: string;
}

/** The currencies with a market rate, sorted. */
export const ratedCurrencies: readonly string[] = Object.keys(usdRates).sort();

export function fxRateOf(
  sourceCurrency: string,
  targetCurrency: string,
  settings: ApplicationSettings,
): FxRate | undefined {
  const found = pairRate(sourceCurrency, targetCurrency, settings);
  return found && { ...found, sourceCurrency, targetCurrency, inverseRate: inverseRate(found.rate) };
}

/** The rates from a currency to all other currencies. */
export function fxRatesFrom(sourceCurrency: string, settings: ApplicationSettings): readonly FxRate[] {
  const own = Object.keys(settings.fxRates).flatMap((pair) => pair.split('/'));
  const targets = [...new Set([...ratedCurrencies, ...own])].filter((target) => target !== sourceCurrency);
  return targets
    .sort()
    .map((target) => fxRateOf(sourceCurrency, target, settings))
    .filter((rate) => rate !== undefined);
}
