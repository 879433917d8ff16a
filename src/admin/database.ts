import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import type { Database } from '../db/database.ts';
import { readDatabaseUrl } from '../db/database-url.ts';
import { migrate, pendingMigrations } from '../db/migrate.ts';
import { openPglite } from '../db/pglite.ts';
import { openPostgres } from '../db/postgres.ts';

/** A command that cannot do its work. Its message is for the person at the terminal. */
export class CommandProblem extends Error {
  override readonly name = 'CommandProblem';
}

export interface DatabaseOptions {
  /** The value of `--data`. */
  readonly data: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface MigrationReport {
  readonly where: string;
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

export interface DatabaseFindings {
  readonly where: string;
  readonly kind: Database['kind'];
  readonly version: string;
  readonly pending: readonly string[];
}

/** `sandbank migrate`: applies the pending migrations; with `isDryRun` it only lists them. */
export async function migrateWith({
  isDryRun,
  ...options
}: DatabaseOptions & { readonly isDryRun: boolean }): Promise<MigrationReport> {
  const config = readConfig({ data: options.data }, options.env, 'inspect');
  const database = isDryRun ? await openExisting(config, fail) : await openOrCreate(config);
  try {
    const { applied } = isDryRun ? { applied: [] } : await migrate(database);
    return { where: whereData(config), applied, pending: await pendingMigrations(database) };
  } finally {
    await database.close();
  }
}

/** For `sandbank doctor`: the state of the database, read without a server. */
export async function inspectWith(options: DatabaseOptions): Promise<DatabaseFindings> {
  const config = readConfig({ data: options.data }, options.env, 'inspect');
  const database = await openExisting(config, fail);
  try {
    const [row] = await database.query<{ version: string }>(
      { name: '', text: `select current_setting('server_version') as version` },
      [],
    );
    const pending = await pendingMigrations(database);
    return { where: whereData(config), kind: database.kind, version: row?.version ?? 'unknown', pending };
  } finally {
    await database.close();
  }
}

/** Opens an existing database and never creates one, so a mistyped directory is an error. */
export async function openExisting(
  { databaseUrl, dataDirectory }: Pick<Config, 'databaseUrl' | 'dataDirectory'>,
  onCrash: (error: Error) => void,
): Promise<Database> {
  if (databaseUrl !== undefined) return openPostgres(databaseUrl, () => undefined);
  if (dataDirectory === undefined)
    throw new CommandProblem('An in-memory database exists only while its server runs.');
  if (!existsSync(join(dataDirectory, 'db')))
    throw new CommandProblem(`There is no database in ${dataDirectory}; choose the directory with --data.`);
  return openPglite({ dataDirectory, onCrash });
}

async function openOrCreate({ databaseUrl, dataDirectory }: Config): Promise<Database> {
  if (databaseUrl !== undefined) return openPostgres(databaseUrl, () => undefined);
  if (dataDirectory === undefined)
    throw new CommandProblem('An in-memory database exists only while its server runs.');
  return openPglite({ dataDirectory, onCrash: fail });
}

export function whereData({
  databaseUrl,
  dataDirectory,
}: Pick<Config, 'databaseUrl' | 'dataDirectory'>): string {
  if (databaseUrl !== undefined) {
    const read = readDatabaseUrl(databaseUrl);
    return `PostgreSQL at ${'shown' in read ? read.shown : 'a host'} (persists)`;
  }
  return dataDirectory === undefined ? 'in memory (gone when it stops)' : `${dataDirectory} (persists)`;
}

/** The thread of the embedded database has ended, so the command cannot continue. */
export function fail(error: Error): never {
  console.error(`Sandbank is exiting: ${error.message}.`);
  process.exit(1);
}
