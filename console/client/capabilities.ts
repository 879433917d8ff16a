import type { Capabilities, Currency, LimitName } from '../generated/shapes.ts';
import { useRead } from './queries.ts';

/** The server's capabilities, requested once. */
export function useCapabilities(): Capabilities | undefined {
  return useRead<Capabilities>('app/developer_api_capabilities').data;
}

/** The server's limits. There are none until it has responded; it checks them in any case. */
export type Limits = Readonly<Partial<Record<LimitName, number>>>;

/** For `maxLength` and other checks before a form is sent. */
export function useLimits(): Limits {
  return useCapabilities()?.limits ?? {};
}

export function useCurrencies(): readonly Currency[] {
  return useCapabilities()?.currencies ?? [];
}
