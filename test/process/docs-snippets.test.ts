import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
/** The snippets of the SDK and of the test kit are in separate folders: sdk-guide.test.ts and examples.test.ts run them. */
const files = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ name }) => name);
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const shown = [...readMarkdown()].flatMap(([page, markdown]) =>
  [...markdown.matchAll(/<!-- snippet: (\S+) -->\n+```\w+(?: tab="(\w+)")?\n([\s\S]*?)\n```/g)].map(
    ([, name = '', tab, code = '']) => ({ page, name, tab, code }),
  ),
);

describe('the pages', () => {
  test.each(shown)('$page shows $name unchanged', ({ name, code }) => {
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
const extensionOf = (name: string) => name.split('.').at(-1) ?? '';
/** The languages of the tabs: each example exists in all of them. */
const variants = ['sh', 'mts', 'py'] as const;

test('the TypeScript snippets compile with the strictest settings', async () => {
  const options =
    '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --target es2023 --module nodenext --types node';
  const sources = files
    .filter((name) => name.endsWith('.mts'))
    .map((name) => fileURLToPath(new URL(name, folder)));
  const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
  const args = [tsc, '--ignoreConfig', ...options.split(' '), ...sources];
  const compiler = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  expect(await text(compiler.stdout)).toBe('');
});

/** The comparable part of an example's output: object and status of each record, or the error code, in order. */
const examples: Readonly<Record<string, readonly string[]>> = {
  'quick-start': ['payment pending', 'payment captured', 'refund succeeded', 'list ok', 'balances ok'],
  clock: ['clock frozen', 'payment authorized', 'clock frozen', 'payment expired', 'clock running'],
  scenarios: [
    'payment failed',
    'payment pending',
    'payment captured',
    'payment requires_action',
    'payment charged_back',
  ],
  transfers: ['transfer quoted', 'transfer accepted', 'transfer completed'],
  refunds: ['payment captured', 'payment captured', 'refund succeeded', 'amount_exceeds_refundable'],
  customers: ['customer active', 'payment pending', 'list ok', 'customer archived', 'customer_archived'],
};
const shellExamples: Readonly<Record<string, readonly string[]>> = {
  'disputes.sh': [
    'payment settled',
    'payment disputed',
    'dispute under_review',
    'dispute won',
    'payment settled',
  ],
  'coming-from-stripe.sh': ['payment authorized', 'payment captured', 'refund succeeded'],
  'errors.sh': ['invalid_state_transition', 'invalid_request'],
};
const cases = [
  ...Object.entries(examples).flatMap(([name, expected]) =>
    variants.map((variant) => [`${name}.${variant}`, expected] as const),
  ),
  ...Object.entries(shellExamples),
];
const outputs: readonly (readonly [name: string, expected: RegExp])[] = [
  ['errors.mts', /^invalid_state_transition true\ninvalid_request \/amount\n$/],
  ['errors.py', /^invalid_state_transition True\ninvalid_request \/amount\n$/],
  ['retry.mts', /^pending\n$/],
  ['retry.py', /^pending\n$/],
  ['reconcile.py', /^(?=[\s\S]*differs by -100)(?=(?:[\s\S]*\bmatched){2})[\s\S]*0 missing in the report\n$/],
  [
    'idempotency.sh',
    /^HTTP\S+ 201[^\n]+\n(\{.+\})\nHTTP\S+ 201[^\n]+\nidempotent-replayed: true\s\n\1\nHTTP\S+ 422[^\n]+\n.*"idempotency_key_reused".*\n$/i,
  ],
  ['idempotency.mts', /^true true\n422 idempotency_key_reused\n$/],
  ['idempotency.py', /^True true\n422 idempotency_key_reused\n$/],
];
const lists = variants.map((variant) => `lists.${variant}`);
const webhooks = ['webhooks', 'quick-start-webhook'].flatMap((name) =>
  variants.map((variant) => `${name}.${variant}`),
);

interface Printed {
  readonly object: string;
  readonly status: string;
  readonly error?: { readonly code: string };
}

/** The curl examples print responses, the others one line for each record. */
function outcomesOf(name: string, output: string): readonly string[] {
  const lines = output.trim().split('\n');
  if (!name.endsWith('.sh')) return lines;
  return lines
    .map((line) => JSON.parse(line) as Printed)
    .map(({ object, status, error }) => error?.code ?? `${object} ${status}`);
}

describe('the tabs', () => {
  test('have one label for each language, and begin with curl where there is a curl example', () => {
    const labels: Readonly<Record<string, string>> = { sh: 'curl', mts: 'TypeScript', py: 'Python' };
    const tabs = shown.filter(({ tab }) => tab !== undefined);
    for (const { name, tab } of tabs) expect(tab, name).toBe(labels[extensionOf(name)]);
    for (const base of [...Object.keys(examples), 'lists', 'errors', 'idempotency', 'webhooks'])
      expect(
        tabs.filter(({ name }) => name.startsWith(`${base}.`)).map(({ tab }) => tab),
        base,
      ).toEqual(['curl', 'TypeScript', 'Python']);
  });
});

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
    // The snippets import the SDK by the name of the package.
    mkdirSync(join(place, 'node_modules'));
    symlinkSync(fileURLToPath(root), join(place, 'node_modules/sandbank'));
  });
  afterAll(async () => {
    for (const child of children) child.kill();
    await server?.close();
    rmSync(place, { recursive: true, force: true });
  });

  /** Exactly as shown on the page, except for the two addresses. */
  async function start(name: string, key: string): Promise<ChildProcess | undefined> {
    const { command, args } = runners[extensionOf(name)] ?? { command: '', args: [] };
    if (spawnSync(command, ['--version']).status !== 0) return undefined;
    const code = read(name)
      .replaceAll('http://127.0.0.1:4000', url)
      .replaceAll(/\b900[01]\b/g, String(await receiverPort));
    const file = join(place, name);
    writeFileSync(file, code);
    const child = spawn(command, [...args, file], {
      env: { ...process.env, SANDBANK_API_KEY: key, SANDBANK_URL: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.push(child);
    return child;
  }

  /** In a new organization, unless a key is given. */
  async function run(name: string, key?: string): Promise<string | undefined> {
    const child = await start(name, key ?? (await tenant(server)).key);
    if (child?.stdout == null || child.stderr == null) {
      console.warn(`skipped: no program runs ${name}`);
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

  test.concurrent.each(cases)('%s has the outcomes that its comments describe', async (name, expected) => {
    const output = await run(name);
    if (output !== undefined) expect(outcomesOf(name, output)).toEqual(expected);
  });

  test.concurrent.each(outputs)('%s prints the output on the page', async (name, expected) => {
    const output = await run(name);
    if (output !== undefined) expect(output).toMatch(expected);
  });

  test('all variants of the quick start run twice on one server, with the same outcomes', async () => {
    const { key } = await tenant(server);
    for (const name of variants.map((variant) => `quick-start.${variant}`)) {
      const first = await run(name, key);
      const second = await run(name, key);
      if (first === undefined || second === undefined) continue;
      expect(outcomesOf(name, second).slice(1), name).toEqual(outcomesOf(name, first).slice(1));
    }
  });

  test('the list examples read every page', async () => {
    const merchant = await tenant(server);
    const pageMax = 100;
    const create = () => merchant.client.post('developer_api_payments', { amount: 1250, currency: 'EUR' });
    await Promise.all(Array.from({ length: pageMax + 1 }, create));
    for (const name of lists) {
      const output = await run(name, merchant.key);
      if (output !== undefined) expect(output, name).toBe(`pending payments: ${pageMax + 1}\n`);
    }
  });

  test('the receiver of the quick start prints the events of every webhook example', async () => {
    const listener = await start('listen.mjs', '');
    if (listener?.stdout == null) throw new Error('the receiver has no output');
    let received = '';
    listener.stdout.setEncoding('utf8').on('data', (part: string) => {
      received += part;
    });
    await untilListening(await receiverPort);
    for (const name of webhooks) {
      received = '';
      const output = await run(name);
      if (output === undefined) continue;
      expect(outcomesOf(name, output), name).toEqual([
        'webhook enabled',
        'delivery succeeded',
        'payment pending',
        'list ok',
      ]);
      while (!received.includes('payment.created evt_')) await once(listener.stdout, 'data');
      expect(received).toMatch(/webhook\.tested evt_\w+\n/);
    }
  });

  test('every snippet is run here, or with the receivers', () => {
    const run = [...[...cases, ...outputs].map(([name]) => name), ...lists, ...webhooks, 'listen.mjs'];
    // webhook-receivers.test.ts runs these. Every snippet has to be listed, so that none is left out.
    const elsewhere = ['receive-webhooks.ts', 'receive_webhooks.py'];
    expect(files.filter((file) => ![...run, ...elsewhere].includes(file))).toEqual([]);
  });
});

/** A receiver shows that it listens only by accepting a connection. */
async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' }).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens at ${port}`);
}
