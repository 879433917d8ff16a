/**
 * Start-up time to the first response with an existing data directory, for the process itself and through `npm start`, and the
 * memory of an idle embedded server.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startServer } from '../test/support/processes.ts';
import { API_KEY, createPayments, SEED } from './api.ts';
import { median } from './measurement.ts';
import { waitForQuiet } from './neighbours.ts';
import { PAYMENTS_PATH } from './requests.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ROUNDS = 5;
const PAYMENTS = 1_000;
const IDLE_MS = 5_000;
const ANSWER_MS_MAX = 60_000;
export const PROCESS_SECONDS_MAX = 1.5;
export const NPM_SECONDS_MAX = 3;
export const MEGABYTES_MAX = 350;

export interface StartMeasured {
  readonly processSeconds: number;
  readonly npmSeconds: number;
  readonly megabytes: number;
  readonly isQuiet: boolean;
}

export async function measureStart(stage: {
  readonly folder: string;
  readonly log: (line: string) => void;
}): Promise<StartMeasured> {
  const seed = path.join(stage.folder, 'start-seed.json');
  writeFileSync(seed, JSON.stringify(SEED));
  const dataDir = path.join(stage.folder, 'start');
  const first = await startServer({ dataDir, seed });
  await createPayments(first.url, PAYMENTS);
  await first.stop();
  const { isQuiet } = await waitForQuiet();
  const direct: Started[] = [];
  const byNpm: Started[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const args = ['scripts/sandbank.mjs', 'start', '--data', dataDir];
    direct.push(await timed(process.execPath, args, round === ROUNDS - 1));
    byNpm.push(await timed('npm', ['start', '--', '--data', dataDir], false));
  }
  const measured = {
    processSeconds: median(direct.map(({ seconds }) => seconds)),
    npmSeconds: median(byNpm.map(({ seconds }) => seconds)),
    megabytes: direct.at(-1)?.megabytes ?? 0,
    isQuiet,
  };
  stage.log(startLine(measured));
  return measured;
}

interface Started {
  readonly seconds: number;
  readonly megabytes: number;
}

async function timed(command: string, args: readonly string[], measuresMemory: boolean): Promise<Started> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(command, [...args, '--port', String(port)], {
    cwd: ROOT,
    stdio: 'ignore',
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} could not be started.`);
  try {
    await firstResponse(`http://127.0.0.1:${port}${PAYMENTS_PATH}`);
    const seconds = (performance.now() - startedAt) / 1000;
    if (measuresMemory) await wait(IDLE_MS);
    return { seconds, megabytes: measuresMemory ? residentMegabytes(pid) : 0 };
  } finally {
    // Signal the whole process group, because npm is the parent of the server.
    if (child.exitCode === null) process.kill(-pid, 'SIGTERM');
    await untilEnded(pid);
  }
}

/** Probes with plain TCP until the port is open: 200 `fetch` calls per second took a fifth of a core from the starting server. */
async function firstResponse(address: string): Promise<void> {
  const { hostname, port } = new URL(address);
  const until = performance.now() + ANSWER_MS_MAX;
  while (performance.now() < until) {
    const response = (await isOpen(hostname, Number(port)))
      ? await fetch(address, { headers: { authorization: `Bearer ${API_KEY}` } }).catch(() => undefined)
      : undefined;
    await response?.text();
    if (response?.status === 200) return;
    await wait(5);
  }
  throw new Error('The started server did not respond.');
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Resident memory of the process; 0 where /proc does not exist. */
function residentMegabytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No free port.');
  return address.port;
}

/** npm exits before its server has closed the database, and the next start needs the data directory: waits for both. */
async function untilEnded(group: number): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    try {
      process.kill(-group, 0);
    } catch {
      return;
    }
    await wait(5);
  }
}

export function startLine({ processSeconds, npmSeconds, megabytes, isQuiet }: StartMeasured): string {
  const noise = isQuiet ? '' : ', started under other load';
  return (
    `start with ${PAYMENTS.toLocaleString('en-US')} payments to the first response: process ${processSeconds.toFixed(2)} s, ` +
    `\`npm start\` ${npmSeconds.toFixed(2)} s; ${Math.round(megabytes)} MB after ${IDLE_MS / 1000} s idle${noise}`
  );
}
