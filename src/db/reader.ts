import { assert } from '../kernel/assert.ts';
import { isId } from '../kernel/ids.ts';
import type { AnyRow, GroupedStatement, PageQuery, Reader, Statement, Table } from '../kernel/table.ts';
import { encodeArray } from './array.ts';
import type { Database } from './database.ts';
import { Grouped, type Waiting } from './grouped.ts';
import { Lookup } from './lookup.ts';
import { Pages, shapeOf } from './pages.ts';
import { RowCache } from './row-cache.ts';

/** About 25,000 payments. */
const cachedBytesMax = 64 * 1_024 * 1_024;

type Values = readonly unknown[];

/** Reads for the API. Concurrent reads of the same kind share a round trip; `rows` runs its statement alone. */
export function createReader(database: Database): Reader {
  const cache = new RowCache(cachedBytesMax);
  const lookups = new Map<string, Lookup<never>>();
  const pages = new Map<string, Pages<never>>();
  const statements = new Map<string, Grouped<Values, unknown>>();

  function lookupOf<Row extends AnyRow>(table: Table<Row>): Lookup<Row> {
    let lookup = lookups.get(table.name) as Lookup<Row> | undefined;
    if (!lookup) {
      lookup = new Lookup(database, cache, table);
      lookups.set(table.name, lookup as unknown as Lookup<never>);
    }
    return lookup;
  }

  return {
    rows: async <Row>(statement: Statement, values: readonly unknown[]) => {
      const rows = await database.query<Row>(statement, values);
      assertOwned(rows, values[0]);
      return rows;
    },
    first: <Row>(statement: GroupedStatement, values: Values) => {
      let grouped = statements.get(statement.name) as Grouped<Values, Row | undefined> | undefined;
      if (!grouped) {
        grouped = new Grouped((group) => findFirst(database, statement, group));
        statements.set(statement.name, grouped as Grouped<Values, unknown>);
      }
      return grouped.ask(values);
    },
    byKey: (table, orgId, id) => lookupOf(table).find(orgId, id),
    page: <Row extends AnyRow>(query: PageQuery<Row>) => {
      const shape = shapeOf(query);
      let found = pages.get(shape) as Pages<Row> | undefined;
      if (!found) {
        found = new Pages(database, lookupOf(query.table), query);
        pages.set(shape, found as unknown as Pages<never>);
      }
      return found.find(query);
    },
  };
}

async function findFirst<Row>(
  database: Database,
  statement: GroupedStatement,
  group: readonly Waiting<Values, Row | undefined>[],
): Promise<void> {
  const rows = await database.query<Row & { readonly n: number }>(
    statement,
    statement.types.map((type, i) =>
      encodeArray(
        type,
        group.map(({ request }) => request[i]),
      ),
    ),
  );
  for (const { n, ...row } of rows) {
    const waiting = group[n - 1];
    assert(waiting, `${statement.name} returned row ${n} of ${group.length}`);
    waiting.resolve(row as Row);
  }
  // Without effect for those that have their row.
  for (const { resolve } of group) resolve(undefined);
}

/** A statement whose first parameter is an organization reads rows of that organization only. */
function assertOwned(rows: readonly unknown[], first: unknown): void {
  if (typeof first !== 'string' || !isId('organization', first)) return;
  for (const { orgId = null } of rows as readonly { readonly orgId?: string | null }[])
    assert(orgId === null || orgId === first, `a statement for ${first} read a row of ${orgId}`);
}
