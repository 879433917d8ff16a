import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import {
  type Migration,
  MigrationStuck,
  migrate,
  migrationOf,
  readMigrations,
} from '../../src/db/migrate.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import type { Server } from '../../src/server.ts';
import { expanding, indexing } from '../support/next-release.ts';
import { createDatabase } from '../support/postgres.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const pauseMs = 50;
const payments = 'developer_api_payments';
const small = { amount: 1_000, currency: 'EUR' };
/** How long a command waits for a lock before it fails (`src/db/pool.ts`). */
const trafficLockMs = 1_000;

const withMore = async (...more: readonly Migration[]) => [...(await readMigrations()), ...more];

describe.each(databaseKinds)('a migration on %s', (kind) => {
  let server: Server;
  let acme: Tenant;

  beforeAll(async () => {
    server = await openServer(kind);
    acme = await tenant(server);
  });
  afterAll(() => server?.close());

  test('expands the schema under a node with prepared statements, which continues to work', async () => {
    const useApi = async () => {
      const created = await acme.client.post(payments, small);
      const moved = await acme.client.post(`${payments}/${created.body.id}/advance`, { to: 'settled' });
      const refund = await acme.client.post(`${payments}/${created.body.id}/refund`, { amount: 100 });
      const lists = await Promise.all(
        ['', '_refunds', '_customers', '_transfers', '_webhooks', '_fault_plans'].map((name) =>
          acme.client.get(name === '' ? payments : `developer_api${name}`),
        ),
      );
      const history = await acme.client.get(`${payments}/${created.body.id}/history`);
      const statuses = [created, moved, refund, history, ...lists].map(({ status }) => status);
      expect(statuses.filter((status) => status >= 300)).toEqual([]);
    };
    await useApi();
    const known = await withMore(migrationOf(9001, 'notes', expanding), migrationOf(9002, 'index', indexing));
    expect((await migrate(server.database, known, pauseMs)).applied).toEqual(['9001 notes', '9002 index']);
    await useApi();
    // Any table may get a column: no statement depends on the number of columns.
    const tables = await server.database.query<{ name: string }>(
      { name: '', text: `select tablename as name from pg_tables where schemaname = 'public'` },
      [],
    );
    const columns = tables.map(({ name }) => `alter table ${name} add column later_on text default 'x';`);
    await migrate(server.database, [...known, migrationOf(9003, 'columns', columns.join('\n'))], pauseMs);
    await useApi();
    const { ahead, applied } = await migrate(server.database);
    expect({ ahead, applied }).toEqual({ ahead: ['9001 notes', '9002 index', '9003 columns'], applied: [] });
  });

  test('that fails leaves no changes, and its session settings are restored', async () => {
    const bad = migrationOf(9010, 'bad', 'create table half (id text); select 1 / 0;');
    const known = await withMore(bad);
    await expect(migrate(server.database, known, pauseMs)).rejects.toThrow(/division by zero/);
    const settings = await server.database.query(
      {
        name: '',
        text: `select to_regclass('half')::text as half, current_setting('lock_timeout') as "lock",
          current_setting('statement_timeout') as statement`,
      },
      [],
    );
    expect(settings).toEqual([{ half: null, lock: '1min', statement: '9min' }]);
  });
});

