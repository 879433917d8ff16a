import type { TSchema } from 'typebox';
import type { ApplicationSettings } from './application-settings.ts';
import { type Actor, type CommandKind, reachesApplication } from './command.ts';
import { type Presented, shownOnce } from './envelope.ts';
import { type Refusal, refuse } from './errors.ts';
import { type IdKind, isId } from './ids.ts';
import { type ListFilter, type ListQuery, listRequest, type Page, pageOf } from './list.ts';
import type { Needed, Role, Scope } from './permissions.ts';
import type { AnyRow, Instant, Statement, Table } from './table.ts';

/**
 * Routes are data. Authentication, the scope check, idempotency, validation, the OpenAPI document and the
 * permission-matrix test are all derived from these rows; a handler only says what is particular to it.
 */
export type Route = ApiReadRoute | ApiWriteRoute | ApiStreamRoute;
export type ApiReadRoute = ApiRouteMeta & ReadRoute;
export type ApiWriteRoute = ApiRouteMeta & WriteRoute;
export type ApiStreamRoute = ApiRouteMeta & StreamRoute;

/**
 * What only the console has, for people who are signed in: keys, members, the audit trail. The console serves the routes
 * of the API as well, so nothing of those is written twice.
 */
export type ConsoleRoute = ConsoleRouteMeta & ServedRoute;

/** How a route is carried out, whoever may call it. */
export type ServedRoute = RouteMeta & (ReadRoute | WriteRoute);

interface RouteMeta {
  readonly operationId: string;
  /** Below `/_api/` or the place of the console, with parameters in braces. */
  readonly path: string;
  readonly summary: string;
}

interface ApiRouteMeta extends RouteMeta {
  /** The scope that a key needs, or all of several; `any` for what every valid key may call. */
  readonly scope: Needed;
  readonly tag: Tag;
  readonly response: TSchema;
  readonly responseName: string;
}

interface ConsoleRouteMeta extends RouteMeta {
  /** The least role that may call it. */
  readonly role: Role;
  /** Whether it concerns one application, whose id is then in the path, or the whole organization. */
  readonly level: 'organization' | 'application';
  /** A write that an archived application still takes. */
  readonly allowsArchived?: true;
}

export interface ReadRoute {
  readonly method: 'GET';
  readonly query?: TSchema;
  /** Its query may name a record, which must then be there; one in the path always must. */
  readonly namesRecord?: true;
  /** Another form of the answer, for callers that ask for it by `Accept`. */
  readonly alternateContentType?: AlternateContentType;
  /** What is written behind the answers, and must be down before this is read. */
  readonly flushBefore?: WriteBehindData;
  readonly read: (request: ReadRequest) => Awaitable<ReadAnswer>;
}

export type AlternateContentType = 'text/csv' | 'application/xml';

/** What is gathered in memory and written a little later, because no answer waits for it. */
export type WriteBehindData = 'requests' | 'coverage';

/** An answer that does not end: what happens from now on, as server-sent events. `response` is the shape of each. */
export interface StreamRoute {
  readonly method: 'GET';
  readonly query?: TSchema;
  /** Which types of events the caller wants to be told. */
  readonly streams: (query: unknown) => EventFilter | Refusal;
}

export type EventFilter = (type: string) => boolean;

export function isStream(route: ReadRoute | WriteRoute | StreamRoute): route is StreamRoute {
  return 'streams' in route;
}

export interface WriteRoute {
  readonly method: 'POST';
  /** No body schema means that the body may be absent, and that nothing but `{}` may be sent. */
  readonly body?: TSchema;
  /** A body that may be absent although it has a schema: it then is `{}`. */
  readonly isBodyOptional?: true;
  /** Whether `?expand=ledgerEntries` shows what the command posted. */
  readonly expandsEntries?: true;
  readonly bodyName?: string;
  /**
   * The kind of the record that the write is about: the one whose id is in the path, else the caller's organization or clock; null
   * for a write that creates a record. The audit row of a refusal names that record.
   */
  readonly target: IdKind | null;
  // biome-ignore lint/suspicious/noExplicitAny: the input type joins `command` and `input` of one route and is known to no other.
  readonly command: CommandKind<any>;
  readonly input: (request: WriteRequest) => unknown;
}

export type Awaitable<T> = T | PromiseLike<T>;

/** One resource, one page of presented resources, text of another kind, or a refusal. */
export type ReadAnswer = Presented | PresentedPage | TextAnswer | Refusal;

