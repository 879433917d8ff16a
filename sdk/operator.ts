import type { Scope } from './generated/shapes.ts';
import { type CallOptions, callOptionNames } from './operation.ts';
import { type OptionNames, rejectUnknownOptions } from './options.ts';
import { Pages } from './pages.ts';
import { type ConnectionOptions, connectionOptionNames, connectionTo, fromEnvironment } from './settings.ts';
import { type Outgoing, type Query, Transport } from './transport.ts';

// What an operator may do is no part of the OpenAPI document, which is for the holders of keys: these shapes are written by hand.

export interface OperatorOptions extends ConnectionOptions {
  /** Where the server is; the environment variable SANDBANK_URL unless told. */
  readonly url?: string | undefined;
  /** The token of the operator; the environment variable SANDBANK_OPERATOR_TOKEN unless told. */
  readonly token?: string | undefined;
}

const optionNames: OptionNames<OperatorOptions> = { ...connectionOptionNames, url: true, token: true };

export interface Organization {
  id: string;
  name: string;
  createdAt: string;
  /** When it is deleted; null for an organization that stays. */
  expiresAt: string | null;
}

export interface OrganizationPage {
  object: 'list';
  status: 'ok';
  data: Organization[];
  hasMore: boolean;
  nextCursor: string | null;
}

export interface Named {
  id: string;
  name: string;
}

export interface TenantCreate {
  readonly name: string;
  readonly application?: { readonly name: string } | undefined;
  /** All unless told. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly keyName?: string | undefined;
  /** Whether the key may reset the organization; true by default. */
  readonly mayReset?: boolean | undefined;
  /** When the organization is deleted, at most 366 days from now; never unless given. */
  readonly expiresAt?: string | undefined;
}

/** An organization of its own with an application and a key, which is shown this once. */
export interface CreatedTenant {
  object: 'tenant';
  status: 'ok';
  /** When the organization is deleted; null for one that stays. */
  expiresAt: string | null;
  organization: Named;
  application: Named;
  apiKey: { id: string; key: string; scopes: Scope[]; mayReset: boolean };
}

export interface KeyCreate {
  readonly name: string;
  readonly scopes?: readonly Scope[] | undefined;
  readonly applicationId?: string | undefined;
  /** Whether the key may reset the organization; false by default. */
  readonly mayReset?: boolean | undefined;
}

export interface CreatedKey {
  object: 'api_key';
  id: string;
  name: string;
  key: string;
  scopes: Scope[];
  mayReset: boolean;
}

export interface DeletionAnswer {
  object: 'organization';
  status: 'deleted';
  id: string;
  name: string;
  /** How many rows of each kind were removed. */
  deleted: Record<string, number>;
}

export interface ResetAnswer {
  object: 'reset';
  status: 'ok';
  /** How many of each kind were removed. */
  deleted: Record<string, number>;
}

export interface ImportAnswer {
  object: 'import';
  organization: Named;
  applications: Named[];
  /** A key is shown when this import has made it. */
  apiKeys: { id: string; name: string; key?: string }[];
  /** A secret is shown when this import has made it. */
  webhooks: { id: string; url: string; secret?: string }[];
  counts: Record<string, number>;
}

export interface CoverageAnswer {
  object: 'coverage';
  status: 'ok';
  summary: { met: number; total: number };
  sections: { kind: string; met: number; total: number; items: { name: string; count: number }[] }[];
}

export type SnapshotBody = string | Uint8Array | ReadableStream<Uint8Array>;

/**
 * What the operator of a server may do: make organizations, empty them, copy them. Its writes have no idempotency key, so
 * that a lost answer is not tried again.
 */
export class Operator {
  readonly organizations: {
    create(body: TenantCreate, options?: CallOptions): Promise<CreatedTenant>;
    /** With everything that belongs to it, except for its audit trail. */
    delete(organizationId: string, options?: CallOptions): Promise<DeletionAnswer>;
    list(query?: { limit?: number; cursor?: string }, options?: CallOptions): Pages<OrganizationPage>;
  };
  readonly keys: {
    create(organizationId: string, body: KeyCreate, options?: CallOptions): Promise<CreatedKey>;
  };
  readonly #transport: Transport;

