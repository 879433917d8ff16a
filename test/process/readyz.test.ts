import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { openPostgres } from '../../src/db/postgres.ts';
import type { Server } from '../../src/server.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openServer } from '../support/server.ts';
import { type DatabaseProxy, openDatabaseProxy } from './support/database-proxy.ts';
import { queryOnce } from './support/postgres-pair.ts';

/** The limit is two seconds. A check without one would wait for the connection timeout or forever. */
const READY_MS_MAX = 20_000;
const RECOVERY = { interval: 20 };

let server: Server;
let proxy: DatabaseProxy;
let databaseUrl = '';

beforeAll(async () => {
  databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const url = new URL(databaseUrl);
  proxy = await openDatabaseProxy(Number(url.port));
  url.port = String(proxy.port);
  server = await openServer(
    'postgres',
    { databaseUrl: url.href, secret: 's'.repeat(32), role: 'api' },
    Promise.resolve(openPostgres(url.href, () => undefined)),
  );
});
afterAll(async () => {
  await server?.close();
  await proxy?.close();
});

async function readyz() {
  const since = performance.now();
  const { statusCode, body } = await server.app.inject('/readyz');
  expect(performance.now() - since).toBeLessThan(READY_MS_MAX);
  return { statusCode, body };
}

const recovered = () => vi.waitUntil(async () => (await readyz()).statusCode === 200, RECOVERY);
const run = (sql: string) => queryOnce({ url: databaseUrl }, sql);

const states: readonly (readonly [
  name: string,
  message: string,
  begin: () => unknown,
  end: () => unknown,
])[] = [
  [
    'does not answer',
    'cannot be reached',
    () => proxy.breakAt({ side: 'client', number: 0, how: 'hole' }),
    () => {
      proxy.end();
      proxy.cutAll();
    },
  ],
  [
    'rejects writes',
    'does not accept writes',
    async () => {
      await run(
        `do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`,
      );
      proxy.cutAll();
    },
    async () => {
      await run(`set transaction_read_only = off; do $$ begin
          execute format('alter database %I reset default_transaction_read_only', current_database()); end $$`);
      proxy.cutAll();
    },
  ],
  [
    'lacks the newest migration',
    'lacks migrations',
    () =>
      run(`create table saved as select * from schema_migrations order by version desc limit 1;
          delete from schema_migrations where version = (select version from saved)`),
    () => run('insert into schema_migrations select * from saved; drop table saved'),
  ],
  [
    'has never been migrated',
    'lacks migrations',
    () => run('alter table schema_migrations rename to elsewhere'),
    () => run('alter table elsewhere rename to schema_migrations'),
  ],
];

it.each(states)(
  'readyz reports that the database %s, and that it has recovered',
  async (_name, message, begin, end) => {
    expect((await readyz()).statusCode).toBe(200);
    await begin();
    const { statusCode, body } = await readyz();
    expect({ statusCode, body }).toEqual({ statusCode: 503, body: expect.stringContaining(message) });
    await end();
    await recovered();
  },
);
