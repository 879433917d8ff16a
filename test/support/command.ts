/** Runs the `sandbank` command: in this process with `run`, or as the real binary with `runBinary` and `RunningCommand`. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../cli/run-command.ts';
import type { Server } from '../../src/server.ts';
import { watchProcess } from './failure-report.ts';
import { testNodeArgs } from './processes.ts';
import { type DatabaseKind, openServer } from './server.ts';
import { type KeySettings, type Tenant, tenant } from './tenant.ts';

/** The bin of the package, as a user runs it. */
export const bin = fileURLToPath(new URL('../../scripts/sandbank.mjs', import.meta.url));

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly directory?: string;
}

/** A folder without Sandbank data, also in its parent folders. */
const emptyDirectory = mkdtempSync(join(tmpdir(), 'sandbank-cli-'));
process.on('exit', () => rmSync(emptyDirectory, { recursive: true, force: true }));

/** Only these variables: the settings of the developer's shell must not reach a test. */
const environmentOf = (env: CommandOptions['env']) => ({
  PATH: process.env.PATH ?? '',
  HOME: emptyDirectory,
  ...env,
});

/**
 * Runs a command in this process, through the same function as the binary; a start of the binary costs 0.3 s of CPU. Behaviour that
 * only a process has (the real exit code, pipes, signals, `start`) needs `runBinary`: test/process/cli.
 */
export async function run(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const { env, directory = emptyDirectory, input = '' } = options;
  if (args[0] === 'start') throw new Error('A server must not run in the test process: use RunningCommand.');
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const output = Promise.all([text(stdout), text(stderr)]);
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
  const code = await runCommand(args, { stdin, stdout, stderr, env: environmentOf(env), directory });
  stdout.end();
  stderr.end();
  const [written, besides] = await output;
  return { code, stdout: written, stderr: besides };
}

export function spawnBinary(
  args: readonly string[],
  { env, directory = emptyDirectory }: CommandOptions = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...testNodeArgs, bin, ...args], {
    cwd: directory,
    env: environmentOf(env),
  });
}

export async function runBinary(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const command = new RunningCommand(args, options);
  command.child.stdin.on('error', () => undefined).end(options.input ?? '');
  return { code: await command.ended, stdout: command.stdout, stderr: command.stderr };
}

/** The real binary with a command that runs until it is stopped, and its output so far. */
export class RunningCommand {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';
  /** The exit code, after the last byte of output. */
  readonly ended: Promise<number | null>;
  #hasEnded = false;

  constructor(args: readonly string[], options: CommandOptions = {}) {
    this.child = spawnBinary(args, options);
    for (const name of ['stdout', 'stderr'] as const)
      this.child[name].setEncoding('utf8').on('data', (chunk: string) => {
        this[name] += chunk;
        this.child.emit('output');
      });
    this.ended = once(this.child, 'close').then(([code]) => {
      this.#hasEnded = true;
      this.child.emit('output');
      return code as number | null;
    });
    watchProcess({
      name: `sandbank ${args.join(' ')}`,
      child: this.child,
      logs: () => `${this.stdout}${this.stderr}`,
    });
  }

  /** Waits until the output matches. Fails with the whole output when the command ends before that. */
  async waitForOutput(expected: RegExp, on: 'stdout' | 'stderr' = 'stdout'): Promise<void> {
    while (!expected.test(this[on])) {
      if (this.#hasEnded) throw new Error(`${on} never matched ${expected}:\n${this.stdout}\n${this.stderr}`);
      await once(this.child, 'output');
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    this.child.kill(signal);
    return this.ended;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }
}

/** A server on a socket, a new organization, and the command with that organization's key. */
export interface CommandWorld {
  readonly server: Server;
  readonly url: string;
  readonly owner: Tenant;
  /** The environment of the command: address, API key, operator token. */
  readonly env: Readonly<Record<string, string>>;
  sandbank(...args: string[]): Promise<CommandResult>;
  /** Runs with `--json`, expects exit code `code`, and parses stdout, which must be a single value. */
  json<T = Record<string, unknown>>(args: readonly string[], code?: number): Promise<T>;
  close(): Promise<void>;
}

/** Commands see only the HTTP API, so the cheaper database is the default. */
export async function openCommandWorld(
  settings: KeySettings = {},
  kind: DatabaseKind = 'postgres',
): Promise<CommandWorld> {
  const operatorToken = randomBytes(32).toString('hex');
  const server = await openServer(kind, { operatorToken });
  const url = await server.listen();
  const owner = await tenant(server, settings);
  const env = {
    SANDBANK_URL: url,
    SANDBANK_API_KEY: owner.key,
    SANDBANK_OPERATOR_TOKEN: operatorToken,
  };
  return {
    server,
    url,
    owner,
    env,
    sandbank: (...args) => run(args, { env }),
    json: async <T>(args: readonly string[], code = 0) => {
      const result = await run([...args, '--json'], { env });
      if (result.code !== code)
        throw new Error(`exit code ${result.code}:\n${result.stdout}\n${result.stderr}`);
      return JSON.parse(result.stdout) as T;
    },
    close: () => server.close(),
  };
}
