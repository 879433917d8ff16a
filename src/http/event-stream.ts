import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Committed } from '../engine/batch.ts';
import { presentEvent } from '../kernel/event.ts';
import { firstIdAt, isId, mintedAt } from '../kernel/ids.ts';
import type { Reader } from '../kernel/route.ts';
import type { Instant } from '../kernel/table.ts';
import type { EventRow } from '../kernel/trail.ts';
import { type EventSource, type FoundEvent, findEventsBehind } from '../resources/events/store.ts';
import { EventTrack, eventsInReadMax, lookBackMs } from './event-track.ts';

export interface EventStreamSettings {
  readonly reader: Pick<Reader, 'rows'>;
  readonly wallClock: () => Instant;
  readonly onError: (error: unknown, what: string) => void;
  readonly streamsMax?: number;
  readonly streamsOfOrganizationMax?: number;
  readonly bufferBytesMax?: number;
  readonly pingMs?: number;
}

const sources: readonly EventSource[] = ['made', 'replayed', 'replayedInWindow'];
const pollMs = 1_000;
// Commits come much faster than anybody reads: after a read this long nothing is read, and then all at once.
const pauseMs = 100;
const pingMsDefault = 15_000;
const streamsMaxDefault = 100;
const streamsOfOrganizationMaxDefault = 10;
const bufferBytesMaxDefault = 2 * 1024 * 1024;
// Who was away longer begins anew: the list of events has the rest.
const resumedMsMax = 60 * 60_000;
const resumedMax = 1_000;
const heldMax = 2_000;
const reconnectMs = 2_000;

/**
 * One connection. It is waiting until its feed has looked at what was there before, then open, then closed: by its reader,
 * because it read too slowly, or by the server.
 */
interface Stream {
  readonly response: ServerResponse<IncomingMessage>;
  readonly wants: (event: EventRow) => boolean;
  /** What it was given while it caught up; the feed may find some of it again. */
  readonly caughtUp: Set<string>;
  /** What the feed found meanwhile, to be sent behind it; null when it is open. */
  held: Told[] | null;
}

/** An event on its way, and the id under which it was found; it is written when somebody wants it. */
interface Told {
  readonly id: string;
  readonly event: EventRow;
  readonly text: () => string;
}

const everything = () => true;

/** The events of one organization, read once for all of its streams. There is one as long as there are streams. */
interface Feed {
  readonly orgId: string;
  readonly streams: Set<Stream>;
  readonly tracks: readonly EventTrack[];
  readonly isPrimed: Promise<unknown>;
  timer: NodeJS.Timeout | undefined;
  reading: Promise<void> | undefined;
  isWoken: boolean;
}

/**
 * Live events as server-sent events. A reader that comes back with `Last-Event-ID` is given what it missed, and again the
 * events of the fifteen seconds before that one, because some of those may have come late: every event arrives at least
 * once, and its id tells which have arrived before. One that somebody sends again is told again, as a replay: without an id of
 * the stream, because that is where the reader goes on when it comes back.
 */
export class EventStreams {
  readonly #settings: Required<EventStreamSettings>;
  readonly #feeds = new Map<string, Feed>();
  readonly #ping: NodeJS.Timeout;
  #count = 0;
  #isClosed = false;

