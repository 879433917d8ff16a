import type { Id } from './ids.ts';

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

/** A named statement is prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** The timeout of a statement that may take longer than a request. */
  readonly msMax?: number;
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

/**
 * Finds rows whose version has changed or that were deleted: their positions in the arrays, from 1. Most rows have not changed, and
 * unchanged rows are not in the result.
 */
export function selectChanged<Row>(table: Table<Row>): Statement {
  return {
    name: `${table.name}_changed`,
    text:
      `select k.n::integer as n from unnest($1::text[], $2::text[], $3::integer[]) with ordinality ` +
      `as k(org_id, id, version, n) where (select s.version from ${table.name} s ` +
      `where s.org_id = k.org_id and s.id = k.id) is distinct from k.version`,
  };
}

export function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Every change increments the version, so rows with the same id and version are equal. */
export interface Versioned extends AnyRow {
  readonly version: number;
}

/** The port through which stores read. Concurrent reads by key share one round trip. */
export interface Reader {
  rows<Row>(statement: Statement, values: readonly unknown[]): PromiseLike<readonly Row[]>;
  byKey<Row extends Versioned>(table: Table<Row>, orgId: string, id: string): PromiseLike<Row | undefined>;
}
