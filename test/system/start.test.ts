import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { effort } from '../support/effort.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { runToEnd, type ServerOptions, type ServerProcess, startServer } from '../support/processes.ts';
import { call, createPayment, expectRefusal, type Folder, PAYMENTS, temporaryFolder } from './client.ts';

const run = promisify(execFile);
const password = 'hunter2secret';

let folder: Folder;
let dataDir = '';
const started: ServerProcess[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  dataDir = path.join(folder.path, 'data');
});
afterEach(async () => {
  for (const server of started.splice(0)) await server.kill();
  folder.remove();
});

async function start(options: ServerOptions = {}): Promise<ServerProcess> {
  const server = await startServer({ dataDir, ...options });
  started.push(server);
  return server;
}

/** One sentence for a person: what is wrong, without a stack and without a secret. */
async function expectRefusedStart(options: ServerOptions, words: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runToEnd({ dataDir, ...options });
  expect(stderr).toMatch(words);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(/^Sandbank did not start\. [A-Z-].*\.\n$/);
  expect(stderr + stdout).not.toMatch(/\n\s+at |node:internal|sbk_sandbox_\w/);
  expect(stderr + stdout).not.toContain(password);
  expect(code).toBe(1);
}

function seedFile(content: unknown): string {
  const file = path.join(folder.path, 'other-seed.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ09';
const seedWith = (apiKey: object) => ({
  organizations: [{ name: 'Acme', applications: [{ name: 'web', apiKeys: [apiKey] }] }],
});

describe('a start that is refused before anything is made', () => {
  const refusals: readonly (readonly [string, () => ServerOptions, RegExp])[] = [
    ['an unknown flag', () => ({ args: ['--prot', '4000'] }), /--prot/],
    ['a port that is no number', () => ({ args: ['--port', 'http'] }), /port .*"http"/],
    [
      'a rate limit in words',
      () => ({ env: { SANDBANK_RATE_LIMIT: 'fast' } }),
      /SANDBANK_RATE_LIMIT .*"fast"/,
    ],
    ['an unknown log level', () => ({ env: { LOG_LEVEL: 'loud' } }), /LOG_LEVEL .*"loud"/],
    ['a short secret', () => ({ env: { SANDBANK_SECRET: password } }), /SANDBANK_SECRET .*32/],
    [
      'a worker without a shared database',
      () => ({ args: ['--role', 'worker'] }),
      /--role worker needs DATABASE_URL/,
    ],
    [
      'the URL of another database',
      () => ({ databaseUrl: `mysql://me:${password}@127.0.0.1/x` }),
      /DATABASE_URL/,
    ],
    ['a URL that is none', () => ({ databaseUrl: `postgres://me:${password}@[::` }), /DATABASE_URL/],
    [
      'a seed file that is not there',
      () => ({ seed: path.join(folder.path, 'none.json') }),
      /none\.json .*ENOENT/,
    ],
    ['a seed file that is no file', () => ({ seed: folder.path }), /seed file .*EISDIR/],
    [
      'a seed file that is no JSON',
      () => ({ seed: seedFile('{"organizations": oops') }),
      /seed file .*not accepted/,
    ],
    [
      'a seed with an unknown field',
      () => ({ seed: seedFile({ organizations: [{ name: 'Acme', colour: 'red' }] }) }),
      /\/organizations\/0\/colour/,
    ],
    [
      'a seed with a bad key',
      () => ({ seed: seedFile(seedWith({ name: 'ci', key: `${key}x`, scopes: [] })) }),
      /apiKeys\/0\/key/,
    ],
  ];

  // Each takes a process; src/config.test.ts has the values themselves.
  it.each(refusals.filter((_, i) => i % effort(3, 1) === 0))('%s', async (_what, options, words) => {
    await expectRefusedStart(options(), words);
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe('a start that the world refuses', () => {
  it('tells of a database that cannot be reached', async () => {
    await expectRefusedStart(
      { databaseUrl: `postgres://me:${password}@127.0.0.1:1/x` },
      /database .*ECONNREFUSED/,
    );
  });

  it('tells of a database server that says nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await expectRefusedStart(
      { databaseUrl: `postgres://me:${password}@127.0.0.1:${port}/x` },
      /database .*time/,
    );
    silent.close();
  });

  it('tells of a database that does not exist', async () => {
    const url = new URL(inject('postgresUrl'));
    url.pathname = '/nowhere';
    url.password = password;
    await expectRefusedStart({ databaseUrl: url.href }, /"nowhere" does not exist/);
  });

  it('tells of a user that does not exist', async () => {
    const url = new URL(inject('postgresUrl'));
    url.username = 'stranger';
    url.password = password;
    await expectRefusedStart({ databaseUrl: url.href }, /"stranger" does not exist/);
  });

  it('tells of a data directory that is a file', async () => {
    await expectRefusedStart({ dataDir: folder.seed }, /seed\.json/);
  });

  it('tells of a database that does not open, and gives the data directory free', async () => {
    mkdirSync(path.join(dataDir, 'db'), { recursive: true });
    writeFileSync(path.join(dataDir, 'db', 'PG_VERSION'), 'none');
    await expectRefusedStart({}, /embedded database in .* does not open: /);
    expect(existsSync(path.join(dataDir, 'lock'))).toBe(false);
  });

  it('tells of an address that is not of this machine', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    await expectRefusedStart({ databaseUrl, args: ['--host', '203.0.113.1'] }, /203\.0\.113\.1/);
  });

  it('tells of a port in use, and gives the data directory free', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expectRefusedStart({ port }, new RegExp(`Port ${port} is in use`));
    other.close();
    expect(existsSync(path.join(dataDir, 'lock'))).toBe(false);
  });

  it('tells of a data directory in use by its name, and leaves its owner alone', async () => {
    const first = await start();
    await expectRefusedStart({}, new RegExp(`data directory ${dataDir} is in use by process ${first.pid};`));
    expect((await call(`${first.url}/readyz`)).status).toBe(200);
    expect(existsSync(path.join(dataDir, 'lock'))).toBe(true);
  });

  it('tells of a key that belongs to somebody else', async () => {
    const seed = seedFile({
      organizations: ['Acme', 'Other'].map((name) => ({
        name,
        applications: [{ name: 'web', apiKeys: [{ name: 'ci', key, scopes: [] }] }],
      })),
    });
    await expectRefusedStart(
      { seed, databaseUrl: await migratedDatabase(inject('postgresUrl')) },
      /key "ci" belongs to application "web" of organization "Acme"/,
    );
  });
});

describe('flags that only print', () => {
  it.each([
    ['--help', /--port PORT/],
    ['--version', /^\d+\.\d+\.\d+\n$/],
  ])('%s ends well and makes nothing', async (flag, words) => {
    const { code, stdout, stderr } = await runToEnd({ dataDir, args: [flag] });
    expect(stdout).toMatch(words);
    expect({ code, stderr, isMade: existsSync(dataDir) }).toEqual({ code: 0, stderr: '', isMade: false });
  });
});

describe('a first start', () => {
  it('prints a key once, with a line that works as it stands, and keeps serving it', async ({ skip }) => {
    if (!(await hasCurl())) skip('curl is not installed');
    const first = await start();
    const [demoKey = ''] = /sbk_sandbox_\w{32}/.exec(first.logs()) ?? [];
    const [line = ''] = /^ {2}curl .*$/m.exec(first.logs()) ?? [];
    expect(line).toContain(demoKey);

    const made = JSON.parse((await run('bash', ['-c', line])).stdout) as Record<string, unknown>;
    expect(made).toMatchObject({
      object: 'payment',
      sandbox: true,
      status: 'pending',
      amount: 1250,
      currency: 'EUR',
    });
    const again = (await run('bash', ['-c', `${line} --include`])).stdout;
    expect(again).toMatch(/^HTTP\/1\.1 201 Created\r\n/);
    expect(again).toMatch(/\r\nIdempotent-Replayed: true\r\n/i);
    expect(again).toContain(String(made.id));
    expect(await first.stop()).toBe(0);

    const second = await start();
    expect(second.logs()).not.toContain(demoKey);
    expect(second.logs()).toContain(`The key ending in ${demoKey.slice(-4)} was shown at the first start`);
    const read = await call(`${second.url}${PAYMENTS}/${String(made.id)}`, { key: demoKey });
    expect(read.status).toBe(200);
  });
});

describe('a start on existing data', () => {
  it('takes over the lock of a killed process, and is not too large', async () => {
    const first = await start({ seed: folder.seed });
    expect((await createPayment(first.url, 'kept', 'kept')).status).toBe(201);
    await first.kill();
    expect(readFileSync(path.join(dataDir, 'lock'), 'utf8')).toContain(String(first.pid));

    const afterKill = await timedStart();
    expect(await afterKill.server.stop()).toBe(0);
    expect(existsSync(path.join(dataDir, 'lock'))).toBe(false);
    const afterStop = await timedStart();

    const memory = residentMegabytes(afterStop.server.pid);
    // How long is for the bench to judge, on a machine that does nothing else.
    console.log(
      `from start to the first answer: ${afterKill.tookMs} ms after kill -9, ${afterStop.tookMs} ms after a clean stop; ` +
        `idle memory ${memory ?? 'unknown'} MB`,
    );
    if (memory !== undefined) expect(memory).toBeLessThan(700);
  });

  async function timedStart(): Promise<{ server: ServerProcess; tookMs: number }> {
    const since = performance.now();
    const server = await start({ seed: folder.seed });
    const answer = await createPayment(server.url, 'kept', 'kept');
    const tookMs = Math.round(performance.now() - since);
    expect(answer).toMatchObject({ status: 201, isReplay: true });
    return { server, tookMs };
  }

  /** Where the system says it. */
  function residentMegabytes(pid: number): number | undefined {
    const file = `/proc/${pid}/status`;
    if (!existsSync(file)) return undefined;
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
  }
});

describe('what a process serves', () => {
  it('is health but no API when it only works', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const server = await start({ databaseUrl, seed: folder.seed, args: ['--role', 'worker'] });
    expect((await call(`${server.url}/healthz`)).status).toBe(200);
    expect((await call(`${server.url}/readyz`)).status).toBe(200);
    expectRefusal(await call(server.url + PAYMENTS), 'route_not_found');
    expectRefusal(await createPayment(server.url, 'worker', 'worker'), 'route_not_found');
    expect(await server.stop()).toBe(0);
  });

  it('is metrics with --metrics, and without it none', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const measured = await start({ databaseUrl, seed: folder.seed, args: ['--metrics'] });
    expect((await createPayment(measured.url, 'measured', 'measured')).status).toBe(201);
    const metrics = await (await fetch(`${measured.url}/metrics`)).text();
    expect(metrics).toMatch(/^sandbank_engine_batch_size_count [1-9]/m);
    expect(await measured.stop()).toBe(0);

    const plain = await start({ databaseUrl, seed: folder.seed });
    expectRefusal(await call(`${plain.url}/metrics`), 'route_not_found');
  });

  it('is said to be in memory and is logged at every level without a secret', async () => {
    const server = await start({ env: { LOG_LEVEL: 'trace' }, dataDir: 'memory' });
    // The line of the log comes first, and has the address too.
    await vi.waitUntil(() => server.logs().includes('in memory (gone when it stops)'), { timeout: 60_000 });
    const banner = server.logs();
    const [demoKey = ''] = /sbk_sandbox_\w{32}/.exec(banner) ?? [];
    const body = { amount: 1, currency: 'EUR' };
    const send = (path: string, more: object) => call(server.url + path, { key: demoKey, ...more });
    expect((await send(PAYMENTS, { method: 'POST', idempotencyKey: 'one', body })).status).toBe(201);
    expect(
      (await send(PAYMENTS, { method: 'POST', idempotencyKey: 'two', body: { amount: 'x' } })).status,
    ).toBe(400);
    expect((await send(PAYMENTS, {})).status).toBe(200);
    expect((await send(`${PAYMENTS}/%ff`, {})).status).toBe(400);
    expect((await send('/_api/nothing', {})).status).toBe(404);
    expect((await call(server.url + PAYMENTS, { key: `${demoKey.slice(0, -1)}-` })).status).toBe(401);
    expect((await call(server.url + PAYMENTS, { key })).status).toBe(401);
    expect(await server.stop()).toBe(0);

    const after = server.logs().slice(banner.length);
    expect(after).not.toMatch(/sbk_sandbox_|Bearer/i);
    expect(after).not.toContain(demoKey.slice('sbk_sandbox_'.length));
    // In the banner it stands by itself and in the line to try, and nowhere else.
    expect(banner.split(demoKey)).toHaveLength(3);
    expect(existsSync(dataDir)).toBe(false);
  });
});

