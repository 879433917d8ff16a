import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { effort } from '../support/effort.ts';
import { runToEnd, type ServerProcess, startServer } from '../support/processes.ts';

interface CliFile {
  readonly url: string;
  readonly operatorToken: string;
  readonly apiKey?: string;
}

const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-export-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string) => path.join(folder, name);
const cliOf = (data: string) => JSON.parse(readFileSync(path.join(data, 'cli.json'), 'utf8')) as CliFile;
const modeOf = (file: string) => statSync(file).mode & 0o777;

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
const undated = (text: string) => text.replaceAll(/"(exportedAt|sha256)":"[^"]*"/g, '');

describe('a server whose whole state is a file', () => {
  test.each([
    ['SIGTERM', 'state.jsonl'],
    ['SIGINT', 'state.jsonl.gz'],
  ] as const)('writes it on %s and goes on from it: %s', async (signal, name) => {
    const file = inFolder(name);
    const read = () =>
      name.endsWith('.gz') ? gunzipSync(readFileSync(file)).toString() : readFileSync(file, 'utf8');
    const data = inFolder(`first-${signal}`);
    const first = await startServer({ dataDir: data, args: ['--export-on-exit', file] });
    const { apiKey = '', operatorToken } = cliOf(data);
    const made = await call<{ id: string }>(paymentsOf(first), apiKey, { amount: 1_250, currency: 'EUR' });
    const second = await call<{ apiKey: { key: string } }>(
      `${first.url}/_operator/organizations`,
      operatorToken,
      {
        name: 'Second',
      },
    );
    await call(paymentsOf(first), second.apiKey.key, { amount: 1, currency: 'JPY' });
    expect(await end(first, signal)).toBe(0);
    expect(modeOf(file)).toBe(0o600);
    expect(read().match(/"format":"sandbank-snapshot"/g)).toHaveLength(2);
    expect(readdirSync(folder).filter((one) => one.endsWith('.new'))).toEqual([]);

    // In memory: what it has is what the file gave it.
    const written = read();
    const args = ['--import', file, '--export-on-exit', file];
    const next = await startServer({ dataDir: 'memory', args });
    expect(next.logs()).toMatch(/Organization "Demo" \(org_\w+\) was imported/);
    const kept = await call<{ amount: number }>(`${paymentsOf(next)}/${made.id}`, apiKey);
    expect(kept.amount).toBe(1_250);
    const { data: others } = await call<{ data: unknown[] }>(paymentsOf(next), second.apiKey.key);
    expect(others).toHaveLength(1);
    expect(await end(next, signal)).toBe(0);
    // Nothing was done but to read.
    expect(undated(read())).toBe(undated(written));
  });

  test('a file that does not exist yet is written by the first server and read by the second', async () => {
    const file = inFolder('first-day.jsonl.gz');
    const args = ['--import', file, '--export-on-exit', file];
    const data = inFolder('first-day');
    const first = await startServer({ dataDir: data, args });
    expect(first.logs()).toMatch(/first-day\.jsonl\.gz does not exist yet/);
    const { apiKey = '' } = cliOf(data);
    const made = await call<{ id: string }>(paymentsOf(first), apiKey, { amount: 7, currency: 'EUR' });
    expect(await first.stop()).toBe(0);
    const second = await startServer({ dataDir: 'memory', args });
    expect((await call<{ amount: number }>(`${paymentsOf(second)}/${made.id}`, apiKey)).amount).toBe(7);
    expect(await second.stop()).toBe(0);
  });

  test('an organization that is there already is left alone, and that is said', async () => {
    const [data, file] = [inFolder('again'), inFolder('again.jsonl')];
    const first = await startServer({ dataDir: data, args: ['--export-on-exit', file] });
    const { apiKey = '' } = cliOf(data);
    expect(await first.stop()).toBe(0);
    const second = await startServer({ dataDir: data, args: ['--import', file] });
    expect(second.logs()).toMatch(/Organization "Demo" \(org_\w+\) is here already and was not imported/);
    await call(paymentsOf(second), apiKey, { amount: 5, currency: 'EUR' });
    expect(await second.stop()).toBe(0);
  });

  test('a file that cannot be written is told, and the exit code says so', async () => {
    const file = inFolder('no-such-folder/state.jsonl');
    const server = await startServer({ dataDir: 'memory', args: ['--export-on-exit', file] });
    expect(await server.stop()).toBe(1);
    expect(server.logs()).toMatch(/cannot be written: ENOENT/);
  });

  const bad = [
    ['is missing', undefined, /cannot be read: ENOENT/],
    ['is empty', '', /is empty/],
    ['is no snapshot', 'hello\n', /is not accepted\. Line 1: this is no JSON/],
    [
      'is newer',
      '{"format":"sandbank-snapshot","version":1,"schema":9999}\n',
      /Line 1: the snapshot has format/,
    ],
  ] as const;

  // Each takes a process of five seconds: every second one, unless asked for all.
  test.each(bad.filter((_, i) => i % effort(2, 1) === 0))(
    'a file that %s stops the start in one sentence',
    async (what, content, words) => {
      const file = inFolder(`bad-${what.replaceAll(' ', '-')}.jsonl`);
      if (content !== undefined) writeFileSync(file, content);
      const { code, stderr } = await runToEnd({ dataDir: 'memory', args: ['--import', file] });
      expect(code).toBe(1);
      expect(stderr).toMatch(/^Sandbank did not start\. /);
      expect(stderr).toMatch(words);
      expect(stderr).not.toMatch(/ {4}at /);
    },
  );

  test('a packed file that is broken stops the start in one sentence', async () => {
    const file = inFolder('broken.jsonl.gz');
    writeFileSync(file, 'this is not packed');
    const { code, stderr } = await runToEnd({ dataDir: 'memory', args: ['--import', file] });
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be read: Z_DATA_ERROR/);
  });
});

