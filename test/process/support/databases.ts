/** The two databases that a server can run on. */
import path from 'node:path';
import { inject } from 'vitest';
import type { Query } from '../../support/audit.ts';
import { migratedDatabase } from '../../support/postgres.ts';
import type { ServerOptions } from '../../support/processes.ts';
import { queryEmbedded, queryPostgres, type Verify } from './database-rows.ts';

export interface TestDatabase {
  readonly options: ServerOptions;
  /** Runs queries on the database. The embedded one must have no server at that time. */
  readonly inspect: <Result>(work: (query: Query, verify: Verify) => Promise<Result>) => Promise<Result>;
}

/** Both databases, by name. */
export function databasesIn(
  folder: string,
): readonly (readonly [name: string, open: () => Promise<TestDatabase>])[] {
  return [
    [
      'the embedded database',
      async () => {
        const dataDir = path.join(folder, 'data');
        return { options: { dataDir }, inspect: (work) => queryEmbedded(dataDir, work) };
      },
    ],
    [
      'PostgreSQL',
      async () => {
        const databaseUrl = await migratedDatabase(inject('postgresUrl'));
        return { options: { databaseUrl }, inspect: (work) => queryPostgres(databaseUrl, work) };
      },
    ],
  ];
}

/** For random delays only: a test that waits for an event waits for its signal. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
