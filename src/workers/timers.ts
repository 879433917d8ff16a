import type { Instant, Reader } from '../kernel/table.ts';
import { leaseMs } from '../resources/clocks/machine.ts';
import { type ApplicationKey, findDueApplications, findLostAdvances } from '../resources/clocks/store.ts';
import type { ClockRow } from '../resources/clocks/table.ts';
import type { ClockRunner } from '../runs/advance-run.ts';

export interface TimersSettings {
  readonly runner: ClockRunner;
  readonly reader: Reader;
  readonly wallClock: () => Instant;
  /** This is the only process on its database, so any advance that was running at its start is orphaned. */
  readonly isAlone: boolean;
  readonly onError: (error: unknown, what: string) => void;
}

const roundMs = 1_000;
// About 20 ms of database time per second, however many applications have timers; the others follow in later rounds.
const applicationsMax = 2_000;
const advancesMax = 10;

/**
 * Polls every second for timers that are due by their application clocks, and for orphaned advances. Any number of nodes may do
 * this concurrently: the engine locks a record and checks that it is due before it changes it.
 */
export function startTimers(settings: TimersSettings): { stop(): Promise<void> } {
  const { runner, reader, wallClock, onError } = settings;
  // A single process knows that every lease from before its start belongs to a dead process.
  const aloneUntil = settings.isAlone ? wallClock() + leaseMs - 1 : 0;
  // Resumed advances. They may wait for receivers, and the timers of other applications must not wait with them.
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
      .catch((error: unknown) => onError(error, 'failed to resume an advance'))
      .finally(() => resumed.delete(clock.id));
    resumed.set(clock.id, ended);
  }

  function schedule(): void {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = round()
        .catch((error: unknown) => onError(error, 'timer round failed'))
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
