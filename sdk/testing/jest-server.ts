import type { SandbankServer } from './sandbank-server.ts';

// On the global object, because Jest may load the set-up and the teardown from different builds of this package.
const key = Symbol.for('sandbank.jest.server');
const store = globalThis as { [key]?: SandbankServer | undefined };

export function rememberServer(server: SandbankServer): void {
  store[key] = server;
}

/** The server of the set-up, once. */
export function forgetServer(): SandbankServer | undefined {
  const server = store[key];
  store[key] = undefined;
  return server;
}
