import { cpus } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

const WINDOW_MS = 500;
const WINDOWS_MAX = 40;
/** An idle desktop is well below this. */
const BUSY_CORES_MAX = 0.2;

export interface Neighbours {
  /** Cores busy with other work while all bench processes were idle. */
  readonly busyCores: number;
  readonly isQuiet: boolean;
}

/**
 * Waits until the machine is idle, for at most WINDOWS_MAX windows. Other load does not slow both sides equally: the scheduler
 * divides a core between processes, so pgbench with its 16 backends loses a smaller share than one server.
 */
export async function waitForQuiet(): Promise<Neighbours> {
  let busyCores = 0;
  for (let window = 0; window < WINDOWS_MAX; window += 1) {
    const before = ticks();
    await wait(WINDOW_MS);
    const after = ticks();
    busyCores = (cpus().length * (after.busy - before.busy)) / Math.max(1, after.all - before.all);
    if (busyCores <= BUSY_CORES_MAX) return { busyCores, isQuiet: true };
  }
  return { busyCores, isQuiet: false };
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
