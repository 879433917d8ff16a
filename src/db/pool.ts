import pg from 'pg';
import type { Statement } from '../kernel/table.ts';
import { minuteMs } from '../kernel/time.ts';
import type { Connection, Connections, Database, Executed } from './database.ts';
import { DatabaseFailure, isAborted, isLoss, toFailure } from './failure.ts';
import {
  type Client,
  clientClass,
  type PoolLimits,
  type PoolSettings,
  prepareSession,
} from './pool-client.ts';

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
 * that scans would be reused and cost more with every row (3.3 ms against 1.2 ms for one lookup at a few thousand rows), so scans and
 * the joins that need them are off. A lock that is not granted in time fails the statement instead of holding a whole batch.
 */
const sessionSettings = ({ queryMsMax, lockMsMax }: PoolLimits) => `
  set time zone 'UTC'; set lock_timeout = ${lockMsMax}; set statement_timeout = ${Math.floor(queryMsMax * 0.9)}; set jit = off;
  set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;`;

/**
 * For PostgreSQL only. The server ends a transaction that this process cannot end because the network failed; otherwise it would hold its
 * locks for TCP's two hours. PGlite must not have this timeout: when it fires, in a process that was suspended within a transaction,
 * PGlite loops forever. Notifications are for other processes only, and PGlite has none.
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

export function openPool(settings: PoolSettings): Database {
  const { kind, limits = usualLimits } = settings;
  const ownSettings = sessionSettings(limits) + (kind === 'postgres' ? serverSettings(limits) : '');
  const pool = new TrustedPool(settings, limits, ownSettings);
  return {
    kind,
    batchesInFlightMax: settings.batchesInFlightMax,
    get connections() {
      return pool.connections;
    },
    query: <Row>(statement: Statement, values: readonly unknown[]) =>
      pool.share((client) => run<Row>(client, statement, values)),
    finish: <Row>(statement: Statement, values: readonly unknown[]) =>
      pool.share((client) => run<Row>(client, statement, values)),
    transaction: (work) => pool.use((client) => inTransaction(client, work)),
    session: (work) => pool.use((client) => inSession(client, ownSettings, work)),
    script: (sql, msMax) => pool.use((client) => runScript(client, sql, msMax)),
    execute: (text, values) => pool.use((client) => execute(client, text, values)),
    close: async () => {
      await pool.end();
      await settings.onClose?.();
    },
  };
}

/** A connection whose statements have several callers. */
interface Shared {
  readonly client: Promise<Client>;
  users: number;
  isRunning: boolean;
  isLost: boolean;
}

/**
 * A connection is used until it fails. Connections opened before that failure are not trusted: they may lead to a host that no longer
 * answers, and each would cost a timeout. They are closed when their turn comes, and new ones are opened to the host that accepts writes.
 *
 * A connection returns to the pool only when it is clean: every statement answered, no transaction open. A caller that waited too long for
 * PostgreSQL drops its connection, and the server ends the statement. PGlite has no second connection to drop to, so there the statement
 * runs to its end, the caller gets the failure, and the next stream waits until the worker has cleaned the session.
 */
class TrustedPool {
  readonly #settings: PoolSettings;
  readonly #pool: pg.Pool;
  #opened: Promise<void> | undefined;
  #failures = 0;
  #shared: Shared | undefined;
  /** Callers that wait for a dedicated connection. */
  #waitingForDedicated = 0;

