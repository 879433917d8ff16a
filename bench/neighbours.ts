import { cpus } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

const WINDOW_MS = 500;
const WINDOWS_MAX = 40;
/** An idle desktop stays well below. */
const BUSY_CORES_MAX = 0.2;

export interface Neighbours {
  /** Cores that were busy while all our own processes waited. */
  readonly busyCores: number;
  readonly isQuiet: boolean;
}

/**
 * Waits, within bounds, until the machine does nothing else. A busy neighbour does not slow both sides alike: the
 * scheduler shares a core between processes, so pgbench with its sixteen backends loses less of it than one server.
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
