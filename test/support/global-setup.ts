// TypeScript 7 finds the module that is extended below only if the file also imports it.
import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's own database. A test file makes one for itself with `createDatabase(inject('postgresUrl'))`. */
    readonly postgresUrl: string;
  }
}

/** One PostgreSQL for the whole run: starting one takes about a second, making a database in it about 30 ms. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  project.provide('postgresUrl', postgres.url);
  return () => postgres.stop();
}
