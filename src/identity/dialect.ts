import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import type { Database } from '../db/database.ts';
import { assert } from '../kernel/assert.ts';

const failures = new AsyncLocalStorage<{ error?: unknown }>();

/**
 * Calls Better Auth. When a statement failed, the call throws that failure: Better Auth replaces it by an error of its API, which a
 * client would get as 500 instead of 503.
 */
export async function withDatabaseFailures<Result>(call: () => Promise<Result>): Promise<Result> {
  const failure: { error?: unknown } = {};
  try {
    return await failures.run(failure, call);
  } catch (error) {
    const { statusCode } = error as { statusCode?: number };
    throw statusCode !== undefined && statusCode >= 500 && 'error' in failure ? failure.error : error;
  }
}

/**
 * A Kysely dialect for Better Auth on top of our database. Each statement goes through the pool separately: Better Auth is
 * configured without transactions, because PGlite has a single connection, which such a transaction would occupy.
 */
export function dialectOf(database: Pick<Database, 'execute'>): PostgresDialect {
  function query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  function query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  function query<Row>(
    text: string | PostgresCursor<Row>,
    values: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    assert(typeof text === 'string', 'a dialect without a cursor class must not receive cursors');
    return (database.execute(text, values) as Promise<PostgresQueryResult<Row>>).catch((error: unknown) => {
      const failure = failures.getStore();
      if (failure) failure.error = error;
      throw error;
    });
  }
  const client: PostgresPoolClient = { query, release: () => undefined };
  const pool: PostgresPool = { connect: async () => client, end: async () => undefined };
  return new PostgresDialect({ pool });
}
