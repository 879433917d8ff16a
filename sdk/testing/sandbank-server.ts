import { Operator } from '../operator.ts';
import { type OptionNames, rejectUnknownOptions } from '../options.ts';
import { Tenant, type TenantOptions } from './tenant.ts';

export interface ConnectOptions {
  /** The server address; the environment variable SANDBANK_URL by default. */
  readonly url?: string | undefined;
  /** The server's SANDBANK_OPERATOR_TOKEN; the same environment variable of this process by default. */
  readonly operatorToken?: string | undefined;
}

const connectOptionNames: OptionNames<ConnectOptions> = { url: true, operatorToken: true };

/** A server on which each test creates its own organization. */
export class SandbankServer {
  readonly url: string;
  /** Together with the address, this is all that another process needs to use this server. */
  readonly operatorToken: string;
  /** For operations that a tenant cannot do itself. */
  readonly operator: Operator;
  readonly #close: () => Promise<void>;
  readonly #tenants = new Set<Tenant>();

  constructor(url: string, operatorToken: string, close: () => Promise<void>) {
    this.url = url;
    this.operatorToken = operatorToken;
    this.operator = new Operator({ url, token: operatorToken });
    this.#close = close;
  }

  /** Creates an organization with an API key, which has all scopes by default. It takes milliseconds: create one for each test. */
  async tenant(options: TenantOptions = {}): Promise<Tenant> {
    return this.#add(await Tenant.create(this.url, this.operator, options, (tenant) => this.#add(tenant)));
  }

  /** Which states, transitions, events, operations and errors the tests have covered. */
  coverage(): ReturnType<Operator['coverage']> {
    return this.operator.coverage();
  }

  /** The coverage as JUnit XML, for CI. */
  junit(): Promise<string> {
    return this.operator.junit();
  }

  /** Closes all tenants, then the server, if `startSandbank` started it. */
  async close(): Promise<void> {
    await Promise.all([...this.#tenants].map((tenant) => tenant.close()));
    this.#tenants.clear();
    await this.#close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #add(tenant: Tenant): Tenant {
    this.#tenants.add(tenant);
    return tenant;
  }
}

/** Uses a running server: one that a global set-up has started for all test files, or one that a team shares. */
export function connectSandbank(options: ConnectOptions = {}): SandbankServer {
  rejectUnknownOptions('connectSandbank()', options, connectOptionNames);
  const url = options.url ?? process.env.SANDBANK_URL ?? '';
  const token = options.operatorToken ?? process.env.SANDBANK_OPERATOR_TOKEN ?? '';
  if (url === '' || token === '')
    throw new TypeError(
      'The server address or the operator token is missing. Pass url and operatorToken, or set SANDBANK_URL and SANDBANK_OPERATOR_TOKEN.',
    );
  return new SandbankServer(url, token, () => Promise.resolve());
}
