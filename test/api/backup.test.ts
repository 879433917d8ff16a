import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import type { Server } from '../../src/server.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { openReceiver } from '../support/receiver.ts';
import { openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const secret = 'stored outside the backup, as recommended';
const payment = { amount: 1250, currency: 'EUR', captureMethod: 'automatic' };

/** Creates ledger entries, a webhook with an encrypted secret and a stored idempotent response. */
async function live(server: Server): Promise<{ readonly holder: Tenant; readonly first: unknown }> {
  const holder = await tenant(server);
  const { client } = holder;
  await client.post('developer_api_webhooks', { url: 'http://127.0.0.1:9/', eventTypes: ['refund.*'] });
  const created = await client.post('developer_api_payments', payment, { idempotencyKey: 'before' });
  await client.post(`developer_api_payments/${created.body.id}/advance`, { to: 'settled' });
  return { holder, first: created.body };
}

async function expectRestored(
  server: Server,
  { holder, first }: Awaited<ReturnType<typeof live>>,
): Promise<void> {
  const client = holder.clientOn(server.app);
  const again = await client.post('developer_api_payments', payment, { idempotencyKey: 'before' });
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(JSON.stringify(again.body)).toBe(JSON.stringify(first));
  // The server is fully usable: it can decrypt the webhook secret, and it sends new events.
  const receiver = await openReceiver();
  const [webhook] = (await client.get('developer_api_webhooks')).body.data as unknown as { id: string }[];
  await client.post(`developer_api_webhooks/${webhook?.id}/update`, { url: receiver.url, eventTypes: ['*'] });
  await client.post('developer_api_payments', payment);
  expect((await receiver.waitFor(1))[0]?.headers['webhook-signature']).toMatch(/^v1,/);
  await receiver.close();
  await server.sealer.seal();
  const found = await verify(server.database);
  expect(found.isSound).toBe(true);
}

describe('an embedded server', () => {
  it('is restored completely from a copy of its stopped data directory', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-backup-'));
    const server = await openServer('pglite', { dataDirectory: path.join(folder, 'data') });
    const before = await live(server);
    await server.close();
    cpSync(path.join(folder, 'data'), path.join(folder, 'restored'), { recursive: true });
    rmSync(path.join(folder, 'data'), { recursive: true });
    const restored = await openServer('pglite', { dataDirectory: path.join(folder, 'restored') });
    await expectRestored(restored, before);
    await restored.close();
    rmSync(folder, { recursive: true });
  });
});

const binaries = systemBinaries();

// The test run's PostgreSQL ships without pg_dump, and a pg_dump of another version refuses to dump it.
describe.skipIf(binaries === undefined)(
  'a server on PostgreSQL (skipped where the system has no PostgreSQL with pg_dump)',
  () => {
    let postgres: Postgres;
    const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-dump-'));
    beforeAll(async () => {
      postgres = await startPostgres({ binaries: binaries ?? '' });
    });
    afterAll(async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true });
    });
    const run = (program: string, ...flags: string[]) =>
      execFileSync(path.join(binaries ?? '', program), flags, { stdio: ['ignore', 'pipe', 'pipe'] });

    it('is restored completely into another database from a dump taken while it runs', async () => {
      const databaseUrl = await postgres.createDatabase('sandbank');
      const server = await openServer('postgres', { databaseUrl, secret });
      const before = await live(server);
      const dump = path.join(folder, 'sandbank.dump');
      run('pg_dump', '--format=custom', `--file=${dump}`, databaseUrl);
      // Writes after the dump are not in it.
      await before.holder.client.post('developer_api_payments', payment, { idempotencyKey: 'after' });
      await server.close();
      const restoredUrl = await postgres.createDatabase('restored');
      run(
        'pg_restore',
        '--exit-on-error',
        '--single-transaction',
        '--no-owner',
        `--dbname=${restoredUrl}`,
        dump,
      );
      const restored = await openServer('postgres', { databaseUrl: restoredUrl, secret });
      await expectRestored(restored, before);
      const client = before.holder.clientOn(restored.app);
      const after = await client.post('developer_api_payments', payment, { idempotencyKey: 'after' });
      expect(after.headers['idempotent-replayed']).toBeUndefined();
      await restored.close();
    });

    it('does not start on a restored database with a different secret', async () => {
      const databaseUrl = new URL(postgres.url.replace(/postgres$/, 'restored')).href;
      await expect(openServer('postgres', { databaseUrl, secret: `${secret}?` })).rejects.toThrow(
        'SANDBANK_SECRET',
      );
    });
  },
);

/** Debian's binary directories, newest first. */
function systemBinaries(): string | undefined {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions
    .filter((version) => Number(version) >= 15)
    .map((version) => path.join(root, version, 'bin'))
    .find((bin) => ['initdb', 'pg_dump', 'pg_restore'].every((name) => existsSync(path.join(bin, name))));
}
