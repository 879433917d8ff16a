/** Data of a newer release: this release refuses it with one sentence that says what to do, and changes nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { type Migration, migrate, migrationOf, readMigrations } from '../../src/db/migrate.ts';
import { openPglite } from '../../src/db/pglite.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { packageVersion } from '../../src/local/paths.ts';
import { createDatabase } from '../support/postgres.ts';
import { runToEnd, type ServerOptions } from '../support/processes.ts';
import { databaseKinds } from '../support/server.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-downgrade-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
const fail = (error: Error) => {
  throw error;
};

/** Migrates a database as a release with these migrations would, and returns how to start a server on it. */
async function databaseOf(
  kind: (typeof databaseKinds)[number],
  name: string,
  ...more: readonly Migration[]
): Promise<ServerOptions> {
  const options: ServerOptions =
    kind === 'postgres'
      ? { databaseUrl: await createDatabase(inject('postgresUrl')) }
      : { dataDir: path.join(folder, name) };
  const { databaseUrl, dataDir: dataDirectory } = options;
  const database =
    databaseUrl === undefined
      ? await openPglite({ dataDirectory, onCrash: fail })
      : openPostgres(databaseUrl, () => undefined);
  await migrate(database, [...(await readMigrations()), ...more]).finally(() => database.close());
  return options;
}

const notes = 'alter table payments add column note text;';
const needing = (release: string) => migrationOf(9001, 'notes', `-- oldest release: ${release}\n${notes}`);

describe.each(databaseKinds)('a database of a newer release, on %s', (kind) => {
  test('that needs the newer release is refused by every command', async () => {
    const options = await databaseOf(
      kind,
      'newer',
      needing('99.1.0'),
      migrationOf(9002, 'more', '-- More.\n'),
    );
    const sentence =
      'This database needs Sandbank 99.1.0 or newer since its migration 9001 (notes), and this is Sandbank ' +
      `${packageVersion()}: install 99.1.0 or newer, or restore a backup from before that migration.`;
    const commands: readonly (readonly [string, string])[] = [
      ['start', 'Sandbank did not start. '],
      ['verify', ''],
      ['migrate', ''],
    ];
    for (const [command, before] of commands) {
      const args = command === 'start' ? [] : [command];
      const { code, stdout, stderr } = await runToEnd({ ...options, args });
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' });
      expect(stderr.trim().split('\n')).toEqual([
        expect.stringMatching(new RegExp(`${escaped(before + sentence)}$`)),
      ]);
    }
  });

  test('that needs this release or none opens', async () => {
    const options = await databaseOf(kind, 'same', needing(packageVersion()));
    const { code, stderr } = await runToEnd({ ...options, args: ['verify'] });
    expect(code, stderr).toBe(0);
  });
});

test('a data directory of another PostgreSQL is refused', async () => {
  const { dataDir = '' } = await databaseOf('pglite', 'postgres');
  writeFileSync(path.join(dataDir, 'db', 'PG_VERSION'), '99\n');
  const { code, stderr } = await runToEnd({ dataDir });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /was created by PostgreSQL 99, and this release of Sandbank contains PostgreSQL \d+: start it with the release that created it/,
  );
});

test('a snapshot of a newer release is refused at startup', async () => {
  const file = path.join(folder, 'newer.jsonl');
  const organization = { id: `org_${'0'.repeat(26)}`, name: 'Acme' };
  const header = { format: 'sandbank-snapshot', version: 99, schema: 1, organization, hasSecrets: false };
  writeFileSync(file, `${JSON.stringify({ ...header, exportedAt: '2099-01-01T00:00:00Z' })}\n`);
  const { code, stderr } = await runToEnd({ dataDir: path.join(folder, 'import'), args: ['--import', file] });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /the snapshot has format 99 and schema 1; this server supports them up to \d+ and \d+\./,
  );
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
