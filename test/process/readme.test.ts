import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort, type ServerProcess, startServer, testNodeArgs } from '../support/processes.ts';
import { newKey } from '../support/tenant.ts';

interface Shown {
  readonly object: string;
  readonly status: string;
  readonly error?: { readonly code: string };
  readonly [field: string]: unknown;
}

const hasShell = ['bash', 'curl'].every((command) => spawnSync(command, ['--version']).status === 0);
const key = newKey();

/** The blocks marked as the tour, in their order, as one script for one shell: what a reader pastes. */
async function readTour(): Promise<string> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/```sh tour\n([\s\S]*?)```/g)].map(([, block]) => block ?? '');
  expect(blocks.length).toBeGreaterThan(5);
  return blocks.join('\n');
}

describe.skipIf(!hasShell)("the README's tour, pasted into a shell", () => {
  let directory: string;
  let server: ServerProcess;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandbank-readme-'));
    const seed = join(directory, 'seed.json');
    const scopes = ['payments', 'transfers', 'webhooks'].flatMap((name) => [`${name}:read`, `${name}:write`]);
    const apiKeys = [{ name: 'reader', key, scopes }];
    await writeFile(
      seed,
      JSON.stringify({ organizations: [{ name: 'Reader', applications: [{ name: 'web', apiKeys }] }] }),
    );
    server = await startServer({ dataDir: join(directory, 'data'), seed });
  });
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('does what its words say, line by line, and the same again when it is pasted twice', async () => {
    const tour = (await readTour())
      .replace('http://127.0.0.1:4000', server.url)
      .replaceAll('9000', String(await freePort()));
    const first = await paste(tour);
    expect(first.map(({ object, status }) => `${object} ${status}`)).toEqual([
      'payment pending',
      'payment authorized',
      'payment partially_captured',
      'payment captured',
      'payment settled',
      'refund succeeded',
      'error error',
      'dispute under_review',
      'dispute won',
      'list ok',
      'list ok',
      'balances ok',
      'payment failed',
      'payment pending',
      'payment captured',
      'payment charged_back',
      'payment authorized',
      'clock running',
      'payment expired',
      'payment pending',
      'clock running',
      'payment settled',
      'reconciliation ok',
      'list ok',
      'clock running',
      'error error',
      'transfer quoted',
      'transfer sent',
      'transfer returned',
      'clock running',
      'delivery succeeded',
      'payment pending',
      'payment captured',
      'clock running',
      'delivery pending',
      'clock running',
    ]);
    const happened = (at: number) => {
      const moves = (first[at]?.happened ?? []) as readonly { type: string; to: string }[];
      return moves.map(({ type, to }) => `${type} ${to}`);
    };
    expect(happened(17)).toContain('payment expired');
    expect(happened(17)).toContain('payment settled');
    expect(happened(20)).toContain('dispute lost');
    expect(first[21]).toMatchObject({ reconciliation: 'amount_mismatch' });
    expect(first[25]?.error?.code).toBe('quote_expired');
    expect(first[28]).toMatchObject({ returnCode: 'account_closed' });
    expect(first[30]).toMatchObject({
      eventType: 'webhook.tested',
      attempts: [{ responseBody: 'thank you' }],
    });
    expect(happened(33).filter((one) => one === 'delivery pending').length).toBeGreaterThan(5);
    expect(first[34]).toMatchObject({ lastError: expect.stringMatching(/^Connection refused/) });
    expect(first[6]?.error?.code).toBe('amount_exceeds_refundable');
    expect(first[12]).toMatchObject({ failure: { code: 'insufficient_funds', retryable: true } });
    const { trialBalance } = first[11] as unknown as { trialBalance: { amount: number }[] };
    expect(trialBalance.map(({ amount }) => amount)).toEqual([0]);
    const again = await paste(tour);
    // What is read belongs to another request the second time.
    const reads = [0, 9, 10, 11, 18, 22, 23, 34];
    const writes = (shown: readonly Shown[]) => shown.filter((_one, i) => !reads.includes(i));
    expect(writes(again)).toEqual(writes(first));
  });
});

describe.skipIf(!hasShell)('the five minutes of the README', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const command = join(root, 'scripts/sandbank.mjs');
  let directory: string;
  let receiver: ReturnType<typeof spawn>;
  let server: ReturnType<typeof spawn>;
  let heard = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandbank-five-'));
  });
  afterAll(async () => {
    receiver?.kill('SIGKILL');
    server?.kill('SIGTERM');
    if (server && server.exitCode === null) await once(server, 'close');
    await rm(directory, { recursive: true, force: true });
  });

  test('lead from a start without settings to webhooks that are received', async () => {
    const [port, receiverPort] = [await freePort(), await freePort()];
    const program = (await readFile(join(root, 'docs/snippets/listen.mjs'), 'utf8')).replace(
      '9000',
      String(receiverPort),
    );
    const file = join(directory, 'listen.mjs');
    await writeFile(file, program);
    receiver = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    receiver.stdout?.on('data', (chunk: Buffer) => {
      heard += chunk.toString('utf8');
    });
    server = spawn(process.execPath, [...testNodeArgs, command, 'start', '--port', String(port)], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let banner = '';
    for await (const chunk of server.stdout ?? []) {
      banner += String(chunk);
      if (banner.includes('Create a payment:')) break;
    }
    server.stdout?.resume();
    const readme = await readFile(join(root, 'README.md'), 'utf8');
    const script = [...readme.matchAll(/```sh five\n([\s\S]*?)```/g)]
      .map(([, block = '']) => block)
      .join('\n')
      .replaceAll('npm run -s sandbank --', `${process.execPath} ${command}`)
      .replaceAll('9000', String(receiverPort));
    const shell = spawn('bash', ['-eu'], { cwd: directory });
    shell.stdin.end(script);
    const [out, errors, [code]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'close'),
    ]);
    expect(code, `${out}\n${errors}`).toBe(0);
    // The fault plan has hit twice, and the command has tried again.
    expect(out).toMatch(/503.*service_unavailable/);
    expect(out).toMatch(/settled/);
    const types = [...heard.matchAll(/^(payment\.\w+) evt_/gm)].map(([, type]) => type);
    expect(new Set(types)).toEqual(new Set(['payment.created', 'payment.captured', 'payment.settled']));
  });
});

async function paste(script: string): Promise<readonly Shown[]> {
  const shell = spawn('bash', ['-u'], { env: { ...process.env, SANDBANK_API_KEY: key } });
  shell.stdin.end(script);
  const [out, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  expect(errors).toBe('');
  return out
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('received '))
    .map((line) => JSON.parse(line) as Shown);
}
