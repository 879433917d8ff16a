import { firstIdAt } from '../kernel/ids.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import {
  type EventSource,
  type FoundEvent,
  findEventsBehind,
  findSourceIds,
  idKindOf,
} from '../resources/events/store.ts';
import { lookBackMs } from './event-cursor.ts';

export const eventsInReadMax = 500;
// Above this many in that time, some 80 a second, it looks back less far.
const seenMax = 5_000;
// Another node's clock may be ahead by this much without being wrong.
const aheadMs = 2_000;

/** How far a feed has come with one source of replays: each is found once. */
export class EventTrack {
  readonly source: EventSource;
  readonly #reader: Pick<Reader, 'rows'>;
  readonly #orgId: string;
  /** In the order in which they were seen. */
  readonly #seen = new Set<string>();
  /** Nothing before this id is looked for: it was there before the feed, or so much has been seen since. */
  #from: string;
  #lastRead: Instant;

  constructor(source: EventSource, reader: Pick<Reader, 'rows'>, orgId: string, now: Instant) {
    this.source = source;
    this.#reader = reader;
    this.#orgId = orgId;
    this.#from = this.#oldest(now);
    this.#lastRead = now;
  }

  /** What is there by now counts as seen. */
  async prime(): Promise<void> {
    const ids = await findSourceIds(this.#reader, this.source, this.#orgId, this.#from, seenMax);
    for (const id of ids.reverse()) this.#seen.add(id);
  }

  async read(now: Instant): Promise<readonly FoundEvent[]> {
    if (now < this.#lastRead - lookBackMs) await this.#turnBack(now);
    this.#lastRead = now;
    this.#forget(this.#oldest(now));
    const known = [...this.#seen];
    const events = await findEventsBehind(
      this.#reader,
      this.source,
      this.#orgId,
      this.#from,
      known,
      eventsInReadMax,
    );
    for (const { foundBy } of events) this.#seen.add(foundBy);
    return events;
  }

  /**
   * The machine's clock was set back, and what is made from now on has ids before those that were seen. Those ahead of it count as
   * seen; the few around it may be told once more.
   */
  async #turnBack(now: Instant): Promise<void> {
    const ahead = firstIdAt(idKindOf(this.source), now + aheadMs);
    const ids = await findSourceIds(this.#reader, this.source, this.#orgId, ahead, seenMax);
    for (const id of ids.reverse()) this.#seen.add(id);
    this.#from = this.#oldest(now);
  }

  #oldest(now: Instant): string {
    return firstIdAt(idKindOf(this.source), now - lookBackMs);
  }

  /** What is older than the look-back is not read again, and need not be remembered. */
  #forget(oldest: string): void {
    let from = oldest > this.#from ? oldest : this.#from;
    const surplus = this.#seen.size - seenMax;
    if (surplus > 0) from = [...this.#seen].sort()[surplus] ?? from;
    if (from === this.#from) return;
    this.#from = from;
    for (const id of this.#seen) if (id < from) this.#seen.delete(id);
  }
}
