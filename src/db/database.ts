import type { Statement } from '../kernel/table.ts';

/**
 * The database interface of the rest of Sandbank. Embedded PGlite and a PostgreSQL server use the same driver, so
 * there is one SQL dialect, one set of error codes and one codec.
 */
export interface Connection {
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** The last statement of a transaction, pipelined with the commit. Outside of a transaction it is an ordinary query. */
  finish<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Statements without parameters and without results; `msMax` is for migrations, which need more time. */
  script(sql: string, msMax?: number): Promise<void>;
}

/** The raw result of a statement, for a library with its own statements. */
export interface Executed {
  readonly command: string;
  readonly rowCount: number;
  readonly rows: readonly unknown[];
}

/** State of this process's connection pool. */
export interface Connections {
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

export interface Database extends Connection {
  readonly kind: 'pglite' | 'postgres';
  readonly connections: Connections;
  /** Maximum number of batches in flight. */
  readonly batchesInFlightMax: number;
  /**
   * Runs `work` in one transaction on a dedicated connection; `begin` is pipelined with the first statement. `work` must use
   * only the connection that it gets. A query on the database itself would wait for a second connection, which PGlite does
   * not have, and fail after the connection timeout.
   */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** Runs `work` on a dedicated connection, without a transaction; afterwards the session settings are restored. */
  session<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** Runs an unprepared statement, with timestamps as dates. Only Better Auth uses it. */
  execute(text: string, values: readonly unknown[]): Promise<Executed>;
  close(): Promise<void>;
}
