import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import {
  type Ending,
  freePort,
  runSequence,
  runToEnd,
  type ServerOptions,
  type ServerProcess,
  spawnServer,
  startServer,
} from '../support/processes.ts';
import { RawConnection } from '../support/raw-connection.ts';
import {
  call,
  createPayment,
  expectRefusal,
  type Folder,
  PAYMENTS,
  temporaryFolder,
} from './support/client.ts';

const execute = promisify(execFile);
const password = 'hunter2secret';
const key = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ09';

let folder: Folder;
let dataDir = '';
const started: ServerProcess[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  dataDir = path.join(folder.path, 'data');
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()));
  folder.remove();
});

async function start(options: ServerOptions = {}): Promise<ServerProcess> {
  const server = await startServer({ dataDir, ...options });
  started.push(server);
  return server;
}

/** A one-line error message without a stack trace and without a secret. */
function expectRefusedStart({ code, stdout, stderr }: Ending, reason: RegExp, expected = 1): void {
  expect(stderr).toMatch(reason);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(/^Error: Sandbank did not start\. [A-Z-].*\.\n$/);
  expect(stderr + stdout).not.toMatch(/\n\s+at |node:internal|sbk_sandbox_\w/);
  expect(stderr + stdout).not.toContain(password);
  expect(code).toBe(expected);
}

async function refuse(options: ServerOptions, reason: RegExp): Promise<void> {
  expectRefusedStart(await runToEnd({ dataDir, ...options }), reason);
}

