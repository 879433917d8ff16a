import type { SandbankServer } from './sandbank-server.ts';
import { connectSandbank } from './sandbank-server.ts';
import type { ServerOptions } from './server.ts';

/** What a test process needs to use the server of the run. */
export interface SandbankAddress {
  readonly url: string;
  readonly operatorToken: string;
}

/**
 * The server of a test run: the running one that SANDBANK_URL and SANDBANK_OPERATOR_TOKEN name, or else a new one in this process,
 * in memory. `start` creates the new one.
 */
export async function serverOfRun(
  options: ServerOptions,
  start: (options: ServerOptions) => Promise<SandbankServer>,
): Promise<SandbankServer> {
  const { SANDBANK_URL: url, SANDBANK_OPERATOR_TOKEN: operatorToken } = process.env;
  if (url && operatorToken) return connectSandbank({ url, operatorToken });
  if (url)
    throw new TypeError(
      'SANDBANK_URL is set, but SANDBANK_OPERATOR_TOKEN is not. Set both to use a running server, or none to start one.',
    );
  return start(options);
}
