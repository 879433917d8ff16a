import type { Database } from '../db/database.ts';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import type { Instant, Statement } from '../kernel/table.ts';
import { dayMs, minuteMs } from '../kernel/time.ts';
import { discardOverdueAccounts } from './accounts.ts';
import { historyDays } from './constants.ts';

// The previous release counts failed sign-ins in sign_in_tries for this long.
const graceMs = 15 * minuteMs;

/** Expired rows: most are never read again, so nothing else deletes them. */
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

const historyMs = historyDays * dayMs;
const oldHistory = expire('account_events', 'at');

/** Returns the number of deleted rows. */
export async function removeExpired(database: Pick<Database, 'query'>, now: Instant): Promise<number> {
  let removed = await deleteInBatches(database, discardOverdueAccounts, now);
  for (const statement of expired) removed += await deleteInBatches(database, statement, now - graceMs);
  removed += await deleteInBatches(database, oldHistory, now - historyMs);
  return removed;
}
