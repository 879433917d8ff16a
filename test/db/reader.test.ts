import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openPglite } from '../../src/db/pglite.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { createReader } from '../../src/db/reader.ts';
import type { Id } from '../../src/kernel/ids.ts';
import { defineTable } from '../../src/kernel/table.ts';

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
});
