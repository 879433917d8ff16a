import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../places.ts';
import type { Connection, Database } from './database.ts';

/**
 * Migrations only go forward. Any number of nodes may start at once: an advisory lock lets one of them migrate while
 * the others wait and then find the work done. A database that is ahead of this code is left alone, so that old and
 * new nodes can run side by side during an upgrade.
 */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

const folder = fileURLToPath(new URL('migrations/', packageRoot));
const fileName = /^(\d{4})_([a-z0-9_]+)\.sql$/;
// Any constant does, as long as all nodes take the same; this spells "sbk".
const advisoryLock = 0x73626b;
const migrationMsMax = 60 * 60 * 1000;

export async function readMigrations(): Promise<readonly Migration[]> {
  const migrations: Migration[] = [];
  for (const file of (await readdir(folder)).sort()) {
    const [, version, name] = fileName.exec(file) ?? [];
    if (version === undefined || name === undefined) continue;
    const sql = await readFile(`${folder}${file}`, 'utf8');
    migrations.push({
      version: Number(version),
      name,
      sql,
      checksum: createHash('sha256').update(sql).digest('hex'),
    });
  }
  return migrations;
}

/** Returns the names of what was applied. */
export async function migrate(database: Database): Promise<readonly string[]> {
  const migrations = await readMigrations();
  // Two nodes that create this table at the same instant can collide in the catalogue, so it too is made under the lock.
  return database.transaction(async (connection) => {
    // A migration may take longer than a request may, and so may waiting for another node's.
    await connection.script('set local statement_timeout = 0; set local lock_timeout = 0');
    await connection.script(`select pg_advisory_xact_lock(${advisoryLock})`, migrationMsMax);
    await connection.script(schemaMigrationsTable);
    const done = await connection.query<{ version: number; checksum: string }>(
      { name: '', text: 'select version, checksum from schema_migrations' },
      [],
    );
    const checksums = new Map(done.map((row) => [row.version, row.checksum]));
    const applied: string[] = [];
    for (const migration of migrations) {
      const known = checksums.get(migration.version);
      if (known === undefined) {
        await apply(connection, migration);
        applied.push(`${migration.version} ${migration.name}`);
      } else if (known !== migration.checksum) {
        throw new MigrationChanged(migration);
      }
    }
    return applied;
  });
}

/** The names of what this program would apply; a database that no server has ever used lacks all of it. */
export async function pendingMigrations(database: Database): Promise<readonly string[]> {
  const [table] = await database.query<{ name: string | null }>(
    { name: '', text: `select to_regclass('schema_migrations')::text as name` },
    [],
  );
  const done = table?.name
    ? await database.query<{ version: number }>(
        { name: '', text: 'select version from schema_migrations' },
        [],
      )
    : [];
  const versions = new Set(done.map(({ version }) => version));
  return (await readMigrations())
    .filter(({ version }) => !versions.has(version))
    .map(({ version, name }) => `${version} ${name}`);
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

export const schemaMigrationsTable = `create table if not exists schema_migrations (
  version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`;

async function apply(connection: Connection, migration: Migration): Promise<void> {
  await connection.script(migration.sql, migrationMsMax);
  await connection.query(
    { name: '', text: 'insert into schema_migrations (version, name, checksum) values ($1, $2, $3)' },
    [migration.version, migration.name, migration.checksum],
  );
}
