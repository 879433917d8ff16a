import type { Database } from './database.ts';
import { openPool } from './pool.ts';

const connectionsMax = 10;
/**
 * Two batches under way keep PostgreSQL busy with one while the other is being decided and encoded; a third only makes
 * batches smaller.
 */
const lanesMax = 2;

export function openPostgres(databaseUrl: string, onIdleError: (error: Error) => void): Database {
  return openPool({
    kind: 'postgres',
    connectionsMax,
    lanesMax,
    target: { connectionString: databaseUrl, application_name: 'sandbank', keepAlive: true },
    onIdleError,
  });
}
