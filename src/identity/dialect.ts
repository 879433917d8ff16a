import {
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import type { Database } from '../db/database.ts';
import { assert } from '../kernel/assert.ts';

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
    return database.execute(text, values) as Promise<PostgresQueryResult<Row>>;
  }
  const client: PostgresPoolClient = { query, release: () => undefined };
  const pool: PostgresPool = { connect: async () => client, end: async () => undefined };
  return new PostgresDialect({ pool });
}
