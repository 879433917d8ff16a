import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as passed } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hourMs } from '../kernel/time.ts';
import { packageRoot } from '../local/paths.ts';
import type { Connection, Database } from './database.ts';
import { DatabaseFailure } from './failure.ts';
import { type AppliedMigration, oldestReleaseOf, requireRelease } from './oldest-release.ts';
import { requireOwnSessions } from './own-sessions.ts';

/**
 * Migrations only go forward. Any number of nodes may start at once: an advisory lock lets one of them migrate while
 * the others poll until the migrations are applied. A database that is ahead of this code is not changed, so that old and
 * new nodes can run side by side during an upgrade, unless one of its migrations requires a newer release (`oldest-release.ts`).
 *
 * Each migration is a separate transaction, except those whose first line says `outside a transaction`: they create or drop
 * indexes concurrently, which is not possible in a transaction.
 */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

export interface Migrated {
  /** The names of the applied migrations. */
  readonly applied: readonly string[];
  /** Migrations of the database that this version does not know: a newer version applied them. */
  readonly ahead: readonly string[];
}

const folder = fileURLToPath(new URL('migrations/', packageRoot));
const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;
// Any constant works, as long as all nodes use the same; this spells "sbk".
const advisoryLock = 0x73626b;
const migrationMsMax = hourMs;
const askAgainMs = 200;
/**
 * A statement that waits for a table lock blocks all statements behind it. Those give up after a second (`db/pool.ts`), so a
 * migration gives up sooner, lets them pass, and retries: it can wait for a long transaction without blocking others.
 */
const lockMsMax = 500;
const lockPauseMs = 1_000;
const lockAttemptsMax = 120;
const concurrentAttemptsMax = 10;

const outsideMark = '-- outside a transaction';

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
  // The lock of a session that others use would protect nothing.
  await requireOwnSessions(database);
  return database.session(async (connection) => {
    const isAlone = database.kind === 'pglite';
    if (!isAlone) await takeLock(connection);
    try {
      // Two nodes that create this table concurrently can collide in the catalog, so it is created under the lock, too.
      await connection.script(schemaMigrationsTable);
      const done = await appliedTo(connection);
      requireRelease(done.values());
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
      // A lost connection has released the lock.
      if (!isAlone)
        await connection.script(`select pg_advisory_unlock(${advisoryLock})`).catch(() => undefined);
    }
  });
}

/** Polls instead of waiting: a waiting statement holds a snapshot, and creating an index concurrently waits for all snapshots. */
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

interface Applied extends AppliedMigration {
  readonly checksum: string;
}

/** As JSON, because databases from before 0.2.0 do not have the last column. */
const appliedMigrations = {
  name: '',
  text: `select version, name, checksum, to_jsonb(m) ->> 'oldest_release' as "oldestRelease"
    from schema_migrations m order by version`,
};

async function appliedTo(connection: Pick<Connection, 'query'>): Promise<ReadonlyMap<number, Applied>> {
  const rows = await connection.query<Applied>(appliedMigrations, []);
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
      await recordApplied(connection, migration);
      return await connection.script('commit');
    } catch (error) {
      await connection.script('rollback').catch(() => undefined);
      if (!isLockConflict(error)) throw error;
      if (attempt === attemptsMax) throw stuck(migration, attempt);
      await passed(pauseMs);
    }
  }
}

/** Applies statement by statement. Each can be repeated: unfinished work of an earlier attempt is completed, or dropped and repeated. */
async function applyOutside(connection: Connection, migration: Migration, pauseMs: number): Promise<void> {
  // Concurrent index operations wait for transactions without blocking others.
  await connection.script('set statement_timeout = 0; set lock_timeout = 0');
  for (const statement of statementsOf(migration.sql))
    for (let attempt = 1; ; attempt += 1) {
      try {
        await dropUnfinished(connection, statement);
        await connection.script(statement, migrationMsMax);
        break;
      } catch (error) {
        if (!isLockConflict(error)) throw error;
        if (attempt === concurrentAttemptsMax) throw stuck(migration, attempt);
        await passed(pauseMs);
      }
    }
  await recordApplied(connection, migration);
}

const createdIndex = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i;

/** An interrupted statement leaves an invalid index, which every write maintains and no query uses. */
async function dropUnfinished(connection: Connection, statement: string): Promise<void> {
  const name = createdIndex.exec(statement)?.[1];
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

/** The statements of a migration outside a transaction. Each ends with a semicolon at the end of a line; function bodies are not supported. */
export function statementsOf(sql: string): readonly string[] {
  return sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** An embedded database has one session, so it can create indexes inside a transaction without blocking anybody. */
export function plain(migration: Pick<Migration, 'sql'>): string {
  return isOutside(migration) ? migration.sql.replace(/\bconcurrently\b/gi, '') : migration.sql;
}

async function recordApplied(connection: Connection, migration: Migration): Promise<void> {
  const { text, values } = recordOf(migration);
  await connection.query({ name: '', text }, values);
}

/** The statement that records a migration. The column of the oldest release exists before the first migration that names one. */
export function recordOf({ version, name, checksum, sql }: Migration): {
  readonly text: string;
  readonly values: (string | number)[];
} {
  const oldest = oldestReleaseOf(sql);
  const text =
    oldest === null
      ? 'insert into schema_migrations (version, name, checksum) values ($1, $2, $3)'
      : 'insert into schema_migrations (version, name, checksum, oldest_release) values ($1, $2, $3, $4)';
  return { text, values: [version, name, checksum, ...(oldest === null ? [] : [oldest])] };
}

/** A lock conflict that may be gone in a moment. */
function isLockConflict(error: unknown): boolean {
  if (!(error instanceof DatabaseFailure) || error.constraint !== undefined) return false;
  return error.kind === 'busy' || error.kind === 'conflict';
}

function stuck({ version, name }: Migration, attempts: number): MigrationStuck {
  return new MigrationStuck(
    `Migration ${version} (${name}) did not get its locks in ${attempts} attempts because a long transaction holds them ` +
      '(see pg_stat_activity). Nothing of it was applied.',
  );
}

/** The names of the migrations that this version would apply: all of them, for a new database. Throws if it is too old for the database. */
export async function pendingMigrations(database: Database): Promise<readonly string[]> {
  const [table] = await database.query<{ name: string | null }>(
    { name: '', text: `select to_regclass('schema_migrations')::text as name` },
    [],
  );
  const done: ReadonlyMap<number, Applied> = table?.name ? await appliedTo(database) : new Map();
  requireRelease(done.values());
  return (await readMigrations())
    .filter(({ version }) => !done.has(version))
    .map(({ version, name }) => `${version} ${name}`);
}

/** A log message for a node that is older than its database. */
export function aheadMessage(ahead: readonly string[]): string {
  return `The database has migrations of a newer version (${ahead.join(', ')}): this node keeps running with it.`;
}

export class MigrationChanged extends Error {
  override readonly name = 'MigrationChanged';

  constructor({ version, name }: Migration) {
    super(
      `Migration ${version} (${name}) was applied to this database with different content. ` +
        'Migrations are never edited: use the version that created the database, or a new database.',
    );
  }
}

export class MigrationStuck extends Error {
  override readonly name = 'MigrationStuck';
}

export const schemaMigrationsTable = `create table if not exists schema_migrations (
  version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`;
