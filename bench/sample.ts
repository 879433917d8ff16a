/**
 * Reads the rows that one create request writes from the database, so that the baseline follows schema changes. Rows belong
 * to the request if they have the transaction id of its payment row. Later writes, such as the request log, are not included.
 */
import type pg from 'pg';

export interface Column {
  readonly name: string;
  readonly type: string;
  /** Filled by the database (identity, generated), so a client omits it. */
  readonly automatic: boolean;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns of each unique index. */
  readonly uniques: readonly (readonly string[])[];
  /** Tables that its foreign keys reference. */
  readonly references: readonly string[];
}

/** All values in PostgreSQL text format. */
export type Row = Readonly<Record<string, string | null>>;

export interface Sample {
  readonly paymentId: string;
  readonly idempotencyKey: string;
  readonly inserted: ReadonlyMap<string, readonly Row[]>;
  /** Tables in which the request updated an existing row. The baseline omits these updates, which favours it. */
  readonly updated: readonly string[];
}

export async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.oid::regclass::text as name,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
          'automatic', a.attidentity <> '' or a.attgenerated <> '' or coalesce(pg_get_expr(d.adbin, d.adrelid), '') like 'nextval(%')
          order by a.attnum)
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
      coalesce((select json_agg((select json_agg(a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum = any (i.indkey)))
        from pg_index i where i.indrelid = c.oid and i.indisunique), '[]') as uniques,
      coalesce((select json_agg(f.confrelid::regclass::text)
        from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'), '[]') as references
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    order by 1`);
  return rows;
}

export async function sampleCreate(
  client: pg.Client,
  tables: readonly Table[],
  create: () => Promise<{ readonly paymentId: string; readonly idempotencyKey: string }>,
): Promise<Sample> {
  const before = await countRows(client, tables);
  const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  const lastXid = rows[0]?.xid ?? '0';
  const { paymentId, idempotencyKey } = await create();
  const after = await countRows(client, tables);

  const written = new Map<string, Row[]>();
  for (const table of tables) written.set(table.name, await rowsSince(client, table, lastXid));
  const payment = [...written.values()].flat().find((row) => row.id === paymentId);
  if (payment === undefined) throw new Error(`No table has a row with the id ${paymentId}.`);

  const inserted = new Map<string, readonly Row[]>();
  const updated: string[] = [];
  for (const table of tables) {
    const own = (written.get(table.name) ?? []).filter((row) => row.xmin === payment.xmin);
    if (own.length === 0) continue;
    const grown = (after.get(table.name) ?? 0) - (before.get(table.name) ?? 0);
    if (grown === 0) updated.push(table.name);
    else inserted.set(table.name, own);
  }
  return { paymentId, idempotencyKey, inserted, updated };
}

async function countRows(client: pg.Client, tables: readonly Table[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const { rows } = await client.query<{ count: string }>(`select count(*)::text as count from ${name}`);
    counts.set(name, Number(rows[0]?.count));
  }
  return counts;
}

async function rowsSince(client: pg.Client, table: Table, xid: string): Promise<Row[]> {
  const columns = table.columns.map(({ name }) => `${client.escapeIdentifier(name)}::text`);
  const { rows } = await client.query<Row>(
    `select xmin::text, ${columns.join(', ')} from ${table.name} where xmin::text::bigint > $1 order by ctid`,
    [xid],
  );
  return rows;
}
