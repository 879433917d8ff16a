import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Finding } from '../../../cli/checks/check.ts';
import { checkBuild, checkNode } from '../../../cli/checks/machine.ts';
import { skew } from '../../../cli/checks/server.ts';
import { type CommandWorld, openCommandWorld, run } from '../../support/command.ts';
import { createDatabase } from '../../support/postgres.ts';
import { freePort } from '../../support/processes.ts';
import { newKey } from '../../support/tenant.ts';

interface Diagnosis {
  readonly status: string;
  readonly findings: readonly Finding[];
}

const named = ({ findings }: Diagnosis, name: string) => findings.filter((one) => one.name === name);

describe('sandbank doctor and migrate', () => {
  let world: CommandWorld;
  let folder: string;
  beforeAll(async () => {
    world = await openCommandWorld();
    folder = await mkdtemp(join(tmpdir(), 'sandbank-doctor-'));
  });
  afterAll(async () => {
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const diagnose = async (env: Record<string, string>, ...args: string[]) => {
    const ran = await run(['doctor', '--json', ...args], {
      env: { ...world.env, ...env },
      directory: folder,
    });
    return { code: ran.code, ...(JSON.parse(ran.stdout) as Diagnosis) };
  };

  test('reports a healthy server, as JSON and as text', async () => {
    const well = await diagnose({});
    expect(well).toMatchObject({ code: 0, object: 'diagnosis', status: 'healthy' });
    for (const name of ['node', 'data', 'disk', 'secret', 'database', 'server', 'time', 'key', 'webhooks'])
      expect(named(well, name)).toMatchObject([{ outcome: 'ok' }]);
    const output = await run(['doctor'], { env: world.env, directory: folder });
    expect(output.stdout).toMatch(/^ok +node +Node [\s\S]+ok +key +key \w+ of Tenant/m);
    expect(output.stdout).not.toContain(world.owner.key);
  });

  test('reports each failed check with a fix, and exits with 1', async () => {
    const unreachable = await diagnose({ SANDBANK_URL: `http://127.0.0.1:${await freePort()}` });
    expect(unreachable).toMatchObject({ code: 1, status: 'unhealthy' });
    expect(named(unreachable, 'server')).toMatchObject([
      {
        outcome: 'fail',
        message: expect.stringMatching(/ECONNREFUSED/),
        fix: expect.stringMatching(/sandbank start/),
      },
    ]);
    const unknownKey = await diagnose({ SANDBANK_API_KEY: newKey() });
    expect(named(unknownKey, 'key')).toMatchObject([
      { outcome: 'fail', fix: expect.stringMatching(/keys create/) },
    ]);
    const keyless = await diagnose({ SANDBANK_API_KEY: '' });
    expect(keyless.code).toBe(0);
    expect(named(keyless, 'key')).toMatchObject([{ outcome: 'warn' }]);
    const shared = await diagnose({ DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/x' });
    expect(named(shared, 'database')).toMatchObject([
      { outcome: 'fail', message: expect.stringMatching(/ECONNREFUSED/) },
    ]);
    expect(named(shared, 'secret')).toMatchObject([
      { outcome: 'fail', fix: expect.stringMatching(/openssl rand/) },
    ]);
    expect(JSON.stringify(shared)).not.toContain('hunter2');
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(named(await diagnose({}, '--data', file), 'data')).toMatchObject([{ outcome: 'fail' }]);
  });

  test('warns of a secret readable by others, a port in use and a disabled endpoint', async () => {
    const data = join(folder, 'open');
    mkdirSync(data);
    writeFileSync(join(data, 'secret'), 'x');
    chmodSync(join(data, 'secret'), 0o644);
    const { body } = await world.owner.client.post('developer_api_webhooks', { url: 'http://127.0.0.1:9/' });
    await world.owner.client.post(`developer_api_webhooks/${body.id}/disable`);
    const port = new URL(world.url).port;
    const warned = await diagnose(
      { PORT: port, SANDBANK_URL: world.url.replace('127.0.0.1', 'localhost') },
      '--data',
      data,
    );
    expect(named(warned, 'data').map(({ outcome }) => outcome)).toEqual(['ok', 'warn']);
    expect(named(warned, 'webhooks')).toMatchObject([
      { outcome: 'warn', message: expect.stringMatching(/is disabled/) },
    ]);
    expect(named(warned, 'webhooks')[0]?.fix).toBe(
      `Fix the receiver, then run "sandbank webhooks enable ${body.id}".`,
    );
    expect(named(warned, 'port')).toEqual([]);
    const unreachable = `http://127.0.0.1:${await freePort()}`;
    const portInUse = await diagnose({ PORT: port, SANDBANK_URL: unreachable }, '--data', data);
    expect(named(portInUse, 'port')).toMatchObject([
      { outcome: 'warn', fix: expect.stringMatching(/--port/) },
    ]);
  });

  test('does not report the default port while a server responds at another one', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(named(await diagnose({ PORT: String(port) }), 'port')).toEqual([]);
    other.close();
  });

  test('suggests the server folder for a missing key only outside that folder', async () => {
    const outside = await diagnose({ SANDBANK_API_KEY: '', SANDBANK_OPERATOR_TOKEN: '' });
    expect(named(outside, 'key')[0]?.fix).toMatch(/in the console at http.*\/console.* the folder where/);
    const operator = await diagnose({ SANDBANK_API_KEY: '' });
    expect(named(operator, 'key')[0]?.fix).toMatch(/sandbank keys create/);
    const data = join(folder, 'noted');
    mkdirSync(data);
    writeFileSync(join(data, 'cli.json'), JSON.stringify({ url: world.url }));
    const inside = await diagnose({
      SANDBANK_API_KEY: '',
      SANDBANK_OPERATOR_TOKEN: '',
      SANDBANK_DATA_DIR: data,
    });
    expect(named(inside, 'key')[0]?.fix).toMatch(/in the console at/);
    expect(named(inside, 'key')[0]?.fix).not.toMatch(/folder/);
  });

  test('checks the build of a checkout, but not of an installed package', () => {
    const root = join(folder, 'package');
    mkdirSync(join(root, 'migrations'), { recursive: true });
    mkdirSync(join(root, 'dist'));
    writeFileSync(join(root, 'dist', '.stamp'), '');
    writeFileSync(join(root, 'migrations', '0001.sql'), '');
    utimesSync(join(root, 'dist', '.stamp'), 0, 0);
    expect(checkBuild(root)).toEqual([]);
    mkdirSync(join(root, 'src'));
    expect(checkBuild(root)).toMatchObject([
      { outcome: 'warn', message: expect.stringMatching(/0001\.sql/) },
    ]);
  });

  test('checks the Node version and the clock skew', () => {
    expect([checkNode('20.18.9').outcome, checkNode('20.19.0').outcome, checkNode('24.1.0').outcome]).toEqual(
      ['fail', 'ok', 'ok'],
    );
    const now = Date.parse('2031-03-04T10:00:00Z');
    const at = (seconds: number) => skew(new Date(now + seconds * 1_000).toUTCString(), now)[0]?.outcome;
    expect([at(0), at(5), at(-60), at(60)]).toEqual(['ok', 'ok', 'warn', 'warn']);
    expect(skew(null, now)).toEqual([]);
  });

  test('migrate lists pending migrations, applies them once and reports them', async () => {
    const env = { DATABASE_URL: await createDatabase(inject('postgresUrl')) };
    const status = await run(['migrate', '--status', '--json'], { env });
    const { pending } = JSON.parse(status.stdout) as { pending: string[] };
    expect(status.code).toBe(0);
    expect(pending[0]).toMatch(/^1 /);
    expect(named(await diagnose(env), 'migrations')).toMatchObject([
      { outcome: 'warn', fix: expect.stringMatching(/sandbank migrate/) },
    ]);
    const done = await run(['migrate'], { env });
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toMatch(/^PostgreSQL at [\s\S]*Applied:\n {2}1 /);
    expect((await run(['migrate', '--json'], { env })).stdout).toMatch(
      /"status":"ok".*"applied":\[\],"pending":\[\]/,
    );
    expect((await run(['migrate', '--status'], { env })).stdout).toMatch(/The schema is up to date\.\n$/);
    expect(named(await diagnose(env), 'migrations')).toMatchObject([{ outcome: 'ok' }]);
  });

  test('migrate creates a data directory; with --status it rejects one that does not exist', async () => {
    const data = join(folder, 'migrated');
    const missing = await run(['migrate', '--status', '--data', data]);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/^Error: Nothing was migrated\. There is no database in /),
    ]);
    expect(existsSync(data)).toBe(false);
    expect((await run(['migrate', '--data', data])).code).toBe(0);
    const status = await run(['migrate', '--status', '--data', data, '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ status: 'ok', pending: [] });
  });
});
