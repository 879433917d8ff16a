import type { Committed } from '../engine/batch-trail.ts';
import { rowsInPageMax, rowsInSealMax, type Seals, type TrailEnd } from '../engine/seals.ts';
import { firstIdAt, idTimestamp } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';
import { minuteMs } from '../kernel/time.ts';

export interface SealerSettings {
  readonly seals: Seals;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
}

const roundMs = 2_000;
const roundsToPass = 30;
const passesToSweep = 60;
// A row becomes visible some milliseconds after its id was generated: rows of the last second are left to the next round, so
// that hardly any is missed.
const settleMs = 1_000;
// No row becomes visible later than this: a batch that waits for a lock or for the database fails long before.
const commitMsMax = minuteMs;
const lateRowsMs = 10 * minuteMs;
// A thousand rows a second: an organization that writes more is sealed completely when it pauses. A seal takes some ten
// milliseconds of database time, twenty-five in an embedded database, which then delay no request.
const sealsInRoundMax = 2;
const sealsInPauseMax = 20;
const organizationsInRoundMax = 200;
const organizationsInPassMax = 2_000;
const pagesMax = 20;
const sealsAtEndMax = 200;
const cursorsMax = 100_000;
const lostMax = 20;

/** Sorts after every audit row id. */
const end = 'aud_~';

/**
 * Seals the audit trail on three schedules. Every two seconds it seals the rows that this process has written. Once a minute
 * it seals rows of other processes and rows that became visible late, which it finds with a cursor per organization. After the
 * start and every hour it checks all rows, one page per round. It never delays a write: commits only mark the organizations to
 * process, and the rows are read later.
 */
