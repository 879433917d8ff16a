import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Config } from '../../src/config.ts';
import { readMigrations, schemaMigrationsTable } from '../../src/db/migrate.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { formatId } from '../../src/kernel/ids.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient } from '../support/api-client.ts';
import { auditRows } from '../support/audit.ts';
import { createDatabase } from '../support/postgres.ts';
import { openReceiver } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { newKey, tenant } from '../support/tenant.ts';

type Run = (sql: string) => Promise<unknown>;

interface Old {
  readonly orgId: string;
  readonly appId: string;
  readonly key: string;
  readonly ids: readonly string[];
}

/** Creates a database of the first version: its schema, and some payments. */
async function createOldDatabase(run: Run, { orgId, appId, key, ids }: Old): Promise<void> {
  const [first] = await readMigrations();
  if (!first) throw new Error('expected a first migration');
  await run(schemaMigrationsTable);
  await run(first.sql);
  await run(
    `insert into schema_migrations (version, name, checksum) values (${first.version}, '${first.name}', '${first.checksum}')`,
  );
  const head = `'${orgId}'`;
  await run(`insert into organizations values (${head}, ${head}, 'active', 1, 'Old', now(), now())`);
  await run(`insert into applications values (${head}, '${appId}', 'active', 1, 'web', now(), now())`);
  await run(`insert into api_keys values (${head}, '${formatId('api_key', newSuffix())}', '${appId}', 'active', 1, 'ci',
    sha256('${key}'), '${key.slice(-4)}', '${JSON.stringify(scopes)}', '[]', null, now(), now())`);
  for (const [i, id] of ids.entries()) {
    const requestId = formatId('request', newSuffix());
    const eventId = formatId('event', newSuffix());
    const method = i % 2 === 0 ? 'automatic' : 'manual';
    await run(`insert into payments (org_id, id, app_id, status, version, amount, currency, amount_capturable,
        amount_captured, amount_refunded, amount_disputed, fee_amount, capture_method, payment_method_type, metadata,
        scenario, auto_advance, created_at, updated_at)
      values (${head}, '${id}', '${appId}', 'pending', 1, 1000, 'EUR', 0, 0, 0, 0, 0, '${method}', 'card', '{}',
        '"approve"', false, now(), now())`);
    await run(`insert into state_history values (${head}, '${id}', 1, 'payment', 'create', null, 'pending', '${eventId}',
      'api_key', 'key_old', '${requestId}', now())`);
    await run(`insert into events values (${head}, '${eventId}', '${appId}', 'payment.created', 'payment', '${id}', 1,
      '${requestId}', '{"object":"payment","status":"pending"}', now())`);
  }
}

