import { cpus } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

const WINDOW_MS = 400;

/** Cores that are busy while all our own processes wait: whatever runs beside the bench, and spoils it. */
export async function busyCores(): Promise<number> {
  const before = ticks();
  await wait(WINDOW_MS);
  const after = ticks();
  return (cpus().length * (after.busy - before.busy)) / Math.max(1, after.all - before.all);
}

function ticks(): { busy: number; all: number } {
  let busy = 0;
  let idle = 0;
  for (const { times } of cpus()) {
    busy += times.user + times.nice + times.sys + times.irq;
    idle += times.idle;
  }
  return { busy, all: busy + idle };
}
