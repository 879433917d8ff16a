import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { runSequence, runToEnd, type ServerOptions, startServer } from '../support/processes.ts';
import { newKey } from '../support/tenant.ts';

const key = newKey();

describe('the command `sandbank verify`', () => {
  let directory: string;
  let seed: string;
  const verify = (options: ServerOptions, ...args: string[]) =>
    runToEnd({ ...options, args: ['verify', ...args] });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandbank-verify-'));
    seed = join(directory, 'seed.json');
    const apiKeys = [{ name: 'ci', key, scopes: ['payments:read', 'payments:write'] }];
    await writeFile(
      seed,
      JSON.stringify({ organizations: [{ name: 'Acme', applications: [{ name: 'web', apiKeys }] }] }),
    );
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function settleOne(url: string): Promise<void> {
    const post = async (path: string, body: object) => {
      const answer = await fetch(`${url}/_api/${path}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Idempotency-Key': path,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify(body),
      });
      expect(answer.ok).toBe(true);
      return (await answer.json()) as { id: string };
    };
    const { id } = await post('developer_api_payments', { amount: 1_250, currency: 'EUR' });
    await post(`developer_api_payments/${id}/advance`, { to: 'settled' });
  }

  test('rejects a data directory in use, and reports a consistent ledger after the stop', async () => {
    const dataDir = join(directory, 'data');
    const server = await startServer({ dataDir, seed });
    await settleOne(server.url);
    const inUse = await verify({ dataDir });
    expect(inUse.code).toBe(1);
    expect(inUse.stderr).toMatch(/^Error: Nothing was verified\. .*in use/);
    expect(await server.stop()).toBe(0);

    const sound = await verify({ dataDir });
    expect(sound).toMatchObject({ code: 0, stderr: '' });
    expect(sound.stdout).toMatch(soundBooks);
  });

  test('works beside a running server on PostgreSQL, and exits with 1 when the ledger is inconsistent', async () => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const empty = await verify({ databaseUrl });
    expect(empty.code).toBe(1);
    expect(empty.stderr).toContain('lacks the migrations');
    const server = await startServer({ databaseUrl, seed });
    await settleOne(server.url);
    const running = await verify({ databaseUrl });
    expect(running).toMatchObject({ code: 0, stdout: expect.stringMatching(soundBooks) });
    // The stop seals the end of the audit trail.
    expect(await server.stop()).toBe(0);

    const [json, heads] = await Promise.all([
      verify({ databaseUrl }, '--json'),
      verify({ databaseUrl }, '--print-heads'),
    ]);
    expect(JSON.parse(json.stdout)).toMatchObject({ object: 'verification', sandbox: true, status: 'sound' });
    expect(heads.stdout).toMatch(/^org_\w{26} \d+ [0-9a-f]{64}\n$/);

    // Heads that were stored elsewhere: those of this chain, and those of another one.
    const [same, other] = [join(directory, 'same.txt'), join(directory, 'other.txt')];
    await writeFile(same, heads.stdout);
    await writeFile(other, heads.stdout.replace(/[0-9a-f]{8}\n$/, '00000000\n'));
    const [accepted, refused] = await Promise.all([
      verify({ databaseUrl }, '--heads', same),
      verify({ databaseUrl }, '--heads', other),
    ]);
    expect(accepted).toMatchObject({ code: 0, stderr: '' });
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('the chain was rebuilt')]);

    const client = new pg.Client(databaseUrl);
    await client.connect();
    await client.query(`update ledger_balances set balance = balance + 1 where account = 'bank'`);
    await client.end();
    const unsound = await verify({ databaseUrl });
    expect(unsound.code).toBe(1);
    expect(unsound.stdout).toMatch(/DIFFERS[\s\S]+bank EUR: expected 1250, found 1251[\s\S]+NOT sound\.\n$/);
  });

  test('creates nothing when the database does not exist', async () => {
    const dataDir = join(directory, 'mistyped');
    const [missing] = await runSequence([{ dataDir, args: ['verify'] }]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no database in') });
    expect(existsSync(dataDir)).toBe(false);
  });
});

const soundBooks =
  /2 ledger entries, \d balances, 1 payments and 0 transfers checked[\s\S]+The books are sound\.\n$/;
