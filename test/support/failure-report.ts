/** After a failed test, prints the command to repeat it, the log of the servers in this process, and the log tails of its processes. */
import type { ChildProcess } from 'node:child_process';
import { relative } from 'node:path';
import { inspect } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { testSeed } from './seed.ts';

const LINES_MAX = 40;
const LOGGED_LINES_MAX = 1_000;

export interface WatchedProcess {
  readonly name: string;
  readonly child: ChildProcess;
  /** The output so far. */
  readonly logs: () => string;
}

let watched: WatchedProcess[] = [];

export function watchProcess(one: WatchedProcess): void {
  watched.push(one);
}

let logged: string[] = [];

/** Records the log of a server in this process, and a line for each request, until the end of the running test. */
export function watchServer(app: FastifyInstance): void {
  const levels = ['fatal', 'error', 'warn', 'info'] as const;
  for (const level of levels)
    app.log[level] = (...args: unknown[]) => recordLine(`${level} ${args.map(textOf).join(' ')}`);
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url, id } = request;
    recordLine(`${method} ${url} -> ${reply.statusCode} in ${Math.round(reply.elapsedTime)} ms (${id})`);
    done();
  });
}

function recordLine(line: string): void {
  logged.push(line);
  if (logged.length > LOGGED_LINES_MAX) logged.splice(0, LOGGED_LINES_MAX / 2);
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : inspect(value, { breakLength: 200 });

export interface FinishedTest {
  /** The names of its suites and its own, outermost first. */
  readonly names: readonly string[];
  readonly file: string;
  readonly isFailed: boolean;
}

/** Runs after every test. Forgets processes that have exited, because they belong to the finished test. */
export function reportFailure({ names, file, isFailed }: FinishedTest): void {
  if (isFailed) process.stderr.write(`${reportOf(names, file)}\n`);
  watched = watched.filter(({ child }) => child.exitCode === null && child.signalCode === null);
  logged = [];
}

function reportOf(names: readonly string[], file: string): string {
  const pattern = names.join(' ').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const lines = [
    `Repeat this test alone: SANDBANK_TEST_SEED=${testSeed} npm test -- ${relative(process.cwd(), file)} -t ${quoted(pattern)}`,
  ];
  if (logged.length > 0)
    lines.push('Log of the servers in this process during the test:', ...tailOf(logged.join('\n')));
  for (const { name, child, logs } of watched)
    lines.push(`Log tail of process ${child.pid} (${name}):`, ...tailOf(logs()));
  return lines.join('\n');
}

function tailOf(text: string): readonly string[] {
  const lines = text.trimEnd().split('\n');
  const tail = lines.slice(-LINES_MAX).map((line) => `  ${line}`);
  return lines.length > LINES_MAX ? [`  (${lines.length - LINES_MAX} earlier lines)`, ...tail] : tail;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
