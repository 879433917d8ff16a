/**
 * Runs the built command (`dist/cli/main.js`) as a child process, for behaviour that only a process has: signals, `kill -9`, the lock
 * of the data directory, several nodes on one database. The bench uses it as well.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { watchProcess } from './failure-report.ts';

/** For hangs only, and below vitest's own limit, so that the failure shows the logs. A busy machine needs half a minute for a start. */
const START_TIMEOUT_MS = 240_000;
const STOP_TIMEOUT_MS = 240_000;
const LOG_CHARACTERS_MAX = 1_000_000;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/**
 * For servers that live a few seconds. By default V8 optimizes a large part of PGlite during the start, on separate threads: with these flags a start
 * costs 2.6 s of CPU instead of 4.2 s.
 */
export const testNodeArgs: readonly string[] =
  process.env.VITEST === undefined ? [] : ['--single-threaded', '--wasm-tiering-budget=100000000'];

/** Ends the server when its parent ends in any way, because that closes the pipe on stdin. */
const RUNNER = `
process.stdin.resume().on('close', () => process.exit(1)).unref();
const [main, ...argv] = process.argv.slice(1);
await (await import(main)).main(argv);`;

export interface ServerOptions {
  readonly databaseUrl?: string;
  readonly dataDir?: string;
  /** Path of a seed file. */
  readonly seed?: string;
  /** A free port by default. */
  readonly port?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The folder that contains `dist`, to run another build than this one. */
  readonly root?: string;
  /** Flags for Node itself, such as `--cpu-prof`. They replace `testNodeArgs`. */
  readonly nodeArgs?: readonly string[];
}

export interface ServerProcess {
  /** `http://127.0.0.1:PORT`, without a slash at the end; with `HOST`, at that address. */
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  /** Sends SIGTERM and resolves with the exit code. A server that hangs is killed, and the promise rejects with its logs. */
  stop(): Promise<number>;
  /** Sends SIGKILL; resolves once the process has ended and is reaped. */
  kill(): Promise<void>;
  /** The tail of its output, stdout and stderr together. */
  logs(): string;
}

export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const child = spawnServer(options);
  let logs = '';
  watchProcess({ name: nameOf(options), child, logs: () => logs });
  const ended = new Promise<number>((resolve) => {
    child.once('error', () => resolve(1));
    // `close` comes after the last byte of output, so the reason of a failure is never lost.
    child.once('close', (code) => resolve(code ?? 1));
  });
  const listening = new Promise<string>((resolve) => {
    const read = (text: string): void => {
      logs = (logs + text).slice(-LOG_CHARACTERS_MAX);
    };
    child.stderr.setEncoding('utf8').on('data', read);
    child.stdout.setEncoding('utf8').on('data', function find(text: string) {
      read(text);
      // Any loopback address: a cluster on one machine has several.
      const found = /http:\/\/127(?:\.\d+){3}:\d+(?=[/\s])/.exec(logs);
      if (found === null) return;
      resolve(found[0]);
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

/** Runs the server until it exits by itself: for rejected starts, and for flags that only print something. */
export async function runToEnd(options: ServerOptions = {}): Promise<Ending> {
  const child = spawnServer(options);
  const output = { stdout: '', stderr: '' };
  watchProcess({ name: nameOf(options), child, logs: () => output.stdout + output.stderr });
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

/** Calls the program several times in one process, and prints each exit code and output as a line of JSON. */
const SEQUENCE_RUNNER = `
process.stdin.resume().on('close', () => process.exit(1)).unref();
const [program, calls] = process.argv.slice(1);
const { main } = await import(program);
const print = process.stdout.write.bind(process.stdout);
for (const { argv, env } of JSON.parse(calls)) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = undefined;
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'])
    process[name].write = (text) => { output[name] += text; return true; };
  await main(argv);
  print(JSON.stringify({ code: process.exitCode ?? 0, ...output }) + '\\n');
}
process.exitCode = 0;`;

/**
 * For many command lines that end without opening anything: the modules load once, not once for each. To test that a
 * process exits by itself with this code, use `runToEnd`.
 */
export async function runSequence(sequence: readonly ServerOptions[]): Promise<readonly Ending[]> {
  const calls = sequence.map((options) => ({ argv: flags(options), env: environment(options) }));
  const child = spawnProgram(SEQUENCE_RUNNER, {}, [JSON.stringify(calls)]);
  const output = { stdout: '', stderr: '' };
  watchProcess({ name: 'a sequence of calls', child, logs: () => output.stdout + output.stderr });
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  const end = await Promise.race([once(child, 'close'), timeout(START_TIMEOUT_MS)]);
  child.kill('SIGKILL');
  if (end?.[0] !== 0) throw new Error(`The sequence failed:\n${output.stdout}${output.stderr}`);
  return output.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Ending);
}

/** The bare child process, for tests that end it before it listens. */
export function spawnServer(options: ServerOptions): ChildProcessByStdio<Writable, Readable, Readable> {
  return spawnProgram(RUNNER, options, flags(options));
}

function spawnProgram(
  runner: string,
  options: ServerOptions,
  args: readonly string[],
): ChildProcessByStdio<Writable, Readable, Readable> {
  const main = options.root === undefined ? MAIN : path.join(options.root, 'dist', 'cli', 'main.js');
  if (!existsSync(main)) throw new Error('dist/cli/main.js is missing: run `npm run build` first.');
  return spawn(
    process.execPath,
    [
      ...(options.nodeArgs ?? testNodeArgs),
      '--input-type=module',
      '-e',
      runner,
      '--',
      pathToFileURL(main).href,
      ...args,
    ],
    { cwd: options.root ?? ROOT, env: environment(options), stdio: ['pipe', 'pipe', 'pipe'] },
  );
}

function nameOf({ databaseUrl, dataDir, args = [] }: ServerOptions): string {
  const database = databaseUrl === undefined ? (dataDir ?? 'the default data directory') : 'PostgreSQL';
  return ['server on', database, ...args].join(' ');
}

/** `start` unless the arguments begin with another command. */
function flags({ args = [], port = 0, dataDir, seed }: ServerOptions): string[] {
  const data = dataDir === undefined ? [] : ['--data', dataDir];
  if (args[0] !== undefined && !args[0].startsWith('-')) return [...args, ...data];
  const seeded = seed === undefined ? [] : ['--seed', seed];
  return ['start', '--port', String(port), ...data, ...seeded, ...args];
}

/** The settings of the developer's shell must not reach a test. */
function environment(options: ServerOptions): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) =>
      !name.startsWith('SANDBANK_') &&
      !name.startsWith('npm_') &&
      !['DATABASE_URL', 'PORT', 'HOST', 'LOG_LEVEL', 'NODE_OPTIONS'].includes(name),
  );
  return {
    ...Object.fromEntries(inherited),
    SANDBANK_RATE_LIMIT: 'off',
    // As long as a server can wait for its database: the machine may be busy. Tests of this limit set their own.
    SANDBANK_STATEMENT_TIMEOUT: '600',
    ...(options.databaseUrl === undefined
      ? {}
      : { DATABASE_URL: options.databaseUrl, SANDBANK_SECRET: 'the same for all nodes of a test run' }),
    ...options.env,
  };
}

/** A port that is free at the moment, for a process that needs a fixed one. */
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
