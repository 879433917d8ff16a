import { Sandbank } from '../client.ts';
import type { Scope } from '../generated/shapes.ts';
import type { ImportAnswer, Operator } from '../operator.ts';
import { type OptionNames, rejectUnknownOptions, rejectUnknownValue } from '../options.ts';
import type { ConnectionOptions } from '../settings.ts';
import { type CapturedWebhooks, type CaptureOptions, captureWebhooks } from './capture.ts';
import { TenantClock } from './clock.ts';
import { TenantEvents } from './events.ts';
import { TenantLedger } from './ledger.ts';

export interface TenantOptions {
  /** Names may repeat. On a server with a seed the ids depend on the name: use a different one in each test. */
  readonly name?: string | undefined;
  /** All by default. */
  readonly scopes?: readonly Scope[] | undefined;
  /** `frozen` stops the clock until the test advances it; `running` by default. */
  readonly clock?: 'running' | 'frozen' | undefined;
  /** When the organization and its forks are deleted: a day from now by default, never for null. */
  readonly expiresAt?: Date | null | undefined;
  /** Options of the client. To see failures without retries: `{ retriesMax: 0 }`. */
  readonly client?: ConnectionOptions | undefined;
}

const optionNames: OptionNames<TenantOptions> = {
  name: true,
  scopes: true,
  clock: true,
  expiresAt: true,
  client: true,
};

interface Account {
  readonly organizationId: string;
  readonly applicationId: string;
  readonly apiKey: string;
}

type Keep = (tenant: Tenant) => Tenant;
type Expiry = () => { readonly expiresAt?: string };

const nameDefault = 'Test';
const dayMs = 86_400_000;

/** The organization of one test, isolated from all others. */
export class Tenant {
  readonly client: Sandbank;
  readonly apiKey: string;
  readonly organizationId: string;
  readonly applicationId: string;
  readonly clock: TenantClock;
  readonly events: TenantEvents;
  readonly ledger: TenantLedger;
  readonly webhooks: {
    /** Starts a receiver in this process, registers it as an endpoint, verifies each signature and records all webhooks. */
    capture(options?: CaptureOptions): Promise<CapturedWebhooks>;
  };
  readonly #operator: Operator;
  readonly #settings: ConnectionOptions;
  readonly #keep: Keep;
  readonly #expiry: Expiry;
  readonly #open = new Set<CapturedWebhooks>();

  private constructor(
    baseUrl: string,
    operator: Operator,
    account: Account,
    settings: ConnectionOptions,
    keep: Keep,
    expiry: Expiry,
  ) {
    this.apiKey = account.apiKey;
    this.organizationId = account.organizationId;
    this.applicationId = account.applicationId;
    this.client = new Sandbank({ ...settings, baseUrl, apiKey: account.apiKey });
    this.clock = new TenantClock(this.client);
    this.events = new TenantEvents(this.client);
    this.ledger = new TenantLedger(this.client);
    this.webhooks = { capture: (options) => this.#capture(options) };
    this.#operator = operator;
    this.#settings = settings;
    this.#keep = keep;
    this.#expiry = expiry;
  }

  static async create(
    baseUrl: string,
    operator: Operator,
    options: TenantOptions,
    keep: Keep,
  ): Promise<Tenant> {
    rejectUnknownOptions('tenant()', options, optionNames);
    const { name = nameDefault, scopes, clock = 'running', client = {} } = options;
    rejectUnknownValue('clock', clock, ['running', 'frozen']);
    const expiry = expiryOf(options.expiresAt);
    const created = await operator.organizations.create({ name, scopes, ...expiry() });
    const { organization, application, apiKey } = created;
    const account = { organizationId: organization.id, applicationId: application.id, apiKey: apiKey.key };
    const tenant = new Tenant(baseUrl, operator, account, client, keep, expiry);
    if (clock === 'frozen') await tenant.clock.freeze();
    return tenant;
  }

  /** Removes all records and returns the clock to real time. API keys, endpoints and coverage stay. */
  async reset(): Promise<void> {
    await this.#operator.reset(this.organizationId);
  }

  /** The whole organization as text. Import it into another server, or start one with it. */
  snapshot(): Promise<string> {
    return this.#operator.snapshot(this.organizationId, { secrets: true });
  }

  /** Creates a copy with its own API key: prepare one tenant with the state that tests start from, and fork it for each test. */
  async fork(name = nameDefault): Promise<Tenant> {
    const copy = await this.#operator.fork(this.organizationId, { name, ...this.#expiry() });
    const { baseUrl } = this.client;
    return this.#keep(
      new Tenant(baseUrl, this.#operator, accountOf(copy), this.#settings, this.#keep, this.#expiry),
    );
  }

  /** Closes the receivers and deletes the organization with all its records. Its API key is rejected from then on. */
  async delete(): Promise<void> {
    await this.close();
    await this.#operator.organizations.delete(this.organizationId);
  }

  /** Closes the receivers. The server does this for its tenants when it is closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((captured) => captured.close()));
    this.#open.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #capture(options: CaptureOptions = {}): Promise<CapturedWebhooks> {
    const captured = await captureWebhooks(this.client, options);
    this.#open.add(captured);
    return captured;
  }
}

/** Without an expiry, a server that many test runs share would grow forever. */
function expiryOf(expiresAt: Date | null | undefined): Expiry {
  if (expiresAt === null) return () => ({});
  return () => ({ expiresAt: (expiresAt ?? new Date(Date.now() + dayMs)).toISOString() });
}

function accountOf({ organization, applications, apiKeys }: ImportAnswer): Account {
  const apiKey = apiKeys.find(({ key }) => key !== undefined)?.key;
  const applicationId = applications[0]?.id;
  if (apiKey === undefined || applicationId === undefined)
    throw new Error('The organization has no application with an API key, so its copy cannot be used.');
  return { organizationId: organization.id, applicationId, apiKey };
}
