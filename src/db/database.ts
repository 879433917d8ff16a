import type { Statement } from '../kernel/table.ts';

/**
 * The small interface that the rest of Sandbank knows of a database. Embedded PGlite and a PostgreSQL server stand
 * behind the same driver, so there is one SQL dialect, one set of error codes and one codec.
 */
export interface Connection {
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** The last statement of a transaction: its commit travels with it. Outside of one it is a query like any other. */
  finish<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Statements without parameters and without answers; for migrations, which may be given more time. */
  script(sql: string, msMax?: number): Promise<void>;
}

/** What a statement gave, in the words of PostgreSQL: for a library that brings its own statements. */
export interface Executed {
  readonly command: string;
  readonly rowCount: number;
  readonly rows: readonly unknown[];
}

/** The connections that a process has to its database. */
export interface Connections {
  readonly max: number;
  readonly open: number;
  readonly idle: number;
  /** Work that waits for one of them. */
  readonly waiting: number;
}

export interface Database extends Connection {
  readonly kind: 'pglite' | 'postgres';
  readonly connections: Connections;
  /** How many batches may be under way at once: PGlite has one connection, so a second would only wait. */
  readonly batchesInFlightMax: number;
  /**
   * Runs `work` in one transaction on a connection of its own: `begin` travels with the first statement. Only the
   * connection handed in may be used inside. A query on the database itself would wait for a second connection, which
   * PGlite does not have: it is refused by the time limit for connections instead of hanging.
   */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** Runs `work` on a connection of its own, without a transaction; what it sets for its session is set back afterwards. */
  session<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** A statement that is not prepared, with instants as dates. Nothing of our own goes through here. */
  execute(text: string, values: readonly unknown[]): Promise<Executed>;
  close(): Promise<void>;
}
