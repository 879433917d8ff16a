import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Committed } from '../engine/batch-trail.ts';
import type { EventRow } from '../kernel/event.ts';
import { type Id, isId } from '../kernel/ids.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { findLatestActivity } from '../resources/events/activity-store.ts';
import type { EventPosition, EventSource } from '../resources/events/store.ts';
import { EventCursor, isAfter } from './event-cursor.ts';
import { EventTrack, eventsInReadMax } from './event-track.ts';
import { messageOf, replayMessages, type StreamMessage } from './stream-message.ts';

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
// Commits are much more frequent than reads need to be: pause this long after a read, then read all new events together.
const readPauseMs = 100;
const pingMsDefault = 15_000;
const streamsMaxDefault = 200;
const streamsOfOrganizationMaxDefault = 20;
const streamsOfHolderMaxDefault = 10;
const bufferBytesMaxDefault = 2 * 1024 * 1024;
// One page of missed events is in memory at a time: up to 25 MB, because events have at most 256 KiB.
const missedInReadMax = 100;
const pendingReplaysMax = 2_000;
const reconnectMs = 2_000;

export interface StreamOptions {
  /** The key or person that opens the stream. The number of streams per holder is limited over all organizations. */
  readonly holder?: string;
  readonly wants?: (event: EventRow) => boolean;
  /** Also sends `activity` when anything else of the organization may have changed: a clock, a key, a delivery. */
  readonly followsActivity?: true;
}

/**
 * One connection. It waits until its feed has started, reads the missed events, and goes live. It ends when the client closes it,
 * reads too slowly, or when the server closes.
 */
interface Stream {
  readonly orgId: Id<'organization'>;
  readonly holder: string | undefined;
  readonly response: ServerResponse<IncomingMessage>;
  readonly wants: (event: EventRow) => boolean;
  readonly followsActivity: boolean;
  /** The position up to which the client has all events; undefined for a stream that started with the feed. */
  after: EventPosition | undefined;
  /** Replays that the feed read before the stream went live; sent when it does. Null when the stream is live. */
  pendingReplays: StreamMessage[] | null;
}

const allEvents = () => true;

/** The events of one organization, read once for all of its streams. A feed exists while it has streams. */
interface Feed {
  readonly orgId: Id<'organization'>;
  readonly streams: Set<Stream>;
  readonly replays: readonly EventTrack[];
  readonly cursor: Promise<EventCursor>;
  timer: NodeJS.Timeout | undefined;
  reading: Promise<void> | undefined;
  isWoken: boolean;
  /** What the last read found; undefined before the first one. */
  activity: string | undefined;
}