  constructor(options: OperatorOptions = {}) {
    rejectUnknownOptions('new Operator()', options, optionNames);
    const token = options.token ?? fromEnvironment('SANDBANK_OPERATOR_TOKEN');
    if (token === undefined || token === '')
      throw new TypeError('The operator token is missing. Pass token, or set SANDBANK_OPERATOR_TOKEN.');
    this.#transport = new Transport(connectionTo(options.url, options, { Authorization: `Bearer ${token}` }));
    this.organizations = {
      create: (body, more) => this.#post('organizations', body, more),
      delete: (id, more) => this.#post(`${ofOrganization(id)}/delete`, undefined, more),
      list: (query, more) =>
        new Pages((cursor) =>
          this.#get('organizations', cursor === undefined ? query : { ...query, cursor }, more),
        ),
    };
    this.keys = { create: (id, body, more) => this.#post(`${ofOrganization(id)}/keys`, body, more) };
  }

  /** Removes all records of an organization; its applications, keys and webhooks stay. */
  reset(organizationId: string, options?: CallOptions): Promise<ResetAnswer> {
    return this.#post(`${ofOrganization(organizationId)}/reset`, undefined, options);
  }

  /** Everything of an organization as JSON Lines. Secrets of webhooks are left out unless asked for. */
  snapshot(
    organizationId: string,
    { secrets = false, ...options }: CallOptions & { readonly secrets?: boolean } = {},
  ): Promise<string> {
    return this.#transport.text(snapshotOf(organizationId, secrets), options);
  }

  /** The same, as it comes: for what is too large to be held at once. */
  async snapshotStream(
    organizationId: string,
    { secrets = false, ...options }: CallOptions & { readonly secrets?: boolean } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#transport.open(snapshotOf(organizationId, secrets), options);
    return response.body ?? new Blob([]).stream();
  }

  /** Brings a snapshot in: as the organization that it is of, or with `fork` as a new one. */
  importSnapshot(
    snapshot: SnapshotBody,
    { fork, name, ...options }: CallOptions & { readonly fork?: boolean; readonly name?: string } = {},
  ): Promise<ImportAnswer> {
    const names = { ...callOptionNames, fork: true, name: true } as const;
    const outgoing = { verb: 'POST', path: '/_operator/snapshots', accept: 'application/json' } as const;
    return this.#transport.json(
      {
        ...outgoing,
        optionNames: names,
        query: { fork, name },
        body: snapshot,
        contentType: 'application/jsonl',
      },
      options,
    );
  }

  /** Copies an organization into a new one, with new keys. A server that is busy is asked again after its `Retry-After`. */
  fork(
    organizationId: string,
    body: { readonly name: string; readonly expiresAt?: string | undefined },
    options?: CallOptions,
  ): Promise<ImportAnswer> {
    return this.#post(`${ofOrganization(organizationId)}/fork`, body, options, { isRetriedWhenBusy: true });
  }

  /** What the requests of these organizations have met; of all of them unless told. */
  coverage({
    organizationIds = [],
    ...options
  }: CallOptions & { readonly organizationIds?: readonly string[] } = {}): Promise<CoverageAnswer> {
    return this.#transport.json(coverageOf(organizationIds, 'application/json'), options);
  }

  /** The same as JUnit XML. */
  junit({
    organizationIds = [],
    ...options
  }: CallOptions & { readonly organizationIds?: readonly string[] } = {}): Promise<string> {
    return this.#transport.text(coverageOf(organizationIds, 'application/xml'), options);
  }

  async #get<T extends object>(path: string, query: Query | undefined, options?: CallOptions): Promise<T> {
    return this.#transport.json(
      { verb: 'GET', path: `/_operator/${path}`, query, accept: 'application/json' },
      options,
    );
  }

  async #post<T extends object>(
    path: string,
    body: object | undefined,
    options?: CallOptions,
    manner: Pick<Outgoing, 'isRetriedWhenBusy'> = {},
  ): Promise<T> {
    return this.#transport.json(
      {
        ...manner,
        verb: 'POST',
        path: `/_operator/${path}`,
        accept: 'application/json',
        body: body && JSON.stringify(body),
      },
      options,
    );
  }
}

function ofOrganization(id: string): string {
  if (!/^\w+$/.test(id)) throw new TypeError(`${id} is not an organization id.`);
  return `organizations/${id}`;
}

function snapshotOf(organizationId: string, secrets: boolean): Outgoing {
  const path = `/_operator/${ofOrganization(organizationId)}/snapshot`;
  const names = { ...callOptionNames, secrets: true } as const;
  return { verb: 'GET', path, query: { secrets }, accept: 'application/jsonl', optionNames: names };
}

function coverageOf(organizationIds: readonly string[], accept: string): Outgoing {
  const names = { ...callOptionNames, organizationIds: true } as const;
  const query = { organizationId: organizationIds };
  return { verb: 'GET', path: '/_operator/coverage', query, accept, optionNames: names };
}
