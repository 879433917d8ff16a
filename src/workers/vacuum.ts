import type { Statement } from '../kernel/table.ts';

interface Vacuumed {
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  script(sql: string, msMax: number): Promise<void>;
}

/** A table of 480 MB with 200,000 deleted rows took 1.8 s. */
const vacuumMsMax = 60_000;

/** Otherwise the database counts changed rows at most once a second, and those of the last round could be missing. */
const flushCounts: Statement = {
  name: 'flush_counts',
  text: 'select pg_stat_force_next_flush() is null as done',
};

/** The thresholds of autovacuum: 50 rows and a fifth of the table. */
const due: Statement = {
  name: 'tables_to_vacuum',
  text: `select s.relname::text as name from pg_stat_user_tables s
    where s.schemaname = 'public' and s.n_dead_tup > 50 + 0.2 * s.n_live_tup order by s.n_dead_tup`,
};

/**
 * The embedded database runs in one process without autovacuum: without this, the space of deleted and changed rows is never
 * used again, and tables with retention grow for ever. It has one connection, so requests wait for one table at a time.
 * Returns the number of tables.
 */
export async function vacuum(database: Vacuumed, isStopped: () => boolean): Promise<number> {
  await database.query(flushCounts, []);
  const tables = await database.query<{ name: string }>(due, []);
  let count = 0;
  for (const { name } of tables) {
    if (isStopped()) break;
    await database.script(`vacuum ${name}`, vacuumMsMax);
    count += 1;
  }
  return count;
}
