import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as passed } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DatabaseFailure } from '../kernel/failure.ts';
import { packageRoot } from '../local/paths.ts';
import type { Connection, Database } from './database.ts';

/**
 * Migrations only go forward. Any number of nodes may start at once: an advisory lock lets one of them migrate while
 * the others ask again until they find the work done. A database that is ahead of this code is left alone, so that old and
 * new nodes can run side by side during an upgrade.
 *
 * Each migration is a transaction of its own, but for those whose first line says `outside a transaction`: they make or drop
 * indexes concurrently, which cannot be in one.
 */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

export interface Migrated {
  /** The names of what was applied. */
  readonly applied: readonly string[];
  /** What the database has and this program does not know: a newer one has been there. */
  readonly ahead: readonly string[];
}

const folder = fileURLToPath(new URL('migrations/', packageRoot));
const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;
// Any constant does, as long as all nodes take the same; this spells "sbk".
const advisoryLock = 0x73626b;
const migrationMsMax = 60 * 60 * 1000;
const askAgainMs = 200;
/**
 * Whoever waits for the lock of a table holds up all who come after. They give up after a second (`db/pool.ts`), so a migration
 * gives up sooner, lets them pass, and tries again: behind a long transaction it waits without being in anybody's way.
 */
const lockMsMax = 500;
const lockPauseMs = 1_000;
const lockAttemptsMax = 120;
const concurrentAttemptsMax = 10;

export const outsideMark = '-- outside a transaction';

export async function readMigrations(): Promise<readonly Migration[]> {
  const migrations: Migration[] = [];
  for (const file of (await readdir(folder)).sort()) {
    const [, version, name] = fileName.exec(file) ?? [];
    if (version === undefined || name === undefined) continue;
    migrations.push(migrationOf(Number(version), name, await readFile(`${folder}${file}`, 'utf8')));
  }
  return migrations;
}

export function migrationOf(version: number, name: string, sql: string): Migration {
  return { version, name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

export async function migrate(
  database: Database,
  known?: readonly Migration[],
  pauseMs = lockPauseMs,
  attemptsMax = lockAttemptsMax,
): Promise<Migrated> {
  const migrations = known ?? (await readMigrations());
  return database.session(async (connection) => {
    const isAlone = database.kind === 'pglite';
    if (!isAlone) await takeLock(connection);
    try {
      // Two nodes that create this table at the same instant can collide in the catalogue, so it too is made under the lock.
      await connection.script(schemaMigrationsTable);
      const done = await appliedTo(connection);
      const applied: string[] = [];
      for (const migration of migrations) {
        const checksum = done.get(migration.version)?.checksum;
        if (checksum !== undefined && checksum !== migration.checksum) throw new MigrationChanged(migration);
        if (checksum !== undefined) continue;
        if (isOutside(migration) && !isAlone) await applyOutside(connection, migration, pauseMs);
        else await applyInside(connection, migration, pauseMs, attemptsMax);
        applied.push(`${migration.version} ${migration.name}`);
      }
      const own = new Set(migrations.map(({ version }) => version));
      const ahead = [...done].filter(([version]) => !own.has(version));
      return { applied, ahead: ahead.map(([version, { name }]) => `${version} ${name}`) };
    } finally {
      // A connection that was lost has let go of it.
      if (!isAlone)
        await connection.script(`select pg_advisory_unlock(${advisoryLock})`).catch(() => undefined);
    }
  });
}

/** Asked for again and again, and not waited for: who waits has a snapshot, and an index that is made concurrently waits for those. */
async function takeLock(connection: Connection): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < migrationMsMax; ) {
    const [row] = await connection.query<{ isTaken: boolean }>(
      { name: '', text: `select pg_try_advisory_lock(${advisoryLock}) as "isTaken"` },
      [],
    );
    if (row?.isTaken) return;
    await passed(askAgainMs);
  }
  throw new MigrationStuck('Another node has been migrating this database for an hour.');
}

async function appliedTo(
  connection: Pick<Connection, 'query'>,
): Promise<ReadonlyMap<number, { readonly name: string; readonly checksum: string }>> {
  const rows = await connection.query<{ version: number; name: string; checksum: string }>(
    { name: '', text: 'select version, name, checksum from schema_migrations order by version' },
    [],
  );
  return new Map(rows.map((row) => [row.version, row]));
}

