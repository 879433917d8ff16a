import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type CitusPlan, citusPlan, citusSql } from '../../scripts/citus/ddl.ts';
import { type DatabaseSchema, distributedTables, readSchema } from '../../scripts/citus/schema.ts';
import type { Database } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { migratedDatabase } from '../support/postgres.ts';

/**
 * Citus is not available to the tests. These functions replace its own and check only that a call names an existing table, column
 * and function: that the calls succeed here does not show that they succeed on Citus.
 */
const stub = `
  create function create_reference_table(named regclass) returns void language plpgsql as 'begin end';
  create function create_distributed_table(named regclass, by text, colocate_with text) returns void language plpgsql as $$
  begin
    perform from pg_attribute where attrelid = named and attname = by and not attisdropped;
    if not found then raise exception '% has no column %', named, by; end if;
    if colocate_with <> 'none' then perform colocate_with::regclass; end if;
  end $$;
  create function create_distributed_function(named regprocedure, by text default null, colocate_with text default null)
  returns void language plpgsql as $$
  begin
    if by is not null and by <> all((select proargnames from pg_proc where oid = named)::text[]) then
      raise exception '% has no argument %', named, by;
    end if;
    perform colocate_with::regclass;
  end $$;`;

describe('the SQL for Citus', () => {
  let database: Database;
  let schema: DatabaseSchema;
  let plan: CitusPlan;

  beforeAll(async () => {
    schema = readSchema();
    plan = citusPlan(schema);
    database = openPostgres(await migratedDatabase(inject('postgresUrl')), () => undefined);
    await database.script(stub);
    await database.script(citusSql(schema).replace('create extension if not exists citus;', ''));
  });
  afterAll(() => database?.close());

  const rows = async (text: string) =>
    (await database.query<{ line: string }>({ name: '', text }, [])).map(({ line }) => line);
  const ofTables = `relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;

  test('places every table of the database once', async () => {
    const tables = await rows(`select relname::text as line from pg_class where ${ofTables}`);
    expect([...plan.distributed, ...plan.reference].sort()).toEqual(tables.sort());
    const placed = plan.calls.flatMap((call) => /_table\('(\w+)'/.exec(call)?.[1] ?? []);
    expect(placed.toSorted()).toEqual(tables.toSorted());
  });

  test('leaves no unique index of a distributed table without org_id', async () => {
    const without = await rows(
      `select i.indexrelid::regclass::text as line from pg_index i join pg_class c on c.oid = i.indrelid
       where c.${ofTables} and i.indisunique and c.relname = any('{${distributedTables.join(',')}}') and not exists (
         select from pg_attribute a where a.attrelid = c.oid and a.attname = 'org_id' and a.attnum = any(i.indkey))`,
    );
    expect(without).toEqual([]);
    const changed = plan.changes.flatMap(({ sql }) => sql).filter((sql) => sql.startsWith('drop index'));
    expect(changed).toEqual(['drop index api_keys_by_hash;', 'drop index invitations_by_hash;']);
  });

  test('leaves no trigger on a distributed table', async () => {
    const triggers = await rows(
      `select tgname::text as line from pg_trigger where not tgisinternal
       and tgrelid::regclass::text = any('{${distributedTables.join(',')}}')`,
    );
    expect(triggers).toEqual([]);
    expect(schema.tables.flatMap(({ triggers: listed }) => listed)).toHaveLength(
      plan.changes.flatMap(({ sql }) => sql).filter((sql) => sql.startsWith('drop trigger')).length,
    );
  });

  test('creates the same indexes again, not unique', async () => {
    const indexes = await rows(
      `select indexdef as line from pg_indexes where indexname in ('api_keys_by_hash', 'invitations_by_hash') order by 1`,
    );
    expect(indexes).toEqual([
      'CREATE INDEX api_keys_by_hash ON public.api_keys USING btree (hash)',
      'CREATE INDEX invitations_by_hash ON public.invitations USING btree (hash)',
    ]);
  });

  test('creates reference tables before the tables that refer to them, and no foreign key crosses to a distributed table', async () => {
    const keys = await rows(
      `select conrelid::regclass || ' ' || confrelid::regclass as line from pg_constraint where contype = 'f'`,
    );
    expect(keys).not.toEqual([]);
    for (const key of keys) {
      const [from = '', to = ''] = key.split(' ').map((name) => plan.reference.indexOf(name));
      expect(to, key).toBeGreaterThanOrEqual(0);
      expect(from, key).toBeGreaterThan(Number(to));
    }
  });

  test('distributes every function that is not a trigger', async () => {
    const called = await rows(
      `select proname::text as line from pg_proc where pronamespace = 'public'::regnamespace
       and prorettype <> 'trigger'::regtype and proname not like 'create\\_%\\_%'`,
    );
    const distributed = plan.calls.flatMap(
      (call) => /create_distributed_function\('(\w+)\(/.exec(call)?.[1] ?? [],
    );
    expect(distributed.toSorted()).toEqual(called.toSorted());
  });

  test('a trigger without a described consequence is an error', () => {
    const [first, ...rest] = schema.tables.filter(({ triggers }) => triggers.length > 0);
    const trigger =
      'CREATE TRIGGER new_rule BEFORE UPDATE ON public.x FOR EACH ROW EXECUTE FUNCTION new_rule()';
    const tables = first ? [{ ...first, triggers: [trigger] }, ...rest] : [];
    expect(() => citusPlan({ ...schema, tables })).toThrow('what follows from dropping new_rule');
  });

  test('reports what works differently', () => {
    const text = plan.warnings.join('\n');
    for (const topic of [
      'requests_position_seq',
      'Advisory locks (hold_organizations, take_organization)',
      'Functions that read distributed tables (hold_live_organizations, refuse_moved_clocks)',
      'NOTIFY',
      'INSERT common table expressions',
      'several organizations',
    ])
      expect(text).toContain(topic);
  });
});
