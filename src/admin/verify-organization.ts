import type { Connection } from '../db/database.ts';
import { organizationTables } from '../engine/organization-tables.ts';
import { minuteMs } from '../kernel/time.ts';
import type { BooksProblem } from '../snapshots/format.ts';
import { type Check, checks, type Difference, differingTimers, type ReadAll, timersCheck } from './verify.ts';

const checkMsMax = minuteMs;

/**
 * The checks of `verify` for one organization, within the transaction that has just written it: an import with unsound books is
 * rolled back. The audit trail is not part of a snapshot, so its seals are not checked here.
 */
export async function findBooksProblem(
  connection: Connection,
  orgId: string,
): Promise<BooksProblem | undefined> {
  // The new rows are not analyzed yet, so the planner expects few of them and chooses nested loops: 1,200 payments took 3 s, and the time
  // grew quadratically.
  await connection.script(
    `set local enable_hashjoin = on; set local enable_nestloop = off; set local statement_timeout = ${checkMsMax}`,
  );
  const read: ReadAll = (text, values = []) =>
    connection.query({ name: '', text, msMax: checkMsMax }, values);
  for (const check of checks) {
    const [difference] = await read<Difference>(scopedSql(check), [orgId]);
    if (difference) return problemOf(check, difference);
  }
  const [difference] = await differingTimers(read, orgId);
  return difference && problemOf(timersCheck, difference);
}

/** Restricts a check to one organization: for each table it uses, a CTE of the same name hides the table. */
function scopedSql({ sql }: Check): string {
  const named = organizationTables.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(sql));
  const own = named.map(
    ({ name }) => `${name} as not materialized (select * from ${name} where org_id = $1::text)`,
  );
  return `with ${own.join(', ')} select * from (${sql}) d limit 1`;
}

function problemOf(
  { name, description }: Pick<Check, 'name' | 'description'>,
  { subject, expected, found }: Difference,
): BooksProblem {
  const message = `${description} ${subject}: expected ${expected}, found ${found}.`;
  return { check: name, message, subject, expected, found };
}
