import { rememberServer } from './testing/jest-server.ts';
import { serverOfRun } from './testing/run-server.ts';
import { type ServerOptions, startSandbank } from './testing.ts';

/** Creates a global set-up with options: `module.exports = sandbankSetup({ seed: 42 })` in a file that `globalSetup` names. */
export function sandbankSetup(options: ServerOptions = {}) {
  return async (): Promise<void> => {
    const server = await serverOfRun(options, startSandbank);
    // Jest starts its workers after this, and they inherit the environment.
    process.env.SANDBANK_URL = server.url;
    process.env.SANDBANK_OPERATOR_TOKEN = server.operatorToken;
    rememberServer(server);
  };
}

/** Starts one server for the whole run: `globalSetup: 'sandbank/jest/setup'`. */
export default sandbankSetup();
