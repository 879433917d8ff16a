import pg from 'pg';
import { DatabaseFailure } from '../kernel/failure.ts';
import type { Statement } from '../kernel/table.ts';
import type { Connection, Database, Executed } from './database.ts';
import { isAborted, isLoss, toFailure } from './failure.ts';
import { type Hosts, TakesNoWrites } from './hosts.ts';

export interface PoolSettings {
  readonly kind: Database['kind'];
  readonly connectionsMax: number;
  readonly batchesInFlightMax: number;
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

/** How long a caller waits for a connection and for the result of one statement, and how long the statement waits for a lock. */
export interface PoolLimits {
  readonly connectMsMax: number;
  readonly queryMsMax: number;
  readonly lockMsMax: number;
}

/** A longer statement limit, for a slow machine, also lengthens the waits before a statement: for a connection and for a lock. */
export function statementLimit(seconds: number): PoolLimits {
  const queryMsMax = seconds * 1_000;
  return {
    connectMsMax: Math.max(5_000, queryMsMax / 2),
    queryMsMax,
    lockMsMax: Math.max(1_000, queryMsMax / 10),
  };
}

const usualLimits = statementLimit(10);

/**
 * Every session has the same settings. All our statements find rows by key, and some are planned while tables are still empty: a plan
 * that scans would be reused and cost more with every row (3.3 ms against 1.2 ms for one look-up at a few thousand rows), so scans and
 * the joins that need them are off. A lock that is not granted in time fails the statement instead of holding a whole batch.
 */
const sessionSettings = ({ queryMsMax, lockMsMax }: PoolLimits) => `
  set time zone 'UTC'; set lock_timeout = ${lockMsMax}; set statement_timeout = ${Math.floor(queryMsMax * 0.9)}; set jit = off;
  set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;`;

/**
 * For PostgreSQL only. A transaction that this process began and cannot end, because the network between is gone, is ended by the server; it
 * would hold its locks for the two hours of TCP. PGlite must not have this timeout: when it fires, in a process that was suspended
 * within a transaction, PGlite loops for ever. Only other processes listen to announcements, and PGlite has none.
 */
const serverSettings = ({ queryMsMax }: PoolLimits) => `
  set idle_in_transaction_session_timeout = ${queryMsMax * 3}; set sandbank.announces = 'on';`;

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
 * A connection is used until it fails. Connections opened before that failure are not trusted: they may lead to a host that no longer
 * answers, and each would cost a timeout. They are closed when their turn comes, and new ones are opened to the host that accepts writes.
 *
 * A connection returns to the pool only when it is clean: every statement answered, no transaction open. A caller that waited too long for
 * PostgreSQL drops its connection, and the server ends the statement. PGlite has no second connection to drop to, so there the statement
 * runs to its end, the caller gets the failure, and the next stream waits until the worker has cleaned the session.
 */
export function openPool(settings: PoolSettings): Database {
  const { kind, hosts, limits = usualLimits } = settings;
  const { connectMsMax, queryMsMax } = limits;
  let failures = 0;
  class PoolClient extends pg.Client {
    /** A failure since then may have concerned this connection. */
    readonly failuresBefore = failures;
    #unanswered = 0;
    #isRetired = false;

    constructor(config?: pg.ClientConfig) {
      super({ ...config, ...settings.target() });
    }

    async ask(config: pg.QueryConfig, msMax = queryMsMax): Promise<pg.QueryResult> {
      this.#unanswered += 1;
      const limit = kind === 'postgres' ? { query_timeout: msMax } : {};
      const answer = this.query({ ...config, ...limit }).finally(() => {
        this.#unanswered -= 1;
      });
      try {
        return await (kind === 'postgres' ? answer : answeredWithin(answer, msMax));
      } catch (error) {
        throw toFailure(error);
      }
    }

    get isClean(): boolean {
      return this.#unanswered === 0 && !this.#isRetired && this.getTransactionStatus() === 'I';
    }

    /** Its session has settings that could not be restored: nobody else may use it. */
    retire(): void {
      this.#isRetired = true;
    }
  }
  const ownSettings = sessionSettings(limits) + (kind === 'postgres' ? serverSettings(limits) : '');
  const pool = new pg.Pool({
    Client: PoolClient,
    types,
    max: settings.connectionsMax,
    pipeline: true,
    connectionTimeoutMillis: connectMsMax,
    idleTimeoutMillis: kind === 'pglite' ? 0 : 60_000,
    onConnect: async (client: pg.ClientBase) => {
      const text = `${ownSettings} show transaction_read_only`;
      const results: unknown = await (client as PoolClient).ask({ text }, connectMsMax);
      const last = (results as pg.QueryResult<{ transaction_read_only: string }>[]).at(-1);
      if (hosts?.mustTakeWrites && last?.rows[0]?.transaction_read_only !== 'off')
        throw new DatabaseFailure('unavailable', new TakesNoWrites());
    },
  } as pg.PoolConfig);
  // An idle connection that the server closes is reported here; without a listener it would end the process.
  pool.on('error', (error) => settings.onIdleError?.(error));
  // A connection lost during a query is reported here too. The query fails as well, and is handled there.
  pool.on('connect', (client) => client.on('error', () => undefined));

  let { opened } = settings;

  async function trustedClient(): Promise<Client> {
    if (opened !== undefined) {
      await opened;
      opened = undefined;
    }
    await hosts?.settled();
    for (let dropped = 0; ; dropped += 1) {
      const client = (await pool.connect()) as pg.PoolClient & PoolClient;
      if (client.failuresBefore === failures || dropped > settings.connectionsMax) return client;
      client.release(true);
    }
  }

  /** Nothing was sent yet, so a second attempt on another host cannot repeat an effect. */
  async function connect(): Promise<Client> {
    try {
      return await trustedClient();
    } catch (error) {
      if (!(await hosts?.look())) throw toFailure(error);
      return trustedClient().catch((second: unknown) => {
        throw toFailure(second);
      });
    }
  }

  async function withClient<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const client = await connect();
    try {
      const result = await work(client);
      client.release(!client.isClean);
      return result;
    } catch (error) {
      // A refused statement leaves the connection intact; a lost or late answer does not.
      const isLost = isLoss(error);
      if (isLost && client.failuresBefore === failures) failures += 1;
      if (isLost) void hosts?.look();
      client.release(isLost || !client.isClean);
      throw error;
    }
  }

