import type { Engine } from '../engine/engine.ts';
import { limits } from '../kernel/limits.ts';

const roundMs = 10 * 60_000;
const keptMs = limits.idempotencyKeptHours * 3_600_000;

/** Deletes answers that were kept long enough for any retry. Wall time, whatever the clocks of applications say. */
export function startReaper(
  engine: Engine,
  wallClock: () => number,
  onError: (error: unknown) => void,
): () => void {
  const timer = setInterval(() => {
    engine.reap(wallClock() - keptMs).catch(onError);
  }, roundMs);
  timer.unref();
  return () => clearInterval(timer);
}
