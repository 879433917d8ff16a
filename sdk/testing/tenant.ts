import { Sandbank } from '../client.ts';
import type { Scope } from '../generated/shapes.ts';
import type { ImportAnswer, Operator } from '../operator.ts';
import type { ConnectionOptions } from '../settings.ts';
import { type CapturedWebhooks, type CaptureOptions, captureWebhooks } from './capture.ts';
import { TenantClock } from './clock.ts';
import { TenantEvents } from './events.ts';
import { TenantLedger } from './ledger.ts';

export interface TenantOptions {
  /** Names may repeat. On a server with a seed the name decides the ids, so give each test its own there. */
  readonly name?: string | undefined;
  /** All unless told. */
  readonly scopes?: readonly Scope[] | undefined;
  /** A clock that stands until it is advanced. */
  readonly clock?: 'running' | 'frozen' | undefined;
  /** When the organization is deleted, also its forks: a day from now unless given, never for null. */
  readonly expiresAt?: Date | null | undefined;
  /** For the client. A test mostly wants to see failures at once: `{ retriesMax: 0 }`. */
  readonly client?: ConnectionOptions | undefined;
}

interface Account {
  readonly organizationId: string;
  readonly applicationId: string;
  readonly apiKey: string;
}

type Keep = (tenant: Tenant) => Tenant;
/** What a new organization is created with. */
type Expiry = () => { readonly expiresAt?: string };

const nameDefault = 'Test';
const dayMs = 86_400_000;

/** An organization of a test's own: nothing that another test does is seen here. */
export class Tenant {
  readonly client: Sandbank;
  readonly apiKey: string;
  readonly organizationId: string;
  readonly applicationId: string;
  readonly clock: TenantClock;
  readonly events: TenantEvents;
  readonly ledger: TenantLedger;
  readonly webhooks: {
    /** Opens a receiver in this process, registers it as an endpoint, and keeps what comes, each with its signature checked. */
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
    const { name = nameDefault, scopes, clock = 'running', client = {} } = options;
    const expiry = expiryOf(options.expiresAt);
    const created = await operator.organizations.create({ name, scopes, ...expiry() });
    const { organization, application, apiKey } = created;
    const account = { organizationId: organization.id, applicationId: application.id, apiKey: apiKey.key };
    const tenant = new Tenant(baseUrl, operator, account, client, keep, expiry);
    if (clock === 'frozen') await tenant.clock.freeze();
    return tenant;
  }

  /** Removes all records; keys, endpoints and the coverage so far stay, and the clock runs by real time again. */
  async reset(): Promise<void> {
    await this.#operator.reset(this.organizationId);
  }

  /** Everything there is, as text. Import it elsewhere, or begin a server with it. */
  snapshot(): Promise<string> {
    return this.#operator.snapshot(this.organizationId, { secrets: true });
  }

  /** A copy as it is now, with a key of its own: bring one tenant to where tests begin, and fork it for each of them. */
  async fork(name = nameDefault): Promise<Tenant> {
    const copy = await this.#operator.fork(this.organizationId, { name, ...this.#expiry() });
    const { baseUrl } = this.client;
    return this.#keep(
      new Tenant(baseUrl, this.#operator, accountOf(copy), this.#settings, this.#keep, this.#expiry),
    );
  }

  /** Deletes the organization with everything in it, and closes the receivers. Its key is refused from then on. */
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

/** A server that many test runs share would otherwise grow for ever. */
function expiryOf(expiresAt: Date | null | undefined): Expiry {
  if (expiresAt === null) return () => ({});
  return () => ({ expiresAt: (expiresAt ?? new Date(Date.now() + dayMs)).toISOString() });
}

function accountOf({ organization, applications, apiKeys }: ImportAnswer): Account {
  const apiKey = apiKeys.find(({ key }) => key !== undefined)?.key;
  const applicationId = applications[0]?.id;
  if (apiKey === undefined || applicationId === undefined)
    throw new Error(
      'The organization has no application with a key, so there is nothing to use its copy with.',
    );
  return { organizationId: organization.id, applicationId, apiKey };
}