/**
 * Live events as server-sent events, in one order for all streams and nodes (EventPosition). A client that reconnects with
 * `Last-Event-ID` receives all later events, each exactly once, however many it missed. A replayed event is sent as `replay`,
 * without an SSE id, because the id is the position from which the client resumes.
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

  /** Wakes the feeds of the organizations in this commit, so that their streams get the events immediately. */
  onCommit({ audit, deleted }: Pick<Committed, 'audit' | 'deleted'>): void {
    if (this.#feeds.size === 0) return;
    const ended = deleted === null ? undefined : this.#feeds.get(deleted);
    for (const { response } of ended?.streams ?? []) response.end();
    for (const orgId of new Set(audit.map((row) => row.orgId))) {
      const feed = this.#feeds.get(orgId);
      if (feed) this.#wake(feed);
    }
  }

  /** Takes over a raw response. Returns false at the stream limit; then nothing was written, and the caller refuses the request. */
  open(
    orgId: Id<'organization'>,
    response: ServerResponse<IncomingMessage>,
    options: StreamOptions = {},
  ): boolean {
    const { streamsMax, streamsOfOrganizationMax, streamsOfHolderMax } = this.#settings;
    const { holder, wants = allEvents, followsActivity = false } = options;
    const count = this.#feeds.get(orgId)?.streams.size ?? 0;
    if (this.#isClosed || count >= streamsOfOrganizationMax) return false;
    if (holder !== undefined && (this.#holders.get(holder) ?? 0) >= streamsOfHolderMax) return false;
    if (this.#count >= streamsMax && !this.#makeRoom(count)) return false;
    const feed = this.#feeds.get(orgId) ?? this.#newFeed(orgId);
    const stream: Stream = {
      ...{ orgId, holder, response, wants, followsActivity },
      ...{ after: undefined, pendingReplays: [] },
    };
    feed.streams.add(stream);
    this.#count += 1;
    if (holder !== undefined) this.#holders.set(holder, (this.#holders.get(holder) ?? 0) + 1);
    response.once('close', () => this.#remove(feed, stream));
    response.on('error', () => response.destroy());
    this.#start(feed, stream).catch((error: unknown) => {
      this.#settings.onError(error, 'opening an event stream failed');
      response.destroy();
    });
    return true;
  }

  /** Ends the newest stream of the organization with the most streams, if it has at least two more than the requesting one. */
  #makeRoom(count: number): boolean {
    let largest: Feed | undefined;
    for (const feed of this.#feeds.values())
      if (feed.streams.size > (largest?.streams.size ?? 0)) largest = feed;
    const newest = largest && [...largest.streams].at(-1);
    if (!largest || !newest || largest.streams.size < count + 2) return false;
    this.#remove(largest, newest);
    newest.response.end();
    return true;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#ping);
    for (const { streams } of this.#feeds.values()) for (const { response } of streams) response.end();
  }

  #newFeed(orgId: Id<'organization'>): Feed {
    const { reader, wallClock } = this.#settings;
    const now = wallClock();
    const replays = replaySources.map((source) => new EventTrack(source, reader, orgId, now));
    const cursor = Promise.all([
      EventCursor.atPresent(reader, orgId, now),
      ...replays.map((track) => track.prime()),
    ]).then(([eventCursor]) => eventCursor);
    const feed: Feed = {
      ...{ orgId, streams: new Set<Stream>(), replays, cursor },
      ...{ timer: undefined, reading: undefined, isWoken: false, activity: undefined },
    };
    this.#feeds.set(orgId, feed);
    return feed;
  }

  async #start(feed: Feed, stream: Stream): Promise<void> {
    const { response } = stream;
    // The response head promises that the client gets every event from now on, so wait for the feed first.
    const live = await feed.cursor;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      'X-Content-Type-Options': 'nosniff',
      // For proxies that would buffer the response.
      'X-Accel-Buffering': 'no',
    });
    response.write(`retry: ${reconnectMs}\n\n`);
    const last = response.req.headers['last-event-id'];
    if (typeof last === 'string' && isId('event', last)) await this.#catchUp(feed, stream, live, last);
    else this.#goLive(stream);
    this.#scheduleRead(feed, 0);
  }

  #goLive(stream: Stream): void {
    const pendingReplays = stream.pendingReplays ?? [];
    stream.pendingReplays = null;
    for (const message of pendingReplays) this.#write(stream.response, message.text());
  }

  /** Sends all events after one, page by page and as fast as the client reads, until the stream has caught up with its feed. */
  async #catchUp(feed: Feed, stream: Stream, live: EventCursor, last: string): Promise<void> {
    const { reader, wallClock } = this.#settings;
    const cursor = await EventCursor.after(reader, feed.orgId, last);
    while (feed.streams.has(stream)) {
      const events = await cursor.next(wallClock(), missedInReadMax);
      for (const event of events) {
        if (!stream.wants(event)) continue;
        stream.response.write(messageOf(event).text());
        await drained(stream.response);
      }
      if (events.length === missedInReadMax || isAfter(live.position, cursor.position)) continue;
      // There is no await between the comparison and going live, so the feed sends every event that it reads after this.
      stream.after = cursor.position;
      this.#goLive(stream);
      return;
    }
  }

  #remove(feed: Feed, stream: Stream): void {
    if (!feed.streams.delete(stream)) return;
    this.#count -= 1;
    const { holder } = stream;
    if (holder !== undefined) {
      const remaining = (this.#holders.get(holder) ?? 1) - 1;
      if (remaining > 0) this.#holders.set(holder, remaining);
      else this.#holders.delete(holder);
    }
    if (feed.streams.size > 0) return;
    clearTimeout(feed.timer);
    if (this.#feeds.get(feed.orgId) === feed) this.#feeds.delete(feed.orgId);
  }

  #wake(feed: Feed): void {
    // A feed that pauses after a read reads again at the end of the pause.
    if (feed.reading) feed.isWoken = true;
    else this.#scheduleRead(feed, 0);
  }

  #scheduleRead(feed: Feed, ms: number): void {
    if (feed.streams.size === 0 || feed.reading) return;
    clearTimeout(feed.timer);
    feed.timer = setTimeout(() => {
      feed.reading = this.#read(feed)
        .catch((error: unknown) => {
          this.#settings.onError(error, 'reading events for streams failed');
          return false;
        })
        .then((hasMore) => this.#pause(feed, hasMore));
    }, ms);
  }

  #pause(feed: Feed, hasMore: boolean): void {
    feed.timer = setTimeout(() => {
      feed.reading = undefined;
      const readsNow = hasMore || feed.isWoken;
      feed.isWoken = false;
      this.#scheduleRead(feed, readsNow ? 0 : pollMs - readPauseMs);
    }, readPauseMs);
  }

  /** Returns whether there are more events to read. */
  async #read(feed: Feed): Promise<boolean> {
    const { cursor, replays, streams } = feed;
    const now = this.#settings.wallClock();
    const events = await (await cursor).next(now, eventsInReadMax);
    for (const event of events) this.#send(streams, messageOf(event));
    let hasMore = events.length === eventsInReadMax;
    for (const track of replays) {
      const replayed = await track.read(now);
      for (const message of replayMessages(replayed)) this.#send(streams, message);
      hasMore ||= replayed.length === eventsInReadMax;
    }
    await this.#readActivity(feed);
    return hasMore;
  }

  /** Runs after the events of the same read were sent, so that a console which reads again finds them. */
  async #readActivity(feed: Feed): Promise<void> {
    const followers = [...feed.streams].filter((stream) => stream.followsActivity);
    if (followers.length === 0) return;
    const found = await findLatestActivity(this.#settings.reader, feed.orgId);
    const hasChanged = feed.activity !== undefined && feed.activity !== found;
    feed.activity = found;
    if (!hasChanged) return;
    for (const { response, pendingReplays } of followers)
      if (pendingReplays === null) this.#write(response, 'event: activity\ndata: {}\n\n');
  }

  #send(streams: ReadonlySet<Stream>, message: StreamMessage): void {
    for (const { wants, pendingReplays, after, response } of streams) {
      if (!wants(message.event)) continue;
      if (message.position === undefined) {
        if (pendingReplays === null) this.#write(response, message.text());
        else if (pendingReplays.length < pendingReplaysMax) pendingReplays.push(message);
        else response.destroy();
      } else if (pendingReplays === null && (after === undefined || isAfter(message.position, after)))
        this.#write(response, message.text());
    }
  }

  /** Disconnects a client that reads too slowly, so that no other client waits for it. It can reconnect and resume. */
  #write(response: Stream['response'], text: string): void {
    if (response.destroyed || response.writableEnded) return;
    if (response.writableLength > this.#settings.bufferBytesMax) response.destroy();
    else response.write(text);
  }

  #pingAll(): void {
    for (const { streams } of this.#feeds.values())
      for (const { response, pendingReplays } of streams)
        if (pendingReplays === null) this.#write(response, 'event: ping\ndata: {}\n\n');
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
