import { firstIdAt, type Id, idTimestamp } from '../kernel/ids.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { minuteMs } from '../kernel/time.ts';
import {
  type EventPosition,
  findEventPosition,
  findEventsAfter,
  type PositionedEvent,
} from '../resources/events/store.ts';

/**
 * The maximum delay between generating an event id and committing the event, including the clock skew between nodes. A request
 * waits at most ten seconds for its batch, and a retried batch runs several statements of at most ten seconds each.
 */
export const commitDelayMsMax = minuteMs;
// With more events than this in that time, about 80 per second, the overlap of a cursor is shorter.
const recentMax = 5_000;
/** Sorts after every id. */
const lastId = '~';

/** Reads the events of an organization in position order, each exactly once. */
export class EventCursor {
  readonly #reader: Pick<Reader, 'rows'>;
  readonly #orgId: Id<'organization'>;
  /** The ids that were read last, in read order. */
  readonly #recent: string[] = [];
  #position: EventPosition;
  #newestId: string;

  private constructor(
    reader: Pick<Reader, 'rows'>,
    orgId: Id<'organization'>,
    position: EventPosition,
    newestId: string,
  ) {
    this.#reader = reader;
    this.#orgId = orgId;
    this.#position = position;
    this.#newestId = newestId;
  }

  /** Starts with the events whose transactions are not settled yet. */
  static async atPresent(
    reader: Pick<Reader, 'rows'>,
    orgId: Id<'organization'>,
    now: Instant,
  ): Promise<EventCursor> {
    const newestId = firstIdAt('event', now);
    const { horizon } = await findEventPosition(reader, orgId, newestId);
    return new EventCursor(reader, orgId, { xid: horizon - 1n, id: lastId }, newestId);
  }

  /** Starts after an event. If that event no longer exists, starts with the events that have later ids. */
  static async after(
    reader: Pick<Reader, 'rows'>,
    orgId: Id<'organization'>,
    id: string,
  ): Promise<EventCursor> {
    const { position } = await findEventPosition(reader, orgId, id);
    if (position) return new EventCursor(reader, orgId, position, id);
    return new EventCursor(
      reader,
      orgId,
      { xid: -1n, id },
      firstIdAt('event', idTimestamp(id) + commitDelayMsMax),
    );
  }

  get position(): EventPosition {
    return this.#position;
  }

  /** Returns the next events. Fewer than the limit means that no more can be read yet. */
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
    // The cursor never moves back, even after a failover to a lagging database or with a transaction missing from the horizon.
    if (last && isAfter(last, this.#position)) this.#position = last;
    return events;
  }

  #from(now: Instant): string {
    const earliest = firstIdAt('event', Math.min(now, idTimestamp(this.#newestId)) - commitDelayMsMax);
    if (this.#recent.length < recentMax) return earliest;
    const oldest = this.#recent.reduce((least, id) => (id < least ? id : least));
    // After the clock was set back, new ids sort before the ids that were read.
    const isUsable = firstIdAt('event', now) > oldest && oldest > earliest;
    return isUsable ? oldest : earliest;
  }
}

/** Whether a position is after another one. */
export function isAfter(position: EventPosition, other: EventPosition): boolean {
  return position.xid === other.xid ? position.id > other.id : position.xid > other.xid;
}
