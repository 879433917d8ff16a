import type { Database } from './database.ts';
import { TakesNoWrites } from './hosts.ts';
import { readMigrations } from './migrate.ts';

const readinessMsMax = 2_000;

export type Readiness = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Pings of a balancer come faster than a database that hangs is given up: they wait for one look, and not each for its own. */
const underWay = new WeakMap<Database, Promise<Readiness>>();

/** Whether the database answers soon, takes writes, and has the tables that this program knows. */
export async function databaseReadiness(database: Database): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve(unreachable), readinessMsMax);
  });
  let looking = underWay.get(database);
  if (!looking) {
    looking = lookTwice(database).finally(() => underWay.delete(database));
    underWay.set(database, looking);
  }
  try {
    return await Promise.race([looking, late]);
  } finally {
    clearTimeout(timer);
  }
}

const unreachable: Readiness = { ok: false, reason: 'The database cannot be reached.' };
const readOnly: Readiness = { ok: false, reason: 'The database takes no writes.' };
const undefinedTable = '42P01';

const statement = {
  name: 'ready',
  text: `select current_setting('transaction_read_only') as "readOnly",
    (select max(version) from schema_migrations) as version`,
  // A connection that leads nowhere is given up with the look, and the next look has another.
  msMax: readinessMsMax,
};

/** A connection that was closed while nobody used it is found out by using it: that alone is no reason to be out of service. */
async function lookTwice(database: Database): Promise<Readiness> {
  const first = await look(database);
  return first === unreachable ? look(database) : first;
}

async function look(database: Database): Promise<Readiness> {
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

const notMigrated: Readiness = { ok: false, reason: 'The database lacks migrations of this program.' };

let newestKnown: Promise<number> | undefined;

/** The files do not change while the program runs. */
function newest(): Promise<number> {
  newestKnown ??= readMigrations().then((migrations) => migrations.at(-1)?.version ?? 0);
  return newestKnown;
}
