// TypeScript 7 finds the module that is extended below only if the file also imports it.
import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../src/db/migrate.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { findChromium } from './chromium.ts';
import { prepareMigrated, startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's default database. A test file creates its own with `migratedDatabase(inject('postgresUrl'))`. */
    readonly postgresUrl: string;
    /** The path of the browser; empty if there is none, and its tests are skipped. */
    readonly chromium: string;
  }
}

/** One PostgreSQL for the whole run: starting one takes about a second, creating a database in it about 30 ms. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const browser = findChromium();
  if ('missing' in browser) {
    if (process.env.CI === 'true')
      throw new Error(`The console cannot be tested: ${browser.missing}. With CI=true that is a failure.`);
    process.stderr.write(`Skipped, because ${browser.missing}: the browser tier (test/browser).\n`);
  }
  project.provide('chromium', 'file' in browser ? browser.file : '');
  const postgres = await startPostgres();
  await prepareMigrated(postgres.url, async (databaseUrl) => {
    const database = openPostgres(databaseUrl, () => undefined);
    await migrate(database).finally(() => database.close());
  });
  project.provide('postgresUrl', postgres.url);
  return () => postgres.stop();
}
