import type { Database } from './database.ts';
import { Hosts } from './hosts.ts';
import { openPool } from './pool.ts';
import type { PoolLimits } from './pool-client.ts';

const connectionsMax = 10;
/**
 * With two batches in flight PostgreSQL executes one while the engine decides and encodes the other; a third only makes
 * batches smaller.
 */
const batchesInFlightMax = 2;

export function openPostgres(
  databaseUrl: string,
  onIdleError: (error: Error) => void,
  limits?: PoolLimits,
): Database {
  const hosts = new Hosts(databaseUrl);
  return openPool({
    kind: 'postgres',
    connectionsMax,
    batchesInFlightMax,
    target: () => ({ connectionString: hosts.current, application_name: 'sandbank', keepAlive: true }),
    hosts,
    ...(limits === undefined ? {} : { limits }),
    onIdleError,
  });
}