  constructor(settings: EventStreamSettings) {
    this.#settings = {
      streamsMax: streamsMaxDefault,
      streamsOfOrganizationMax: streamsOfOrganizationMaxDefault,
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
  open(
    orgId: string,
    response: ServerResponse<IncomingMessage>,
    wants: Stream['wants'] = everything,
  ): boolean {
    const { streamsMax, streamsOfOrganizationMax } = this.#settings;
    const known = this.#feeds.get(orgId);
    if (this.#isClosed || this.#count >= streamsMax) return false;
    if ((known?.streams.size ?? 0) >= streamsOfOrganizationMax) return false;
    const feed = known ?? this.#newFeed(orgId);
    const stream: Stream = { response, wants, caughtUp: new Set(), held: [] };
    feed.streams.add(stream);
    this.#count += 1;
    response.once('close', () => this.#leave(feed, stream));
    response.on('error', () => response.destroy());
    this.#begin(feed, stream).catch((error: unknown) => {
      this.#settings.onError(error, 'a stream of events was not opened');
      response.destroy();
    });
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
    const tracks = sources.map((source) => new EventTrack(source, reader, orgId, now));
    const isPrimed = Promise.all(tracks.map((track) => track.prime()));
    const feed: Feed = {
      ...{ orgId, streams: new Set<Stream>(), tracks, isPrimed },
      ...{ timer: undefined, reading: undefined, isWoken: false },
    };
    this.#feeds.set(orgId, feed);
    return feed;
  }

  async #begin(feed: Feed, stream: Stream): Promise<void> {
    const { response } = stream;
    // A header is sent when every event from then on will be told: what is there by now counts as seen.
    await feed.isPrimed;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Content-Type-Options': 'nosniff',
      // For proxies that would wait for more.
      'X-Accel-Buffering': 'no',
    });
    response.write(`retry: ${reconnectMs}\n\n`);
    const last = response.req.headers['last-event-id'];
    if (typeof last === 'string' && isId('event', last)) await this.#catchUp(feed, stream, last);
    const held = stream.held ?? [];
    stream.held = null;
    for (const told of held) this.#send(stream, told);
    this.#soon(feed, 0);
  }

  async #catchUp({ orgId }: Feed, stream: Stream, last: string): Promise<void> {
    const oldest = this.#settings.wallClock() - resumedMsMax;
    let from = firstIdAt('event', Math.max(mintedAt(last) - lookBackMs, oldest));
    for (let sent = 0; sent < resumedMax; sent += eventsInReadMax) {
      const events = await findEventsBehind(this.#settings.reader, 'made', orgId, from, [], eventsInReadMax);
      for (const event of events) {
        if (stream.wants(event)) this.#send(stream, toldOf('made', event));
        stream.caughtUp.add(event.id);
      }
      if (events.length < eventsInReadMax) return;
      from = events.at(-1)?.id ?? from;
    }
  }

  #leave(feed: Feed, stream: Stream): void {
    if (!feed.streams.delete(stream)) return;
    this.#count -= 1;
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

  /** Says whether there are more than it has read. */
  async #read({ tracks, streams }: Feed): Promise<boolean> {
    let isMore = false;
    for (const track of tracks) {
      const events = await track.read(this.#settings.wallClock());
      for (const told of toldEvents(track.source, events))
        for (const stream of streams) this.#tell(stream, told);
      isMore ||= events.length === eventsInReadMax;
    }
    return isMore;
  }

  #tell(stream: Stream, told: Told): void {
    if (!stream.wants(told.event)) return;
    if (stream.held === null) this.#send(stream, told);
    else if (stream.held.length < heldMax) stream.held.push(told);
    else stream.response.destroy();
  }

  #send({ response, caughtUp }: Stream, { id, text }: Told): void {
    if (!caughtUp.has(id)) this.#write(response, text());
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

/** A window that is replayed to several endpoints finds an event for each of them, one behind the other. */
function toldEvents(source: EventSource, events: readonly FoundEvent[]): readonly Told[] {
  return events
    .filter(({ id }, i) => source === 'made' || id !== events[i - 1]?.id)
    .map((event) => toldOf(source, event));
}

function toldOf(source: EventSource, { foundBy, ...event }: FoundEvent): Told {
  let text: string | undefined;
  const write = () => {
    const data = `data: ${JSON.stringify(presentEvent(event))}\n\n`;
    return source === 'made' ? `id: ${event.id}\nevent: event\n${data}` : `event: replay\n${data}`;
  };
  return {
    id: foundBy,
    event,
    text: () => {
      text ??= write();
      return text;
    },
  };
}
