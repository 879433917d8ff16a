/**
 * The real server as a child process, from the built `dist/main.js`: for what only a process can show, such as signals,
 * `kill -9`, the lock on the data folder, several nodes on one database, and the bench.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const LOG_CHARACTERS_MAX = 1_000_000;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

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
  if (!existsSync(MAIN)) throw new Error('dist/main.js is missing: run `npm run build` first.');
  const child = spawn(
    process.execPath,
    [
      ...(options.nodeArgs ?? []),
      '--input-type=module',
      '-e',
      RUNNER,
      '--',
      pathToFileURL(MAIN).href,
      ...flags(options),
    ],
    { cwd: ROOT, env: environment(options), stdio: ['pipe', 'pipe', 'pipe'] },
  );

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
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
    ...options.env,
  };
}

function timeout(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined).unref();
  });
}
