import type { Config } from '../config.ts';
import type { Database } from './database.ts';
import { openPglite } from './pglite.ts';
import { statementLimit } from './pool.ts';
import { openPostgres } from './postgres.ts';

/** Opens the configured database: PostgreSQL, or the embedded one. `onCrash` is for the embedded database, which ends with its thread. */
export async function openDatabase(
  { databaseUrl, dataDirectory, statementSeconds }: Config,
  onCrash: (error: Error) => void,
  onIdleError: (error: Error) => void,
): Promise<Database> {
  const limits = statementLimit(statementSeconds);
  return databaseUrl === undefined
    ? openPglite({ dataDirectory, onCrash, limits })
    : openPostgres(databaseUrl, onIdleError, limits);
}
