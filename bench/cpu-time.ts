/** CPU time of processes from the counters in /proc, which only Linux has. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Postgres } from '../test/support/postgres.ts';

/** CPU time of a process with all its threads, without its children. */
export function secondsOf(pid: number): number {
  const { user, system } = statOf(pid);
  return (user + system) / ticksPerSecond();
}

/** CPU time of the postmaster, its current children, and its terminated children. */
export function secondsOfDatabase({ dataDirectory }: Postgres): number {
  const pid = Number.parseInt(readFileSync(path.join(dataDirectory, 'postmaster.pid'), 'utf8'), 10);
  const children = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statIfRunning(Number(name)) : undefined;
    return stat?.parent === pid ? [stat] : [];
  });
  // Read last, so that a child that ends meanwhile is at most counted twice, and never missing.
  const { user, system, endedUser, endedSystem } = statOf(pid);
  const ofChildren = children.reduce((sum, child) => sum + child.user + child.system, 0);
  return (ofChildren + user + system + endedUser + endedSystem) / ticksPerSecond();
}

/** Undefined when the process ended after the folder was listed. */
function statIfRunning(pid: number): ReturnType<typeof statOf> | undefined {
  try {
    return statOf(pid);
  } catch {
    return undefined;
  }
}

function statOf(pid: number) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The program name in brackets may contain spaces.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0, user = 0, system = 0, endedUser = 0, endedSystem = 0] = [1, 11, 12, 13, 14].map(
    (at) => fields[at],
  );
  return { parent, user, system, endedUser, endedSystem };
}

let ticks: number | undefined;

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return ticks;
}
