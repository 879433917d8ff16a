import { type Config, readConfig } from './config.ts';
import { fail } from './database-command.ts';
import type { Database } from './db/database.ts';
import { openPglite } from './db/pglite.ts';
import { statementLimit } from './db/pool.ts';

/**
 * The program, begun in the order that is quickest: an embedded database opens in a thread of its own while this one reads the
 * modules of the server. Each takes half a second of a core, a second of a slow one.
 */
export async function boot(argv: readonly string[]): Promise<void> {
  const opening = openEarly(argv);
  // Whoever waits for it is told; until then nobody is surprised.
  opening?.catch(() => undefined);
  const { main } = await import('./main.ts');
  return main(argv, opening);
}

/** Only where nothing that is read later can be wrong: a mistake in a file is told before anything is opened or made. */
function openEarly(argv: readonly string[]): Promise<Database> | undefined {
  const config = startOf(argv);
  if (!config || config.databaseUrl !== undefined) return undefined;
  if (config.seedFile !== undefined || config.importFile !== undefined) return undefined;
  const { dataDirectory, statementSeconds } = config;
  return openPglite({ dataDirectory, onCrash: fail, limits: statementLimit(statementSeconds) });
}

/** The settings of a start; of everything else, and of what cannot be understood, the program speaks itself. */
function startOf(argv: readonly string[]): Config | undefined {
  try {
    const invocation = readConfig(argv, process.env);
    return 'config' in invocation && invocation.command === 'start' ? invocation.config : undefined;
  } catch {
    return undefined;
  }
}
