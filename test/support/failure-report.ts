/** Shows, after a failed test, how to repeat it and the log tails of the processes that it used. */
import type { ChildProcess } from 'node:child_process';
import { relative } from 'node:path';

const LINES_MAX = 40;

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

export interface FinishedTest {
  /** The names of its suites and its own, outermost first. */
  readonly names: readonly string[];
  readonly file: string;
  readonly isFailed: boolean;
}

/** After every test. Processes that have exited belong to the finished test and are forgotten; running ones serve the next test too. */
export function reportFailure({ names, file, isFailed }: FinishedTest): void {
  if (isFailed) process.stderr.write(`${reportOf(names, file)}\n`);
  watched = watched.filter(({ child }) => child.exitCode === null && child.signalCode === null);
}

export function reportOf(names: readonly string[], file: string): string {
  const pattern = names.join(' ').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const lines = [
    `Repeat this test alone: npm test -- ${relative(process.cwd(), file)} -t ${quoted(pattern)}`,
  ];
  for (const { name, child, logs } of watched)
    lines.push(`Log tail of process ${child.pid} (${name}):`, ...tailOf(logs()));
  return lines.join('\n');
}

function tailOf(text: string): readonly string[] {
  const lines = text.trimEnd().split('\n');
  const tail = lines.slice(-LINES_MAX).map((line) => `  ${line}`);
  return lines.length > LINES_MAX ? [`  (${lines.length - LINES_MAX} lines before)`, ...tail] : tail;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
