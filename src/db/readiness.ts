import type { Database } from './database.ts';
import { TakesNoWrites } from './hosts.ts';
import { readMigrations } from './migrate.ts';

const readinessMsMax = 2_000;

export type Readiness = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Load balancers ping faster than a query on a hanging database times out, so concurrent pings share one check. */
const pendingChecks = new WeakMap<Database, Promise<Readiness>>();

/** Whether the database answers in time, accepts writes, and has all migrations of this version. */
export async function databaseReadiness(database: Database): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve(unreachable), readinessMsMax);
  });
  let check = pendingChecks.get(database);
  if (!check) {
    check = checkTwice(database).finally(() => pendingChecks.delete(database));
    pendingChecks.set(database, check);
  }
  try {
    return await Promise.race([check, late]);
  } finally {
    clearTimeout(timer);
  }
}

const unreachable: Readiness = { ok: false, reason: 'The database cannot be reached.' };
const readOnly: Readiness = { ok: false, reason: 'The database does not accept writes.' };
const undefinedTable = '42P01';

const statement = {
  name: 'ready',
  text: `select current_setting('transaction_read_only') as "readOnly",
    (select max(version) from schema_migrations) as version`,
  // A dead connection is dropped when the check times out, and the next check gets a new one.
  msMax: readinessMsMax,
};

/** Checks a second time on a failure: an idle connection that was closed fails on its first use, which does not mean that the database is down. */
async function checkTwice(database: Database): Promise<Readiness> {
  const first = await checkOnce(database);
  return first === unreachable ? checkOnce(database) : first;
}

async function checkOnce(database: Database): Promise<Readiness> {
  try {
    const [row] = await database.query<{ readOnly: string; version: number | null }>(statement, []);
    if (row?.readOnly !== 'off') return readOnly;
    const isBehind = (row.version ?? 0) < (await newest());
    return isBehind ? notMigrated : { ok: true };
  } catch (error) {
    if ((error as Error).cause instanceof TakesNoWrites) return readOnly;
    return (error as { code?: unknown }).code === undefinedTable ? notMigrated : unreachable;
  }
}

const notMigrated: Readiness = { ok: false, reason: 'The database lacks migrations of this version.' };

let newestKnown: Promise<number> | undefined;

/** The files do not change while the program runs. */
function newest(): Promise<number> {
  newestKnown ??= readMigrations().then((migrations) => migrations.at(-1)?.version ?? 0);
  return newestKnown;
}
