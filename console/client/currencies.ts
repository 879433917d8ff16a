import { useRead } from './queries.ts';
import type { Capabilities, Currency } from './shapes.ts';

/** What the server can do; asked once. */
export function useCapabilities(): Capabilities | undefined {
  return useRead<Capabilities>('app/developer_api_capabilities').data;
}

export function useCurrencies(): readonly Currency[] {
  return useCapabilities()?.currencies ?? [];
}

/** Digits after the point of a currency: what the server says, and the browser's own table until it has answered. */
export function useExponent(currency: string): number {
  return exponentOf(useCurrencies(), currency);
}

export function exponentOf(currencies: readonly Currency[], currency: string): number {
  return currencies.find(({ code }) => code === currency)?.exponent ?? guess(currency);
}

function guess(currency: string): number {
  try {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency });
    return format.resolvedOptions().maximumFractionDigits ?? 2;
  } catch {
    return 2;
  }
}
