// The receivers of docs/webhooks.md and of the recipes: each is started by its own runtime, gets real deliveries, and is examined.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { docs, readMarkdown, root } from '../docs/built.ts';
import { openMerchant } from '../support/merchant.ts';
import { freePort } from '../support/processes.ts';
import { head, RawConnection } from '../support/raw-connection.ts';
import { openServer } from '../support/server.ts';
import { copySnippets, type DocumentedReceiver, receivers } from './support/receivers.ts';
import { findRuntime, installRuntimes } from './support/runtimes.ts';

const run = promisify(execFile);

/** Every receiver rejects bodies of this size, and accepts the 200 KiB of the examiner. */
const tooManyBytes = 1_000_001;

let folder: string;
beforeAll(() => {
  installRuntimes();
  folder = copySnippets();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A receiver has no other way to report that it listens than to accept a connection. */
async function isListening(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 2_400 && child.exitCode === null; attempt += 1) {
    const response = await fetch(url, { method: 'POST', body: '{}' }).catch(() => null);
    if (response !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens at ${url}`);
}

describe('the pages', () => {
  const recipes = readdirSync(new URL('snippets/recipes/', docs), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

  it.each(recipes)('show %s unchanged', (file) => {
    const code = readFileSync(file, 'utf8').trimEnd();
    const shown = [...readMarkdown().values()].filter((page) => page.includes(`\n${code}\n\`\`\``));
    expect(shown).toHaveLength(1);
  });

  test('show TypeScript that compiles with the strictest settings', async () => {
    // The libraries are those of the tsconfig.json that Next.js creates.
    const options =
      '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --target es2023 --lib dom,dom.iterable,esnext --module preserve --types node';
    const tsc = new URL('node_modules/typescript/bin/tsc', root).pathname;
    const types = ['--typeRoots', new URL('node_modules/@types', root).pathname];
    const file = join(folder, 'recipes/next/route.ts');
    const { stdout } = await run(process.execPath, [tsc, ...options.split(' '), ...types, file]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe('');
  });
});

describe('the receivers', () => {
  let server: Server;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    server = await openServer('postgres');
  });
  afterAll(async () => {
    for (const child of children) child.kill();
    await server.close();
  });

  async function start(receiver: DocumentedReceiver, runtime: string, secret: string) {
    const port = await freePort();
    if (receiver.build) await run(runtime, receiver.build(folder));
    const [command = '', ...args] = receiver.command({ runtime, folder, port });
    const child = spawn(command, args, {
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port), TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    const url = `http://127.0.0.1:${port}${receiver.path ?? '/webhooks'}`;
    await isListening(url, child);
    const output = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    /** The next event that the receiver has processed. */
    const nextEvent = async (): Promise<string> => {
      for (;;) {
        const { value, done } = await output.next();
        if (done) throw new Error('the receiver has ended');
        if (/ evt_/.test(value)) return value;
      }
    };
    return { url, nextEvent };
  }

  it.concurrent.for(receivers.map((receiver) => [receiver.title, receiver] as const))(
    '%s: accepts valid events, each once, and rejects everything else',
    async ([, receiver], { skip }) => {
      const { runtime: name, unsigned = 401, sizeCheck } = receiver;
      const runtime = name === undefined ? process.execPath : findRuntime(name);
      if (runtime === undefined) return skip(`${name} is not installed`);
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      const { url, nextEvent } = await start(receiver, runtime, secret);

      const acme = await openMerchant(server, { isFrozen: true });
      const webhook = await acme.createWebhook({ url }, { secret });
      await acme.payments.create();
      await acme.sendDue();
      const [type, eventId] = (await nextEvent()).split(' ');
      expect(type).toBe('payment.created');

      // Delivered twice, processed once: the next event that it reports is another one.
      await acme.client.post(`developer_api_webhook_events/${eventId}/replay`);
      await acme.sendDue();
      const sent = await acme.deliveries(`eventId=${eventId}`);
      expect(sent.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
      await acme.webhookAction(webhook.id, 'test');
      expect(await nextEvent()).toMatch(/^webhook\.tested evt_/);

      // Everything that an A needs, except the speed of this machine.
      const { body: examination } = await acme.client.post(`developer_api_webhooks/${webhook.id}/examine`);
      const cases = examination.cases as readonly { readonly name: string; readonly outcome: string }[];
      expect(cases).toHaveLength(25);
      const isOpen = ({ name, outcome }: (typeof cases)[number]) =>
        outcome !== 'passed' && name !== 'quick_answer';
      expect(cases.filter(isOpen)).toEqual([]);

      const { id: other } = await acme.createWebhook({ url });
      const rejected = await acme.webhookAction(other, 'test');
      expect(rejected).toMatchObject({ status: 'failed', lastResponseStatus: unsigned });
      await acme.webhookAction(webhook.id, 'rotate_secret');
      const rotated = await acme.webhookAction(webhook.id, 'test');
      expect(rotated).toMatchObject({ status: 'succeeded', lastResponseStatus: 204 });

      if (sizeCheck === 'none') return;
      for (const method of ['GET', 'PUT', 'DELETE']) expect((await fetch(url, { method })).status).toBe(405);
      const connection = await RawConnection.open(url);
      const headers = ['Content-Type: application/json', `Content-Length: ${tooManyBytes}`];
      connection.send(head(`POST ${new URL(url).pathname}`, ...headers));
      if (sizeCheck === 'read') connection.send(new Uint8Array(tooManyBytes));
      expect((await connection.next())?.status).toBe(413);
      connection.finish();
    },
  );
});
