/** The sizes of tables. PostgreSQL is queried; for the embedded database, whose server has the only session, the files are measured. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { Query } from '../support/audit.ts';
import type { TableSample } from './run.ts';

export interface DatabaseSizes {
  readonly tables: readonly TableSample[];
  readonly databaseBytes: number;
}

/** Of tables with their indexes and large values. `reltuples` survives a crash of PostgreSQL, unlike its statistics. */
const sizes = `select c.relname as name, pg_total_relation_size(c.oid)::float8 as bytes,
    case when c.reltuples < 0 then null else c.reltuples::float8 end as rows,
    pg_stat_get_dead_tuples(c.oid)::float8 as "deadRows"
  from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`;
const total = 'select pg_database_size(current_database())::float8 as bytes';

export async function sizesOnPostgres(url: string): Promise<DatabaseSizes> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const tables = (await client.query(sizes)).rows as TableSample[];
    return { tables, databaseBytes: Number((await client.query(total)).rows[0].bytes) };
  } finally {
    await client.end();
  }
}

/** The files of each table, by their position in the data directory; they keep their names while the server runs. */
const files = `with recursive part as (
    select c.oid, c.relname as name from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    union select x.child, p.name from part p join (
      select indrelid as parent, indexrelid as child from pg_index
      union all select oid, reltoastrelid from pg_class where reltoastrelid <> 0) x on x.parent = p.oid)
  select name, pg_relation_filepath(oid) as file from part`;

export class EmbeddedSizes {
  readonly #directory: string;
  readonly #tables: ReadonlyMap<string, string>;

  private constructor(directory: string, tables: ReadonlyMap<string, string>) {
    this.#directory = directory;
    this.#tables = tables;
  }

  static async read(query: Query, dataDirectory: string): Promise<EmbeddedSizes> {
    const rows = await query(files);
    const tables = new Map(rows.map(({ name, file }) => [String(file), String(name)]));
    return new EmbeddedSizes(path.join(dataDirectory, 'db'), tables);
  }

  take(): DatabaseSizes {
    const bytes = new Map<string, number>([...this.#tables.values()].map((name) => [name, 0]));
    const [first = ''] = this.#tables.keys();
    const folder = path.dirname(first);
    let databaseBytes = 0;
    for (const { name, size } of sizesIn(path.join(this.#directory, folder))) {
      databaseBytes += size;
      // Without the number of a segment and the name of a fork.
      const table = this.#tables.get(path.posix.join(folder, name.replace(/[._].*/, '')));
      if (table !== undefined) bytes.set(table, (bytes.get(table) ?? 0) + size);
    }
    const tables = [...bytes].map(([name, size]) => ({ name, bytes: size, rows: null, deadRows: null }));
    return { tables: tables.sort((a, b) => (a.name < b.name ? -1 : 1)), databaseBytes };
  }
}

export function bytesIn(folder: string): number {
  return sizesIn(folder).reduce((sum, { size }) => sum + size, 0);
}

/** Files may disappear while the server runs. */
function sizesIn(folder: string): readonly { readonly name: string; readonly size: number }[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const found = statSync(path.join(folder, name), { throwIfNoEntry: false });
      return found?.isFile() ? [{ name, size: found.size }] : [];
    });
  } catch {
    return [];
  }
}
