import { fail } from '../admin/database.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { openPglite } from '../db/pglite.ts';
import { statementLimit } from '../db/pool.ts';
import { type ReservedPort, reservePort } from '../http/reserved-port.ts';

/** The first steps of an embedded server, begun before its modules are loaded. Awaiting a step throws its failure. */
export interface EarlyStart {
  /** Undefined when the server uses any free port. */
  readonly port: Promise<ReservedPort> | undefined;
  readonly database: Promise<Database> | undefined;
}

/** Undefined for PostgreSQL: see `reserve`. */
export function startEarly(config: Config): EarlyStart | undefined {
  if (config.databaseUrl !== undefined) return undefined;
  const port = reserve(config);
  // A mistake in a file must be reported before anything is created.
  const hasFiles = config.seedFile !== undefined || config.importFile !== undefined;
  const database = hasFiles ? undefined : open(config, port);
  for (const promise of [port, database]) promise?.catch(() => undefined);
  return { port, database };
}

/**
 * Only for an embedded server. Behind a load balancer an accepting port means that the node is ready, and a server on PostgreSQL
 * creates nothing that a failed start would lose.
 */
export function reserve({ port, host, databaseUrl }: Config): Promise<ReservedPort> | undefined {
  return port === 0 || databaseUrl !== undefined ? undefined : reservePort(port, host);
}

/** Opens in a worker thread while this thread loads the server modules: each takes half a second of CPU time. */
async function open(
  { dataDirectory, statementSeconds }: Config,
  port: Promise<ReservedPort> | undefined,
): Promise<Database> {
  await port;
  return openPglite({ dataDirectory, onCrash: fail, limits: statementLimit(statementSeconds) });
}