describe('what the command line finds beside the data', () => {
  test('cli.json is for its owner alone, and gone after a clean end; the demo key stays', async () => {
    const data = inFolder('cli');
    const first = await startServer({ dataDir: data });
    const cli = cliOf(data);
    expect(cli).toMatchObject({ url: first.url });
    expect(modeOf(path.join(data, 'cli.json'))).toBe(0o600);
    expect(modeOf(path.join(data, 'demo-key'))).toBe(0o600);
    expect(first.logs()).toContain(cli.apiKey);
    const list = await call<{ data: unknown[] }>(`${cli.url}/_operator/organizations`, cli.operatorToken);
    expect(list.data).toHaveLength(1);
    expect(await first.stop()).toBe(0);
    expect(existsSync(path.join(data, 'cli.json'))).toBe(false);

    const second = await startServer({ dataDir: data });
    const later = cliOf(data);
    expect(later.apiKey).toBe(cli.apiKey);
    expect(later.operatorToken).not.toBe(cli.operatorToken);
    await call(paymentsOf(second), later.apiKey ?? '', { amount: 5, currency: 'EUR' });
    expect(await second.stop()).toBe(0);
  });

  test('a token that was given is the one that is written; one that is too short stops the start', async () => {
    const data = inFolder('token');
    const operatorToken = 'chosen by whoever runs the server, long enough'.replaceAll(' ', '-');
    const server = await startServer({ dataDir: data, env: { SANDBANK_OPERATOR_TOKEN: operatorToken } });
    expect(cliOf(data).operatorToken).toBe(operatorToken);
    expect(await server.stop()).toBe(0);
    const short = await runToEnd({ dataDir: 'memory', env: { SANDBANK_OPERATOR_TOKEN: 'short' } });
    expect(short.code).toBe(1);
    expect(short.stderr).toMatch(/SANDBANK_OPERATOR_TOKEN must have at least 32 characters/);
  });
});

function end(server: ServerProcess, signal: 'SIGTERM' | 'SIGINT'): Promise<number> {
  if (signal === 'SIGTERM') return server.stop();
  const ended = new Promise<number>((resolve) => server.child.once('close', (code) => resolve(code ?? 1)));
  server.child.kill(signal);
  return ended;
}
