import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import { leaseMs } from '../resources/clocks/machine.ts';
import { type ApplicationKey, findDueApplications, findLostAdvances } from '../resources/clocks/store.ts';
import type { ClockRow } from '../resources/clocks/table.ts';
import type { ClockRunner } from '../runs/advance-run.ts';

export interface TimersSettings {
  readonly runner: ClockRunner;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** The only process on its database: whatever advance was under way at its start has lost its process. */
  readonly isAlone: boolean;
  readonly onError: (error: unknown, what: string) => void;
}

const roundMs = 1_000;
// Some 20 ms of the database a second, however many applications wait for something; those behind have their turn later.
const applicationsMax = 2_000;
const advancesMax = 10;

/**
 * Looks every second for what has fallen due by the clocks of applications, and for advances that lost their process. Any
 * number of nodes may do this at once: a record is locked and asked whether it is due before it is moved.
 */
export function startTimers(settings: TimersSettings): { stop(): Promise<void> } {
  const { runner, reader, wallClock, onError } = settings;
  // Alone, this process knows that every lease from before its start is that of a dead one.
  const aloneUntil = settings.isAlone ? wallClock() + leaseMs - 1 : 0;
  // Advances that are being carried on. They may wait for receivers for a while, and nobody else's timers wait with them.
  const resumed = new Map<string, Promise<void>>();
  let after: ApplicationKey | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function round(): Promise<void> {
    const leasedUntil = Math.max(wallClock(), aloneUntil);
    for (const clock of await findLostAdvances(reader, leasedUntil, advancesMax)) resume(clock, leasedUntil);
    const { due, next } = await findDueApplications(reader, wallClock(), after, applicationsMax);
    for (const application of due) if (!isStopped) await runner.runDue(application);
    after = next;
  }

  function resume(clock: ClockRow, leasedUntil: Instant): void {
    if (isStopped || resumed.has(clock.id) || resumed.size >= advancesMax) return;
    const ended = runner
      .resume(clock, leasedUntil)
      .catch((error: unknown) => onError(error, 'an advance was not carried on'))
      .finally(() => resumed.delete(clock.id));
    resumed.set(clock.id, ended);
  }

  function schedule(): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = round()
        .catch((error: unknown) => onError(error, 'a round of timers failed'))
        .then(schedule);
    }, roundMs);
    timer.unref();
  }

  schedule();
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
      await Promise.all(resumed.values());
    },
  };
}
