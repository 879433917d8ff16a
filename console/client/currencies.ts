import { useRead } from './queries.ts';
import type { Capabilities, Currency } from './shapes.ts';

/** The server's capabilities, requested once. */
export function useCapabilities(): Capabilities | undefined {
  return useRead<Capabilities>('app/developer_api_capabilities').data;
}

export function useCurrencies(): readonly Currency[] {
  return useCapabilities()?.currencies ?? [];
}

/** Decimal digits of a currency: from the server, or from the browser's Intl data until the server has responded. */
export function useExponent(currency: string): number {
  return exponentOf(useCurrencies(), currency);
}

export function exponentOf(currencies: readonly Currency[], currency: string): number {
  return currencies.find(({ code }) => code === currency)?.exponent ?? browserExponent(currency);
}

function browserExponent(currency: string): number {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    return format.resolvedOptions().maximumFractionDigits ?? 2;
  } catch {
    return 2;
  }
}
