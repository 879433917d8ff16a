import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { migratedDatabase } from '../support/postgres.ts';
import { runToEnd, type ServerOptions, type ServerProcess, startServer } from '../support/processes.ts';

interface CliFile {
  readonly operatorToken: string;
  readonly apiKey?: string;
}

const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-export-'));
const started: ServerProcess[] = [];
afterAll(async () => {
  await Promise.all(started.map((server) => server.kill()));
  rmSync(folder, { recursive: true, force: true });
});
const inFolder = (name: string) => path.join(folder, name);
const cliOf = (data: string) => JSON.parse(readFileSync(path.join(data, 'cli.json'), 'utf8')) as CliFile;

async function start(dataDir: string, ...args: string[]): Promise<ServerProcess> {
  const server = await startServer({ dataDir, args });
  started.push(server);
  return server;
}

async function call<Body>(url: string, key: string, body?: unknown): Promise<Body> {
  const response = await fetch(url, {
    headers: {
      authorization: `Bearer ${key}`,
      'idempotency-key': crypto.randomUUID(),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Body;
  expect(response.status, JSON.stringify(answer)).toBeLessThan(300);
  return answer;
}

const paymentsOf = ({ url }: ServerProcess) => `${url}/_api/developer_api_payments`;
const amountOf = async (server: ServerProcess, id: string, key: string) =>
  (await call<{ amount: number }>(`${paymentsOf(server)}/${id}`, key)).amount;
const withoutDates = (text: string) => text.replaceAll(/"(exportedAt|sha256|signature)":"[^"]*"/g, '');

describe('--import and --export-on-exit', () => {
  test('write the whole state on either signal, compressed or not, and continue from it', async () => {
    const [data, packed, plain] = [inFolder('data'), inFolder('state.jsonl.gz'), inFolder('state.jsonl')];
    const readPacked = () => gunzipSync(readFileSync(packed)).toString();

    // The file does not exist yet: the server starts without it and writes it at its end.
    const first = await start(data, '--import', packed, '--export-on-exit', packed);
    expect(first.logs()).toMatch(/state\.jsonl\.gz does not exist yet/);
    const { apiKey = '', operatorToken } = cliOf(data);
    const { id } = await call<{ id: string }>(paymentsOf(first), apiKey, { amount: 1_250, currency: 'EUR' });
    const other = await call<{ apiKey: { key: string } }>(
      `${first.url}/_operator/organizations`,
      operatorToken,
      { name: 'Second' },
    );
    await call(paymentsOf(first), other.apiKey.key, { amount: 1, currency: 'JPY' });
    expect(await first.stop()).toBe(0);
    expect(statSync(packed).mode & 0o777).toBe(0o600);
    const written = readPacked();
    expect(written.match(/"format":"sandbank-snapshot"/g)).toHaveLength(2);
    expect(readdirSync(folder).filter((one) => one.endsWith('.new'))).toEqual([]);
    writeFileSync(plain, written);

    // In memory, so everything it has comes from the file. It only reads, so it writes the same state again.
    const inMemory = async () => {
      const server = await start('memory', '--import', packed, '--export-on-exit', packed);
      expect(server.logs()).toMatch(/Organization "Demo" \(org_\w+\) was imported/);
      expect(await amountOf(server, id, apiKey)).toBe(1_250);
      const { data: others } = await call<{ data: unknown[] }>(paymentsOf(server), other.apiKey.key);
      expect(others).toHaveLength(1);
      expect(await interrupt(server)).toBe(0);
      expect(withoutDates(readPacked())).toBe(withoutDates(written));
    };
    // On the original data: organizations that exist are not imported.
    const onOriginal = async () => {
      const exported = inFolder('original.jsonl');
      const server = await start(data, '--import', plain, '--export-on-exit', exported);
      expect(server.logs()).toMatch(/Organization "Demo" \(org_\w+\) already exists and was not imported/);
      expect(await server.stop()).toBe(0);
      expect(statSync(exported).mode & 0o777).toBe(0o600);
      expect(withoutDates(readFileSync(exported, 'utf8'))).toBe(withoutDates(written));
    };
    // From a file that is not compressed, and to one that cannot be written.
    const toNowhere = async () => {
      const nowhere = inFolder('no-such-folder/state.jsonl');
      const server = await start('memory', '--import', plain, '--export-on-exit', nowhere);
      expect(await amountOf(server, id, apiKey)).toBe(1_250);
      await call(paymentsOf(server), apiKey, { amount: 5, currency: 'EUR' });
      expect(await server.stop()).toBe(1);
      expect(server.logs()).toMatch(/cannot be written: ENOENT/);
    };
    await Promise.all([inMemory(), onOriginal(), toNowhere()]);
  });

  test('reject a file that is not a snapshot with a one-line error', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const refuse = async (name: string, content: string | undefined, reason: RegExp, more: ServerOptions) => {
      const file = inFolder(name);
      if (content !== undefined) writeFileSync(file, content);
      const { code, stderr } = await runToEnd({ ...more, args: ['--import', file] });
      expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
      expect(stderr).toMatch(/^Error: Sandbank did not start\. /);
      expect(stderr).not.toMatch(/ {4}at /);
    };
    const shared = { databaseUrl };
    await Promise.all([
      refuse('missing.jsonl', undefined, /cannot be read: ENOENT/, shared),
      refuse('empty.jsonl', '', /is empty/, { dataDir: 'memory' }),
      refuse('text.jsonl', 'hello\n', /is not accepted\. Line 1: this line is not valid JSON/, shared),
      refuse(
        'newer.jsonl',
        '{"format":"sandbank-snapshot","version":1,"schema":9999}\n',
        /Line 1: the snapshot has format/,
        shared,
      ),
      refuse('damaged.jsonl.gz', 'this is not compressed', /cannot be read: Z_DATA_ERROR/, shared),
    ]);
  });
});

function interrupt(server: ServerProcess): Promise<number> {
  const ended = new Promise<number>((resolve) => server.child.once('close', (code) => resolve(code ?? 1)));
  server.child.kill('SIGINT');
  return ended;
}
