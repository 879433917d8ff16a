import type * as Databases from '../../../src/admin/database.ts';
import type * as Verification from '../../../src/admin/verify.ts';
import type * as Search from '../../../src/resources/console-views/search-store.ts';
import type { Server } from '../../../src/server.ts';
import type * as Contract from '../../contract/walk.ts';
import type * as Clients from '../../support/api-client.ts';
import type * as Tenants from '../../support/populated-tenant.ts';
import type * as Postgres from '../../support/postgres.ts';
import type * as Servers from '../../support/server.ts';
import type * as Visitors from '../../support/visitor.ts';
import type { InstrumentedSource } from './instrumented.ts';

const operatorToken = 'x'.repeat(40);
const authorization = `Bearer ${operatorToken}`;

/**
 * Calls the functions that create statements: migrations, lists, lookups, batches, snapshots, checks. Every operation of the API runs
 * once, on PGlite, and the rest on PostgreSQL.
 */
export async function runWorkload(source: InstrumentedSource, postgresUrl: string): Promise<void> {
  await migrate(source, postgresUrl);
  // Migrations change tables, and they run before anything is served.
  source.executed.clear();
  const { runExamples } = await source.load<typeof Contract>('/test/contract/walk.ts');
  await runExamples();
  const { openServer } = await source.load<typeof Servers>('/test/support/server.ts');
  const server = await openServer('postgres', { operatorToken });
  try {
    await exercise(source, server);
  } finally {
    await server.close();
  }
}

async function migrate({ load }: InstrumentedSource, postgresUrl: string): Promise<void> {
  const { createDatabase } = await load<typeof Postgres>('/test/support/postgres.ts');
  const { migrateWith, inspectWith } = await load<typeof Databases>('/src/admin/database.ts');
  const options = { data: undefined, env: { DATABASE_URL: await createDatabase(postgresUrl) } };
  await migrateWith({ ...options, isDryRun: false });
  await inspectWith(options);
}

async function exercise({ load }: InstrumentedSource, server: Server): Promise<void> {
  const { createPopulatedTenant } = await load<typeof Tenants>('/test/support/populated-tenant.ts');
  const { ApiClient, expectOk } = await load<typeof Clients>('/test/support/api-client.ts');
  const { createTeam } = await load<typeof Visitors>('/test/support/visitor.ts');
  const { verify } = await load<typeof Verification>('/src/admin/verify.ts');
  const { orgId, client, ids, mark } = await createPopulatedTenant(server);
  await createTeam(server);
  for (const list of ['payments', 'customers', 'transfers', 'refunds', 'disputes']) {
    const { nextCursor } = expectOk(await client.get(`developer_api_${list}`, `q=${mark}&limit=1`));
    if (nextCursor) expectOk(await client.get(`developer_api_${list}`, `q=${mark}&cursor=${nextCursor}`));
  }
  const { findById } = await load<typeof Search>('/src/resources/console-views/search-store.ts');
  for (const kind of ['payment', 'transfer', 'customer', 'refund', 'dispute', 'event', 'delivery'] as const)
    await findById(server.reader, orgId, kind, ids.payments ?? '');
  const operator = new ApiClient(server.app, operatorToken);
  const path = `/_operator/organizations/${orgId}`;
  expectOk(await operator.post(`${path}/fork`, { name: 'Copy' }));
  const { body } = await server.app.inject({ url: `${path}/snapshot`, headers: { authorization } });
  const headers = { 'content-type': 'application/jsonl' };
  const fork = { method: 'POST', query: 'fork=true', raw: body, headers } as const;
  expectOk(await operator.send('/_operator/snapshots', fork));
  await server.snapshots.exportAll(async (lines) => {
    for await (const _line of lines);
  });
  await verify(server.database);
}