async function applyInside(
  connection: Connection,
  migration: Migration,
  pauseMs: number,
  attemptsMax: number,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await connection.script('begin');
      await connection.script(
        `set local statement_timeout = 0; set local lock_timeout = '${lockMsMax}ms'; ${plain(migration)}`,
        migrationMsMax,
      );
      await note(connection, migration);
      return await connection.script('commit');
    } catch (error) {
      await connection.script('rollback').catch(() => undefined);
      if (!isMet(error)) throw error;
      if (attempt === attemptsMax) throw stuck(migration, attempt);
      await passed(pauseMs);
    }
  }
}

/** Statement by statement, each of which can be repeated: what was begun before is ended, or taken back and begun again. */
async function applyOutside(connection: Connection, migration: Migration, pauseMs: number): Promise<void> {
  // These wait for transactions, and not in a queue that others stand in.
  await connection.script('set statement_timeout = 0; set lock_timeout = 0');
  for (const statement of statementsOf(migration.sql))
    for (let attempt = 1; ; attempt += 1) {
      try {
        await dropUnfinished(connection, statement);
        await connection.script(statement, migrationMsMax);
        break;
      } catch (error) {
        if (!isMet(error)) throw error;
        if (attempt === concurrentAttemptsMax) throw stuck(migration, attempt);
        await passed(pauseMs);
      }
    }
  await note(connection, migration);
}

const madeIndex = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i;

/** What was interrupted leaves an index that is kept up with every write and used for nothing. */
async function dropUnfinished(connection: Connection, statement: string): Promise<void> {
  const name = madeIndex.exec(statement)?.[1];
  if (name === undefined) return;
  const [found] = await connection.query<{ isValid: boolean }>(
    {
      name: '',
      text: `select i.indisvalid as "isValid" from pg_index i where i.indexrelid = to_regclass('${name}')`,
    },
    [],
  );
  if (found && !found.isValid) await connection.script(`drop index concurrently ${name}`, migrationMsMax);
}

export function isOutside({ sql }: Pick<Migration, 'sql'>): boolean {
  return sql.startsWith(outsideMark);
}

/** The statements of a migration outside a transaction. Each ends with a semicolon at the end of a line; there are no bodies of functions. */
export function statementsOf(sql: string): readonly string[] {
  return sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** An embedded database has one session, which makes an index in a transaction as well, and nobody has to wait for it. */
export function plain(migration: Pick<Migration, 'sql'>): string {
  return isOutside(migration) ? migration.sql.replace(/\bconcurrently\b/gi, '') : migration.sql;
}

async function note(connection: Connection, { version, name, checksum }: Migration): Promise<void> {
  await connection.query(
    { name: '', text: 'insert into schema_migrations (version, name, checksum) values ($1, $2, $3)' },
    [version, name, checksum],
  );
}

/** It met somebody who holds what it needs, and may be had in a moment. */
function isMet(error: unknown): boolean {
  if (!(error instanceof DatabaseFailure) || error.constraint !== undefined) return false;
  return error.kind === 'busy' || error.kind === 'conflict';
}

function stuck({ version, name }: Migration, attempts: number): MigrationStuck {
  return new MigrationStuck(
    `Migration ${version} (${name}) did not get its locks in ${attempts} attempts: a long transaction holds them, ` +
      'which pg_stat_activity shows. Nothing of it is applied.',
  );
}

/** The names of what this program would apply; a database that no server has ever used lacks all of it. */
export async function pendingMigrations(database: Database): Promise<readonly string[]> {
  const [table] = await database.query<{ name: string | null }>(
    { name: '', text: `select to_regclass('schema_migrations')::text as name` },
    [],
  );
  const done = table?.name ? await appliedTo(database) : new Map();
  return (await readMigrations())
    .filter(({ version }) => !done.has(version))
    .map(({ version, name }) => `${version} ${name}`);
}

/** One line for whoever looks at a node of the version before. */
export function aheadWords(ahead: readonly string[]): string {
  return `The database has migrations of a newer version (${ahead.join(', ')}): this node works on with it.`;
}

export class MigrationChanged extends Error {
  override readonly name = 'MigrationChanged';

  constructor({ version, name }: Migration) {
    super(
      `Migration ${version} (${name}) was applied to this database in another form than this program has. ` +
        'Migrations are never edited: use the program that made the database, or a new database.',
    );
  }
}

export class MigrationStuck extends Error {
  override readonly name = 'MigrationStuck';
}

export const schemaMigrationsTable = `create table if not exists schema_migrations (
  version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`;
