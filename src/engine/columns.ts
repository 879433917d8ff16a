import { encodeArray } from '../db/array.ts';
import type { Table } from '../kernel/table.ts';

/** Rows as one array per table column, for statements that write many rows at once. */
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

/** Selects the rows from array parameters, starting with parameter number `first`. */
export function rowsFrom<Row>({ columns }: Table<Row>, first: number): string {
  return `select * from unnest(${columns.map(({ type }, i) => `$${first + i}::${type}[]`).join(', ')})`;
}
