import type { Provider } from '../kernel/provider.ts';
import { meridian } from './meridian.ts';
import { tidewater } from './tidewater.ts';

/** The simulated providers, by name. To add one, write a file and list it here. */
export const providers: ReadonlyMap<string, Provider> = new Map(
  [meridian, tidewater].map((provider) => [provider.name, provider]),
);

export const providerNames: readonly string[] = [...providers.keys()];
