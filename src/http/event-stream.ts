import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Committed } from '../engine/batch.ts';
import { type EventRow, presentEvent } from '../kernel/event.ts';
import { isId } from '../kernel/ids.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import type { EventPosition, EventSource, FoundEvent, PositionedEvent } from '../resources/events/store.ts';
import { EventCursor, isBehind } from './event-cursor.ts';
import { EventTrack, eventsInReadMax } from './event-track.ts';

export interface EventStreamSettings {
  readonly reader: Pick<Reader, 'rows'>;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
  readonly streamsMax?: number;
  readonly streamsOfOrganizationMax?: number;
  readonly streamsOfHolderMax?: number;
  readonly bufferBytesMax?: number;
  readonly pingMs?: number;
}

const replaySources: readonly EventSource[] = ['replayed', 'replayedInWindow'];
const pollMs = 1_000;
// Commits come much faster than anybody reads: after a read this long nothing is read, and then all at once.
const pauseMs = 100;
const pingMsDefault = 15_000;
const streamsMaxDefault = 200;
const streamsOfOrganizationMaxDefault = 20;
const streamsOfHolderMaxDefault = 10;
const bufferBytesMaxDefault = 2 * 1024 * 1024;
// Of events that were missed, one page at a time is in memory: up to 25 MB, as events have at most 256 KiB.
const missedInReadMax = 100;
const heldMax = 2_000;
const reconnectMs = 2_000;

export interface StreamOptions {
  /** The key or person that listens; a holder may have a few streams over all organizations. */
  readonly holder?: string;
  readonly wants?: (event: EventRow) => boolean;
}

/**
 * One connection. It waits until its feed has begun, reads the events that it missed, is live, and is closed: by its reader, because it
 * read too slowly, or by the server.
 */
interface Stream {
  readonly orgId: string;
  readonly holder: string | undefined;
  readonly response: ServerResponse<IncomingMessage>;
  readonly wants: (event: EventRow) => boolean;
  /** The position up to which it has all events; undefined for one that began with the feed. */
  after: EventPosition | undefined;
  /** Replays that the feed found while it was not live, to be sent when it is; null when it is live. */
  held: Told[] | null;
}

/** An event on its way; its text is written when the first stream wants it. */
interface Told {
  readonly event: EventRow;
  /** Undefined for replays, which are sent to all that listen. */
  readonly position: EventPosition | undefined;
  readonly text: () => string;
}

const everything = () => true;

/** The events of one organization, read once for all of its streams. There is one as long as there are streams. */
interface Feed {
  readonly orgId: string;
  readonly streams: Set<Stream>;
  readonly replays: readonly EventTrack[];
  readonly begun: Promise<EventCursor>;
  timer: NodeJS.Timeout | undefined;
  reading: Promise<void> | undefined;
  isWoken: boolean;
}

/**
 * Live events as server-sent events, in one order for all streams and nodes (EventPosition). A reader that comes back with
 * `Last-Event-ID` is given all events behind that one, however many it missed, and each exactly once. One that somebody sends again is sent again, as
 * a replay: without an id of the stream, because that is where the reader goes on when it comes back.
 */
export class EventStreams {
  readonly #settings: Required<EventStreamSettings>;
  readonly #feeds = new Map<string, Feed>();
  readonly #holders = new Map<string, number>();
  readonly #ping: NodeJS.Timeout;
  #count = 0;
  #isClosed = false;

