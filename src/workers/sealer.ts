import type { Committed } from '../engine/batch.ts';
import { rowsInPageMax, rowsInSealMax, type Seals, type TrailEnd } from '../engine/seals.ts';
import { firstIdAt, idTimestamp } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';

export interface SealerSettings {
  readonly seals: Seals;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
}

const roundMs = 2_000;
const roundsToPass = 30;
const passesToSweep = 60;
// A row is visible some milliseconds after its id was minted: those of the last second are left to the next round, so
// that hardly any is passed over.
const settleMs = 1_000;
// No row becomes visible later than this; a batch that waits for a lock or for the database is given up long before.
const commitMsMax = 60_000;
const lookBackMs = 10 * 60_000;
// A thousand rows a second: an organization that writes more is sealed to the end when it pauses. A seal takes some ten
// milliseconds of the database, twenty-five of an embedded one, which are then taken from nobody.
const sealsInRoundMax = 2;
const sealsInPauseMax = 20;
const organizationsInRoundMax = 200;
const organizationsInPassMax = 2_000;
const pagesMax = 20;
const sealsAtEndMax = 200;
const cursorsMax = 100_000;
const lostMax = 20;

/** Behind every id of an audit row. */
const end = 'aud_~';

/**
 * Seals the audit trail. Rows go through three sieves: what this process has written is sealed every two seconds; once a
 * minute what others have written, and what became visible late, which is looked for behind a cursor for each
 * organization; and after the start and every hour all that there is, a page a round. Nothing of it is in the way of a
 * write: it learns from commits which organizations to look at, and reads the rows later.
 */
export class Sealer {
  readonly #settings: SealerSettings;
  /** Organizations that this process has written to, and when it did so last. */
  readonly #written = new Map<string, Instant>();
  /** Up to where late rows have been looked for. */
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
        .catch((error: unknown) => this.#settings.onError(error, 'a round of sealing failed'))
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

  /** What this process has written is sealed before it ends; what that leaves over is found by the next one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    for (const orgId of this.#written.keys()) {
      await this.#sealNext(orgId, end, sealsAtEndMax);
      const cursor = this.#cursors.get(orgId) ?? this.#idAt(this.#settings.wallClock() - lookBackMs);
      await this.#sealMissed(orgId, cursor, end, pagesMax);
    }
  }

  /** What is done every two seconds; every thirtieth time, once a minute, it is a pass as well, and of those every sixtieth begins a sweep. */
  async round(): Promise<void> {
    const now = this.#settings.wallClock();
    const settled = now - settleMs;
    for (const orgId of [...this.#written.keys()].slice(0, organizationsInRoundMax)) {
      if (this.#isStopped) return;
      const isPausing = (this.#written.get(orgId) ?? 0) <= settled;
      const sealsMax = isPausing ? sealsInPauseMax : sealsInRoundMax;
      const isDone = await this.#sealNext(orgId, this.#idAt(settled), sealsMax);
      // Taken away and put behind the others, so that many organizations have their turns.
      const writtenAt = this.#written.get(orgId) ?? 0;
      this.#written.delete(orgId);
      if (!isDone || writtenAt > settled) this.#written.set(orgId, writtenAt);
    }
    if (this.#rounds % roundsToPass === roundsToPass - 1) await this.#pass();
    this.#rounds += 1;
    await this.#sweepOn();
  }

  /** Every organization: what other processes have written, and what became visible late. */
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
    // A clock that was put back mints ids behind the last one: then it is looked from now, and not from there.
    const from = Math.min(reached === null ? 0 : idTimestamp(reached), now) - lookBackMs;
    const cursor = this.#cursors.get(orgId) ?? this.#idAt(from);
    if (newest <= cursor) return;
    const upTo = this.#idAt(now - commitMsMax);
    const id = await this.#sealMissed(orgId, cursor, upTo, pagesMax);
    if (this.#cursors.size >= cursorsMax) this.#cursors.clear();
    this.#cursors.set(orgId, id === null ? upTo : id);
  }

  /** One page, or as many organizations with fewer rows, a round: the sweep is in nobody's way. */
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
      rows += page?.looked ?? 0;
      if (page && page.found > 0) continue;
      if (page?.reached && page.looked === rowsInPageMax) {
        this.#sweep = { orgId, id: page.reached };
        continue;
      }
      const [next] = await this.#settings.seals.ends(orgId, 1);
      this.#sweep = next ? { orgId: next.orgId, id: '' } : undefined;
    }
  }

  /** Whether nothing is left. */
  async #sealNext(orgId: string, upTo: string, sealsMax: number): Promise<boolean> {
    let lost = 0;
    for (let seals = 0; seals < sealsMax; ) {
      const { found, isMade } = await this.#settings.seals.next(orgId, upTo, this.#settings.wallClock());
      if (isMade) seals += 1;
      else if (found > 0) lost += 1;
      if (isMade ? found < rowsInSealMax : found === 0) return true;
      if (lost > lostMax) return false;
    }
    return false;
  }

  /** Looks behind an id for rows that no seal names, and says how far it came; null when it came to the end. */
  async #sealMissed(orgId: string, after: string, upTo: string, pages: number): Promise<string | null> {
    let lost = 0;
    let cursor = after;
    for (let page = 0; page < pages; page += 1) {
      const sealed = await this.#settings.seals.missed(orgId, cursor, upTo, this.#settings.wallClock());
      if (sealed.found > 0 && !sealed.isMade) lost += 1;
      if (lost > lostMax) return cursor;
      // Another seal may be needed for the rows of the page, or this one was made by somebody else: it is looked at again.
      if (sealed.found > 0) continue;
      if (sealed.reached === null || sealed.looked < rowsInPageMax) return null;
      cursor = sealed.reached;
    }
    return cursor;
  }

  #idAt(instant: Instant): string {
    return firstIdAt('audit', instant);
  }
}
