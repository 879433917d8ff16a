import type { Id } from './ids.ts';
import type { Scope } from './permissions.ts';

/**
 * A table as data: which property of a row is which column, and of what type. From this one description come the
 * engine's multi-row writes, the lookups by key and the list queries, so that a column is named once.
 */
export type ColumnType =
  | 'text'
  | 'bigint'
  | 'integer'
  | 'boolean'
  | 'timestamptz'
  | 'jsonb'
  | 'json'
  | 'bytea';

/** Milliseconds since 1970, UTC. Rows and commands hold instants; only the wire has RFC 3339. */
export type Instant = number;

interface Column<Row> {
  readonly property: keyof Row & string;
  readonly column: string;
  readonly type: ColumnType;
}

/** Every row belongs to an organization, and its key is the organization id and its own id. */
export interface AnyRow {
  readonly orgId: Id<'organization'>;
  readonly id: string;
}

export interface Table<Row> {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  /** Columns of the primary key, `org_id` first. */
  readonly key: readonly string[];
}

/** The columns that a search compares. */
export interface SearchedTexts {
  /** What matches, for the documentation. */
  readonly description: string;
  /** Ids, which match by their beginning. */
  readonly ids: readonly string[];
  /** Texts, which match by any part. */
  readonly texts: readonly string[];
  /** Texts of the record that a row belongs to, for callers that may read it. */
  readonly parent?: {
    readonly table: string;
    readonly key: string;
    readonly texts: readonly string[];
    readonly scope: Scope;
  };
}

/** A named statement is prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The timeout of a statement that may take longer than a request. */
  readonly msMax?: number;
}

/**
 * A statement that finds at most one row for each position of its parameters, which are arrays of these types. A row contains its
 * position, from 1, as `n`.
 */
export interface GroupedStatement extends Statement {
  readonly types: readonly ColumnType[];
}

export function defineTable<Row>(
  name: string,
  key: readonly string[],
  columns: { readonly [P in keyof Row & string]-?: ColumnType },
  /** Columns whose name is not that of the property in snake case. */
  columnNames: { readonly [P in keyof Row & string]?: string } = {},
): Table<Row> {
  return {
    name,
    key,
    columns: (Object.keys(columns) as (keyof Row & string)[]).map((property) => ({
      property,
      column: columnNames[property] ?? snakeCase(property),
      type: columns[property],
    })),
  };
}

/** The select list that returns rows with their property names. */
export function selectList<Row>(table: Table<Row>, alias: string): string {
  return table.columns.map(({ column, property }) => `${alias}.${column} as "${property}"`).join(', ');
}

export type KeyLock = 'none' | 'share' | 'update';

/**
 * Reads many rows by key in one round trip, in the order of the keys. The lateral subquery forces a nested loop: rows are locked in
 * the order of the sorted keys, which prevents deadlocks between batches, and a plan that was created while the table was empty
 * cannot become a scan later.
 */
export function selectByKeys<Row>(table: Table<Row>, lock: KeyLock): Statement {
  const locking = lock === 'none' ? '' : ` for ${lock}`;
  return {
    name: `${table.name}_by_keys_${lock}`,
    text:
      `select t.* from unnest($1::text[], $2::text[]) as k(org_id, id) cross join lateral (` +
      `select ${selectList(table, 's')} from ${table.name} s ` +
      `where s.org_id = k.org_id and s.id = k.id offset 0${locking}) t`,
  };
}

export function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Every change increments the version, so rows with the same id and version are equal. */
export interface Versioned extends AnyRow {
  readonly version: number;
}

/** One page of a list, newest first: the rows of an organization that match the conditions. */
export interface PageQuery<Row> {
  readonly table: Table<Row>;
  readonly orgId: string;
  readonly conditions: readonly Condition[];
  readonly limit: number;
  /** For a page that has to read many rows, and therefore shares no statement with others. */
  readonly search?: PageSearch;
}

export interface PageSearch {
  /** Null for a search by the conditions alone. */
  readonly text: string | null;
  readonly columns: SearchedTexts;
}

export interface Condition {
  readonly column: string;
  readonly operator: '=' | '<' | '>' | '<>' | '<=' | '>=';
  readonly value: string;
}

/** The port through which stores read. All but `rows` share one round trip with concurrent reads of the same kind. */
export interface Reader {
  rows<Row>(statement: Statement, values: readonly unknown[]): PromiseLike<readonly Row[]>;
  first<Row>(statement: GroupedStatement, values: readonly unknown[]): PromiseLike<Row | undefined>;
  byKey<Row extends AnyRow>(table: Table<Row>, orgId: string, id: string): PromiseLike<Row | undefined>;
  page<Row extends AnyRow>(query: PageQuery<Row>): PromiseLike<readonly Row[]>;
}
