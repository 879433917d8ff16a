import type { TSchema } from 'typebox';
import type { ApplicationSettings } from './application-settings.ts';
import { type Actor, type AnyCommand, type Erased, type Resource, reachesApplication } from './command.ts';
import { type Presented, type RenderedResource, renderOnce } from './envelope.ts';
import { type Refusal, refuse } from './errors.ts';
import { type Id, type IdKind, isId } from './ids.ts';
import { type ListFilter, type ListQuery, type Page, pageOf, pageQueryOf } from './list.ts';
import { findInWindow } from './list-search.ts';
import type { Needed, Role, Scope } from './permissions.ts';
import type { Prepare } from './prepare.ts';
import type { AnyRow, Instant, Reader, SearchedTexts, Table, Versioned } from './table.ts';

/**
 * Routes are data. Authentication, the scope check, idempotency, validation, the OpenAPI document and the
 * permission-matrix test are all derived from these rows; a handler has only the code that is specific to it.
 */
export type Route = ApiReadRoute | ApiWriteRoute | ApiStreamRoute;
export type ApiReadRoute = ApiRouteMeta & ReadRoute;
export type ApiWriteRoute = ApiRouteMeta & WriteRoute;
export type ApiStreamRoute = ApiRouteMeta & StreamRoute;

/**
 * Routes that only the console has, for signed-in people: keys, members, the audit trail. The console also serves the API routes,
 * so these are not duplicated.
 */
export type ConsoleRoute = ConsoleRouteMeta & ServedRoute;

/** A route without its access rules. */
export type ServedRoute = RouteMeta & (ReadRoute | WriteRoute);

/** The schema of a successful response, and the name of its type in documents and clients. */
export interface DeclaredResponse {
  readonly response: TSchema;
  readonly responseName: string;
}

interface RouteMeta extends DeclaredResponse {
  readonly operationId: string;
  /** Relative to `/_api/` or the console path, with parameters in braces. */
  readonly path: string;
  readonly summary: string;
}

export interface ApiRouteMeta extends RouteMeta {
  /** The required scope, or all required scopes; `any` for routes that every valid key may call. */
  readonly scope: Needed;
  readonly tag: Tag;
}

export interface ConsoleRouteMeta extends RouteMeta {
  /** The minimum role. */
  readonly role: Role;
  /** Whether it applies to one application, whose id is then in the path, or to the whole organization. */
  readonly level: 'organization' | 'application';
  /** A write that an archived application still accepts. */
  readonly allowsArchived?: true;
}

export interface ReadRoute {
  readonly method: 'GET';
  readonly query?: TSchema;
  /** Its query may name a record, which must then exist; one in the path always must. */
  readonly namesRecord?: true;
  /** An alternate response format, for callers that request it with `Accept`. */
  readonly alternateContentType?: AlternateContentType;
  /** Write-behind data that must be flushed before this read. */
  readonly flushBefore?: WriteBehindData;
  readonly read: (request: ReadRequest) => Awaitable<ReadAnswer>;
}

type AlternateContentType = 'text/csv' | 'application/xml';

/** Data that is buffered in memory and written with a delay, because no response depends on it. */
export type WriteBehindData = 'requests' | 'coverage';

/** An open-ended response that streams new events as server-sent events. `response` is the schema of each. */
export interface StreamRoute {
  readonly method: 'GET';
  readonly query?: TSchema;
  /** The event types that the caller subscribes to. */
  readonly streams: (query: unknown) => EventFilter | Refusal;
}

export type EventFilter = (type: string) => boolean;

export function isStream(route: ReadRoute | WriteRoute | StreamRoute): route is StreamRoute {
  return 'streams' in route;
}

/** A write as the route table holds it. Slices create it with `writeRoute`, which infers and checks the types. */
export interface WriteRoute {
  readonly method: 'POST';
  /** Without a body schema, the body must be absent or `{}`. */
  readonly body?: TSchema;
  /** A body with a schema that may be absent: it is then `{}`. */
  readonly isBodyOptional?: true;
  /** Whether `?expand=ledgerEntries` shows the postings of the command. */
  readonly expandsEntries?: true;
  readonly bodyName?: string;
  /**
   * The kind of the record that the write is about: the one whose id is in the path, else the caller's organization or clock; null
   * for a write that creates a record. The audit row of a refusal names that record.
   */
  readonly target: IdKind | null;
  readonly command: AnyCommand;
  /** The client's request: the command input, or the data from which the prepare step builds it. */
  readonly input: (request: WriteRequest<Erased>) => Erased;
  readonly prepare?: Prepare<Erased, Erased, Erased>;
}

export type Awaitable<T> = T | PromiseLike<T>;

/** One resource, one page of resources, text in an alternate format, or a refusal. */
export type ReadAnswer = Presented | RenderedResource | PresentedPage | TextAnswer | Refusal;

