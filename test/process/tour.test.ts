import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMarkdown } from '../docs/built.ts';
import { freePort, type ServerProcess, startServer } from '../support/processes.ts';
import { newKey } from '../support/tenant.ts';

interface Shown {
  readonly object: string;
  readonly status: string;
  readonly error?: { readonly code: string };
  readonly [field: string]: unknown;
}

const hasShell = ['bash', 'curl'].every((command) => spawnSync(command, ['--version']).status === 0);
const key = newKey();

/** The blocks marked `tour`, in order, as one shell script, as a reader would paste them. */
function readTour(): string {
  const blocks = [...(readMarkdown().get('tour.md') ?? '').matchAll(/```sh tour\n([\s\S]*?)```/g)].map(
    ([, block]) => block ?? '',
  );
  expect(blocks.length).toBeGreaterThan(5);
  return blocks.join('\n');
}

describe.skipIf(!hasShell)('the tour, pasted into a shell', () => {
  let directory: string;
  let server: ServerProcess;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandbank-tour-'));
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

  test('has the described outcomes, and the same ones when it is pasted twice', async () => {
    const tour = readTour()
      .replace('http://127.0.0.1:4000', server.url)
      .replaceAll('9002', String(await freePort()));
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
    // The waits before the last four attempts are 30 s, 2 min, 10 min and 30 min. A slow shell leaves time for the first two before the advance.
    expect(happened(33).filter((one) => one === 'delivery pending').length).toBeGreaterThanOrEqual(4);
    expect(first[34]).toMatchObject({
      attemptCount: 6,
      lastError: expect.stringMatching(/^Connection refused/),
    });
    expect(first[6]?.error?.code).toBe('amount_exceeds_refundable');
    expect(first[12]).toMatchObject({ failure: { code: 'insufficient_funds', retryable: true } });
    const { trialBalance } = first[11] as unknown as { trialBalance: { amount: number }[] };
    expect(trialBalance.map(({ amount }) => amount)).toEqual([0]);
    for (const [, key = ''] of tour.matchAll(/^(?:\w+=\$\()?post "?[\w/$?=]+"? (\S+) /gm))
      expect(key).toMatch(/^tour-/);
    const again = await paste(tour);
    // Reads have another request id the second time.
    const reads = [0, 9, 10, 11, 18, 22, 23, 34];
    const writes = (shown: readonly Shown[]) => shown.filter((_one, i) => !reads.includes(i));
    expect(writes(again)).toEqual(writes(first));
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
