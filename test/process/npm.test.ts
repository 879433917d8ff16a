/** A server started through npm, as CI scripts do: `npm start & ... kill $!`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { watchProcess } from '../support/failure-report.ts';
import { freePort } from '../support/processes.ts';

const BINARY = fileURLToPath(new URL('../../scripts/sandbank.mjs', import.meta.url));
const POLL = { interval: 50 };

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) {
    const pid = path.join(folder, 'pid');
    if (existsSync(pid)) endProcess(Number(readFileSync(pid, 'utf8')));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // The process has already exited.
  }
}

const isServed = (url: string) =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

/** `npm start` in a new folder with this script, once the server answers. */
async function runScript(script: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbank-npm-'));
  folders.push(folder);
  const port = await freePort();
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
  await vi.waitUntil(() => isServed(url), POLL);
  const end = async () => {
    const ended = once(npm, 'exit');
    npm.kill('SIGTERM');
    await ended;
  };
  return { url, end };
}

it('a server exits with npm, unless its script started it in the background', async () => {
  const background = await runScript(`node ${BINARY} start & echo $! > pid; wait`);
  const foreground = await runScript(`node ${BINARY} start`);
  await background.end();
  await foreground.end();
  // In the time one server needs to notice and close, the other would have closed too.
  await vi.waitUntil(async () => !(await isServed(foreground.url)), POLL);
  expect(await isServed(background.url)).toBe(true);
});