describe('a migration next to other sessions, on PostgreSQL', () => {
  let server: Server;
  let databaseUrl = '';
  let acme: Tenant;

  beforeAll(async () => {
    databaseUrl = await createDatabase(inject('postgresUrl'));
    server = await openServer('postgres', { databaseUrl });
    acme = await tenant(server);
  });
  afterAll(() => server?.close());

  async function withConnection<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  test('does not block traffic behind a long transaction: it releases its lock request and retries', async () => {
    const known = await withMore(migrationOf(9101, 'wait', 'alter table payments add column waited text'));
    await withConnection(async (client) => {
      await client.query('begin; lock table payments in access share mode');
      let isDone = false;
      const migrating = migrate(server.database, known, pauseMs).finally(() => {
        isDone = true;
      });
      let slowest = 0;
      for (const until = performance.now() + 1_500; performance.now() < until; ) {
        const startedAt = performance.now();
        expect((await acme.client.post(payments, small)).status).toBe(201);
        expect((await acme.client.get(payments, 'limit=1')).status).toBe(200);
        slowest = Math.max(slowest, performance.now() - startedAt);
      }
      expect(isDone).toBe(false);
      // It did block others while it waited, but never for as long as they would wait.
      expect(slowest).toBeGreaterThan(100);
      expect(slowest).toBeLessThan(2 * trafficLockMs);
      await client.query('commit');
      expect((await migrating).applied).toEqual(['9101 wait']);
    });
  });

  test('run by several nodes creates an index concurrently; writes continue and the others wait without a snapshot', async () => {
    const sql = indexing.replaceAll('note', 'waited');
    const known = await withMore(
      migrationOf(9101, 'wait', 'alter table payments add column waited text'),
      migrationOf(9102, 'index', sql),
    );
    const others = Array.from({ length: 3 }, () => openPostgres(databaseUrl, () => undefined));
    await withConnection(async (client) => {
      // The index waits for this transaction to end, and meanwhile the other nodes request the lock.
      await client.query(
        `begin; insert into payments select (p).* from (select p from payments p limit 0) q`,
      );
      await client.query('lock table payments in row exclusive mode');
      const migrating = Promise.all(others.map((database) => migrate(database, known, pauseMs)));
      const isWaiting = async () => {
        const { rows } = await server.database.execute(
          `select 1 from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock'`,
          [],
        );
        return rows.length > 0;
      };
      await vi.waitUntil(isWaiting, { interval: 20 });
      expect((await acme.client.post(payments, small)).status).toBe(201);
      await client.query('commit');
      const applied = (await migrating).map((migrated) => migrated.applied);
      expect(applied.flat()).toEqual(['9102 index']);
    });
    await Promise.all(others.map((database) => database.close()));
  });

  test('drops an index that a crash left invalid, and creates it again', async () => {
    const table = 'create table samples (org_id text not null, name text)';
    const index = `-- outside a transaction\ncreate index concurrently if not exists samples_by_name on samples (org_id, name);\n`;
    const before = await withMore(migrationOf(9103, 'samples', table));
    await migrate(server.database, before, pauseMs);
    const valid = () =>
      server.database.execute(
        `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass('samples_by_name')`,
        [],
      );
    await withConnection(async (blocker) => {
      await blocker.query('begin; lock table samples in row exclusive mode');
      await withConnection(async (crashed) => {
        const { rows } = await crashed.query('select pg_backend_pid() as pid');
        const creating = crashed.query('create index concurrently samples_by_name on samples (org_id, name)');
        creating.catch(() => undefined);
        crashed.on('error', () => undefined);
        await vi.waitUntil(async () => (await valid()).rowCount === 1, { interval: 20 });
        await blocker.query('select pg_terminate_backend($1)', [rows[0].pid]);
        await expect(creating).rejects.toThrow();
      });
      await blocker.query('commit');
    });
    expect((await valid()).rows).toEqual([{ isValid: false }]);
    const known = [...before, migrationOf(9104, 'index', index)];
    expect((await migrate(server.database, known, pauseMs)).applied).toEqual(['9104 index']);
    expect((await valid()).rows).toEqual([{ isValid: true }]);
  });

  test('fails with a clear message after some attempts, and a later run succeeds', async () => {
    const known = await withMore(migrationOf(9105, 'never', 'alter table customers add column never text'));
    await withConnection(async (client) => {
      await client.query('begin; lock table customers in access share mode');
      // Each attempt ends after half a second; a node that is stopped in between has changed nothing.
      const migrating = migrate(server.database, known, 0, 2);
      await expect(migrating).rejects.toThrow(MigrationStuck);
      await expect(migrating).rejects.toThrow(/9105 \(never\).*2 attempts.*Nothing of it was applied/);
      await client.query('commit');
    });
    expect((await migrate(server.database, known, pauseMs)).applied).toEqual(['9105 never']);
  });
});