  constructor(settings: PoolSettings, limits: PoolLimits, ownSettings: string) {
    this.#settings = settings;
    this.#opened = settings.opened;
    this.#pool = new pg.Pool({
      Client: clientClass(settings, limits, () => this.#failures),
      types,
      max: settings.connectionsMax,
      pipeline: true,
      connectionTimeoutMillis: limits.connectMsMax,
      idleTimeoutMillis: settings.kind === 'pglite' ? 0 : minuteMs,
      onConnect: (client: pg.ClientBase) =>
        prepareSession(client as pg.ClientBase & Client, ownSettings, limits, settings.hosts),
    } as pg.PoolConfig);
    // An idle connection that the server closes is reported here; without a listener it would end the process.
    this.#pool.on('error', (error) => settings.onIdleError?.(error));
    // A connection lost during a query is reported here too. The query fails as well, and is handled there.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  get connections(): Connections {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { max: this.#settings.connectionsMax, open, idle, waiting };
  }

  /** Runs `work` on a dedicated connection. */
  async use<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    this.#waitingForDedicated += 1;
    const client = await this.#connect().finally(() => {
      this.#waitingForDedicated -= 1;
    });
    let isLost = false;
    try {
      return await work(client);
    } catch (error) {
      isLost = this.#noteLoss(client, error);
      throw error;
    } finally {
      client.release(isLost || !client.isClean);
    }
  }

  /**
   * Runs one statement, which is a transaction by itself. PGlite has one connection: its statements are sent without waiting for the
   * answers to earlier ones, so that the database is never idle between two of them. Nobody joins once somebody waits for a dedicated
   * connection, or after a statement was lost or late.
   */
  async share<Result>(statement: (client: Client) => Promise<Result>): Promise<Result> {
    if (this.#settings.kind === 'postgres') return this.use(statement);
    if (this.#shared === undefined || (this.#shared.isRunning && this.#waitingForDedicated > 0))
      this.#shared = { client: this.#connect(), users: 0, isRunning: false, isLost: false };
    const shared = this.#shared;
    shared.users += 1;
    let client: Client | undefined;
    try {
      client = await shared.client;
      shared.isRunning = true;
      return await statement(client);
    } catch (error) {
      if (client === undefined || this.#noteLoss(client, error)) {
        shared.isLost = true;
        if (this.#shared === shared) this.#shared = undefined;
      }
      throw error;
    } finally {
      shared.users -= 1;
      if (shared.users === 0) {
        if (this.#shared === shared) this.#shared = undefined;
        client?.release(shared.isLost || !client.isClean);
      }
    }
  }

  /** A refused statement leaves the connection intact; a lost or late answer does not. */
  #noteLoss({ failuresBefore }: Client, error: unknown): boolean {
    const isLost = isLoss(error);
    if (isLost && failuresBefore === this.#failures) this.#failures += 1;
    if (isLost) void this.#settings.hosts?.findPrimary();
    return isLost;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  /** Nothing was sent yet, so a second attempt on another host cannot repeat an effect. */
  async #connect(): Promise<Client> {
    try {
      return await this.#trustedClient();
    } catch (error) {
      if (!(await this.#settings.hosts?.findPrimary())) throw toFailure(error);
      return this.#trustedClient().catch((second: unknown) => {
        throw toFailure(second);
      });
    }
  }

  async #trustedClient(): Promise<Client> {
    if (this.#opened !== undefined) {
      await this.#opened;
      this.#opened = undefined;
    }
    await this.#settings.hosts?.settled();
    for (let dropped = 0; ; dropped += 1) {
      const client = (await this.#pool.connect()) as pg.PoolClient & Client;
      if (client.failuresBefore === this.#failures || dropped > this.#settings.connectionsMax) return client;
      client.release(true);
    }
  }
}

/** Work that may change the settings of its session, which are restored afterwards. */
async function inSession<Result>(
  client: Client,
  ownSettings: string,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
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
  // Statements are pipelined: after a failure PostgreSQL rejects the following ones with "transaction aborted". Their callers get
  // the original error instead.
  const withFirstError = async <Value>(statement: Promise<Value>): Promise<Value> => {
    try {
      return await statement;
    } catch (error) {
      first ??= error;
      throw isAborted(error) ? first : error;
    }
  };
  try {
    result = await work({
      query: (statement, values) => withFirstError(run(client, statement, values)),
      finish: async <Row>(statement: Statement, values: readonly unknown[]) => {
        const rows = withFirstError(run<Row>(client, statement, values));
        // Not awaited either: when the statement fails, this commit finds the transaction aborted and rolls it back.
        committed = runScript(client, 'commit');
        committed.catch(() => undefined);
        return rows;
      },
      script: (sql, msMax) => withFirstError(runScript(client, sql, msMax)),
    });
    await begun;
  } catch (error) {
    // A lost connection ends its transaction; a rollback would only run into the same timeout.
    if (isLoss(error)) throw error;
    // A connection that cannot roll back is not reused.
    await runScript(client, 'rollback').catch((failure: unknown) => {
      throw new DatabaseFailure('unavailable', failure);
    });
    throw error;
  }
  await (committed ?? runScript(client, 'commit'));
  return result;
}