let seedFiles = 0;
function seedFile(content: unknown): string {
  seedFiles += 1;
  const file = path.join(folder.path, `seed-${seedFiles}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const seedWith = (application: object, organization = 'Acme') => ({
  organizations: [{ name: organization, applications: [{ name: 'web', ...application }] }],
});

describe('a start with invalid settings, before the server creates anything', () => {
  const refusals: readonly (readonly [string, () => ServerOptions, RegExp])[] = [
    ['a port that is not a number', () => ({ args: ['--port', 'http'] }), /port .*"http"/],
    [
      'a rate limit that is not a number',
      () => ({ env: { SANDBANK_RATE_LIMIT: 'fast' } }),
      /SANDBANK_RATE_LIMIT .*"fast"/,
    ],
    ['an unknown log level', () => ({ env: { LOG_LEVEL: 'loud' } }), /LOG_LEVEL .*"loud"/],
    ['a short secret', () => ({ env: { SANDBANK_SECRET: password } }), /SANDBANK_SECRET .*32/],
    [
      'a short operator token',
      () => ({ env: { SANDBANK_OPERATOR_TOKEN: 'short' } }),
      /SANDBANK_OPERATOR_TOKEN must have at least 32 characters/,
    ],
    [
      'an operator token that no header can carry',
      () => ({ env: { SANDBANK_OPERATOR_TOKEN: `${password} with spaces, and long enough` } }),
      /SANDBANK_OPERATOR_TOKEN may contain only ASCII letters, digits and punctuation/,
    ],
    [
      'a worker without a shared database',
      () => ({ args: ['--role', 'worker'] }),
      /--role worker needs DATABASE_URL/,
    ],
    [
      'the URL of another kind of database',
      () => ({ databaseUrl: `mysql://me:${password}@127.0.0.1/x` }),
      /DATABASE_URL/,
    ],
    ['a malformed URL', () => ({ databaseUrl: `postgres://me:${password}@[::` }), /DATABASE_URL/],
    [
      'a shared database without a secret',
      () => ({ databaseUrl: `postgres://me:${password}@127.0.0.1:1/x`, env: { SANDBANK_SECRET: '' } }),
      /SANDBANK_SECRET is missing/,
    ],
    [
      'a seed file that does not exist',
      () => ({ seed: path.join(folder.path, 'none.json') }),
      /none\.json .*ENOENT/,
    ],
    ['a seed file that is a directory', () => ({ seed: folder.path }), /seed file .*EISDIR/],
    [
      'a seed file that is not JSON',
      () => ({ seed: seedFile('{"organizations": oops') }),
      /seed file .*not accepted/,
    ],
    [
      'a seed with an unknown field',
      () => ({ seed: seedFile({ organizations: [{ name: 'Acme', colour: 'red' }] }) }),
      /\/organizations\/0\/colour/,
    ],
    [
      'a seed with a malformed key',
      () => ({ seed: seedFile(seedWith({ apiKeys: [{ name: 'ci', key: `${key}x`, scopes: [] }] })) }),
      /apiKeys\/0\/key/,
    ],
  ];

  it('names the wrong setting in one sentence', async () => {
    const calls = refusals.map(([, options]) => ({ dataDir, ...options() }));
    const results = await runSequence(calls);
    expect(results).toHaveLength(refusals.length);
    for (const [at, result] of results.entries()) {
      const [what, , reason] = refusals[at] ?? ['', undefined, /^$/];
      try {
        // A seed file is read after the settings: only those are wrong usage.
        expectRefusedStart(result, reason, calls[at]?.seed === undefined ? 2 : 1);
      } catch (error) {
        throw new Error(`${what}: ${JSON.stringify(result)}`, { cause: error });
      }
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it('ends the process with exit code 2 for wrong usage, and with 0 for flags that only print', async () => {
    const [refused, help, version] = await Promise.all([
      runToEnd({ dataDir, args: ['--prot', '4000'] }),
      runToEnd({ dataDir, args: ['--help'] }),
      runToEnd({ dataDir, args: ['--version'] }),
    ]);
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'Error: Unknown option \'--prot\'. Did you mean --port? Run "sandbank start --help" for help.\n',
    });
    expect(help).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/--port <port>/) });
    expect(version).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe('a start that fails because of its environment', () => {
  it('names a database that cannot be used', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const at = (address: string) => ({
      databaseUrl: `postgres://me:${password}@127.0.0.1:${address}/x`,
      env: { SANDBANK_STATEMENT_TIMEOUT: '10' },
    });
    const withUrl = (change: (url: URL) => void) => {
      const url = new URL(inject('postgresUrl'));
      url.password = password;
      change(url);
      return { databaseUrl: url.href };
    };
    await Promise.all([
      refuse(at('1'), /database .*ECONNREFUSED/),
      // It accepts the connection and never answers.
      refuse(at(String(port)), /database .*time/),
      refuse(
        withUrl((url) => {
          url.pathname = '/nowhere';
        }),
        /"nowhere" does not exist/,
      ),
      refuse(
        withUrl((url) => {
          url.username = 'stranger';
        }),
        /"stranger" does not exist/,
      ),
      refuse({ dataDir: folder.seed }, /seed\.json/),
    ]);
    silent.close();
  });

  it('names an address of another machine, and a key that belongs to another organization', async () => {
    const [first, second] = await Promise.all([
      migratedDatabase(inject('postgresUrl')),
      migratedDatabase(inject('postgresUrl')),
    ]);
    const apiKeys = [{ name: 'ci', key, scopes: [] }];
    const organizations = ['Acme', 'Other'].flatMap((name) => seedWith({ apiKeys }, name).organizations);
    await Promise.all([
      refuse({ databaseUrl: first, args: ['--host', '203.0.113.1'] }, /203\.0\.113\.1/),
      refuse(
        { databaseUrl: second, seed: seedFile({ organizations }) },
        /key "ci" already belongs to application "web" of organization "Acme"/,
      ),
    ]);
  });

  it('releases the data directory when the database does not open', async () => {
    const damaged = path.join(folder.path, 'damaged');
    mkdirSync(path.join(damaged, 'db'), { recursive: true });
    writeFileSync(path.join(damaged, 'db', 'PG_VERSION'), 'none');
    await refuse({ dataDir: damaged }, /embedded database in .* does not open: /);
    expect(existsSync(path.join(damaged, 'lock'))).toBe(false);
  });

  it('creates nothing when the port is in use, and names the next free port with its command', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const free = `Port ${port} is in use, and (\\d+) is free: run`;
    const cases = [
      [{}, `${free} "sandbank start --port \\1"`],
      [{ npm_lifecycle_event: 'start' }, `${free} "npm start -- --port \\1"`],
      [{ npm_lifecycle_event: 'npx' }, `${free} "npx sandbank start --port \\1"`],
    ] as const;
    await Promise.all(cases.map(([env, reason]) => refuse({ port, env }, new RegExp(reason))));
    await refuse({ port, seed: folder.seed }, new RegExp(free));
    other.close();
    expect(existsSync(dataDir)).toBe(false);
  });
});

interface CliFile {
  readonly url: string;
  readonly operatorToken: string;
  readonly apiKey?: string;
}

