import type { Scope } from './generated/shapes.ts';
import { type CallOptions, callOptionNames } from './operation.ts';
import { type OptionNames, rejectUnknownOptions } from './options.ts';
import { Pages } from './pages.ts';
import { type ConnectionOptions, connectionOptionNames, connectionTo, fromEnvironment } from './settings.ts';
import { type Outgoing, type Query, Transport } from './transport.ts';

// The operator API is not part of the OpenAPI document, which describes the API for key holders: these types are written by hand.

export interface OperatorOptions extends ConnectionOptions {
  /** The server address; the environment variable SANDBANK_URL by default. */
  readonly url?: string | undefined;
  /** The operator token; the environment variable SANDBANK_OPERATOR_TOKEN by default. */
  readonly token?: string | undefined;
}

const optionNames: OptionNames<OperatorOptions> = { ...connectionOptionNames, url: true, token: true };

export interface Organization {
  id: string;
  name: string;
  createdAt: string;
  /** When the organization is deleted; null for never. */
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
  /** All by default. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly keyName?: string | undefined;
  /** Whether the key may reset the organization; true by default. */
  readonly mayReset?: boolean | undefined;
  /** When the organization is deleted, at most 366 days from now; never by default. */
  readonly expiresAt?: string | undefined;
}

/** A new organization with an application and a key, which is shown only once. */
export interface CreatedTenant {
  object: 'tenant';
  status: 'ok';
  /** When the organization is deleted; null for never. */
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
  /** The number of removed rows of each kind. */
  deleted: Record<string, number>;
}

export interface ResetAnswer {
  object: 'reset';
  status: 'ok';
  /** The number of removed records of each kind. */
  deleted: Record<string, number>;
}

export interface ImportAnswer {
  object: 'import';
  organization: Named;
  applications: Named[];
  /** `key` is present only if this import has created it. */
  apiKeys: { id: string; name: string; key?: string }[];
  /** `secret` is present only if this import has created it. */
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
 * The operator API: create, reset, copy and delete organizations. Its writes have no idempotency key, so they are not retried
 * after a lost response.
 */
export class Operator {
  readonly organizations: {
    create(body: TenantCreate, options?: CallOptions): Promise<CreatedTenant>;
    /** Deletes the organization with all its data, except its audit trail. */
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
      delete: (id, more) => this.#post(`${organizationPath(id)}/delete`, undefined, more),
      list: (query, more) =>
        new Pages((cursor) =>
          this.#get('organizations', cursor === undefined ? query : { ...query, cursor }, more),
        ),
    };
    this.keys = { create: (id, body, more) => this.#post(`${organizationPath(id)}/keys`, body, more) };
  }

  /** Removes all records of an organization; its applications, keys and webhooks stay. */
  reset(organizationId: string, options?: CallOptions): Promise<ResetAnswer> {
    return this.#post(`${organizationPath(organizationId)}/reset`, undefined, options);
  }

  /** Exports an organization as JSON Lines. Webhook secrets are included only with `secrets`. */
  snapshot(
    organizationId: string,
    { secrets = false, ...options }: CallOptions & { readonly secrets?: boolean } = {},
  ): Promise<string> {
    return this.#transport.text(snapshotRequest(organizationId, secrets), options);
  }

  /** The same as a stream, for snapshots that are too large for memory. */
  async snapshotStream(
    organizationId: string,
    { secrets = false, ...options }: CallOptions & { readonly secrets?: boolean } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#transport.open(snapshotRequest(organizationId, secrets), options);
    return response.body ?? new Blob([]).stream();
  }

  /** Imports a snapshot: as the original organization, or with `fork` as a new one. */
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

  /** Copies an organization into a new one, with new keys. A busy server is retried after its `Retry-After`. */
  fork(
    organizationId: string,
    body: { readonly name: string; readonly expiresAt?: string | undefined },
    options?: CallOptions,
  ): Promise<ImportAnswer> {
    return this.#post(`${organizationPath(organizationId)}/fork`, body, options, { isRetriedWhenBusy: true });
  }

  /** The coverage of these organizations; of all by default. */
  coverage({
    organizationIds = [],
    ...options
  }: CallOptions & { readonly organizationIds?: readonly string[] } = {}): Promise<CoverageAnswer> {
    return this.#transport.json(coverageRequest(organizationIds, 'application/json'), options);
  }

  /** The coverage as JUnit XML. */
  junit({
    organizationIds = [],
    ...options
  }: CallOptions & { readonly organizationIds?: readonly string[] } = {}): Promise<string> {
    return this.#transport.text(coverageRequest(organizationIds, 'application/xml'), options);
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
    retry: Pick<Outgoing, 'isRetriedWhenBusy'> = {},
  ): Promise<T> {
    return this.#transport.json(
      {
        ...retry,
        verb: 'POST',
        path: `/_operator/${path}`,
        accept: 'application/json',
        body: body && JSON.stringify(body),
      },
      options,
    );
  }
}

function organizationPath(id: string): string {
  if (!/^\w+$/.test(id)) throw new TypeError(`${id} is not an organization id.`);
  return `organizations/${id}`;
}

function snapshotRequest(organizationId: string, secrets: boolean): Outgoing {
  const path = `/_operator/${organizationPath(organizationId)}/snapshot`;
  const names = { ...callOptionNames, secrets: true } as const;
  return { verb: 'GET', path, query: { secrets }, accept: 'application/jsonl', optionNames: names };
}

function coverageRequest(organizationIds: readonly string[], accept: string): Outgoing {
  const names = { ...callOptionNames, organizationIds: true } as const;
  const query = { organizationId: organizationIds };
  return { verb: 'GET', path: '/_operator/coverage', query, accept, optionNames: names };
}
