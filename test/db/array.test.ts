import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { encodeArray } from '../../src/db/array.ts';
import type { Database } from '../../src/db/database.ts';
import { openPglite } from '../../src/db/pglite.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import type { ColumnType } from '../../src/kernel/table.ts';

// Text that the API accepts: well-formed Unicode without U+0000.
const text = fc
  .string({ unit: 'grapheme', maxLength: 300 })
  .filter((value) => !value.includes('\0') && value.isWellFormed());
const values: Readonly<Record<ColumnType, fc.Arbitrary<unknown>>> = {
  text,
  json: text.map((value) => JSON.stringify({ value })),
  jsonb: fc.oneof(fc.dictionary(text, text), fc.array(text), text, fc.boolean(), fc.integer()),
  bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  integer: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  boolean: fc.boolean(),
  timestamptz: fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2900, 0) }),
  bytea: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
};

describe.each(['pglite', 'postgres'] as const)('array parameters on %s', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database =
      kind === 'pglite'
        ? await openPglite({ dataDirectory: undefined, onCrash: () => undefined })
        : openPostgres(inject('postgresUrl'), () => undefined);
  });
  afterAll(() => database.close());

  it.each(Object.keys(values) as ColumnType[])(
    'of %s round-trip unchanged, including nulls and empty arrays',
    async (type) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.option(values[type], { freq: 5 }), { maxLength: 20 }),
          async (column) => {
            const rows = await database.query<{ value: unknown }>(
              { name: `echo_${type}`, text: `select u as value from unnest($1::${type}[]) u` },
              [encodeArray(type, column)],
            );
            expect(rows.map(({ value }) => value)).toEqual(column);
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});
