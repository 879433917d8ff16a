import { firstIdAt, type Id } from '../kernel/ids.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import {
  type EventSource,
  type FoundEvent,
  findNewEvents,
  findSourceIds,
  idKindOf,
} from '../resources/events/store.ts';
import { commitDelayMsMax } from './event-cursor.ts';

export const eventsInReadMax = 500;
// With more replays than this in that time, about 80 per second, the overlap is shorter.
const seenMax = 5_000;
// The tolerated clock skew of another node.
const aheadMs = 2_000;

/** The read position of a feed in one source of replays. Each replay is returned once. */
export class EventTrack {
  readonly source: EventSource;
  readonly #reader: Pick<Reader, 'rows'>;
  readonly #orgId: Id<'organization'>;
  /** In the order in which they were read. */
  readonly #seen = new Set<string>();
  /** The least id to read: earlier rows are older than the feed, or more than `seenMax` rows have followed. */
  #from: string;
  #lastRead: Instant;

  constructor(source: EventSource, reader: Pick<Reader, 'rows'>, orgId: Id<'organization'>, now: Instant) {
    this.source = source;
    this.#reader = reader;
    this.#orgId = orgId;
    this.#from = this.#oldest(now);
    this.#lastRead = now;
  }

  /** Marks all existing rows as seen. */
  async prime(): Promise<void> {
    const ids = await findSourceIds(this.#reader, this.source, this.#orgId, this.#from, seenMax);
    for (const id of ids.reverse()) this.#seen.add(id);
  }

  async read(now: Instant): Promise<readonly FoundEvent[]> {
    if (now < this.#lastRead - commitDelayMsMax) await this.#resetAfterClockChange(now);
    this.#lastRead = now;
    this.#forget(this.#oldest(now));
    const seenIds = [...this.#seen];
    const events = await findNewEvents(
      this.#reader,
      this.source,
      this.#orgId,
      this.#from,
      seenIds,
      eventsInReadMax,
    );
    for (const { foundBy } of events) this.#seen.add(foundBy);
    return events;
  }

  /**
   * The machine's clock was set back, so new rows get ids before the seen ones. Rows with ids ahead of the clock count as seen;
   * the few around the current time may be sent once more.
   */
  async #resetAfterClockChange(now: Instant): Promise<void> {
    const ahead = firstIdAt(idKindOf(this.source), now + aheadMs);
    const ids = await findSourceIds(this.#reader, this.source, this.#orgId, ahead, seenMax);
    for (const id of ids.reverse()) this.#seen.add(id);
    this.#from = this.#oldest(now);
  }

  #oldest(now: Instant): string {
    return firstIdAt(idKindOf(this.source), now - commitDelayMsMax);
  }

  /** Drops seen ids that are older than the overlap, because they are not read again. */
  #forget(oldest: string): void {
    let from = oldest > this.#from ? oldest : this.#from;
    const surplus = this.#seen.size - seenMax;
    if (surplus > 0) from = [...this.#seen].sort()[surplus] ?? from;
    if (from === this.#from) return;
    this.#from = from;
    for (const id of this.#seen) if (id < from) this.#seen.delete(id);
  }
}
