import type { Instant, Statement } from '../kernel/table.ts';
import type { Connection } from './database.ts';

const rowsMax = 1_000;

/**
 * Deletes rows that are older than the given instant and returns their number. The statement's parameters are the instant and a
 * limit. Each run is a separate transaction, so that deleting a day of rows never blocks a write.
 */
export async function deleteInBatches(
  database: Pick<Connection, 'query'>,
  statement: Statement,
  before: Instant,
): Promise<number> {
  let deleted = 0;
  for (;;) {
    const rows = await database.query(statement, [new Date(before).toISOString(), rowsMax]);
    deleted += rows.length;
    if (rows.length < rowsMax) return deleted;
  }
}
