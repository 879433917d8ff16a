import type { Connection } from '../db/database.ts';
import type { RowRead, Submission } from '../kernel/command.ts';
import type { Id } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { clockIdOf, clockNow } from '../kernel/time.ts';
import type { KnownClock, KnownClocks } from './known-clocks.ts';
import type { DecidedBy } from './persist.ts';
import type { WorkingSet } from './working-set.ts';

type ClockRow = KnownClock['clock'] & { readonly version: number };

/** The clocks that the decisions of one batch use: from the cache of this node, or from the database. */
export class BatchClocks {
  readonly #known: KnownClocks;
  readonly #rows: WorkingSet;
  readonly #decidedBy = new Map<string, DecidedBy>();

  constructor(known: KnownClocks, rows: WorkingSet) {
    this.#known = known;
    this.#rows = rows;
  }

  /** A trusting batch reads a clock only if it is not cached. Any other batch locks the clock until the commit. */
  declare({ context: { orgId, appId } }: Submission, isTrusting: boolean): void {
    if (appId === null) return;
    const id = clockIdOf(appId);
    if (isTrusting && this.#known.get(id)) return;
    this.#rows.declareRow(orgId, { resource: 'clock', id, lock: isTrusting ? 'none' : 'share' });
  }

  /** A command may change a record of another application in its organization, which has a separate clock. */
  async loadForeign(connection: Connection, submissions: readonly Submission[]): Promise<void> {
    const missing: (RowRead & { orgId: Id<'organization'> })[] = [];
    for (const submission of submissions) {
      const { orgId, appId } = submission.context;
      const changed = appId === null ? undefined : this.#rows.appChangedBy(submission);
      if (changed === undefined || changed === appId) continue;
      const id = clockIdOf(changed);
      if (!this.#rows.has('clock', orgId, id)) missing.push({ orgId, resource: 'clock', id, lock: 'none' });
    }
    if (missing.length > 0) await this.#rows.loadMore(connection, missing);
  }

  /** The current time of a command. A command without an application uses the wall clock. */
  nowFor(submission: Submission): Instant {
    const { context, wallNow } = submission;
    if (context.appId === null) return wallNow;
    const clockId = clockIdOf(this.#rows.appChangedBy(submission) ?? context.appId);
    return clockNow(this.#clock(context.orgId, clockId).clock, wallNow);
  }

  #clock(orgId: Id<'organization'>, clockId: Id<'clock'>): KnownClock {
    const isLoaded = this.#rows.has('clock', orgId, clockId);
    const known = isLoaded ? asKnown(this.#rows.row('clock', orgId, clockId)) : this.#known.get(clockId);
    if (!known) throw new Error(`${clockId} is neither cached nor loaded`);
    // An absent row cannot be locked.
    const isLocked = known.clock !== undefined && this.#rows.lockOf('clock', orgId, clockId) !== 'none';
    if (!isLocked && !this.#decidedBy.has(clockId))
      this.#decidedBy.set(clockId, { orgId, clockId, version: known.version });
    return known;
  }

  /** The clocks that must not have moved when the batch is written. */
  get decidedBy(): readonly DecidedBy[] {
    return [...this.#decidedBy.values()];
  }

  /** After the commit: caches the clocks that the batch read or moved. */
  updateCache(): void {
    for (const { id, row } of this.#rows.all('clock')) this.#known.set(id, asKnown(row));
  }
}

function asKnown(row: unknown): KnownClock {
  const clock = row as ClockRow | undefined;
  return { clock, version: clock?.version ?? 0 };
}