describe('an embedded server over several starts', () => {
  const file = (name: string) => path.join(dataDir, name);
  const read = (name: string) => readFileSync(file(name), 'utf8');
  const modeOf = (name: string) => statSync(file(name)).mode & 0o777;
  const cliFile = () => JSON.parse(read('cli.json')) as CliFile;

  /** Creates the first payment with the command that the banner shows, twice. */
  async function tryBannerCommand(line: string): Promise<string> {
    const created = JSON.parse((await execute('bash', ['-c', line])).stdout) as Record<string, unknown>;
    expect(created).toMatchObject({
      ...{ object: 'payment', sandbox: true, status: 'pending' },
      ...{ amount: 1250, currency: 'EUR' },
    });
    const again = (await execute('bash', ['-c', `${line} --include`])).stdout;
    expect(again).toMatch(/^HTTP\/1\.1 201 Created\r\n/);
    expect(again).toMatch(/\r\nIdempotent-Replayed: true\r\n/i);
    expect(again).toContain(String(created.id));
    return String(created.id);
  }

  it('shows its key at every start, and keeps its secret and data through kill -9', async ({ skip }) => {
    if (!(await hasCurl())) skip('curl is not installed');

    // The first start shows a key and a command that works unchanged.
    const first = await start();
    const [demoKey = ''] = /sbk_sandbox_\w{32}/.exec(first.logs()) ?? [];
    const [line = ''] = /^ {2}curl .*$/m.exec(first.logs()) ?? [];
    expect(line).toContain(demoKey);
    const paymentId = await tryBannerCommand(line);

    // It creates a secret and the files of the command line, readable by their owner only.
    const secret = read('secret');
    expect(secret).toMatch(/^[0-9a-f]{64}\n$/);
    expect(first.logs()).not.toContain(secret.trim());
    // Git does not see it: the directory ignores itself.
    expect(read('.gitignore')).toBe('*\n');
    expect([modeOf('secret'), modeOf('cli.json'), modeOf('demo-key')]).toEqual([0o600, 0o600, 0o600]);
    const cli = cliFile();
    expect(cli).toMatchObject({ url: first.url, apiKey: demoKey });
    const organizations = await call(`${cli.url}/_operator/organizations`, { key: cli.operatorToken });
    expect(organizations.body.data).toHaveLength(1);

    // A second server on the same directory is rejected and changes nothing.
    await refuse({}, new RegExp(`data directory ${dataDir} is in use by process ${first.pid};`));
    expect((await call(`${first.url}/readyz`)).status).toBe(200);
    expect(existsSync(file('lock'))).toBe(true);
    await first.kill();
    expect(read('lock')).toContain(String(first.pid));

    // After kill -9, the next start takes the lock over, has all data and shows the same key.
    const second = await start();
    expect(second.logs()).toContain(`  API key  ${demoKey}`);
    const replayed = await call(second.url + PAYMENTS, {
      ...{ method: 'POST', key: demoKey, idempotencyKey: 'first-payment' },
      body: { amount: 1250, currency: 'EUR' },
    });
    expect(replayed).toMatchObject({ status: 201, isReplay: true, body: { id: paymentId } });
    expect(read('secret')).toBe(secret);
    expect(cliFile().apiKey).toBe(demoKey);
    expect(cliFile().operatorToken).not.toBe(cli.operatorToken);
    expectMemoryBelow(second.pid, 700);
    expect(await second.stop()).toBe(0);
    expect([existsSync(file('cli.json')), existsSync(file('lock'))]).toEqual([false, false]);

    // A seed file beside it changes nothing about the demo key.
    const third = await start({ seed: folder.seed });
    expect(third.logs()).toContain(`  API key  ${demoKey}`);
    expect(cliFile().apiKey).toBe(demoKey);
    expect(await third.stop()).toBe(0);
  });

  it('answers a request that arrives while it starts', async () => {
    const port = await freePort();
    const child = spawnServer({ dataDir, port });
    try {
      const open = () => RawConnection.open(`http://127.0.0.1:${port}`).catch(() => undefined);
      const connection = await vi.waitUntil(open, { interval: 2 });
      connection.send('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
      expect((await connection.next())?.status).toBe(200);
      connection.close();
    } finally {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
  });

  it('shows the secret of a seeded webhook once, and rejects another SANDBANK_SECRET', async () => {
    const seed = seedFile(seedWith({ webhooks: [{ url: 'http://127.0.0.1:9/' }] }));
    const operatorToken = 'an-operator-token-with-enough-characters';
    const first = await start({ seed, env: { SANDBANK_OPERATOR_TOKEN: operatorToken } });
    expect(cliFile().operatorToken).toBe(operatorToken);
    expect(await first.stop()).toBe(0);
    expect(first.logs()).toMatch(
      /The secret of the webhook http:\/\/127\.0\.0\.1:9\/, shown only now: whsec_/,
    );
    await refuse({ env: { SANDBANK_SECRET: 'x'.repeat(32) } }, /encrypted with another SANDBANK_SECRET/);
    const second = await start({ seed, env: { SANDBANK_SECRET: read('secret').trim() } });
    expect(await second.stop()).toBe(0);
    expect(second.logs()).not.toMatch(/whsec_/);
  });

  /** The resident memory of an idle server, where the system reports it. */
  function expectMemoryBelow(pid: number, megabytesMax: number): void {
    const status = `/proc/${pid}/status`;
    if (!existsSync(status)) return;
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8')) ?? [];
    expect(Number(kilobytes) / 1024).toBeLessThan(megabytesMax);
  }

  it('reports the in-memory mode, creates no files, and logs no secret at any level', async () => {
    const server = await start({ env: { LOG_LEVEL: 'trace' }, dataDir: 'memory' });
    // The log line comes first, and contains the address too.
    await vi.waitUntil(() => server.logs().includes('in memory (gone when it stops)'));
    const banner = server.logs();
    const [demoKey = ''] = /sbk_sandbox_\w{32}/.exec(banner) ?? [];
    const body = { amount: 1, currency: 'EUR' };
    const send = async (target: string, more: object = {}) =>
      (await call(server.url + target, { key: demoKey, ...more })).status;
    const post = { method: 'POST', idempotencyKey: 'one' };
    expect(await send(PAYMENTS, { ...post, body })).toBe(201);
    expect(await send(PAYMENTS, { ...post, idempotencyKey: 'two', body: { amount: 'x' } })).toBe(400);
    expect(await send(PAYMENTS)).toBe(200);
    expect(await send(`${PAYMENTS}/%ff`)).toBe(400);
    expect(await send('/_api/nothing')).toBe(404);
    expect(await send(PAYMENTS, { key: `${demoKey.slice(0, -1)}-` })).toBe(401);
    expect(await send(PAYMENTS, { key })).toBe(401);
    expect(await server.stop()).toBe(0);

    const after = server.logs().slice(banner.length);
    expect(after).not.toMatch(/sbk_sandbox_|Bearer/i);
    expect(after).not.toContain(demoKey.slice('sbk_sandbox_'.length));
    // The banner shows it alone and in the command to try, and nowhere else.
    expect(banner.split(demoKey)).toHaveLength(3);
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe('a node on PostgreSQL', () => {
  it('serves health, the API and metrics according to its role and flags', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const [worker, measured] = await Promise.all([
      start({ databaseUrl, args: ['--role', 'worker'] }),
      start({ databaseUrl, seed: folder.seed, args: ['--metrics'] }),
    ]);
    expect((await call(`${worker.url}/healthz`)).status).toBe(200);
    expect((await call(`${worker.url}/readyz`)).status).toBe(200);
    expectRefusal(await call(worker.url + PAYMENTS), 'route_not_found');
    expectRefusal(await createPayment(worker.url, 'worker', 'worker'), 'route_not_found');
    expectRefusal(await call(`${worker.url}/metrics`), 'route_not_found');

    expect((await createPayment(measured.url, 'measured', 'measured')).status).toBe(201);
    const metrics = await (await fetch(`${measured.url}/metrics`)).text();
    expect(metrics).toMatch(/^sandbank_engine_batch_size_count [1-9]/m);
    expect(await Promise.all([worker.stop(), measured.stop()])).toEqual([0, 0]);

    const plain = await start({ databaseUrl });
    expectRefusal(await call(`${plain.url}/metrics`), 'route_not_found');
    expect((await createPayment(plain.url, 'measured', 'measured')).isReplay).toBe(true);
  });
});

async function hasCurl(): Promise<boolean> {
  return execute('curl', ['--version']).then(
    () => true,
    () => false,
  );
}
