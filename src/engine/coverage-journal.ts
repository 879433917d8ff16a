import type { Database } from '../db/database.ts';
import type { Statement } from '../kernel/table.ts';
import { type CoverageRow, coverageTable } from '../resources/coverage/table.ts';
import { columnsOf, namesOf, rowsFrom } from './columns.ts';

/** Adds to the stored counts. As with the request log, the commit does not wait for the disk. */
const write: Statement = {
  name: 'coverage_write',
  text: `with counted as (
      insert into coverage as c (${namesOf(coverageTable)}) ${rowsFrom(coverageTable, 1)}
      on conflict (org_id, kind, name) do update set met = c.met + excluded.met)
    select set_config('synchronous_commit', 'off', true)`,
  msMax: 5_000,
};

/** Writes coverage counts. It belongs to the engine, the only writer, although no command is involved. */
export class CoverageJournal {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async write(rows: readonly CoverageRow[]): Promise<void> {
    // Sorted: two nodes that count the same items lock their rows in the same order.
    const sorted = [...rows].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    await this.#database.query(write, columnsOf(coverageTable, sorted));
  }
}

function orderOf({ orgId, kind, name }: CoverageRow): string {
  return `${orgId} ${kind} ${name}`;
}