async function hasCurl(): Promise<boolean> {
  return run('curl', ['--version']).then(
    () => true,
    () => false,
  );
}

describe('the secret that webhooks are encrypted with', () => {
  const webhook = { url: 'http://127.0.0.1:9/', secret: `whsec_${'A'.repeat(43)}=` };
  const seed = () =>
    seedFile({ organizations: [{ name: 'Acme', applications: [{ name: 'web', webhooks: [webhook] }] }] });

  it('is made once, kept for its owner alone, and another one is refused at the start', async () => {
    const first = await start({ seed: seed() });
    const file = path.join(dataDir, 'secret');
    const made = readFileSync(file, 'utf8');
    expect(made).toMatch(/^[0-9a-f]{64}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(first.logs()).not.toContain(made.trim());
    await first.stop();
    const second = await start({ seed: seed() });
    expect(readFileSync(file, 'utf8')).toBe(made);
    await second.stop();
    await expectRefusedStart(
      { env: { SANDBANK_SECRET: 'x'.repeat(32) } },
      /encrypted with another SANDBANK_SECRET/,
    );
    const given = await start({ env: { SANDBANK_SECRET: made.trim() } });
    await given.stop();
  });

  it('must be given for a shared database', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    await expectRefusedStart({ databaseUrl, env: { SANDBANK_SECRET: '' } }, /SANDBANK_SECRET is missing/);
  });

  it('is told once when the seed leaves that of a webhook to be made', async () => {
    const { secret: _secret, ...bare } = webhook;
    const file = seedFile({
      organizations: [{ name: 'Acme', applications: [{ name: 'web', webhooks: [bare] }] }],
    });
    const told = /The secret of the webhook http:\/\/127\.0\.0\.1:9\/, shown only now: whsec_/;
    const first = await start({ seed: file });
    expect(await first.stop()).toBe(0);
    expect(first.logs()).toMatch(told);
    const second = await start({ seed: file });
    await second.stop();
    expect(second.logs()).not.toMatch(/whsec_/);
  });
});