  return {
    kind,
    batchesInFlightMax: settings.batchesInFlightMax,
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
        const restore = () => runScript(client, ownSettings).catch(() => client.retire());
        try {
          const result = await work(connectionOf(client));
          await restore();
          return result;
        } catch (error) {
          // A lost connection is closed anyway, and waiting for it would only double the delay.
          if (!isLoss(error)) await restore();
          throw error;
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

/** A connection that was taken from the pool. */
interface Client {
  readonly failuresBefore: number;
  readonly isClean: boolean;
  ask(config: pg.QueryConfig, msMax?: number): Promise<pg.QueryResult>;
  retire(): void;
  release(isUnusable: boolean): void;
}

/** Rejects when the answer is late. The statement continues, and its own connection still receives the answer. */
function answeredWithin<Result>(answer: Promise<Result>, msMax: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const late = new Error(`the embedded database did not answer within ${msMax} ms`);
    const timer = setTimeout(() => reject(new DatabaseFailure('unavailable', late)), msMax);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function connectionOf(client: Client): Connection {
  return {
    query: (statement, values) => run(client, statement, values),
    finish: (statement, values) => run(client, statement, values),
    script: (sql, msMax) => runScript(client, sql, msMax),
  };
}

async function run<Row>(
  client: Client,
  { name, text, msMax }: Statement,
  values: readonly unknown[],
): Promise<readonly Row[]> {
  const { rows } = await client.ask({ name, text, values: values as unknown[] }, msMax);
  return rows as Row[];
}

async function execute(client: Client, text: string, values: readonly unknown[]): Promise<Executed> {
  const { command, rowCount, rows } = await client.ask({
    text,
    values: values as unknown[],
    types: pg.types,
  });
  return { command, rowCount: rowCount ?? 0, rows };
}

async function runScript(client: Client, sql: string, msMax?: number): Promise<void> {
  await client.ask({ text: sql }, msMax);
}

async function inTransaction<Result>(
  client: Client,
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
