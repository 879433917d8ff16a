/** The README commands, pasted into an empty folder in which the package is installed. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { verifyWebhook } from '../../sdk/client.ts';
import { watchProcess } from '../support/failure-report.ts';
import { freePort, testNodeArgs } from '../support/processes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const hasShell = ['bash', 'npx'].every((command) => spawnSync(command, ['--version']).status === 0);
const { SANDBANK_API_KEY: _key, SANDBANK_URL: _url, ...env } = process.env;

async function readBlock(language: string): Promise<string> {
  const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');
  const [, block] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme) ?? [];
  if (block === undefined) throw new Error(`The README has no block "${language}".`);
  return block;
}

test('has at most 150 lines', async () => {
  const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');
  expect(readme.trim().split('\n').length).toBeLessThanOrEqual(150);
});

describe.skipIf(!hasShell)('a user who pastes the README', () => {
  let folder: string;
  const running: ReturnType<typeof spawn>[] = [];

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sandbank-readme-'));
    mkdirSync(path.join(folder, 'node_modules/.bin'), { recursive: true });
    symlinkSync(ROOT, path.join(folder, 'node_modules/sandbank'), 'junction');
    symlinkSync('../sandbank/scripts/sandbank.mjs', path.join(folder, 'node_modules/.bin/sandbank'));
    writeFileSync(path.join(folder, 'package.json'), '{"name":"shop","type":"module"}');
  });
  afterAll(async () => {
    for (const child of running.reverse())
      if (child.exitCode === null) {
        const ended = once(child, 'close');
        child.kill('SIGTERM');
        await ended;
      }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  /** Runs the command in the background; resolves when its output matches. */
  async function runUntil(args: readonly string[], pattern: RegExp): Promise<() => string> {
    const command = path.join(ROOT, 'scripts/sandbank.mjs');
    const child = spawn(process.execPath, [...testNodeArgs, command, ...args], { cwd: folder, env });
    running.push(child);
    let logs = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        logs += chunk;
      });
    watchProcess({ name: `sandbank ${args[0]}`, child, logs: () => logs });
    await vi.waitUntil(() => pattern.test(logs) || child.exitCode !== null, { interval: 50 });
    expect(logs).toMatch(pattern);
    return () => logs;
  }

  test('starts a server and receives signed webhooks', async () => {
    const received: { body: string; headers: Record<string, string> }[] = [];
    const shop = createServer(async (request, response) => {
      received.push({ body: await text(request), headers: request.headers as Record<string, string> });
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(shop, 'listening');
    const { port: shopPort } = shop.address() as AddressInfo;
    await runUntil(['start', '--port', String(await freePort())], /Create a payment:/);
    const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');
    const [, target = ''] = /npx sandbank listen --forward-to (\S+)/.exec(readme) ?? [];
    const listening = await runUntil(
      ['listen', '--forward-to', target.replace('3000', String(shopPort))],
      /whsec_/,
    );
    const [, secret = ''] = /(whsec_\S+)/.exec(listening()) ?? [];

    const shell = spawn('bash', ['-eu'], { cwd: folder, env: { ...env, npm_config_offline: 'true' } });
    shell.stdin.end(await readBlock('sh try'));
    const [out, errors, [code]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'close'),
    ]);
    expect(code, `${out}\n${errors}`).toBe(0);
    // The fault plan has matched twice, and the command has tried again.
    expect(out).toMatch(/503.*service_unavailable/);
    const wanted = ['payment.created', 'payment.captured', 'payment.settled'];
    await vi.waitUntil(() => wanted.every((type) => received.some(({ body }) => body.includes(`"${type}"`))));
    const events = await Promise.all(
      received.map(({ body, headers }) => verifyWebhook(body, headers, secret, { toleranceSeconds: 1e9 })),
    );
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(wanted));
    for (const type of wanted) expect(listening()).toContain(type);
    shop.close();
  });

  test('runs the test', async () => {
    writeFileSync(path.join(folder, 'first.mjs'), await readBlock('js test'));
    const child = spawn(process.execPath, [...testNodeArgs, 'first.mjs'], { cwd: folder, env });
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(code, errors).toBe(0);
  });
});
