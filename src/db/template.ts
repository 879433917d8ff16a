import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { readMigrations, schemaMigrationsTable } from './migrate.ts';

/**
 * Writes a packed, migrated data directory. It is made by the build, so that a first start opens a database in a second
 * instead of making one in four.
 */
export async function writeTemplate(file: string): Promise<void> {
  const database = await PGlite.create();
  await database.exec(schemaMigrationsTable);
  for (const { version, name, sql, checksum } of await readMigrations()) {
    await database.exec(sql);
    await database.query('insert into schema_migrations (version, name, checksum) values ($1, $2, $3)', [
      version,
      name,
      checksum,
    ]);
  }
  const packed = await database.dumpDataDir('gzip');
  await database.close();
  const unfinished = `${file}.${randomUUID()}`;
  await writeFile(unfinished, Buffer.from(await packed.arrayBuffer()));
  await rename(unfinished, file);
}
