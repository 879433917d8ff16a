import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openPglite } from '../../src/db/pglite.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { createReader } from '../../src/db/reader.ts';
import type { Id } from '../../src/kernel/ids.ts';
import { type Condition, defineTable, type Reader, type Statement } from '../../src/kernel/table.ts';

interface Thing {
  readonly orgId: Id<'organization'>;
  readonly id: string;
  readonly version: number;
  readonly name: string;
}

const things = defineTable<Thing>('reader_things', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  version: 'integer',
  name: 'text',
});

describe.each(['pglite', 'postgres'] as const)('a record looked up by key on %s', (kind) => {
  let database: Database;
  const run = (text: string) => database.query({ name: '', text }, []);

  beforeAll(async () => {
    database =
      kind === 'pglite'
        ? await openPglite({ dataDirectory: undefined, onCrash: () => undefined })
        : openPostgres(inject('postgresUrl'), () => undefined);
    await run('drop table if exists reader_things');
    await run(
      'create table reader_things (org_id text, id text, version integer, name text, primary key (org_id, id))',
    );
    await run(`insert into reader_things select 'o', 'i' || n, 1, 'first' from generate_series(1, 600) n`);
  });
  afterAll(async () => {
    await run('drop table reader_things');
    await database.close();
  });

  it('is read once, then only its version is confirmed and the same row returned', async () => {
    const reader = createReader(database);
    const first = await reader.byKey(things, 'o', 'i1');
    expect(first).toEqual({ orgId: 'o', id: 'i1', version: 1, name: 'first' });
    expect(await reader.byKey(things, 'o', 'i1')).toBe(first);
  });

  it('shows a change committed by another session at once', async () => {
    const reader = createReader(database);
    await reader.byKey(things, 'o', 'i2');
    await run(`update reader_things set name = 'second', version = 2 where id = 'i2'`);
    expect(await reader.byKey(things, 'o', 'i2')).toMatchObject({ version: 2, name: 'second' });
  });

  it('disappears after a delete and reappears after an insert', async () => {
    const reader = createReader(database);
    await reader.byKey(things, 'o', 'i3');
    await run(`delete from reader_things where id = 'i3'`);
    expect(await reader.byKey(things, 'o', 'i3')).toBeUndefined();
    await run(`insert into reader_things values ('o', 'i3', 7, 'third')`);
    expect(await reader.byKey(things, 'o', 'i3')).toMatchObject({ version: 7 });
  });

  it('that was deleted and created again with the same version is read again', async () => {
    const reader = createReader(database);
    await reader.byKey(things, 'o', 'i5');
    await run(`delete from reader_things where id = 'i5'`);
    await run(`insert into reader_things values ('o', 'i5', 1, 'another')`);
    expect(await reader.byKey(things, 'o', 'i5')).toMatchObject({ version: 1, name: 'another' });
  });

  it('is visible to its organization only', async () => {
    const reader = createReader(database);
    await reader.byKey(things, 'o', 'i4');
    expect(await reader.byKey(things, 'other', 'i4')).toBeUndefined();
  });

  it('returns the right row among 600 cached, changed, missing and repeated keys', async () => {
    const reader = createReader(database);
    const ids = Array.from({ length: 600 }, (_, i) => `i${i + 1}`);
    await Promise.all(ids.slice(0, 300).map((id) => reader.byKey(things, 'o', id)));
    await run(
      `update reader_things set name = 'changed', version = version + 1 where id in ('i10', 'i11', 'i500')`,
    );
    const wanted = [...ids, 'none', ...ids.slice(0, 50)];
    const rows = await Promise.all(wanted.map((id) => reader.byKey(things, 'o', id)));
    expect(rows.map((row) => row?.id)).toEqual(wanted.map((id) => (id === 'none' ? undefined : id)));
    expect(rows[9]?.name).toBe('changed');
    expect(rows[499]?.name).toBe('changed');
  });

  it('fails for all waiting callers when the query fails, and works again afterwards', async () => {
    const reader = createReader(database);
    await run('alter table reader_things rename to reader_hidden');
    const outcomes = await Promise.allSettled(['i1', 'i2'].map((id) => reader.byKey(things, 'o', id)));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await run('alter table reader_hidden rename to reader_things');
    expect(await reader.byKey(things, 'o', 'i1')).toMatchObject({ id: 'i1' });
  });

  describe('as part of a page', () => {
    const page = (reader: Reader, conditions: readonly Condition[] = [], orgId = 'p', limit = 3) =>
      reader.page({ table: things, orgId, conditions, limit });
    const named = (name: string): Condition => ({ column: 'name', operator: '=', value: name });

    beforeEach(async () => {
      await run(`delete from reader_things where org_id in ('p', 'q')`);
      await run(`insert into reader_things select 'p', 'p' || n, 1, 'first' from generate_series(1, 5) n`);
      await run(`insert into reader_things values ('q', 'p4', 1, 'of another organization')`);
    });

    it('is the same row as before while it has not changed, also for a single read', async () => {
      const reader = createReader(database);
      const first = await page(reader);
      expect(first.map(({ id }) => id)).toEqual(['p5', 'p4', 'p3']);
      const second = await page(reader);
      expect(second.every((row, i) => row === first[i])).toBe(true);
      expect(await reader.byKey(things, 'p', 'p5')).toBe(first[0]);
    });

    it('shows changes, deletions and new rows of another session at once', async () => {
      const reader = createReader(database);
      await page(reader);
      await run(`update reader_things set name = 'second', version = 2 where org_id = 'p' and id = 'p4'`);
      await run(`delete from reader_things where org_id = 'p' and id = 'p3'`);
      await run(`insert into reader_things values ('p', 'p6', 1, 'new')`);
      expect((await page(reader)).map(({ id, name }) => [id, name])).toEqual([
        ['p6', 'new'],
        ['p5', 'first'],
        ['p4', 'second'],
      ]);
    });

    it('is the new row when it was created again with the same version', async () => {
      const reader = createReader(database);
      await page(reader);
      await run(`delete from reader_things where org_id = 'p' and id = 'p5'`);
      await run(`insert into reader_things values ('p', 'p5', 1, 'another')`);
      expect((await page(reader))[0]).toMatchObject({ id: 'p5', name: 'another' });
    });

    it('belongs to the organization that reads, also with the id of a cached foreign row', async () => {
      const reader = createReader(database);
      const [own, foreign] = await Promise.all([page(reader), page(reader, [], 'q')]);
      expect(own[1]).toMatchObject({ orgId: 'p', id: 'p4' });
      expect(foreign).toEqual([{ orgId: 'q', id: 'p4', version: 1, name: 'of another organization' }]);
      expect(await page(reader, [], 'q')).toEqual(foreign);
      expect(await page(reader)).toEqual(own);
    });

    it('is found by its own conditions among concurrent pages', async () => {
      const reader = createReader(database);
      await run(`update reader_things set name = 'second' where org_id = 'p' and id in ('p1', 'p5')`);
      const wanted = Array.from({ length: 300 }, (_, i) =>
        i % 3 === 0 ? 'second' : i % 3 === 1 ? 'first' : 'none',
      );
      const pages = await Promise.all(wanted.map((name, i) => page(reader, [named(name)], 'p', 1 + (i % 2))));
      const ids = { second: ['p5', 'p1'], first: ['p4', 'p3'], none: [] };
      pages.forEach((rows, i) => {
        const name = wanted[i] as keyof typeof ids;
        expect(rows.map(({ id }) => id)).toEqual(ids[name].slice(0, 1 + (i % 2)));
      });
    });

    it('is left out when it stops matching between the read of the keys and that of the rows', async () => {
      let changes = 1;
      const racing: Database = {
        ...database,
        query: async <Row>(statement: Statement, values: readonly unknown[]) => {
          if (statement.name === 'reader_things_rows' && changes > 0) {
            changes -= 1;
            await run(`update reader_things set name = 'second' where org_id = 'p' and id = 'p5'`);
          }
          return database.query<Row>(statement, values);
        },
      };
      const rows = await page(createReader(racing), [named('first')]);
      expect(rows.map(({ id, name }) => [id, name])).toEqual([
        ['p4', 'first'],
        ['p3', 'first'],
        ['p2', 'first'],
      ]);
    });
  });
});
