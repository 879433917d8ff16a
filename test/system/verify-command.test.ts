import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { runToEnd, type ServerOptions, startServer } from '../support/processes.ts';
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

  test('tells of a directory in use, and after the stop says in words and in JSON that the books are sound', async () => {
    const dataDir = join(directory, 'data');
    const server = await startServer({ dataDir, seed });
    await settleOne(server.url);
    const inUse = await verify({ dataDir });
    expect(inUse.code).toBe(1);
    expect(inUse.stderr).toMatch(/^Nothing was verified\. .*in use/);
    await server.stop();

    const words = await verify({ dataDir });
    expect(words).toMatchObject({ code: 0, stderr: '' });
    expect(words.stdout).toMatch(
      /2 ledger entries, \d balances, 1 payments and 0 transfers looked at[\s\S]+The books are sound\.\n$/,
    );
    const json = await verify({ dataDir }, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ object: 'verification', sandbox: true, status: 'sound' });

    // Heads that are kept elsewhere: the same, and those of another chain.
    const file = join(directory, 'heads.txt');
    const heads = await verify({ dataDir }, '--print-heads');
    expect(heads.stdout).toMatch(/^org_\w{26} \d+ [0-9a-f]{64}\n$/);
    await writeFile(file, heads.stdout);
    expect(await verify({ dataDir }, '--heads', file)).toMatchObject({ code: 0, stderr: '' });
    await writeFile(file, heads.stdout.replace(/[0-9a-f]{8}\n$/, '00000000\n'));
    const anew = await verify({ dataDir }, '--heads', file);
    expect([anew.code, anew.stdout]).toEqual([1, expect.stringContaining('the chain was made anew')]);
  });

  test('works beside a running server on PostgreSQL, and ends with 1 when the books are not sound', async () => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const empty = await verify({ databaseUrl });
    expect(empty.code).toBe(1);
    expect(empty.stderr).toContain('lacks the migrations');
    const server = await startServer({ databaseUrl, seed });
    await settleOne(server.url);
    expect((await verify({ databaseUrl })).code).toBe(0);
    const { default: pg } = await import('pg');
    const client = new pg.Client(databaseUrl);
    await client.connect();
    await client.query(`update ledger_balances set balance = balance + 1 where account = 'bank'`);
    await client.end();
    const unsound = await verify({ databaseUrl });
    await server.stop();
    expect(unsound.code).toBe(1);
    expect(unsound.stdout).toMatch(/DIFFERS[\s\S]+bank EUR: expected 1250, found 1251[\s\S]+NOT sound\.\n$/);
  });

  test('makes nothing where there is nothing', async () => {
    const dataDir = join(directory, 'mistyped');
    const { code, stderr } = await verify({ dataDir });
    expect(code).toBe(1);
    expect(stderr).toContain('There is no database in');
    expect(existsSync(dataDir)).toBe(false);
  });

  test('an unknown command is told with those that exist', async () => {
    const { code, stderr } = await runToEnd({ args: ['fly'] });
    expect(code).toBe(1);
    expect(stderr).toContain('must be one of start, verify');
  });
});
