import { rejectUnknownOptions } from './options.ts';
import { SandbankServer } from './testing/sandbank-server.ts';
import { type ServerOptions, serverOptionNames, startServer } from './testing/server.ts';

export type * from './client.ts';
export { Sandbank } from './client.ts';
export type {
  Captured,
  CapturedWebhooks,
  CaptureOptions,
  CaptureReply,
  WaitOptions,
} from './testing/capture.ts';
export type { ClockSpan, TenantClock } from './testing/clock.ts';
export type { EventWait, TenantEvents } from './testing/events.ts';
export { LedgerImbalance, type TenantLedger } from './testing/ledger.ts';
export { type ConnectOptions, connectSandbank, SandbankServer } from './testing/sandbank-server.ts';
export type { ServerOptions } from './testing/server.ts';
export type { Tenant, TenantOptions } from './testing/tenant.ts';

/**
 * Starts a server in this process, in memory, on a free port. One is enough for a whole test run: tenants isolate the tests. It does
 * not keep the process alive.
 */
export async function startSandbank(options: ServerOptions = {}): Promise<SandbankServer> {
  rejectUnknownOptions('startSandbank()', options, serverOptionNames);
  const { url, operatorToken, close } = await startServer(options);
  const server = new SandbankServer(url, operatorToken, close);
  try {
    if (options.snapshot !== undefined) await server.operator.importSnapshot(options.snapshot);
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}
