/**
 * The share of the request log in the CPU time of the node, per create, GET and page. Two servers run under the same load
 * alternately, one with the log and one without. No setting turns the log off, and the classes in `dist` are bundled, so both
 * servers run from the sources, and the second replaces the method that receives every request.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Postgres } from '../test/support/postgres.ts';
import { type ServerProcess, startServer } from '../test/support/processes.ts';
import { API_KEY, createPayments, SEED } from './api.ts';
import { secondsOf } from './cpu-time.ts';
import { countLoad } from './load.ts';
import { median } from './measurement.ts';
import { createRequests, type NextRequest, PAYMENTS_PATH, readRequest, readRequests } from './requests.ts';

const ROUNDS = 5;
const LOAD_MS = 3_000;
/** The log stores a burst of 2,000 requests, then 500 per second. Full load means after the burst, and every pause refills it. */
const BURST_MS = 1_500;
/** The log is written every 250 ms; its last write belongs to the load. */
const FLUSH_MS = 500;
const READ = 1_000;
const TSX = import.meta.resolve('tsx');

export interface LogShare {
  readonly what: string;
  readonly withMicros: number;
  readonly withoutMicros: number;
  /** Median over the rounds. */
  readonly share: number;
}

export interface LogContext {
  readonly postgres: Postgres;
  readonly folder: string;
  readonly log: (line: string) => void;
}

interface Side {
  readonly server: ServerProcess;
  readonly paths: readonly string[];
}

type Requests = (side: Side) => (connection: number) => NextRequest;

const page = readRequest(API_KEY, PAYMENTS_PATH);
const LOADS: readonly (readonly [string, Requests])[] = [
  ['create', () => (connection) => createRequests(API_KEY, connection)],
  ['GET', (side) => (connection) => readRequests(API_KEY, side.paths, connection)],
  ['page', () => () => () => page],
];

/** Measures nothing on systems without /proc. */
export async function measureRequestLog({ postgres, folder, log }: LogContext): Promise<readonly LogShare[]> {
  if (process.platform !== 'linux') return [];
  const seed = path.join(folder, 'log-seed.json');
  writeFileSync(seed, JSON.stringify(SEED));
  const servers: ServerProcess[] = [];
  const start = async (mode: 'on' | 'off'): Promise<Side> => {
    const databaseUrl = await postgres.createDatabase(`sandbank_log_${mode}`);
    const root = writeSourceBuild(path.join(folder, `log-${mode}`), mode);
    // Without the workers, whose CPU time does not belong to requests.
    const args = ['--role', 'api'];
    const server = await startServer({ databaseUrl, seed, root, args, nodeArgs: ['--import', TSX] });
    servers.push(server);
    const ids = await createPayments(server.url, READ);
    return { server, paths: ids.map((id) => `${PAYMENTS_PATH}/${id}`) };
  };
  try {
    const sides = { on: await start('on'), off: await start('off') };
    const shares: LogShare[] = [];
    for (const [what, requests] of LOADS) {
      const measured = { what, ...(await measure(sides, requests)) };
      log(`request log: ${logShareLine(measured)}`);
      shares.push(measured);
    }
    return shares;
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function measure(
  sides: { readonly on: Side; readonly off: Side },
  requests: Requests,
): Promise<Omit<LogShare, 'what'>> {
  const rounds: { readonly on: number; readonly off: number }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const first = round % 2 === 0 ? await microsOf(sides.on, requests) : undefined;
    const off = await microsOf(sides.off, requests);
    const on = first ?? (await microsOf(sides.on, requests));
    // The first round is a warm-up for the compiler.
    if (round > 0) rounds.push({ on, off });
  }
  return {
    withMicros: median(rounds.map(({ on }) => on)),
    withoutMicros: median(rounds.map(({ off }) => off)),
    share: median(rounds.map(({ on, off }) => (on - off) / on)),
  };
}

async function microsOf(side: Side, requests: Requests): Promise<number> {
  const { url, pid } = side.server;
  await countLoad(url, BURST_MS, requests(side));
  const before = secondsOf(pid);
  const count = await countLoad(url, LOAD_MS, requests(side));
  await wait(FLUSH_MS);
  return ((secondsOf(pid) - before) * 1e6) / count;
}

/** A folder in the form of a build, as `startServer` expects it, whose program runs from the sources. */
function writeSourceBuild(root: string, mode: 'on' | 'off'): string {
  const source = (file: string): string => JSON.stringify(new URL(`../${file}`, import.meta.url).href);
  const turnOff = `import { RequestLog } from ${source('src/workers/request-log.ts')};
RequestLog.prototype.count = () => false;
`;
  mkdirSync(path.join(root, 'dist', 'cli'), { recursive: true });
  writeFileSync(
    path.join(root, 'dist', 'cli', 'main.js'),
    `${mode === 'on' ? '' : turnOff}export { main } from ${source('cli/main.ts')};\n`,
  );
  writeFileSync(path.join(root, 'package.json'), '{"type": "module"}');
  return root;
}

export function logShareLine({ what, withMicros, withoutMicros, share }: LogShare): string {
  return `${what}: ${Math.round(withMicros)} µs on the node with the log, ${Math.round(withoutMicros)} µs without, ${(share * 100).toFixed(1)} %`;
}