export class Sealer {
  readonly #settings: SealerSettings;
  /** Organizations that this process has written to, with the time of the last write. */
  readonly #written = new Map<string, Instant>();
  /** The id up to which late rows have been searched, by organization. */
  readonly #cursors = new Map<string, string>();
  #rounds = 0;
  #passes = 0;
  #passed = '';
  #sweep: { orgId: string; id: string } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(settings: SealerSettings) {
    this.#settings = settings;
  }

  onCommit({ audit }: Pick<Committed, 'audit'>): void {
    if (audit.length === 0) return;
    const now = this.#settings.wallClock();
    let last = '';
    for (const { orgId } of audit) {
      if (orgId !== last) this.#written.set(orgId, now);
      last = orgId;
    }
  }

  start(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.round()
        .catch((error: unknown) => this.#settings.onError(error, 'sealing round failed'))
        .then(() => this.start());
    }, roundMs);
    this.#timer.unref();
  }

  /** Seals all rows of all organizations. */
  async seal(): Promise<void> {
    for (let after = ''; ; ) {
      const ends = await this.#settings.seals.ends(after, organizationsInPassMax);
      for (const { orgId } of ends) {
        await this.#sealNext(orgId, end, Number.POSITIVE_INFINITY);
        await this.#sealMissed(orgId, '', end, Number.POSITIVE_INFINITY);
      }
      const last = ends.at(-1);
      if (last === undefined || ends.length < organizationsInPassMax) return;
      after = last.orgId;
    }
  }

  /** Seals the rows that this process has written; the next process finds the rest. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    for (const orgId of this.#written.keys()) {
      await this.#sealNext(orgId, end, sealsAtEndMax);
      const cursor = this.#cursors.get(orgId) ?? this.#idAt(this.#settings.wallClock() - lateRowsMs);
      await this.#sealMissed(orgId, cursor, end, pagesMax);
    }
  }

  /** Runs every two seconds. Every thirtieth round, once a minute, includes a pass; every sixtieth pass begins a sweep. */
  async round(): Promise<void> {
    const now = this.#settings.wallClock();
    const settled = now - settleMs;
    for (const orgId of [...this.#written.keys()].slice(0, organizationsInRoundMax)) {
      if (this.#isStopped) return;
      const isPausing = (this.#written.get(orgId) ?? 0) <= settled;
      const sealsMax = isPausing ? sealsInPauseMax : sealsInRoundMax;
      const isDone = await this.#sealNext(orgId, this.#idAt(settled), sealsMax);
      // Move it to the end of the map, so that all organizations get their turn.
      const writtenAt = this.#written.get(orgId) ?? 0;
      this.#written.delete(orgId);
      if (!isDone || writtenAt > settled) this.#written.set(orgId, writtenAt);
    }
    if (this.#rounds % roundsToPass === roundsToPass - 1) await this.#pass();
    this.#rounds += 1;
    await this.#sweepOn();
  }

  /** For every organization: rows of other processes, and rows that became visible late. */
  async #pass(): Promise<void> {
    if (this.#passes % passesToSweep === 0) this.#sweep ??= { orgId: '', id: '' };
    this.#passes += 1;
    const ends = await this.#settings.seals.ends(this.#passed, organizationsInPassMax);
    for (const trail of ends) if (!this.#isStopped) await this.#sealLate(trail);
    this.#passed = ends.length < organizationsInPassMax ? '' : (ends.at(-1)?.orgId ?? '');
  }

  async #sealLate({ orgId, newest, reached }: TrailEnd): Promise<void> {
    const now = this.#settings.wallClock();
    if (newest === null) return;
    if (reached === null || newest > reached)
      await this.#sealNext(orgId, this.#idAt(now - settleMs), sealsInRoundMax);
    // After the clock was set back, new ids sort before the last sealed one: then search from the current time.
    const from = Math.min(reached === null ? 0 : idTimestamp(reached), now) - lateRowsMs;
    const cursor = this.#cursors.get(orgId) ?? this.#idAt(from);
    if (newest <= cursor) return;
    const upTo = this.#idAt(now - commitMsMax);
    const id = await this.#sealMissed(orgId, cursor, upTo, pagesMax);
    if (this.#cursors.size >= cursorsMax) this.#cursors.clear();
    this.#cursors.set(orgId, id === null ? upTo : id);
  }

  /** One page per round, or several organizations with fewer rows, so that the sweep does not delay other work. */
  async #sweepOn(): Promise<void> {
    let rows = 0;
    for (
      let pages = 0;
      this.#sweep && pages < pagesMax && rows < rowsInPageMax && !this.#isStopped;
      pages += 1
    ) {
      const { orgId, id } = this.#sweep;
      const now = this.#settings.wallClock();
      const page =
        orgId === ''
          ? undefined
          : await this.#settings.seals.missed(orgId, id, this.#idAt(now - commitMsMax), now);
      rows += page?.scanned ?? 0;
      if (page && page.found > 0) continue;
      if (page?.reached && page.scanned === rowsInPageMax) {
        this.#sweep = { orgId, id: page.reached };
        continue;
      }
      const [next] = await this.#settings.seals.ends(orgId, 1);
      this.#sweep = next ? { orgId: next.orgId, id: '' } : undefined;
    }
  }

  /** Returns whether all rows are sealed. */
  async #sealNext(orgId: string, upTo: string, sealsMax: number): Promise<boolean> {
    let lost = 0;
    for (let seals = 0; seals < sealsMax; ) {
      const { found, isCreated } = await this.#settings.seals.next(orgId, upTo, this.#settings.wallClock());
      if (isCreated) seals += 1;
      else if (found > 0) lost += 1;
      if (isCreated ? found < rowsInSealMax : found === 0) return true;
      if (lost > lostMax) return false;
    }
    return false;
  }

  /** Seals rows after an id that no seal covers. Returns the last id it has checked; null when it has checked all. */
  async #sealMissed(orgId: string, after: string, upTo: string, pages: number): Promise<string | null> {
    let lost = 0;
    let cursor = after;
    for (let page = 0; page < pages; page += 1) {
      const sealed = await this.#settings.seals.missed(orgId, cursor, upTo, this.#settings.wallClock());
      if (sealed.found > 0 && !sealed.isCreated) lost += 1;
      if (lost > lostMax) return cursor;
      // The page may need another seal, or another node has created this one: check the page again.
      if (sealed.found > 0) continue;
      if (sealed.reached === null || sealed.scanned < rowsInPageMax) return null;
      cursor = sealed.reached;
    }
    return cursor;
  }

  #idAt(instant: Instant): string {
    return firstIdAt('audit', instant);
  }
}
