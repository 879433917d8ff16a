import type { DeliveryQueue } from '../delivery/queue.ts';
import type { Engine } from '../engine/engine.ts';
import type { RequestJournal } from '../engine/request-journal.ts';
import { limits } from '../kernel/limits.ts';
import type { Instant } from '../kernel/table.ts';
import { dayMs, hourMs, minuteMs } from '../kernel/time.ts';
import type { RetentionMeasures } from '../telemetry/ports.ts';

export interface ReaperSettings {
  readonly engine: Pick<Engine, 'reap' | 'reapSecrets'>;
  /** Deletes expired organizations, rows that were written to deleted organizations, and expired audit trails. */
  readonly organizations: {
    expire(): Promise<number>;
    sweep(): Promise<number>;
    forgetTrails(): Promise<number>;
  };
  readonly queue: Pick<DeliveryQueue, 'clearBodies'>;
  /** Deletes full sign-in budgets and expired sessions. */
  readonly people: { reap(): Promise<number> };
  readonly journal: Pick<RequestJournal, 'reap' | 'reapMinutes'>;
  /** How long headers and bodies of delivery attempts are stored. */
  readonly attemptDays: number;
  /** How long requests are stored. */
  readonly requestDays: number;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
  readonly measures?: RetentionMeasures | undefined;
  /** Called after a round that has removed rows. */
  readonly onRemoved?: (rows: Readonly<Record<string, number>>) => void;
  /** Frees the space of the removed rows, where the database does not do so itself. */
  readonly vacuum?: ((isStopped: () => boolean) => Promise<number>) | undefined;
  readonly firstMs?: number;
}

// Early, so that a server that restarts every few minutes, as in a failing deployment, also runs it.
const firstMsDefault = minuteMs;
const roundMs = 10 * minuteMs;
// A month of counts, for the longest month.
const minuteDays = 31;
const answersMs = limits.idempotencyKeptHours * hourMs;
// Together with the interval between two rounds this is less than an hour.
const secretsMs = limits.secretReplayMinutes * minuteMs;

/**
 * Deletes expired idempotency records, old requests and their counts, and clears the bodies of old delivery attempts. It uses
 * wall clock time, independent of application clocks.
 *
 * It processes one kind after the other, in batches with a transaction each; a round begins after the previous one has ended. Any
 * number of nodes may run it concurrently: each row is deleted by one of them.
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

/** One round. A failure of one kind is reported and does not stop the others. */
export async function reapOnce(settings: ReaperSettings, isStopped = () => false): Promise<void> {
  const { engine, organizations, queue, journal, people, attemptDays, requestDays } = settings;
  const { wallClock, onError, measures, onRemoved, vacuum } = settings;
  const now = wallClock();
  const kinds: readonly (readonly [what: string, remove: () => Promise<number>])[] = [
    ['idempotency_secrets', () => engine.reapSecrets(now - secretsMs)],
    ['idempotency_keys', () => engine.reap(now - answersMs)],
    ['attempt_bodies', () => queue.clearBodies(now - attemptDays * dayMs)],
    ['sign_ins', () => people.reap()],
    ['requests', () => journal.reap(now - requestDays * dayMs)],
    ['expired_organizations', () => organizations.expire()],
    ['deleted_organization_rows', () => organizations.sweep()],
    ['expired_trails', () => organizations.forgetTrails()],
    ['request_counts', () => journal.reapMinutes(now - minuteDays * dayMs)],
  ];
  const removed: Record<string, number> = {};
  let isComplete = true;
  for (const [what, remove] of kinds) {
    if (isStopped()) return;
    try {
      const rows = await remove();
      measures?.removed(what, rows);
      if (rows > 0) removed[what] = rows;
    } catch (error) {
      isComplete = false;
      onError(error, `failed to remove old rows: ${what}`);
    }
  }
  try {
    if (!isStopped()) await vacuum?.(isStopped);
  } catch (error) {
    isComplete = false;
    onError(error, 'failed to vacuum');
  }
  if (isComplete) measures?.finished();
  if (Object.keys(removed).length > 0) onRemoved?.(removed);
}
