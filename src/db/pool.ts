import pg from 'pg';
import { DatabaseFailure } from '../kernel/failure.ts';
import type { Statement } from '../kernel/table.ts';
import type { Connection, Database, Executed } from './database.ts';
import { isAborted, isLoss, toFailure } from './failure.ts';
import { type Hosts, TakesNoWrites } from './hosts.ts';

export interface PoolSettings {
  readonly kind: Database['kind'];
  readonly connectionsMax: number;
  readonly lanesMax: number;
  /** How pg reaches the server, asked for each connection: a connection string, or a stream of our own to PGlite. */
  readonly target: () => pg.ClientConfig;
  /** Where there is more than one host: what fails makes it look for the one that takes writes. */
  readonly hosts?: Pick<Hosts, 'look' | 'settled' | 'mustTakeWrites'>;
  readonly limits?: PoolLimits;
  /** For a database that is still being opened: nobody asks it before. */
  readonly opened?: Promise<void>;
  readonly onClose?: () => Promise<void>;
  readonly onIdleError?: (error: Error) => void;
}

/** How long a connection and an answer are waited for. */
export interface PoolLimits {
  readonly connectMsMax: number;
  readonly queryMsMax: number;
}

const usualLimits: PoolLimits = { connectMsMax: 5_000, queryMsMax: 10_000 };

/**
 * Each connection is told the same things. All our statements find rows by key, and some are planned while tables are
 * still empty: a plan that scans would be kept and cost more with every row (3.3 ms against 1.2 ms for one look-up at
 * a few thousand rows), so scans and the joins that need them are switched off. A lock that is not had within one
 * second is told to the client instead of holding a whole batch. A transaction that this process began and cannot end, because the
 * network between is gone, is ended by the server: it would hold its locks for the two hours of TCP.
 */
const sessionSettings = ({ queryMsMax }: PoolLimits) => `
  set time zone 'UTC'; set lock_timeout = '1s'; set statement_timeout = ${Math.floor(queryMsMax * 0.9)}; set jit = off;
  set idle_in_transaction_session_timeout = ${queryMsMax * 3};
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

/**
 * A connection is used until it fails. The others that were made before a failure are not trusted then: they may lead to
 * where nobody answers, and each would have to be waited for. They are closed as their turn comes, and new ones are made, to the
 * host that takes writes.
 */
export function openPool(settings: PoolSettings): Database {
  const { kind, hosts, limits = usualLimits } = settings;
  const { connectMsMax, queryMsMax } = limits;
  let failures = 0;
  const failuresBefore = new WeakMap<object, number>();
  class PoolClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, ...settings.target() });
      failuresBefore.set(this, failures);
    }
  }
  // Only other processes need to be told of what is committed, and only they could hear it.
  const announces = kind === 'postgres' ? "set sandbank.announces = 'on';" : '';
  const ownSettings = sessionSettings(limits) + announces;
  const pool = new pg.Pool({
    Client: PoolClient,
    types,
    max: settings.connectionsMax,
    pipeline: true,
    connectionTimeoutMillis: connectMsMax,
    query_timeout: queryMsMax,
    idleTimeoutMillis: kind === 'pglite' ? 0 : 60_000,
    onConnect: async (client: pg.ClientBase) => {
      // PGlite has one session for ever: what an earlier connection prepared is still there.
      if (kind === 'pglite') await client.query('discard all');
      const text = `${ownSettings} show transaction_read_only`;
      const told: unknown = await client.query({ text, query_timeout: connectMsMax } as pg.QueryConfig);
      const last = (told as pg.QueryResult<{ transaction_read_only: string }>[]).at(-1);
      if (hosts?.mustTakeWrites && last?.rows[0]?.transaction_read_only !== 'off')
        throw new DatabaseFailure('unavailable', new TakesNoWrites());
    },
  } as pg.PoolConfig);
  // An idle connection that the server closes is reported here; without a listener it would end the process.
  pool.on('error', (error) => settings.onIdleError?.(error));
  // So is one that is lost while it is used; there the query fails too, and that is where it is dealt with.
  pool.on('connect', (client) => client.on('error', () => undefined));

  let { opened } = settings;

  async function trustedClient(): Promise<pg.PoolClient> {
    if (opened !== undefined) {
      await opened;
      opened = undefined;
    }
    await hosts?.settled();
    for (let dropped = 0; ; dropped += 1) {
      const client = await pool.connect();
      if (failuresBefore.get(client) === failures || dropped > settings.connectionsMax) return client;
      client.release(true);
    }
  }

  /** Nothing was asked yet, so a second attempt at another host cannot do anything twice. */
  async function connect(): Promise<pg.PoolClient> {
    try {
      return await trustedClient();
    } catch (error) {
      if (!(await hosts?.look())) throw toFailure(error);
      return trustedClient().catch((second: unknown) => {
        throw toFailure(second);
      });
    }
  }

  async function withClient<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      // After a refused statement the connection is as good as before; after a lost or late answer it is not.
      const isLost = isLoss(error);
      if (isLost && failuresBefore.get(client) === failures) failures += 1;
      if (isLost) void hosts?.look();
      client.release(isLost);
      throw error;
    }
  }

  return {
    kind,
    lanesMax: settings.lanesMax,
    get connections() {
      const { totalCount: open, idleCount: idle, waitingCount: waiting } = pool;
      return { max: settings.connectionsMax, open, idle, waiting };
    },
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

async function runScript(client: pg.PoolClient, sql: string, msMax?: number): Promise<void> {
  try {
    const limit = msMax === undefined ? {} : { query_timeout: msMax };
    await client.query({ text: sql, ...limit } as pg.QueryConfig);
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
  let first: unknown;
  // Statements travel together, and behind one that fails the others are refused for that alone: whoever waits for those is told
  // what failed, and not that something did.
  const told = async <Value>(asked: Promise<Value>): Promise<Value> => {
    try {
      return await asked;
    } catch (error) {
      first ??= error;
      throw isAborted(error) ? first : error;
    }
  };
  try {
    result = await work({
      query: (statement, values) => told(run(client, statement, values)),
      finish: async <Row>(statement: Statement, values: readonly unknown[]) => {
        const rows = told(run<Row>(client, statement, values));
        // Not awaited either: when the statement fails, this commit finds the transaction aborted and rolls it back.
        committed = runScript(client, 'commit');
        committed.catch(() => undefined);
        return rows;
      },
      script: (sql, msMax) => told(runScript(client, sql, msMax)),
    });
    await begun;
  } catch (error) {
    // One that is lost ends its transaction with it, and asking it to would only take as long once more.
    if (isLoss(error)) throw error;
    // A connection that cannot even roll back is not given to anybody again.
    await runScript(client, 'rollback').catch((failure: unknown) => {
      throw new DatabaseFailure('unavailable', failure);
    });
    throw error;
  }
  await (committed ?? runScript(client, 'commit'));
  return result;
}
