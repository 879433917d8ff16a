import type { TestProject } from 'vitest/node';
import { serverOfRun } from './testing/run-server.ts';
import { type ServerOptions, startSandbank } from './testing.ts';
import type {} from './vitest.ts';

/** Creates a global set-up with options: `export default sandbankSetup({ seed: 42 })` in a file that `globalSetup` names. */
export function sandbankSetup(options: ServerOptions = {}) {
  return async ({ provide }: TestProject): Promise<() => Promise<void>> => {
    const server = await serverOfRun(options, startSandbank);
    provide('sandbank', { url: server.url, operatorToken: server.operatorToken });
    return () => server.close();
  };
}

/** Starts one server for the whole run: `globalSetup: ['sandbank/vitest/setup']`. */
export default sandbankSetup();
