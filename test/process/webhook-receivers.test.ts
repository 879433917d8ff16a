import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Server } from '../../src/server.ts';
import { freePort } from '../support/processes.ts';
import { openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';

const root = new URL('../..', import.meta.url);
const file = (name: string) => fileURLToPath(new URL(`docs/snippets/${name}`, root));
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** A receiver has no other way to say that it listens than to be connected to. */
async function isListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(() => null);
    if (answer?.status === 400) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing listens at ${port}`);
}

describe('the receivers of docs/webhooks.md', () => {
  let server: Server;
  const children: ChildProcess[] = [];
  beforeAll(async () => {
    server = await openServer('postgres');
  });
  afterAll(async () => {
    for (const child of children) child.kill();
    await server.close();
  });

  it.each(['receive-webhooks.ts', 'receive_webhooks.py'])('shows %s as it is', (name) => {
    const page = readFileSync(new URL('docs/webhooks.md', root), 'utf8');
    expect(page).toContain(readFileSync(file(name), 'utf8').trim());
  });

  const tsx = fileURLToPath(new URL('node_modules/tsx/dist/cli.mjs', root));
  it.concurrent.each([
    ['TypeScript', process.execPath, [tsx, file('receive-webhooks.ts')], true],
    ['Python', 'python3', [file('receive_webhooks.py')], hasPython],
  ] as const)(
    'the one in %s accepts what is sent, and nothing else',
    async (_language, command, args, isThere) => {
      if (!isThere) return console.warn(`skipped: ${command} is not installed`);
      const secret = `whsec_${randomBytes(32).toString('base64')}`;
      const port = await freePort();
      const child = spawn(command, [...args], {
        env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      children.push(child);
      await isListening(port);
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

      const { client } = await tenant(server);
      const url = `http://127.0.0.1:${port}/`;
      const webhook = await client.post('developer_api_webhooks', { url, secret });
      await client.post('developer_api_payments', { amount: 1250, currency: 'EUR' });
      expect((await lines.next()).value).toMatch(/^payment\.created evt_/);

      // Everything that an A needs, except the speed of this machine.
      const { body: examination } = await client.post(`developer_api_webhooks/${webhook.body.id}/examine`);
      const cases = examination.cases as readonly { readonly name: string; readonly outcome: string }[];
      expect(cases).toHaveLength(25);
      expect(cases.filter(({ name, outcome }) => outcome !== 'passed' && name !== 'quick_answer')).toEqual(
        [],
      );

      const other = await client.post('developer_api_webhooks', { url });
      const tested = await client.post(`developer_api_webhooks/${other.body.id}/test`);
      expect(tested.body).toMatchObject({ status: 'failed', lastResponseStatus: 400 });
      await client.post(`developer_api_webhooks/${webhook.body.id}/rotate_secret`);
      const rotated = await client.post(`developer_api_webhooks/${webhook.body.id}/test`);
      expect(rotated.body).toMatchObject({ status: 'succeeded', lastResponseStatus: 204 });
    },
  );
});
