import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { docs, readMarkdown, root } from '../docs/built.ts';
import { freePort } from '../support/processes.ts';
import { openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';

const folder = new URL('snippets/', docs);
/** The snippets of the SDK and of the test kit have their own folders: sdk-guide.test.ts and examples.test.ts run them. */
const files = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ name }) => name);
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const shown = [...readMarkdown()].flatMap(([page, markdown]) =>
  [...markdown.matchAll(/<!-- snippet: (\S+) -->\n+```\w+\n([\s\S]*?)\n```/g)].map(
    ([, name = '', code = '']) => ({ page, name, code }),
  ),
);

describe('the pages', () => {
  test.each(shown)('$page shows $name as it is', ({ name, code }) => {
    expect(code).toBe(read(name).trimEnd());
  });

  test('show every snippet, and each that they name', () => {
    expect(files.filter((file) => !shown.some(({ name }) => name === file))).toEqual([]);
    const named = [...readMarkdown().values()].flatMap((markdown) => markdown.match(/<!-- snippet:/g) ?? []);
    expect(shown).toHaveLength(named.length);
  });
});

const tsx = fileURLToPath(new URL('node_modules/tsx/dist/cli.mjs', root));
const runners: Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>> = {
  sh: { command: 'bash', args: ['-eu'] },
  mts: { command: process.execPath, args: [tsx] },
  mjs: { command: process.execPath, args: [] },
  py: { command: 'python3', args: [] },
};

interface Shown {
  readonly object: string;
  readonly status: string;
  readonly error?: { readonly code: string };
  readonly [field: string]: unknown;
}

/** What `"object"` and `"status"` of each answer are, in order; of an error its code. */
const told = (output: string) =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Shown)
    .map(({ object, status, error }) => error?.code ?? `${object} ${status}`);

describe('run against a server', () => {
  let server: Server;
  let url: string;
  let place: string;
  const children: ChildProcess[] = [];
  const receiverPort = freePort();
  beforeAll(async () => {
    server = await openServer('postgres');
    url = await server.listen();
    place = mkdtempSync(join(tmpdir(), 'sandbank-snippets-'));
  });
  afterAll(async () => {
    for (const child of children) child.kill();
    await server?.close();
    rmSync(place, { recursive: true, force: true });
  });

  /** As it stands on the page, but for the two addresses. Each has an organization of its own. */
  async function start(name: string): Promise<ChildProcess | undefined> {
    const { command, args } = runners[name.split('.').at(-1) ?? ''] ?? { command: '', args: [] };
    if (spawnSync(command, ['--version']).status !== 0) return undefined;
    const { key } = await tenant(server);
    const code = read(name)
      .replaceAll('http://127.0.0.1:4000', url)
      .replaceAll('9000', String(await receiverPort));
    const file = join(place, name);
    writeFileSync(file, code);
    const child = spawn(command, [...args, file], {
      env: { ...process.env, SANDBANK_API_KEY: key },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return child;
  }

  async function run(name: string): Promise<string | undefined> {
    const child = await start(name);
    if (child?.stdout == null || child.stderr == null) {
      console.warn(`skipped: nothing runs ${name}`);
      return undefined;
    }
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect(errors, name).toBe('');
    expect(code, name).toBe(0);
    return output;
  }

  const answers: readonly (readonly [name: string, expected: readonly string[]])[] = [
    ['quick-start.sh', ['payment pending', 'payment captured', 'refund succeeded', 'list ok', 'balances ok']],
    ['coming-from-stripe.sh', ['payment authorized', 'payment captured', 'refund succeeded']],
    ['clock.sh', ['clock frozen', 'payment authorized', 'clock frozen', 'payment expired', 'clock running']],
    [
      'scenarios.sh',
      [
        'payment failed',
        'payment pending',
        'payment captured',
        'payment requires_action',
        'payment charged_back',
      ],
    ],
    ['transfers.sh', ['transfer quoted', 'transfer accepted', 'transfer completed']],
    [
      'disputes.sh',
      ['payment settled', 'payment disputed', 'dispute under_review', 'dispute won', 'payment settled'],
    ],
    ['refunds.sh', ['payment captured', 'payment captured', 'refund succeeded', 'amount_exceeds_refundable']],
    [
      'customers.sh',
      ['customer active', 'payment pending', 'list ok', 'customer archived', 'customer_archived'],
    ],
  ];

  test.concurrent.each(answers)('%s does what its comments say', async (name, expected) => {
    const output = await run(name);
    if (output !== undefined) expect(told(output)).toEqual(expected);
  });

  const outputs: readonly (readonly [name: string, expected: RegExp])[] = [
    ['quick-start.mts', /^pay_\w+ pending \[[\s\S]+\]\ncaptured 1250\nrefund succeeded\n$/],
    ['quick_start.py', /^pay_\w+ pending \[.+\]\ncaptured 1250\nrefund succeeded\n$/],
    ['retry.mts', /^pending\n$/],
    ['lists.mts', /^captured payments: 0\n$/],
    [
      'reconcile.py',
      /^(?=[\s\S]*differs by -100)(?=(?:[\s\S]*\bmatched){2})[\s\S]*0 missing in the report\n$/,
    ],
    [
      'idempotency.sh',
      /^HTTP\S+ 201[^\n]+\n(\{.+\})\nHTTP\S+ 201[^\n]+\nidempotent-replayed: true\s\n\1\nHTTP\S+ 422[^\n]+\n.*"idempotency_key_reused".*\n$/i,
    ],
  ];

  test.concurrent.each(outputs)('%s prints what the page says', async (name, expected) => {
    const output = await run(name);
    if (output !== undefined) expect(output).toMatch(expected);
  });

  test('webhooks.sh is heard by listen.mjs', async () => {
    const listener = await start('listen.mjs');
    if (listener?.stdout == null) throw new Error('Node runs this test');
    let heard = '';
    listener.stdout.setEncoding('utf8').on('data', (part: string) => {
      heard += part;
    });
    await untilListening(await receiverPort);
    const output = await run('webhooks.sh');
    if (output === undefined) return;
    expect(told(output)).toEqual(['webhook enabled', 'delivery succeeded', 'payment pending', 'list ok']);
    while (!heard.includes('payment.created evt_')) await once(listener.stdout, 'data');
    expect(heard).toMatch(/webhook\.tested evt_\w+\n/);
  });

  test('every snippet is run here, or with the receivers', () => {
    const run = [
      ...answers.map(([name]) => name),
      ...outputs.map(([name]) => name),
      'webhooks.sh',
      'listen.mjs',
    ];
    // webhook-receivers.test.ts runs these. Every snippet has to be listed, so that none is left out.
    const elsewhere = ['receive-webhooks.ts', 'receive_webhooks.py'];
    expect(files.filter((file) => ![...run, ...elsewhere].includes(file))).toEqual([]);
  });
});

/** A receiver has no other way to say that it listens than to be connected to. */
async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' }).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens at ${port}`);
}