export interface TextAnswer {
  readonly contentType: AlternateContentType;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PresentedPage extends Omit<Page<never>, 'rows'> {
  readonly data: readonly Presented[];
}

export interface ReadRequest {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  /** The wall clock. */
  readonly now: Instant;
  readonly reader: Reader;
  /** Whether the caller asks for this form of the answer. */
  readonly accepts: (type: string) => boolean;
}

export interface WriteRequest {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Whom a request stands for: the holder of a key, or a person who is signed in to the console. */
export interface Principal {
  readonly orgId: string;
  readonly orgName: string;
  /** Empty for a person where the whole organization is concerned. */
  readonly appId: string;
  readonly appName: string;
  readonly settings: ApplicationSettings;
  readonly actor: Actor;
  /** Of the key, or of the person. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Null for keys. */
  readonly role: Role | null;
  /** Whether the caller may delete all records of the organization: by a permission of the key, or by the role. */
  readonly mayReset: boolean;
}

/** Every change of a row counts its version up, so a row with the same version is the same row. */
export interface Versioned extends AnyRow {
  readonly version: number;
}

/** The port through which stores read. Look-ups by key that arrive together share one round trip. */
export interface Reader {
  rows<Row>(statement: Statement, values: readonly unknown[]): PromiseLike<readonly Row[]>;
  byKey<Row extends Versioned>(table: Table<Row>, orgId: string, id: string): PromiseLike<Row | undefined>;
}

/** How a record is read by the id in the path. What is no id of this kind is a record that is not there. */
export function retrieveHandler<Row extends Versioned>(
  kind: IdKind,
  table: Table<Row>,
  present: (row: Row) => Presented,
): ReadRoute['read'] {
  const show = shownOnce(present);
  return ({ reader, principal, params }) => {
    const id = params.id ?? '';
    if (!isId(kind, id)) return refuse('resource_not_found');
    return reader
      .byKey(table, principal.orgId, id)
      .then((row) => (row ? show(row) : refuse('resource_not_found')));
  };
}

/**
 * How something of a record is read: the history of a payment, say. The record must be there first, so that a foreign id
 * is not found instead of having nothing.
 */
export function subresourceHandler<Row extends Versioned>(
  kind: IdKind,
  table: Table<Row>,
  read: (request: ReadRequest, row: Row) => PromiseLike<ReadAnswer> | ReadAnswer,
): ReadRoute['read'] {
  return (request) => {
    const id = request.params.id ?? '';
    if (!isId(kind, id)) return refuse('resource_not_found');
    return request.reader
      .byKey(table, request.principal.orgId, id)
      .then((row) => (row ? read(request, row) : refuse('resource_not_found')));
  };
}

/** The same for what belongs to one application: to an API key of another one it does not exist. */
export function applicationSubresourceHandler<Row extends Versioned & { readonly appId: string }>(
  kind: IdKind,
  table: Table<Row>,
  read: (request: ReadRequest, row: Row) => PromiseLike<ReadAnswer> | ReadAnswer,
): ReadRoute['read'] {
  return subresourceHandler(kind, table, (request, row) =>
    reachesApplication(request.principal, row.appId) ? read(request, row) : refuse('resource_not_found'),
  );
}

/** A list query that an API key cannot widen beyond its own application. The list must have the filter `appId`. */
export function withinReach({ actor, appId }: Principal, query: unknown): ListQuery {
  return { ...(query as ListQuery), ...(actor.kind === 'api_key' ? { appId } : {}) };
}

/** How a page of records is read that belong to one application. */
export function applicationListHandler<Row extends AnyRow & { readonly appId: string }>(
  kind: IdKind,
  table: Table<Row>,
  filters: readonly ListFilter[],
  present: (row: Row) => Presented,
): ReadRoute['read'] {
  const page = listHandler(kind, table, ['appId', ...filters], present);
  return ({ reader, principal, query }) => page({ reader, principal, query: withinReach(principal, query) });
}

/** How a page of records is read, newest first. */
export function listHandler<Row extends AnyRow>(
  kind: IdKind,
  table: Table<Row>,
  filters: readonly ListFilter[],
  present: (row: Row) => Presented,
): (request: Pick<ReadRequest, 'reader' | 'principal' | 'query'>) => Refusal | PromiseLike<PresentedPage> {
  return ({ reader, principal, query }) => {
    const request = listRequest(table, kind, filters, principal.orgId, query as ListQuery);
    if (request === 'invalid_cursor') return refuse('invalid_cursor', { param: 'cursor' });
    return reader.rows<Row>(request.statement, request.values).then((rows) => {
      const { rows: shown, hasMore, nextCursor } = pageOf(rows, request.limit);
      return { data: shown.map(present), hasMore, nextCursor };
    });
  };
}

/** The chapters of the API's documents, each with what it is about. A route cannot be in one that is not here. */
export const tags = {
  Sandbox: 'Whom a key stands for, what this server can do, and the state machines that it runs on.',
  Payments: 'Money from a customer: created, authorized, captured, settled, and every way that it can fail.',
  Refunds: 'Money back to a customer, in whole or in part.',
  Disputes: 'Payments that a customer has contested, with evidence, stages and deadlines.',
  Transfers: 'Money to a beneficiary in another currency, from the quote to the payout or its return.',
  Ledger: 'The double entry behind every move. Entries are never changed, and each sums to zero.',
  Settlement: 'What the simulated providers report having paid out, and how that compares with the ledger.',
  Customers: 'Who pays. A customer can be named in payments and transfers.',
  Clock: 'The time of the application: stop it, or move it forward and see all happen that falls due.',
  Webhooks: 'Endpoints that events are sent to, the events, their deliveries, and sending them again.',
  Faults:
    'Failures on demand: requests that are slow, refused or lost, and webhooks that come twice, late or not at all.',
  Requests: 'What was asked with keys lately, and what was answered.',
  Audit: 'Who wrote what, and when: an append-only trail of every write and refusal, sealed by a hash chain.',
  Coverage: 'Which states, moves, events, operations and errors an integration has met.',
  Reset: 'An empty organization again, with its keys and endpoints.',
} as const satisfies Readonly<Record<string, string>>;

export type Tag = keyof typeof tags;
