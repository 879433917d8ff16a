/** A server that npm runs. `npm start & ... kill $!` is what scripts in CI do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchProcess } from '../support/failure-report.ts';
import { freePort } from '../support/processes.ts';

const BINARY = fileURLToPath(new URL('../../scripts/sandbank.mjs', import.meta.url));

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sandbank-npm-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const isServed = (url: string) =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

async function runScript(script: string, port: number) {
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ scripts: { start: script } }));
  const env = { ...process.env, PORT: String(port), SANDBANK_DATA_DIR: 'memory' };
  const npm = spawn('npm', ['start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let logs = '';
  for (const stream of [npm.stdout, npm.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      logs += text;
    });
  watchProcess({ name: 'npm start', child: npm, logs: () => logs });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitUntil(() => isServed(url), { interval: 50 });
  return { npm, url };
}

describe('a server under npm', () => {
  it('ends when npm is told to', async () => {
    const { npm, url } = await runScript(`node ${BINARY} start`, await freePort());
    const ended = once(npm, 'exit');
    npm.kill('SIGTERM');
    await ended;
    await vi.waitUntil(async () => !(await isServed(url)), { interval: 50 });
  });

  it('that a script has started in the background outlives it', async () => {
    const { npm, url } = await runScript(`node ${BINARY} start & echo $! > pid; sleep 600`, await freePort());
    const ended = once(npm, 'exit');
    npm.kill('SIGTERM');
    await ended;
    // Longer than the server would need to notice.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await isServed(url)).toBe(true);
    process.kill(Number(readFileSync(path.join(folder, 'pid'), 'utf8')), 'SIGTERM');
    await vi.waitUntil(async () => !(await isServed(url)), { interval: 50 });
  });
});
