import type { DeliveryQueue } from '../delivery/queue.ts';
import type { Engine } from '../engine/engine.ts';
import type { RequestJournal } from '../engine/request-journal.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import type { RetentionMeasures } from '../telemetry/ports.ts';

export interface ReaperSettings {
  readonly engine: Pick<Engine, 'reap' | 'reapSecrets'>;
  /** Deletes organizations whose time is over, rows that were written to deleted ones, and audit trails whose time is over. */
  readonly organizations: {
    expire(): Promise<number>;
    sweep(): Promise<number>;
    forgetTrails(): Promise<number>;
  };
  readonly queue: Pick<DeliveryQueue, 'clearBodies'>;
  /** Forgets how often signing in was tried, and sessions that have ended. */
  readonly people: { reap(): Promise<number> };
  readonly journal: Pick<RequestJournal, 'reap' | 'reapMinutes'>;
  /** How long headers and bodies of attempts are kept. */
  readonly attemptDays: number;
  /** How long requests are kept. */
  readonly requestDays: number;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
  readonly measures?: RetentionMeasures | undefined;
  /** What a round has removed, when that is something. */
  readonly onRemoved?: (rows: Readonly<Record<string, number>>) => void;
  readonly firstMs?: number;
}

// A server that is restarted every few minutes, as in a deployment that fails, must come to it as well.
const firstMsDefault = 60_000;
const roundMs = 10 * 60_000;
const dayMs = 86_400_000;
// A month of counts, whichever month it is.
const minutesKeptDays = 31;
const answersKeptMs = limits.idempotencyKeptHours * 3_600_000;
// With the time between two rounds less than an hour.
const secretsKeptMs = limits.secretReplayMinutes * 60_000;

/**
 * Deletes answers that were kept long enough for any retry and requests of long ago with their counts, and clears what was sent
 * and answered in attempts of long ago. Wall time, whatever the clocks of applications say.
 *
 * One kind after the other, each in bites of its own transaction, and a round begins when the one before has ended. Any number of
 * nodes may do it at once: of a row that two of them want, one gets it and the other passes.
 */
export function startReaper(settings: ReaperSettings): () => Promise<void> {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  function schedule(ms: number): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = reapOnce(settings, () => isStopped).then(() => schedule(roundMs));
    }, ms);
    timer.unref();
  }

  schedule(settings.firstMs ?? firstMsDefault);
  return () => {
    isStopped = true;
    clearTimeout(timer);
    return running;
  };
}

/** One round. A kind that fails is told, and the others are done all the same. */
export async function reapOnce(settings: ReaperSettings, isStopped = () => false): Promise<void> {
  const { engine, organizations, queue, journal, people, attemptDays, requestDays } = settings;
  const { wallClock, onError, measures, onRemoved } = settings;
  const now = wallClock();
  const kinds: readonly (readonly [what: string, remove: () => Promise<number>])[] = [
    ['idempotency_secrets', () => engine.reapSecrets(now - secretsKeptMs)],
    ['idempotency_keys', () => engine.reap(now - answersKeptMs)],
    ['attempt_bodies', () => queue.clearBodies(now - attemptDays * dayMs)],
    ['sign_ins', () => people.reap()],
    ['requests', () => journal.reap(now - requestDays * dayMs)],
    ['expired_organizations', () => organizations.expire()],
    ['deleted_organization_rows', () => organizations.sweep()],
    ['expired_trails', () => organizations.forgetTrails()],
    ['request_counts', () => journal.reapMinutes(now - minutesKeptDays * dayMs)],
  ];
  const removed: Record<string, number> = {};
  let isWhole = true;
  for (const [what, remove] of kinds) {
    if (isStopped()) return;
    try {
      const rows = await remove();
      measures?.removed(what, rows);
      if (rows > 0) removed[what] = rows;
    } catch (error) {
      isWhole = false;
      onError(error, `old rows were not removed: ${what}`);
    }
  }
  if (isWhole) measures?.finished();
  if (Object.keys(removed).length > 0) onRemoved?.(removed);
}
