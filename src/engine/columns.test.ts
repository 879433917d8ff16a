import { expect, test } from 'vitest';
import { encodeArray } from '../db/array.ts';
import { defineTable } from '../kernel/table.ts';
import { columnsOf, namesOf, rowsFrom } from './columns.ts';

interface Thing {
  readonly orgId: string;
  readonly createdAt: number | null;
  readonly amount: bigint;
}

const table = defineTable<Thing>('things', ['org_id'], {
  orgId: 'text',
  createdAt: 'timestamptz',
  amount: 'bigint',
});

test('rows become one array per column, in table order', () => {
  const rows = [
    { amount: 1n, orgId: 'a', createdAt: 5 },
    { orgId: 'b', createdAt: null, amount: 2n },
  ];
  expect(columnsOf(table, rows)).toEqual([
    encodeArray('text', ['a', 'b']),
    encodeArray('timestamptz', [5, null]),
    encodeArray('bigint', [1n, 2n]),
  ]);
});

test('the names and the parameters are in the same order', () => {
  expect(namesOf(table)).toBe('org_id, created_at, amount');
  expect(rowsFrom(table, 1)).toBe('select * from unnest($1::text[], $2::timestamptz[], $3::bigint[])');
  expect(rowsFrom(table, 4)).toBe('select * from unnest($4::text[], $5::timestamptz[], $6::bigint[])');
});
