import { assert } from '../kernel/assert.ts';
import { type AnyRow, type Statement, selectList, type Table } from '../kernel/table.ts';
import { encodeArray } from './array.ts';
import type { Database } from './database.ts';
import { Grouped, type Waiting } from './grouped.ts';
import type { CachedRow, RowCache } from './row-cache.ts';

export interface Key {
  readonly orgId: string;
  readonly id: string;
}

type Found<Row> = CachedRow<Row> | undefined;
type WaitingKey<Row> = Waiting<Key, Found<Row>>;

/**
 * Lookups by key in one table. Rows are cached, but always confirmed: the database reports which of them have changed, and only
 * those are read again. Polling an unchanged record, as tests do, then costs only this check, and values that are cached by the
 * identity of the row (its JSON) stay valid.
 */
export class Lookup<Row extends AnyRow> {
  readonly #database: Database;
  readonly #cache: RowCache;
  readonly #table: string;
  readonly #readRows: Statement;
  readonly #findChanged: Statement;
  readonly #confirmed = new Grouped<Key, Found<Row>>((group) => this.#answer(group));
  readonly #read = new Grouped<Key, Found<Row>>((group) => this.#readAll(group));

  constructor(database: Database, cache: RowCache, table: Table<Row>) {
    this.#database = database;
    this.#cache = cache;
    this.#table = table.name;
    this.#readRows = selectRows(table);
    this.#findChanged = selectChanged(table);
  }

  /** The current row. */
  find(orgId: string, id: string): Promise<Row | undefined> {
    return this.#confirmed.ask({ orgId, id }).then((found) => found?.row);
  }

  /** A cached row in the given state. */
  cached(key: Key, revision: string): Row | undefined {
    const cached = this.#cache.get<Row>(this.#table, key.orgId, key.id);
    return cached?.revision === revision ? cached.row : undefined;
  }

  /** Reads a row that is not cached in its current state. */
  read(key: Key): Promise<Found<Row>> {
    return this.#read.ask(key);
  }

  store(cached: CachedRow<Row>): void {
    this.#cache.set(this.#table, cached);
  }

  async #answer(group: readonly WaitingKey<Row>[]): Promise<void> {
    const known: WaitingKey<Row>[] = [];
    const rows: CachedRow<Row>[] = [];
    const unknown: WaitingKey<Row>[] = [];
    for (const waiting of group) {
      const cached = this.#cache.get<Row>(this.#table, waiting.request.orgId, waiting.request.id);
      if (cached === undefined) unknown.push(waiting);
      else {
        known.push(waiting);
        rows.push(cached);
      }
    }
    await Promise.all([
      known.length > 0 ? this.#confirm(known, rows) : undefined,
      unknown.length > 0 ? this.#readAll(unknown) : undefined,
    ]);
  }

  async #confirm(group: readonly WaitingKey<Row>[], rows: readonly CachedRow<Row>[]): Promise<void> {
    const revisions = encodeArray(
      'text',
      rows.map(({ revision }) => revision),
    );
    const answer = await this.#database.query<{ n: number }>(this.#findChanged, [
      ...keyArrays(group),
      revisions,
    ]);
    const changed = new Set(answer.map(({ n }) => n - 1));
    group.forEach(({ resolve }, i) => {
      if (!changed.has(i)) resolve(rows[i]);
    });
    if (changed.size > 0) await this.#readAll(group.filter((_waiting, i) => changed.has(i)));
  }

  async #readAll(group: readonly WaitingKey<Row>[]): Promise<void> {
    const rows = await this.#database.query<Row & { revision: string }>(this.#readRows, keyArrays(group));
    const requested = new Set(group.map(({ request }) => keyOf(request)));
    const found = new Map<string, CachedRow<Row>>();
    for (const { revision, ...columns } of rows) {
      const row = columns as unknown as Row;
      const key = keyOf(row);
      assert(requested.has(key), `the database returned ${key}, which was not requested`);
      found.set(key, { row, revision });
    }
    for (const { request, resolve } of group) {
      const cached = found.get(keyOf(request));
      if (cached) this.store(cached);
      else this.#cache.delete(request.id);
      resolve(cached);
    }
  }
}

/**
 * Identifies the state of a row: the transaction that wrote it. A version would not do. After a reset or an import a record can
 * have the same id and version as before and yet be another one.
 */
export const revisionOf = (alias: string) => `${alias}.xmin::text`;

function selectRows<Row>(table: Table<Row>): Statement {
  return {
    name: `${table.name}_rows`,
    text:
      `select t.* from unnest($1::text[], $2::text[]) as k(org_id, id) cross join lateral (` +
      `select ${revisionOf('s')} as revision, ${selectList(table, 's')} from ${table.name} s ` +
      `where s.org_id = k.org_id and s.id = k.id offset 0) t`,
  };
}

/**
 * Finds rows that have changed or were deleted: their positions in the arrays, from 1. Most rows have not changed, and unchanged
 * rows are not in the result.
 */
function selectChanged<Row>(table: Table<Row>): Statement {
  return {
    name: `${table.name}_changed`,
    text:
      `select k.n::integer as n from unnest($1::text[], $2::text[], $3::text[]) with ordinality ` +
      `as k(org_id, id, revision, n) where (select ${revisionOf('s')} from ${table.name} s ` +
      `where s.org_id = k.org_id and s.id = k.id) is distinct from k.revision`,
  };
}

function keyArrays(group: readonly { readonly request: Key }[]): Buffer[] {
  return [
    encodeArray(
      'text',
      group.map(({ request }) => request.orgId),
    ),
    encodeArray(
      'text',
      group.map(({ request }) => request.id),
    ),
  ];
}

function keyOf({ orgId, id }: Key): string {
  return `${orgId} ${id}`;
}
