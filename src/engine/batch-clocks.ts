import type { Connection } from '../db/database.ts';
import { clockIdOf, clockNow } from '../kernel/clock.ts';
import type { RowRead } from '../kernel/command.ts';
import type { Instant } from '../kernel/table.ts';
import type { KnownClock, KnownClocks } from './known-clocks.ts';
import type { DecidedBy } from './persist.ts';
import type { Submission } from './submission.ts';
import type { WorkingSet } from './working-set.ts';

type ClockRow = KnownClock['clock'] & { readonly version: number };

/** The clocks that one batch is decided by: as this node knows them, or as the database has them. */
export class BatchClocks {
  readonly #known: KnownClocks;
  readonly #rows: WorkingSet;
  readonly #decidedBy = new Map<string, DecidedBy>();

  constructor(known: KnownClocks, rows: WorkingSet) {
    this.#known = known;
    this.#rows = rows;
  }

  /** Trusting, a clock is read only when it is not known; else it is locked, so that it stays until the batch is written. */
  declare({ context: { orgId, appId } }: Submission, isTrusting: boolean): void {
    if (appId === null) return;
    const id = clockIdOf(appId);
    if (isTrusting && this.#known.get(id)) return;
    this.#rows.declareRow(orgId, { resource: 'clock', id, lock: isTrusting ? 'none' : 'share' });
  }

  /** A command may change the record of another application of its organization, and that one has a clock of its own. */
  async loadForeign(connection: Connection, submissions: readonly Submission[]): Promise<void> {
    const missing: (RowRead & { orgId: string })[] = [];
    for (const submission of submissions) {
      const { orgId, appId } = submission.context;
      const changed = appId === null ? undefined : this.#rows.appChangedBy(submission);
      if (changed === undefined || changed === appId) continue;
      const id = clockIdOf(changed);
      if (!this.#rows.has('clock', orgId, id)) missing.push({ orgId, resource: 'clock', id, lock: 'none' });
    }
    if (missing.length > 0) await this.#rows.loadMore(connection, missing);
  }

  /** What time it is for a command. One that belongs to no application goes by the wall clock. */
  nowFor(submission: Submission): Instant {
    const { context, wallNow } = submission;
    if (context.appId === null) return wallNow;
    const clockId = clockIdOf(this.#rows.appChangedBy(submission) ?? context.appId);
    return clockNow(this.#clock(context.orgId, clockId).clock, wallNow);
  }

  #clock(orgId: string, clockId: string): KnownClock {
    const isLoaded = this.#rows.has('clock', orgId, clockId);
    const known = isLoaded ? asKnown(this.#rows.row('clock', orgId, clockId)) : this.#known.get(clockId);
    if (!known) throw new Error(`${clockId} was neither known nor loaded`);
    // What is not there cannot be locked.
    const isLocked = known.clock !== undefined && this.#rows.lockOf('clock', orgId, clockId) !== 'none';
    if (!isLocked && !this.#decidedBy.has(clockId))
      this.#decidedBy.set(clockId, { orgId, clockId, version: known.version });
    return known;
  }

  /** The clocks that must not have been moved when the batch is written. */
  get decidedBy(): readonly DecidedBy[] {
    return [...this.#decidedBy.values()];
  }

  /** After the commit: what was read or moved is what this node knows from now on. */
  remember(): void {
    for (const { id, row } of this.#rows.all('clock')) this.#known.set(id, asKnown(row));
  }
}

function asKnown(row: unknown): KnownClock {
  const clock = row as ClockRow | undefined;
  return { clock, version: clock?.version ?? 0 };
}