  constructor(settings: EventStreamSettings) {
    this.#settings = {
      streamsMax: streamsMaxDefault,
      streamsOfOrganizationMax: streamsOfOrganizationMaxDefault,
      streamsOfHolderMax: streamsOfHolderMaxDefault,
      bufferBytesMax: bufferBytesMaxDefault,
      pingMs: pingMsDefault,
      ...settings,
    };
    this.#ping = setInterval(() => this.#pingAll(), this.#settings.pingMs);
    this.#ping.unref();
  }

  get count(): number {
    return this.#count;
  }

  /** What this process has just committed: whoever listens is told at once. */
  onCommit({ audit, deleted }: Pick<Committed, 'audit' | 'deleted'>): void {
    if (this.#feeds.size === 0) return;
    const ended = deleted === null ? undefined : this.#feeds.get(deleted);
    for (const { response } of ended?.streams ?? []) response.end();
    for (const orgId of new Set(audit.map((row) => row.orgId))) {
      const feed = this.#feeds.get(orgId);
      if (feed) this.#wake(feed);
    }
  }

  /** Takes a raw response over. False when there are too many: then nothing was written, and the caller refuses. */
  open(orgId: string, response: ServerResponse<IncomingMessage>, options: StreamOptions = {}): boolean {
    const { streamsMax, streamsOfOrganizationMax, streamsOfHolderMax } = this.#settings;
    const { holder, wants = everything } = options;
    const count = this.#feeds.get(orgId)?.streams.size ?? 0;
    if (this.#isClosed || count >= streamsOfOrganizationMax) return false;
    if (holder !== undefined && (this.#holders.get(holder) ?? 0) >= streamsOfHolderMax) return false;
    if (this.#count >= streamsMax && !this.#makeRoom(count)) return false;
    const feed = this.#feeds.get(orgId) ?? this.#newFeed(orgId);
    const stream: Stream = { orgId, holder, response, wants, after: undefined, held: [] };
    feed.streams.add(stream);
    this.#count += 1;
    if (holder !== undefined) this.#holders.set(holder, (this.#holders.get(holder) ?? 0) + 1);
    response.once('close', () => this.#leave(feed, stream));
    response.on('error', () => response.destroy());
    this.#begin(feed, stream).catch((error: unknown) => {
      this.#settings.onError(error, 'a stream of events was not opened');
      response.destroy();
    });
    return true;
  }

  /** Ends the newest stream of the organization that has the most, if that is at least two more than the one that asks has. */
  #makeRoom(count: number): boolean {
    let largest: Feed | undefined;
    for (const feed of this.#feeds.values())
      if (feed.streams.size > (largest?.streams.size ?? 0)) largest = feed;
    const newest = largest && [...largest.streams].at(-1);
    if (!largest || !newest || largest.streams.size < count + 2) return false;
    this.#leave(largest, newest);
    newest.response.end();
    return true;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#ping);
    for (const { streams } of this.#feeds.values()) for (const { response } of streams) response.end();
  }

  #newFeed(orgId: string): Feed {
    const { reader, wallClock } = this.#settings;
    const now = wallClock();
    const replays = replaySources.map((source) => new EventTrack(source, reader, orgId, now));
    const begun = Promise.all([
      EventCursor.atPresent(reader, orgId, now),
      ...replays.map((track) => track.prime()),
    ]).then(([cursor]) => cursor);
    const feed: Feed = {
      ...{ orgId, streams: new Set<Stream>(), replays, begun },
      ...{ timer: undefined, reading: undefined, isWoken: false },
    };
    this.#feeds.set(orgId, feed);
    return feed;
  }

  async #begin(feed: Feed, stream: Stream): Promise<void> {
    const { response } = stream;
    // A header is sent when every event from then on will be sent.
    const live = await feed.begun;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Content-Type-Options': 'nosniff',
      // For proxies that would wait for more.
      'X-Accel-Buffering': 'no',
    });
    response.write(`retry: ${reconnectMs}\n\n`);
    const last = response.req.headers['last-event-id'];
    if (typeof last === 'string' && isId('event', last)) await this.#catchUp(feed, stream, live, last);
    else this.#goLive(stream);
    this.#soon(feed, 0);
  }

  #goLive(stream: Stream): void {
    const held = stream.held ?? [];
    stream.held = null;
    for (const told of held) this.#write(stream.response, told.text());
  }

  /** Sends all events behind one, page by page and as fast as they are read, until the stream is as far as its feed. */
  async #catchUp(feed: Feed, stream: Stream, live: EventCursor, last: string): Promise<void> {
    const { reader, wallClock } = this.#settings;
    const cursor = await EventCursor.behind(reader, feed.orgId, last);
    while (feed.streams.has(stream)) {
      const events = await cursor.next(wallClock(), missedInReadMax);
      for (const event of events) {
        if (!stream.wants(event)) continue;
        stream.response.write(toldOf(event).text());
        await drained(stream.response);
      }
      if (events.length === missedInReadMax || isBehind(live.position, cursor.position)) continue;
      // Nothing is awaited from the comparison on: the feed sends all that it reads from now on.
      stream.after = cursor.position;
      this.#goLive(stream);
      return;
    }
  }

  #leave(feed: Feed, stream: Stream): void {
    if (!feed.streams.delete(stream)) return;
    this.#count -= 1;
    const { holder } = stream;
    if (holder !== undefined) {
      const left = (this.#holders.get(holder) ?? 1) - 1;
      if (left > 0) this.#holders.set(holder, left);
      else this.#holders.delete(holder);
    }
    if (feed.streams.size > 0) return;
    clearTimeout(feed.timer);
    if (this.#feeds.get(feed.orgId) === feed) this.#feeds.delete(feed.orgId);
  }

  #wake(feed: Feed): void {
    // One that rests after a read is woken at the end of its rest.
    if (feed.reading) feed.isWoken = true;
    else this.#soon(feed, 0);
  }

  #soon(feed: Feed, ms: number): void {
    if (feed.streams.size === 0 || feed.reading) return;
    clearTimeout(feed.timer);
    feed.timer = setTimeout(() => {
      feed.reading = this.#read(feed)
        .catch((error: unknown) => {
          this.#settings.onError(error, 'events were not read for a stream');
          return false;
        })
        .then((isMore) => this.#rest(feed, isMore));
    }, ms);
  }

  #rest(feed: Feed, isMore: boolean): void {
    feed.timer = setTimeout(() => {
      feed.reading = undefined;
      const isNow = isMore || feed.isWoken;
      feed.isWoken = false;
      this.#soon(feed, isNow ? 0 : pollMs - pauseMs);
    }, pauseMs);
  }

  /** Returns whether there are more than it has read. */
  async #read({ begun, replays, streams }: Feed): Promise<boolean> {
    const now = this.#settings.wallClock();
    const events = await (await begun).next(now, eventsInReadMax);
    for (const event of events) this.#tell(streams, toldOf(event));
    let isMore = events.length === eventsInReadMax;
    for (const track of replays) {
      const found = await track.read(now);
      for (const told of toldReplays(found)) this.#tell(streams, told);
      isMore ||= found.length === eventsInReadMax;
    }
    return isMore;
  }

  #tell(streams: ReadonlySet<Stream>, told: Told): void {
    for (const { wants, held, after, response } of streams) {
      if (!wants(told.event)) continue;
      if (told.position === undefined) {
        if (held === null) this.#write(response, told.text());
        else if (held.length < heldMax) held.push(told);
        else response.destroy();
      } else if (held === null && (after === undefined || isBehind(told.position, after)))
        this.#write(response, told.text());
    }
  }

  /** A reader that does not keep up is cut off. It comes back and continues; nobody else waits for it. */
  #write(response: Stream['response'], text: string): void {
    if (response.destroyed || response.writableEnded) return;
    if (response.writableLength > this.#settings.bufferBytesMax) response.destroy();
    else response.write(text);
  }

  #pingAll(): void {
    for (const { streams } of this.#feeds.values())
      for (const { response, held } of streams)
        if (held === null) this.#write(response, 'event: ping\ndata: {}\n\n');
  }
}

async function drained(response: Stream['response']): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** A window that is replayed to several endpoints finds an event for each of them, one behind the other. */
function toldReplays(events: readonly FoundEvent[]): readonly Told[] {
  return events
    .filter(({ id }, i) => id !== events[i - 1]?.id)
    .map(({ foundBy: _foundBy, ...event }) => toldWith(event, undefined, 'event: replay\n'));
}

function toldOf({ position, ...event }: PositionedEvent): Told {
  return toldWith(event, position, `id: ${event.id}\nevent: event\n`);
}

function toldWith(event: EventRow, position: EventPosition | undefined, start: string): Told {
  let text: string | undefined;
  return {
    event,
    position,
    text: () => {
      text ??= `${start}data: ${JSON.stringify(presentEvent(event))}\n\n`;
      return text;
    },
  };
}
