import type { Connection } from '../db/database.ts';
import { organizationTables } from '../engine/organization-tables.ts';
import type { BooksProblem } from '../snapshots/format.ts';
import { type Check, checks, type Difference, differingTimers, type ReadAll, timersCheck } from './verify.ts';

const checkMsMax = 60_000;

/**
 * The checks of `verify` for one organization, within the transaction that has just written it: an import with unsound books is
 * rolled back. The audit trail is not part of a snapshot, so its seals are not checked here.
 */
export async function findBooksProblem(
  connection: Connection,
  orgId: string,
): Promise<BooksProblem | undefined> {
  // Nothing was analyzed since the rows were written, so the planner takes them for few and would compare each with each: 1,200 payments took
  // 3 s in that way, and their time grew with the square of their number.
  await connection.script(
    `set local enable_hashjoin = on; set local enable_nestloop = off; set local statement_timeout = ${checkMsMax}`,
  );
  const read: ReadAll = (text, values = []) =>
    connection.query({ name: '', text, msMax: checkMsMax }, values);
  for (const check of checks) {
    const [difference] = await read<Difference>(ofOrganization(check), [orgId]);
    if (difference) return problemOf(check, difference);
  }
  const [difference] = await differingTimers(read, orgId);
  return difference && problemOf(timersCheck, difference);
}

/** Every table that the check names is replaced by its rows of one organization: a CTE hides the table of the same name. */
function ofOrganization({ sql }: Check): string {
  const named = organizationTables.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(sql));
  const own = named.map(
    ({ name }) => `${name} as not materialized (select * from ${name} where org_id = $1::text)`,
  );
  return `with ${own.join(', ')} select * from (${sql}) d limit 1`;
}

function problemOf(
  { name, words }: Pick<Check, 'name' | 'words'>,
  { subject, expected, found }: Difference,
): BooksProblem {
  const message = `${words} ${subject}: expected ${expected}, found ${found}.`;
  return { check: name, message, subject, expected, found };
}
