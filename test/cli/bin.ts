import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import type { Server } from '../../src/server.ts';
import { openServer } from '../support/server.ts';
import { type KeySettings, type Tenant, tenant } from '../support/tenant.ts';

// Every run of the command is a process of its own, and a busy machine takes a second or two for each.
vi.setConfig({ testTimeout: 180_000 });

/** The command as a person runs it: the bin of the package. */
export const bin = fileURLToPath(new URL('../../scripts/sandbank.mjs', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly directory?: string;
}

/** A folder with nothing of Sandbank in it or above it. */
const nowhere = mkdtempSync(join(tmpdir(), 'sandbank-cli-'));
process.on('exit', () => rmSync(nowhere, { recursive: true, force: true }));

export function start(
  args: readonly string[],
  { env = {}, directory = nowhere }: RunOptions = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [bin, ...args], {
    cwd: directory,
    // What the developer's own shell says must not leak into a test.
    env: { PATH: process.env.PATH ?? '', HOME: nowhere, ...env },
  });
}

export async function run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = start(args, options);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

/** A command that goes on, and what it has said so far. */
export class Running {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';
  readonly #ended: Promise<number | null>;

  constructor(args: readonly string[], options: RunOptions = {}) {
    this.child = start(args, options);
    for (const name of ['stdout', 'stderr'] as const)
      this.child[name].setEncoding('utf8').on('data', (text: string) => {
        this[name] += text;
        this.child.emit('said');
      });
    this.#ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  /** Waits until it has said so, or fails with all that it has said. */
  async said(words: RegExp, on: 'stdout' | 'stderr' = 'stdout', msMax = 60_000): Promise<void> {
    const late = AbortSignal.timeout(msMax);
    while (!words.test(this[on])) {
      await Promise.race([once(this.child, 'said', { signal: late }), this.#ended]).catch(() => undefined);
      if (late.aborted || this.child.exitCode !== null)
        if (!words.test(this[on])) throw new Error(`never said ${words}:\n${this.stdout}\n${this.stderr}`);
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    this.child.kill(signal);
    return this.#ended;
  }
}

/** A server on a socket, and the command with a key of an organization that nobody else has. */
export interface World {
  readonly server: Server;
  readonly url: string;
  readonly owner: Tenant;
  /** For the environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  sandbank(...args: string[]): Promise<Ran>;
  /** With `--json`: what it printed, which must be one value; it must have ended with `code`. */
  json<T = Record<string, unknown>>(args: readonly string[], code?: number): Promise<T>;
  close(): Promise<void>;
}

export async function openWorld(settings: KeySettings = {}): Promise<World> {
  const server = await openServer('pglite');
  const url = await server.listen();
  const owner = await tenant(server, settings);
  const env = {
    SANDBANK_URL: url,
    SANDBANK_API_KEY: owner.key,
    SANDBANK_OPERATOR_TOKEN: server.operatorToken ?? '',
  };
  return {
    server,
    url,
    owner,
    env,
    sandbank: (...args) => run(args, { env }),
    json: async <T>(args: readonly string[], code = 0) => {
      const ran = await run([...args, '--json'], { env });
      if (ran.code !== code) throw new Error(`ended with ${ran.code}:\n${ran.stdout}\n${ran.stderr}`);
      return JSON.parse(ran.stdout) as T;
    },
    close: () => server.close(),
  };
}
