import type { Capabilities, Currency } from '../generated/shapes.ts';
import type { Limits } from './limits.ts';
import { useRead } from './queries.ts';

/** The server's capabilities, requested once. */
export function useCapabilities(): Capabilities | undefined {
  return useRead<Capabilities>('app/developer_api_capabilities').data;
}

/** For `maxLength` and other checks before a form is sent. */
export function useLimits(): Limits {
  return useCapabilities()?.limits ?? {};
}

export function useCurrencies(): readonly Currency[] {
  return useCapabilities()?.currencies ?? [];
}
