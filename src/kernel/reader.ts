import type { AnyRow, Statement, Table } from './table.ts';

/** Every change increments the version, so rows with the same id and version are equal. */
export interface Versioned extends AnyRow {
  readonly version: number;
}

/** The port through which stores read. Concurrent reads by key share one round trip. */
export interface Reader {
  rows<Row>(statement: Statement, values: readonly unknown[]): PromiseLike<readonly Row[]>;
  byKey<Row extends Versioned>(table: Table<Row>, orgId: string, id: string): PromiseLike<Row | undefined>;
}
