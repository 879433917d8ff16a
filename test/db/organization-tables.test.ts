import { beforeAll, describe, expect, test } from 'vitest';
import { organizationTables } from '../../src/engine/organization-tables.ts';
import { resources } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';

describe.each(databaseKinds)('organization tables on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  const names = async (column: string): Promise<readonly string[]> => {
    const rows = await server.database.query<{ name: string }>(
      {
        name: '',
        text: `select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid
          where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attname = $1 and not a.attisdropped order by 1`,
      },
      [column],
    );
    return rows.map(({ name }) => name);
  };

  test('every table with org_id declares its reset and snapshot policy', async () => {
    const listed = organizationTables.map(({ name }) => name);
    expect(
      [...listed].sort(),
      'a new table needs a line in src/engine/organization-tables.ts: configuration, record, trace or own',
    ).toEqual(await names('org_id'));
    expect(new Set(listed).size).toBe(listed.length);
  });

  test('every table with ids declares their kind', async () => {
    const withIds = organizationTables.filter(({ ids }) => ids !== undefined).map(({ name }) => name);
    // Timers have the ids of their records, and key uses those of their keys.
    const borrowed = ['timers', 'api_key_uses'];
    const all = new Set(organizationTables.map(({ name }) => name));
    const found = (await names('id')).filter((name) => all.has(name) && !borrowed.includes(name));
    expect([...withIds].sort()).toEqual(found);
  });

  // A list is read in the order of ids, and a time range is a range of ids. Other collations sort differently, and compare slower.
  test('every text column of a primary key has collate "C"', async () => {
    const rows = await server.database.query<{ name: string }>(
      {
        name: '',
        text: `select c.relname || '.' || a.attname as name
          from pg_index i join pg_class c on c.oid = i.indrelid
          join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
          where i.indisprimary and c.relnamespace = 'public'::regnamespace and a.atttypid = 'text'::regtype
            and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'org_id' and not o.attisdropped)
            and a.attcollation <> (select oid from pg_collation where collname = 'C' and collnamespace = 'pg_catalog'::regnamespace)
          order by 1`,
      },
      [],
    );
    expect(rows.map(({ name }) => name)).toEqual([]);
  });
});

test('a resource table is never half reset: its policy is configuration, record or own', () => {
  const policies = new Map(organizationTables.map(({ name, resetPolicy }) => [name, resetPolicy]));
  for (const { table, name } of resources)
    expect(['configuration', 'record', 'own'], name).toContain(policies.get(table.name));
});