describe.each(databaseKinds)('a database of the first version on %s', (kind) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-upgrade-'));
  const old: Old = {
    orgId: formatId('organization', newSuffix()),
    appId: formatId('application', newSuffix()),
    key: newKey(),
    ids: Array.from({ length: 6 }, () => formatId('payment', newSuffix())),
  };
  const { ids } = old;
  let server: Server;
  let client: ApiClient;

  /** Creates the old database and returns the configuration that opens it. */
  async function prepare(): Promise<Partial<Config>> {
    if (kind === 'postgres') {
      const databaseUrl = await createDatabase(inject('postgresUrl'));
      const database = new pg.Client({ connectionString: databaseUrl });
      await database.connect();
      await createOldDatabase((sql) => database.query(sql), old);
      await database.end();
      return { databaseUrl };
    }
    const database = await PGlite.create(path.join(folder, 'db'));
    await createOldDatabase((sql) => database.exec(sql), old);
    await database.close();
    return { dataDirectory: folder };
  }

  beforeAll(async () => {
    server = await openServer(kind, await prepare());
    client = new ApiClient(server.app, old.key);
  });
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  test('has every migration applied once, and its payments unchanged', async () => {
    const applied = await server.database.query<{ version: number }>(
      { name: '', text: 'select version from schema_migrations order by version' },
      [],
    );
    const known = (await readMigrations()).map(({ version }) => version);
    expect(applied.map(({ version }) => version)).toEqual(known);
    const { body } = await client.get('developer_api_payments', 'limit=100');
    expect(body.data.map(({ id }) => id)).toEqual(ids.toReversed());
    for (const payment of body.data) {
      expect(payment).toMatchObject({
        ...{ status: 'pending', version: 1, amount: 1_000, amountCapturable: 0, amountRefundable: 0 },
        ...{ failure: null, disputeId: null },
        attempts: [{ number: 1, scenario: 'approve' }],
      });
    }
  });

  test('can advance, refund, dispute and retry its payments, with the settings of that version', async () => {
    const advance = async (at: number, body: object) => {
      const answer = await client.post(`developer_api_payments/${ids[at]}/advance`, body);
      expect(answer.status, answer.text).toBe(200);
      return answer.body;
    };
    expect(await advance(0, { to: 'settled' })).toMatchObject({ status: 'settled', feeAmount: 59 });
    const refund = await client.post(`developer_api_payments/${ids[0]}/refund`, { amount: 400 });
    expect([refund.status, refund.body.status]).toEqual([201, 'succeeded']);
    expect(await advance(1, {})).toMatchObject({ status: 'authorized', amountCapturable: 1_000 });
    expect(await advance(1, { action: 'capture', amount: 300 })).toMatchObject({ feeAmount: 39 });
    expect(await advance(2, { to: 'charged_back' })).toMatchObject({ amountDisputed: 1_000, version: 4 });
    await advance(3, { action: 'fail', failureCode: 'insufficient_funds' });
    expect(await advance(3, { action: 'retry' })).toMatchObject({ status: 'pending', version: 3 });
    expect(await advance(4, { action: 'cancel' })).toMatchObject({ status: 'canceled', version: 2 });

    const history = await client.get(`developer_api_payments/${ids[0]}/history`);
    expect(history.body.data.map(({ to }) => to)).toEqual([
      'partially_refunded',
      'settled',
      'captured',
      'pending',
    ]);
    expect(await auditRows((text) => server.database.query({ name: '', text }, []))).toEqual([]);
  });

  test('replays its old events to a new endpoint', async () => {
    const receiver = await openReceiver();
    const webhook = await client.post('developer_api_webhooks', {
      url: receiver.url,
      eventTypes: ['payment.created'],
    });
    const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'missing' };
    const replay = await client.post('developer_api_webhook_deliveries/replay', window);
    expect(replay.body).toMatchObject({ status: 'completed', matched: ids.length, replayed: ids.length });
    const received = await receiver.waitFor(ids.length);
    for (const { body } of received)
      expect(JSON.parse(body)).toMatchObject({ type: 'payment.created', data: { status: 'pending' } });
    await client.post(`developer_api_webhooks/${webhook.body.id}/disable`);
    await receiver.close();
  });

  test('accepts new payments in addition to the old ones', async () => {
    const created = await client.post('developer_api_payments', { amount: 500, currency: 'EUR' });
    expect(created.status).toBe(201);
    const { body } = await client.get('developer_api_payments', 'limit=100');
    expect(body.data.map(({ id }) => id)).toEqual([created.body.id, ...ids.toReversed()]);
  });
});

describe.each(databaseKinds)('records older than timers, on %s', (kind) => {
  let server: Server;

  // A separate server, because the migration runs again for all organizations.
  beforeAll(async () => {
    server = await openServer(kind);
  });
  afterAll(() => server?.close());

  test('get the same timers from the migration as they would have got at creation', async () => {
    const { client } = await tenant(server);
    const pay = async (body: object, ...steps: readonly object[]) => {
      const created = await client.post('developer_api_payments', {
        amount: 1_000,
        currency: 'EUR',
        ...body,
      });
      for (const step of steps) {
        const moved = await client.post(`developer_api_payments/${created.body.id}/advance`, step);
        expect(moved.status, moved.text).toBe(200);
      }
    };
    await client.post('developer_api_clock/freeze');
    // Before, at and after the payout hour, and at the end of a day.
    for (const to of [
      '2027-01-01T05:59:59.999Z',
      '2027-01-02T06:00:00Z',
      '2027-01-03T06:00:00.001Z',
      '2027-01-04T23:59:59.999Z',
    ]) {
      expect((await client.post('developer_api_clock/advance', { to })).body.complete).toBe(true);
      await pay({}, { to: 'captured' });
      await pay({ paymentMethod: { type: 'bank_debit' } }, { to: 'captured' });
      await pay({}, { to: 'captured' }, { action: 'refund', amount: 100 });
    }
    await pay({}, { action: 'authorize' });
    await pay({}, { action: 'authorize' }, { action: 'capture', amount: 100 });
    await pay({}, { to: 'disputed' });
    await pay({}, { to: 'settled' });
    await pay({});
    const timers = () =>
      server.database.query({ name: '', text: 'select * from timers order by org_id, id' }, []);
    const before = await timers();
    expect(before.length).toBeGreaterThan(5);
    const migration = (await readMigrations()).find(({ sql }) => sql.includes('insert into timers'));
    const backfill = migration?.sql.slice(migration.sql.indexOf('insert into timers')) ?? '';
    await server.database.script(`delete from timers; ${backfill}`);
    expect(await timers()).toEqual(before);
  });
});
