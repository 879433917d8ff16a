import { firstIdAt, idTimestamp } from '../kernel/ids.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import {
  type EventPosition,
  findEventPosition,
  findEventsAfter,
  type PositionedEvent,
} from '../resources/events/store.ts';

/**
 * An event may be written this long after its id was generated, or by a node whose clock is behind by as much. A request waits at most ten
 * seconds for its batch, and a batch that is retried runs several statements of at most ten seconds each.
 */
export const lookBackMs = 60_000;
// With more events than this in that time, some 80 a second, a cursor looks back less far.
const recentMax = 5_000;
/** Behind every id. */
const lastId = '~';

/** Reads the events of an organization in the order of their positions, each exactly once. */
export class EventCursor {
  readonly #reader: Pick<Reader, 'rows'>;
  readonly #orgId: string;
  /** The newest ids that were read, in the order in which they were read. */
  readonly #recent: string[] = [];
  #position: EventPosition;
  #newestId: string;

  private constructor(
    reader: Pick<Reader, 'rows'>,
    orgId: string,
    position: EventPosition,
    newestId: string,
  ) {
    this.#reader = reader;
    this.#orgId = orgId;
    this.#position = position;
    this.#newestId = newestId;
  }

  /** Begins with the events that are not settled yet. */
  static async atPresent(reader: Pick<Reader, 'rows'>, orgId: string, now: Instant): Promise<EventCursor> {
    const newestId = firstIdAt('event', now);
    const { horizon } = await findEventPosition(reader, orgId, newestId);
    return new EventCursor(reader, orgId, { xid: horizon - 1n, id: lastId }, newestId);
  }

  /** Begins behind an event; if the organization has no such event any more, with those that have later ids. */
  static async behind(reader: Pick<Reader, 'rows'>, orgId: string, id: string): Promise<EventCursor> {
    const { position } = await findEventPosition(reader, orgId, id);
    if (position) return new EventCursor(reader, orgId, position, id);
    return new EventCursor(reader, orgId, { xid: -1n, id }, firstIdAt('event', idTimestamp(id) + lookBackMs));
  }

  get position(): EventPosition {
    return this.#position;
  }

  /** The next events. Fewer than the limit are all that can be read by now. */
  async next(now: Instant, limit: number): Promise<readonly PositionedEvent[]> {
    const from = this.#from(now);
    const { events, horizon } = await findEventsAfter(this.#reader, this.#orgId, from, this.#position, limit);
    for (const { id } of events) {
      this.#recent.push(id);
      if (id > this.#newestId) this.#newestId = id;
    }
    this.#recent.splice(0, this.#recent.length - recentMax);
    const settled = { xid: horizon - 1n, id: lastId };
    const last = events.length < limit ? settled : events.at(-1)?.position;
    // A failover to a node that is behind, or a transaction that was left out of the horizon, does not turn it back.
    if (last && isBehind(last, this.#position)) this.#position = last;
    return events;
  }

  #from(now: Instant): string {
    const lookedBack = firstIdAt('event', Math.min(now, idTimestamp(this.#newestId)) - lookBackMs);
    if (this.#recent.length < recentMax) return lookedBack;
    const oldest = this.#recent.reduce((least, id) => (id < least ? id : least));
    // After the clock was set back, new ids are before those that were read.
    const isUsable = firstIdAt('event', now) > oldest && oldest > lookedBack;
    return isUsable ? oldest : lookedBack;
  }
}

/** Whether a position comes after another one. */
export function isBehind(position: EventPosition, other: EventPosition): boolean {
  return position.xid === other.xid ? position.id > other.id : position.xid > other.xid;
}
