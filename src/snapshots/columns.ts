import type { Connection } from '../db/database.ts';
import { snapshotTables } from './format.ts';

export interface SnapshotColumn {
  readonly name: string;
  readonly isText: boolean;
  /** The type of its values in a snapshot, as `row_to_json` writes them; `any` for JSON. */
  readonly jsonType: 'string' | 'number' | 'boolean' | 'array' | 'any';
  /** Rows may omit the column: it has a default, or is nullable. */
  readonly isOptional: boolean;
}

export interface TableShape {
  readonly columns: readonly SnapshotColumn[];
  readonly key: readonly string[];
}

interface ColumnRow extends SnapshotColumn {
  readonly table: string;
  readonly keyPosition: number | null;
}

/** Reads the columns of the snapshot tables from the database, so that a column added by a migration is included automatically. */
export async function readShapes(connection: Connection): Promise<ReadonlyMap<string, TableShape>> {
  const rows = await connection.query<ColumnRow>(
    {
      name: '',
      text: `select c.relname::text as "table", a.attname::text as name, a.atttypid = 'text'::regtype as "isText",
          case when ty.typname in ('json', 'jsonb') then 'any' when ty.typcategory = 'N' then 'number'
            when ty.typcategory = 'B' then 'boolean' when ty.typcategory = 'A' then 'array' else 'string' end as "jsonType",
          a.atthasdef or not a.attnotnull as "isOptional", array_position(i.indkey::int2[], a.attnum) as "keyPosition"
        from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type ty on ty.oid = a.atttypid
        join pg_index i on i.indrelid = c.oid and i.indisprimary
        where c.relnamespace = current_schema()::regnamespace and c.relname::text = any($1::text[]) and a.attnum > 0
          and not a.attisdropped
        order by c.relname, a.attnum`,
    },
    [snapshotTables.map(({ name }) => name)],
  );
  const shapes = new Map<string, TableShape>();
  for (const { name: table } of snapshotTables) {
    const own = rows.filter((row) => row.table === table);
    const key = own
      .filter(({ keyPosition }) => keyPosition !== null)
      .sort((a, b) => Number(a.keyPosition) - Number(b.keyPosition))
      .map(({ name }) => name);
    shapes.set(table, { columns: own, key });
  }
  return shapes;
}

/** The number of the last applied migration. */
export async function readSchema(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ version: number }>(
    { name: '', text: 'select max(version) as version from schema_migrations' },
    [],
  );
  return row?.version ?? 0;
}
