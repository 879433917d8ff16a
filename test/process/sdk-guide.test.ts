// The snippets of docs/sdk.md: shown unchanged, compiled, and run with the outcome in their comments.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signWebhook } from '../../sdk/client.ts';
import { operations } from '../../sdk/generated/operations.ts';
import { openWorld, type World } from '../sdk/world.ts';
import { freePort } from '../support/processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = new URL('../../docs/snippets/sdk/', import.meta.url);
const names = readdirSync(folder).sort();
const tsx = `${root}/node_modules/tsx/dist/cli.mjs`;
const run = promisify(execFile);

const hasStream = operations.some(({ gives }) => gives === 'stream');

/** The output of each snippet. */
const printed: Readonly<Record<string, string>> = {
  'first-payment.ts': 'pending\ncaptured 1250\nsucceeded 250\n',
  'handle-errors.ts': 'invalid_state_transition true\n',
  'go-over-lists.ts': '3000\n2000\n1000\n2 true true\n3\n',
  'retry-safely.ts': 'true false true\n',
  'test-a-receiver.ts': '200 got payment.captured\n400 signature\n',
  'travel-in-time.ts': 'true true\nexpired\n',
  'raw-request.ts': 'POST /_api/developer_api_payments 201\npending 1\n',
  ...(hasStream ? { 'follow-events.ts': 'payment.created 1250\n' } : {}),
};

test.each(names)('docs/sdk.md shows %s unchanged', (name) => {
  const page = readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8');
  expect(page).toContain(`\`\`\`ts\n${readFileSync(new URL(name, folder), 'utf8').trim()}\n\`\`\``);
});

test('docs/sdk.md lists every method', () => {
  const page = readFileSync(new URL('../../docs/sdk.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  for (const { namespace, method } of operations) {
    const row = rows.find((line) =>
      line.split('|')[1]?.includes(namespace === undefined ? 'the client itself' : `\`${namespace}\``),
    );
    expect(row, `${namespace}.${method}`).toMatch(new RegExp(`\`${method}(?:\\(\\))?\``));
  }
});

test('every snippet compiles with the strictest settings', async () => {
  const options =
    '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --target es2023 --module nodenext --types node';
  const files = names.map((name) => fileURLToPath(new URL(name, folder)));
  const tsc = `${root}/node_modules/typescript/bin/tsc`;
  const output = await run(process.execPath, [tsc, '--ignoreConfig', ...options.split(' '), ...files], {
    cwd: root,
  }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(output).toBe('');
});

test('every snippet is run below', () => {
  const run = new Set([...Object.keys(printed), 'receive-webhooks.ts', 'follow-events.ts']);
  expect([...run].sort()).toEqual(names);
});

describe('on a server', () => {
  let world: World;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    world = await openWorld('postgres');
  });
  afterAll(async () => {
    for (const child of children) child.kill();
    await world?.close();
  });

  // One after the other: together they would exceed the timeouts that they show.
  test.each(Object.entries(printed))('%s has the outcome in its comments', async (name, output) => {
    const { tenant } = await world.client();
    const env = { ...process.env, SANDBANK_URL: world.url, SANDBANK_API_KEY: tenant.key };
    const { stdout } = await run(process.execPath, [tsx, fileURLToPath(new URL(name, folder))], {
      env,
      cwd: root,
    });
    expect(stdout).toBe(output);
  });

  test('receive-webhooks.ts accepts deliveries and rejects everything else', async () => {
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    const child = spawn(process.execPath, [tsx, fileURLToPath(new URL('receive-webhooks.ts', folder))], {
      env: { ...process.env, WEBHOOK_SECRET: `whsec_b2xk,${secret}`, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: root,
    });
    children.push(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { sandbank } = await world.client({ retriesMax: 0 });
    const webhook = await sandbank.webhooks.create({ url, secret, retryProfile: 'fast' });
    // It shows that it listens only by accepting a connection.
    await expect
      .poll(() =>
        fetch(url, { method: 'POST' }).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(400);
    await sandbank.payments.create({ amount: 1250, currency: 'EUR' });
    expect((await lines.next()).value).toBe('payment.created 1250 EUR');
    const tested = await sandbank.webhooks.test(webhook.id);
    expect(tested).toMatchObject({ status: 'succeeded', lastResponseStatus: 204 });
    const forged = await signWebhook({ id: 'evt_1' }, 'whsec_b3RoZXI=');
    const answer = await fetch(url, { method: 'POST', body: forged.body, headers: forged.headers });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('another endpoint')]);
  });
});