export interface TextAnswer {
  readonly contentType: AlternateContentType;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PresentedPage extends Omit<Page<never>, 'rows'> {
  readonly data: readonly (Presented | RenderedResource)[];
}

export interface ReadRequest {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  /** The wall clock. */
  readonly now: Instant;
  readonly reader: Reader;
  /** Whether the caller accepts this content type. */
  readonly accepts: (type: string) => boolean;
}

export interface WriteRequest<Body = unknown> {
  readonly principal: Principal;
  readonly params: Readonly<Record<string, string>>;
  /** Validated against the schema of the route. */
  readonly body: Body;
}

/** The authenticated caller: an API key, or a person who is signed in to the console. */
export interface Principal {
  readonly orgId: Id<'organization'>;
  readonly orgName: string;
  /** `noApplication` for a person at the organization level. */
  readonly appId: Id<'application'>;
  readonly appName: string;
  readonly settings: ApplicationSettings;
  readonly actor: Actor;
  /** The name of the key or the person. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Null for keys. */
  readonly role: Role | null;
  /** Whether the caller may delete all records of the organization: by a permission of the key, or by the role. */
  readonly mayReset: boolean;
}

/** Reads a record by the id in the path. A malformed id, or one of another kind, is not found. */
export function retrieveHandler<Row extends Versioned>(
  kind: IdKind,
  table: Table<Row>,
  present: (row: Row) => Presented,
): ReadRoute['read'] {
  const show = renderOnce(present);
  return subresourceHandler(kind, table, (_request, row) => show(row));
}

/**
 * Reads a subresource, such as the history of a payment. The record must exist, so that a foreign id results in "not found" instead
 * of an empty list.
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

/** The same for records of one application: API keys of other applications get "not found". */
export function applicationSubresourceHandler<Row extends Versioned & { readonly appId: Id<'application'> }>(
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

/** Reads a page of records that belong to one application. */
export function applicationListHandler<Row extends AnyRow & { readonly appId: Id<'application'> }>(
  kind: IdKind,
  table: Table<Row>,
  filters: readonly ListFilter[],
  present: (row: Row) => Presented,
  hiddenStatus?: string,
): ReadRoute['read'] {
  const page = listHandler(kind, table, ['appId', ...filters], present, hiddenStatus);
  return ({ reader, principal, query }) => page({ reader, principal, query: withinReach(principal, query) });
}

/** Reads a page of records, newest first. */
export function listHandler<Row extends AnyRow>(
  kind: IdKind,
  table: Table<Row>,
  filters: readonly ListFilter[],
  present: (row: Row) => Presented,
  hiddenStatus?: string,
): (request: Pick<ReadRequest, 'reader' | 'principal' | 'query'>) => Refusal | PromiseLike<PresentedPage> {
  const show = renderOnce(present);
  return ({ reader, principal, query }) => {
    const request = pageQueryOf(table, kind, filters, principal.orgId, query as ListQuery, hiddenStatus);
    if (request === 'invalid_cursor') return refuse('invalid_cursor', { param: 'cursor' });
    return reader.page(request).then((rows) => {
      const { rows: shown, hasMore, nextCursor } = pageOf(rows, request.limit - 1);
      return { data: shown.map(show), hasMore, nextCursor };
    });
  };
}

/** Filters without an index. The schema of a list decides which of them it has. */
const searchFilters = ['currency', 'amountMin', 'amountMax'] as const;

/**
 * Reads a page of records that can also be searched: by `q`, and by filters without an index. A search reads a window of rows; a page
 * without it is read as in any list.
 */
export function searchHandler<Row extends AnyRow & { readonly status: string }>(
  { name: kind, table, present }: Resource<Row>,
  texts: SearchedTexts,
  filters: readonly ListFilter[],
): ReadRoute['read'] {
  const list = listHandler(kind, table, filters, present);
  const show = renderOnce(present);
  return ({ reader, principal, query: requested }) => {
    const query = requested as ListQuery;
    const { q } = query;
    const isSearch = q !== undefined || searchFilters.some((filter) => query[filter] !== undefined);
    if (!isSearch) return list({ reader, principal, query });
    const page = pageQueryOf(table, kind, [...filters, 'currency'], principal.orgId, query);
    if (page === 'invalid_cursor') return refuse('invalid_cursor', { param: 'cursor' });
    return findInWindow(reader, page, { text: q ?? null, columns: readable(texts, principal) }).then(
      ({ rows, ...rest }) => ({ ...rest, data: rows.map(show) }),
    );
  };
}

/** Without the texts of another record that the caller may not read. */
function readable({ parent, ...own }: SearchedTexts, { scopes }: Principal): SearchedTexts {
  return parent && scopes.has(parent.scope) ? { ...own, parent } : own;
}

/** The sections of the API reference, each with a description. Every route belongs to one of them. */
export const tags = {
  Sandbox: 'The identity behind an API key, the capabilities of this server, and its state machines.',
  Payments: 'Money from a customer: created, authorized, captured, settled, with every possible failure.',
  Refunds: 'Money back to a customer, in whole or in part.',
  Disputes: 'Payments that a customer contests, with evidence, stages and deadlines.',
  Transfers: 'Money to a beneficiary in another currency, from the quote to the payout or its return.',
  Ledger: 'Double-entry bookkeeping for every move. Entries are immutable, and each sums to zero.',
  Settlement: 'Payout reports of the simulated providers, and their reconciliation with the ledger.',
  Customers: 'Payers. Payments and transfers can reference a customer.',
  Clock: 'The application clock: freeze it, or advance it and run everything that becomes due.',
  Webhooks: 'Webhook endpoints, events, deliveries and replays.',
  Faults: 'Fault injection: slow, refused or lost requests, and duplicate, late or lost webhooks.',
  Requests: 'Recent API requests and their responses.',
  Audit: 'An append-only audit trail of every write and refusal, sealed by a hash chain.',
  Coverage: 'The states, moves, events, operations and errors that an integration has exercised.',
  Reset: 'Delete all records of the organization; its keys and endpoints remain.',
} as const satisfies Readonly<Record<string, string>>;

type Tag = keyof typeof tags;
