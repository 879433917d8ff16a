/**
 * The real server as a child process, from the built `dist/src/main.js`: for what only a process can show, such as signals,
 * `kill -9`, the lock on the data folder, several nodes on one database, and the bench.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const LOG_CHARACTERS_MAX = 1_000_000;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));

/** Ends the server when its parent goes away in any manner: the pipe on stdin closes. */
const RUNNER = `
process.stdin.resume().on('close', () => process.exit(1)).unref();
const [main, ...argv] = process.argv.slice(1);
await (await import(main)).main(argv);`;

export interface ServerOptions {
  readonly databaseUrl?: string;
  readonly dataDir?: string;
  /** Path of a seed file. */
  readonly seed?: string;
  /** A free port unless told. */
  readonly port?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Another built program than that of this tree: the folder that its `dist` is in. */
  readonly root?: string;
  /** Flags for Node itself, such as `--cpu-prof`. */
  readonly nodeArgs?: readonly string[];
}

export interface ServerProcess {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** SIGTERM, then the exit code. A server that does not end in time is killed, and the promise rejects with its logs. */
  stop(): Promise<number>;
  /** SIGKILL; resolves once the process is gone and reaped. */
  kill(): Promise<void>;
  /** The end of what it wrote, stdout and stderr together. */
  logs(): string;
}

export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const child = spawnServer(options);
  let logs = '';
  const ended = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    // `close` comes after the last byte of output, so that a reason written just before the end is not lost.
    child.once('close', (code) => resolve(code ?? 1));
  });
  const listening = new Promise<string>((resolve) => {
    const read = (text: string): void => {
      logs = (logs + text).slice(-LOG_CHARACTERS_MAX);
    };
    child.stderr.setEncoding('utf8').on('data', read);
    child.stdout.setEncoding('utf8').on('data', function find(text: string) {
      read(text);
      const found = /http:\/\/127\.0\.0\.1:(\d+)(?=[/\s])/.exec(logs);
      if (found === null) return;
      resolve(`http://127.0.0.1:${found[1]}`);
      child.stdout.off('data', find).on('data', read);
    });
  });

  const url = await Promise.race([listening, ended, timeout(START_TIMEOUT_MS)]);
  if (typeof url !== 'string') {
    child.kill('SIGKILL');
    const why =
      url === undefined ? `is not listening after ${START_TIMEOUT_MS} ms` : `ended with code ${url}`;
    throw new Error(`The server ${why}:\n${logs}`);
  }
  if (child.pid === undefined) throw new Error('A listening process has no pid.');

  return {
    url,
    pid: child.pid,
    child,
    logs: () => logs,
    async stop() {
      child.kill('SIGTERM');
      const code = await Promise.race([ended, timeout(STOP_TIMEOUT_MS)]);
      if (code !== undefined) return code;
      child.kill('SIGKILL');
      throw new Error(`The server was still running ${STOP_TIMEOUT_MS} ms after SIGTERM:\n${logs}`);
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

export interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the server until it ends by itself: for starts that are refused, and for flags that only print something. */
export async function runToEnd(options: ServerOptions = {}): Promise<Ending> {
  const child = spawnServer(options);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const end = await Promise.race([once(child, 'close'), timeout(START_TIMEOUT_MS)]);
  if (end !== undefined) return { code: Number(end[0] ?? 1), ...output };
  child.kill('SIGKILL');
  throw new Error(
    `The server was still running after ${START_TIMEOUT_MS} ms:\n${output.stdout}${output.stderr}`,
  );
}

/** The bare process, for tests that end it before it listens. */
export function spawnServer(options: ServerOptions): ChildProcessByStdio<Writable, Readable, Readable> {
  const main = options.root === undefined ? MAIN : path.join(options.root, 'dist', 'src', 'main.js');
  if (!existsSync(main)) throw new Error('dist/src/main.js is missing: run `npm run build` first.');
  return spawn(
    process.execPath,
    [
      ...(options.nodeArgs ?? []),
      '--input-type=module',
      '-e',
      RUNNER,
      '--',
      pathToFileURL(main).href,
      ...flags(options),
    ],
    { cwd: options.root ?? ROOT, env: environment(options), stdio: ['pipe', 'pipe', 'pipe'] },
  );
}

function flags(options: ServerOptions): string[] {
  const flags = ['--port', String(options.port ?? 0)];
  if (options.dataDir !== undefined) flags.push('--data', options.dataDir);
  if (options.seed !== undefined) flags.push('--seed', options.seed);
  return [...flags, ...(options.args ?? [])];
}

/** What the developer's own shell says about Sandbank must not leak into a test. */
function environment(options: ServerOptions): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !name.startsWith('SANDBANK_') &&
      !['DATABASE_URL', 'PORT', 'HOST', 'LOG_LEVEL', 'NODE_OPTIONS'].includes(name),
  );
  return {
    ...Object.fromEntries(inherited),
    SANDBANK_RATE_LIMIT: 'off',
    ...(options.databaseUrl === undefined
      ? {}
      : { DATABASE_URL: options.databaseUrl, SANDBANK_SECRET: 'the same for all nodes of a test run' }),
    ...options.env,
  };
}

/** A port that nobody listens on at the moment, for a process that must be told one. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function timeout(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined).unref();
  });
}
