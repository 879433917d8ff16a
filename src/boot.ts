import { readConfig, type StartFlags } from './config.ts';
import { startEarly } from './start/early-start.ts';

/** `sandbank start`. An embedded server reserves its port and opens its database while the server's modules load. */
export async function boot(flags: StartFlags, env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(flags, env);
  const early = startEarly(config);
  const { startServer } = await import('./main.ts');
  return startServer(config, early);
}
