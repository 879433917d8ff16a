import type { DeliveryQueue } from '../engine/delivery-queue.ts';
import type { Engine } from '../engine/engine.ts';
import type { RequestJournal } from '../engine/request-journal.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';

export interface ReaperSettings {
  readonly engine: Engine;
  readonly queue: DeliveryQueue;
  /** Forgets how often signing in was tried. */
  readonly people: { reap(): Promise<void> };
  readonly journal: RequestJournal;
  /** How long headers and bodies of attempts are kept. */
  readonly attemptDays: number;
  /** How long requests are kept. */
  readonly requestDays: number;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
}

const roundMs = 10 * 60_000;
const dayMs = 86_400_000;
// A month of counts, whichever month it is.
const minutesKeptDays = 31;
const answersKeptMs = limits.idempotencyKeptHours * 3_600_000;

/**
 * Deletes answers that were kept long enough for any retry and requests of long ago with their counts, and clears what was sent
 * and answered in attempts of long ago.
 * Wall time, whatever the clocks of applications say.
 */
export function startReaper(settings: ReaperSettings): () => void {
  const { engine, queue, journal, people, attemptDays, requestDays, wallClock, onError } = settings;
  const timer = setInterval(() => {
    const now = wallClock();
    engine.reap(now - answersKeptMs).catch((error: unknown) => onError(error, 'reaping failed'));
    queue
      .clearBodies(now - attemptDays * dayMs)
      .catch((error: unknown) => onError(error, 'clearing attempts failed'));
    people.reap().catch((error: unknown) => onError(error, 'forgetting tries failed'));
    journal
      .reap(now - requestDays * dayMs)
      .then(() => journal.reapMinutes(now - minutesKeptDays * dayMs))
      .catch((error: unknown) => onError(error, 'reaping requests failed'));
  }, roundMs);
  timer.unref();
  return () => clearInterval(timer);
}
