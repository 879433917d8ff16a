import type { Database } from '../../src/db/database.ts';

/**
 * The migrated schema as comparable text, the same on every database. Omits details that only some PostgreSQL versions store, such as
 * the names that version 18 gives to NOT NULL constraints.
 */
export async function dumpSchema(database: Database): Promise<string> {
  const lines = async (text: string): Promise<readonly string[]> =>
    (await database.query<{ line: string }>({ name: '', text }, [])).map(({ line }) => line).sort(byBytes);
  const tables = await lines(
    `select relname::text as line from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  );
  const parts: string[] = [];
  for (const table of tables) {
    const columns = await readColumns(database, table);
    parts.push(
      [
        `table ${table}`,
        ...columns.map(
          ({ column, type, isNullable, initial, collation }) =>
            `  ${column} ${type}${collation === null ? '' : ` collate "${collation}"`}${isNullable ? '' : ' not null'}${initial === null ? '' : ` default ${initial}`}`,
        ),
        ...(await lines(
          `select '  constraint ' || conname || ' ' || pg_get_constraintdef(oid) as line from pg_constraint
           where conrelid = '${table}'::regclass and contype in ('p', 'u', 'c', 'f', 'x')`,
        )),
        ...(await lines(
          `select '  ' || pg_get_indexdef(indexrelid) as line from pg_index where indrelid = '${table}'::regclass`,
        )),
        ...(await lines(
          `select '  ' || pg_get_triggerdef(oid) as line from pg_trigger
           where tgrelid = '${table}'::regclass and not tgisinternal`,
        )),
      ].join('\n'),
    );
  }
  const others = await lines(
    `select case relkind when 'S' then 'sequence ' else 'view ' end || relname as line from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('S', 'v', 'm', 'f', 'c')`,
  );
  const functions = await lines(
    `select pg_get_functiondef(oid) as line from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  return `${[...parts, ...others, ...functions.map((text) => text.trimEnd())].join('\n\n')}\n`;
}

export interface SchemaColumn {
  readonly column: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly initial: string | null;
  /** Null for the default collation of the type. */
  readonly collation: string | null;
}

/** Columns in table order, which is part of the schema. */
export function readColumns(database: Database, table: string): Promise<readonly SchemaColumn[]> {
  return database.query<SchemaColumn>(
    {
      name: '',
      text: `select a.attname::text as column, format_type(a.atttypid, a.atttypmod) as type,
          not a.attnotnull as "isNullable", pg_get_expr(d.adbin, d.adrelid) as initial,
          case when a.attcollation <> t.typcollation then c.collname::text end as collation
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        left join pg_collation c on c.oid = a.attcollation
        where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
        order by a.attnum`,
    },
    [table],
  );
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
