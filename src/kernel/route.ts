import type { TSchema } from 'typebox';
import type { CommandKind } from './command.ts';
import { type Presented, shownOnce } from './envelope.ts';
import { type Refusal, refuse } from './errors.ts';
import { type IdKind, isId } from './ids.ts';
import { type ListFilter, type ListQuery, listRequest, type Page, pageOf } from './list.ts';
import type { Needed, Scope } from './scopes.ts';
import type { AnyRow, Instant, Statement, Table } from './table.ts';
import type { Terms } from './terms.ts';

/**
 * Routes are data. Authentication, the scope check, idempotency, validation, the OpenAPI document and the
 * permission-matrix test are all derived from these rows; a handler only says what is particular to it.
 */
export type Route = ReadRoute | WriteRoute;

interface RouteWords {
  readonly operationId: string;
  /** Below `/_api/`, with parameters in braces. */
  readonly path: string;
  /** The scope that a key needs, or all of several; `any` for what every valid key may call. */
  readonly scope: Needed;
  readonly tag: string;
  readonly summary: string;
  readonly response: TSchema;
  readonly responseName: string;
}

export interface ReadRoute extends RouteWords {
  readonly method: 'GET';
  readonly query?: TSchema;
  /** Another form of the answer, for callers that ask for it by `Accept`. */
  readonly alsoAs?: 'text/csv';
  readonly read: (request: ReadRequest) => Awaitable<ReadAnswer>;
}

export interface WriteRoute extends RouteWords {
  readonly method: 'POST';
  /** No body schema means that the body may be absent, and that nothing but `{}` may be sent. */
  readonly body?: TSchema;
  /** A body that may be absent although it has a schema: it then is `{}`. */
  readonly isBodyOptional?: true;
  /** Whether `?expand=ledgerEntries` shows what the command posted. */
  readonly expandsEntries?: true;
  readonly bodyName?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the input type joins `command` and `input` of one route and is known to no other.
  readonly command: CommandKind<any>;
  readonly input: (request: WriteRequest) => unknown;
}

export type Awaitable<T> = T | PromiseLike<T>;

/** One resource, one page of presented resources, text of another kind, or a refusal. */
export type ReadAnswer = Presented | PresentedPage | TextAnswer | Refusal;

export interface TextAnswer {
  readonly contentType: 'text/csv';
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
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Whom a valid key stands for. */
export interface Principal {
  readonly orgId: string;
  readonly orgName: string;
  readonly appId: string;
  readonly appName: string;
  readonly terms: Terms;
  readonly keyId: string;
  readonly keyName: string;
  readonly scopes: ReadonlySet<Scope>;
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
export function retrieving<Row extends Versioned>(
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
export function readingOf<Row extends Versioned>(
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

/** How a page of records is read, newest first. */
export function listing<Row extends AnyRow>(
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
