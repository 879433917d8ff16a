import { encodeArray } from '../db/array.ts';
import type { Table } from '../kernel/table.ts';

/** Rows as one array for each column of their table, for statements that write many at once. */
export function columnsOf<Row>({ columns }: Table<Row>, rows: readonly Row[]): Buffer[] {
  return columns.map(({ property, type }) =>
    encodeArray(
      type,
      rows.map((row) => row[property]),
    ),
  );
}

export function namesOf<Row>({ columns }: Table<Row>): string {
  return columns.map(({ column }) => column).join(', ');
}

/** The rows again, from arrays that are parameters from a number on. */
export function rowsFrom<Row>({ columns }: Table<Row>, first: number): string {
  return `select * from unnest(${columns.map(({ type }, i) => `$${first + i}::${type}[]`).join(', ')})`;
}
