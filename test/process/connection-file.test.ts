import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { run } from '../support/command.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { freePort, type ServerProcess, startServer } from '../support/processes.ts';
import { type Folder, temporaryFolder } from './support/client.ts';

let folder: Folder;
let server: ServerProcess | undefined;
let env: Record<string, string>;
beforeEach(() => {
  folder = temporaryFolder();
  env = { SANDBANK_CONNECTION_FILE: path.join(folder.path, 'connection.json') };
});
afterEach(async () => {
  await server?.kill();
  folder.remove();
});

const readFile = () => JSON.parse(readFileSync(env.SANDBANK_CONNECTION_FILE ?? '', 'utf8')) as object;

describe('SANDBANK_CONNECTION_FILE', () => {
  it('leads the command line to a server in memory, on any port, until it stops', async () => {
    expect(await run(['health'], { env })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no server has started'),
    });
    const waiting = run(['health', '--wait', '5m', '--json'], { env });
    server = await startServer({ dataDir: 'memory', env });
    const { url } = server;
    const { code, stdout } = await waiting;
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { object: 'health', sandbox: true, status: 'ready', url },
    ]);
    expect(statSync(env.SANDBANK_CONNECTION_FILE ?? '').mode & 0o777).toBe(0o600);
    expect((await run(['payments', 'create', '--amount', '1.00', '--currency', 'EUR'], { env })).code).toBe(
      0,
    );
    expect((await run(['organizations', 'list'], { env })).stdout).toContain('Demo');

    expect(await server.stop()).toBe(0);
    expect(existsSync(env.SANDBANK_CONNECTION_FILE ?? '')).toBe(false);
  });

  it('holds the address of a shared server, and none of its secrets', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const token = 'an-operator-token-that-is-long-enough';
    server = await startServer({ databaseUrl, env: { ...env, SANDBANK_OPERATOR_TOKEN: token } });
    expect(await run(['health', '--wait', '5m'], { env })).toMatchObject({ code: 0 });
    expect(readFile()).toEqual({ url: server.url });
    expect(await server.stop()).toBe(0);
  });
});

describe('sandbank health', () => {
  it('fails where no server listens, and where another program does', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await run(['health', '--url', url])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`${url} cannot be reached: ECONNREFUSED`),
    });
    const other = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const answered = await run(['health', '--url', `http://127.0.0.1:${port}`]);
    other.close();
    expect(answered).toMatchObject({ code: 1, stderr: expect.stringContaining('is not a Sandbank server') });
  });
});
