import type { Database } from '../db/database.ts';
import type { Instant, Statement } from '../kernel/table.ts';
import { discardOverdueAccounts } from './accounts.ts';

const rowsMax = 1_000;
// The release before counts failed sign-ins in sign_in_tries, for this long.
const graceMs = 15 * 60_000;

/** Rows that have ended: most are never read again, so nothing else deletes them. */
const expired: readonly Statement[] = [
  expire('sign_in_budgets', 'full_at'),
  expire('sign_in_tries', 'since'),
  expire('person_sessions', 'expires_at'),
  expire('person_verifications', 'expires_at'),
  expire('password_reset_links', 'expires_at'),
];

function expire(table: string, column: string): Statement {
  return {
    name: `${table}_expire`,
    text: `with old as (select ctid from ${table} where ${column} <= $1 limit $2)
      delete from ${table} where ctid = any(array(select ctid from old)) returning 1 as expired`,
  };
}

/** Deletes in bounded batches; returns the number of rows. */
export async function removeExpired(database: Pick<Database, 'query'>, now: Instant): Promise<number> {
  let removed = 0;
  for (const statement of expired) {
    const values = [new Date(now - graceMs).toISOString(), rowsMax];
    for (let rows = rowsMax; rows === rowsMax; removed += rows)
      rows = (await database.query(statement, values)).length;
  }
  for (let rows = rowsMax; rows === rowsMax; removed += rows)
    rows = await discardOverdueAccounts(database, now, rowsMax);
  return removed;
}
