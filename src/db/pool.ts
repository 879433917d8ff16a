import pg from 'pg';
import { DatabaseFailure } from '../kernel/failure.ts';
import type { Statement } from '../kernel/table.ts';
import type { Connection, Database, Executed } from './database.ts';
import { toFailure } from './failure.ts';

export interface PoolSettings {
  readonly kind: Database['kind'];
  readonly connectionsMax: number;
  readonly lanesMax: number;
  /** How pg reaches the server: a connection string, or a stream of our own to PGlite. */
  readonly target: pg.PoolConfig;
  readonly onClose?: () => Promise<void>;
  readonly onIdleError?: (error: Error) => void;
}

const waitForConnectionMsMax = 5_000;
const queryMsMax = 10_000;

/**
 * Each connection is told the same things. All our statements find rows by key, and some are planned while tables are
 * still empty: a plan that scans would be kept and cost more with every row (3.3 ms against 1.2 ms for one look-up at
 * a few thousand rows), so scans and the joins that need them are switched off. A lock that is not had within one
 * second is told to the client instead of holding a whole batch.
 */
const sessionSettings = `
  set time zone 'UTC'; set lock_timeout = '1s'; set statement_timeout = '9s'; set jit = off;
  set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;`;

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  20: BigInt,
  23: Number,
  25: (text) => text,
  114: (text) => text,
  1184: (text) => Date.parse(`${text.slice(0, 10)}T${text.slice(11)}:00`),
  3802: (text) => JSON.parse(text),
};

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : parsers[oid]) ?? pg.types.getTypeParser(oid, format),
};

export function openPool(settings: PoolSettings): Database {
  // Only other processes need to be told of what is committed, and only they could hear it.
  const announces = settings.kind === 'postgres' ? "set sandbank.announces = 'on';" : '';
  const ownSettings = sessionSettings + announces;
  const pool = new pg.Pool({
    ...settings.target,
    types,
    max: settings.connectionsMax,
    pipeline: true,
    connectionTimeoutMillis: waitForConnectionMsMax,
    query_timeout: queryMsMax,
    idleTimeoutMillis: settings.kind === 'pglite' ? 0 : 60_000,
    onConnect: async (client: pg.ClientBase) => {
      // PGlite has one session for ever: what an earlier connection prepared is still there.
      if (settings.kind === 'pglite') await client.query('discard all');
      await client.query(ownSettings);
    },
  } as pg.PoolConfig);
  // An idle connection that the server closes is reported here; without a listener it would end the process.
  pool.on('error', (error) => settings.onIdleError?.(error));
  // So is one that is lost while it is used; there the query fails too, and that is where it is dealt with.
  pool.on('connect', (client) => client.on('error', () => undefined));

  async function withClient<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw toFailure(error);
    }
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // After a refused statement the connection is as good as before; after a lost or late answer it is not.
      client.release(error instanceof DatabaseFailure && error.kind === 'unavailable');
      throw error;
    }
  }

  return {
    kind: settings.kind,
    lanesMax: settings.lanesMax,
    query: <Row>(statement: Statement, values: readonly unknown[]) =>
      withClient((client) => run<Row>(client, statement, values)),
    finish: <Row>(statement: Statement, values: readonly unknown[]) =>
      withClient((client) => run<Row>(client, statement, values)),
    transaction: (work) => withClient((client) => inTransaction(client, work)),
    session: (work) =>
      withClient(async (client) => {
        try {
          return await work(connectionOf(client));
        } finally {
          // On a connection that is lost nothing is set any more.
          await runScript(client, ownSettings).catch(() => undefined);
        }
      }),
    script: (sql, msMax) => withClient((client) => runScript(client, sql, msMax)),
    execute: (text, values) => withClient((client) => execute(client, text, values)),
    close: async () => {
      await pool.end();
      await settings.onClose?.();
    },
  };
}

function connectionOf(client: pg.PoolClient): Connection {
  return {
    query: (statement, values) => run(client, statement, values),
    finish: (statement, values) => run(client, statement, values),
    script: (sql, msMax) => runScript(client, sql, msMax),
  };
}

async function run<Row>(
  client: pg.PoolClient,
  statement: Statement,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  try {
    const result = await client.query({
      name: statement.name,
      text: statement.text,
      values: values as unknown[],
      ...(statement.msMax === undefined ? {} : { query_timeout: statement.msMax }),
    });
    return result.rows as Row[];
  } catch (error) {
    throw toFailure(error);
  }
}

async function execute(client: pg.PoolClient, text: string, values: readonly unknown[]): Promise<Executed> {
  try {
    const { command, rowCount, rows } = await client.query({
      text,
      values: values as unknown[],
      types: pg.types,
    });
    return { command, rowCount: rowCount ?? 0, rows };
  } catch (error) {
    throw toFailure(error);
  }
}

async function runScript(client: pg.PoolClient, sql: string, msMax = queryMsMax): Promise<void> {
  try {
    await client.query({ text: sql, query_timeout: msMax } as pg.QueryConfig);
  } catch (error) {
    throw toFailure(error);
  }
}

async function inTransaction<Result>(
  client: pg.PoolClient,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  // Not awaited: in pipeline mode it leaves together with the first statement of `work`.
  const begun = runScript(client, 'begin');
  begun.catch(() => undefined);
  let result: Result;
  let committed: Promise<void> | undefined;
  try {
    result = await work({
      ...connectionOf(client),
      finish: async <Row>(statement: Statement, values: readonly unknown[]) => {
        const rows = run<Row>(client, statement, values);
        // Not awaited either: when the statement fails, this commit finds the transaction aborted and rolls it back.
        committed = runScript(client, 'commit');
        committed.catch(() => undefined);
        return rows;
      },
    });
    await begun;
  } catch (error) {
    // A connection that cannot even roll back is not given to anybody again.
    await runScript(client, 'rollback').catch((failure: unknown) => {
      throw new DatabaseFailure('unavailable', failure);
    });
    throw error;
  }
  await (committed ?? runScript(client, 'commit'));
  return result;
}
