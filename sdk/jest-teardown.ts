import { forgetServer } from './testing/jest-server.ts';

/** Closes the server that `sandbank/jest/setup` has started: `globalTeardown: 'sandbank/jest/teardown'`. */
export default async function teardown(): Promise<void> {
  await forgetServer()?.close();
}
