import { PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type { Database } from '../db/database.ts';

/**
 * Our database as the library that signs people in knows one. Each statement goes through the pool by itself: that library is
 * told not to use transactions, because PGlite has one connection, which a transaction of its own would hold.
 */
export function dialectOf(database: Pick<Database, 'execute'>): PostgresDialect {
  const client: PostgresPoolClient = {
    // biome-ignore lint/suspicious/noExplicitAny: the interface is Kysely's, which also knows cursors; none is ever asked for.
    query: (async (text: string, values: readonly unknown[]) => database.execute(text, values)) as any,
    release: () => undefined,
  };
  const pool: PostgresPool = { connect: async () => client, end: async () => undefined };
  return new PostgresDialect({ pool });
}
