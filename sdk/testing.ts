import { Operator } from './operator.ts';
import { type ServerOptions, startServer } from './testing/server.ts';
import { Tenant, type TenantOptions } from './testing/tenant.ts';

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
export type { ServerOptions } from './testing/server.ts';
export type { Tenant, TenantOptions } from './testing/tenant.ts';

export interface ConnectOptions {
  /** Where the server is; SANDBANK_URL unless told. */
  readonly url?: string | undefined;
  /** What SANDBANK_OPERATOR_TOKEN says on that server; the same variable here unless told. */
  readonly operatorToken?: string | undefined;
}

/** A server that gives each test an organization of its own. */
export class SandbankServer {
  readonly url: string;
  /** With the address, all that another process needs to use this server too. */
  readonly operatorToken: string;
  /** For what a tenant cannot do by itself. */
  readonly operator: Operator;
  readonly #close: () => Promise<void>;
  readonly #tenants = new Set<Tenant>();

  constructor(url: string, operatorToken: string, close: () => Promise<void>) {
    this.url = url;
    this.operatorToken = operatorToken;
    this.operator = new Operator({ url, token: operatorToken });
    this.#close = close;
  }

  /** An organization that nobody else has, with a key that may do everything unless told: in milliseconds, so make one for each test. */
  async tenant(options: TenantOptions = {}): Promise<Tenant> {
    return this.#keep(await Tenant.create(this.url, this.operator, options, (tenant) => this.#keep(tenant)));
  }

  /** What the tests have met of all there is: states, moves, events, operations and errors. */
  coverage(): ReturnType<Operator['coverage']> {
    return this.operator.coverage();
  }

  /** The same as JUnit XML, for CI. */
  junit(): Promise<string> {
    return this.operator.junit();
  }

  /** Ends what the tenants have opened, then the server, if it was started here. */
  async close(): Promise<void> {
    await Promise.all([...this.#tenants].map((tenant) => tenant.close()));
    this.#tenants.clear();
    await this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #keep(tenant: Tenant): Tenant {
    this.#tenants.add(tenant);
    return tenant;
  }
}

/** Starts a server in this process, in memory, on a free port. One for a whole test run is enough: tenants keep tests apart. */
export async function startSandbank(options: ServerOptions = {}): Promise<SandbankServer> {
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

/** Uses a server that runs already: one that a set-up has started for all test files, or one that a team shares. */
export function connectSandbank(options: ConnectOptions = {}): SandbankServer {
  const url = options.url ?? process.env.SANDBANK_URL ?? '';
  const token = options.operatorToken ?? process.env.SANDBANK_OPERATOR_TOKEN ?? '';
  if (url === '' || token === '')
    throw new TypeError(
      'connectSandbank needs to know the server: give url and operatorToken, or set SANDBANK_URL and SANDBANK_OPERATOR_TOKEN.',
    );
  return new SandbankServer(url, token, () => Promise.resolve());
}
