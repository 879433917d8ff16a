import { isWorthRetrying, waitBefore } from './backoff.ts';
import { ConnectionError, SandbankError } from './errors.ts';
import type { EventOf } from './event-of.ts';
import type { Event, EventFilter } from './generated/shapes.ts';
import { type OptionNames, rejectUnknownOptions } from './options.ts';
import { readServerSent } from './server-sent.ts';
import type { Transport } from './transport.ts';

/** An event as the stream sends it: an event of the API, and whether it is a replay. */
export type StreamedEvent = Event & {
  /** Whether the event was sent because of a replay; the stream may have sent it before. */
  readonly isReplay: boolean;
};

export interface StreamOptions<Filter extends EventFilter = EventFilter> {
  /** `*`, all types of a resource such as `payment.*`, or single types; all by default. */
  readonly eventTypes?: readonly Filter[] | undefined;
  /** Resume after this event. */
  readonly lastEventId?: string | undefined;
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the stream is open and no later event is missed; also after a reconnect. */
  readonly onOpen?: (() => void) | undefined;
  /** Called when an open connection is lost, before the stream reconnects. */
  readonly onLost?: (() => void) | undefined;
  /** How many connections in a row may fail before the error is thrown; 10 by default. */
  readonly reconnectsMax?: number | undefined;
  /** A connection that is silent for this time counts as lost; 45,000 by default, three pings of the server. */
  readonly silenceMsMax?: number | undefined;
}

const optionNames: OptionNames<StreamOptions> = {
  eventTypes: true,
  lastEventId: true,
  signal: true,
  onOpen: true,
  onLost: true,
  reconnectsMax: true,
  silenceMsMax: true,
};

export interface EventStreaming {
  /**
   * Events as they happen, until you leave the loop or abort the signal. The stream reconnects and resumes after the last
   * event it has received. It sends each event once, and again when the event is replayed.
   */
  stream<Filter extends EventFilter = '*'>(
    options?: StreamOptions<Filter>,
  ): AsyncGenerator<EventOf<Filter, StreamedEvent>, void, undefined>;
}

export const streamPath = '/_api/developer_api_webhook_events/stream';

const reconnectsMaxDefault = 10;
const silenceMsMaxDefault = 45_000;
const reconnectMsDefault = 2_000;
/** Older servers repeat the last fifteen seconds after a reconnect: events that were received before are dropped. */
const seenMax = 5_000;

export function streamEvents<Filter extends EventFilter>(
  transport: Transport,
  options: StreamOptions<Filter> = {},
): AsyncGenerator<EventOf<Filter, StreamedEvent>, void, undefined> {
  rejectUnknownOptions('events.stream()', options, optionNames);
  // The server sends only the requested types.
  return allEvents(transport, options) as AsyncGenerator<EventOf<Filter, StreamedEvent>, void, undefined>;
}

async function* allEvents(
  transport: Transport,
  options: StreamOptions,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const { signal, reconnectsMax = reconnectsMaxDefault } = options;
  const { sleep, random } = transport.connection;
  const state: StreamState = {
    lastEventId: options.lastEventId,
    reconnectMs: reconnectMsDefault,
    seen: new Set(),
    failures: 0,
    isOpen: false,
  };
  while (!signal?.aborted) {
    let waitMs: number;
    try {
      yield* connect(transport, options, state);
      waitMs = state.reconnectMs;
    } catch (error) {
      if (signal?.aborted) return;
      state.failures += 1;
      const failure =
        error instanceof SandbankError
          ? error
          : new ConnectionError({
              code: 'connection_failed',
              message: `The event stream failed: ${String(error)}`,
              cause: error,
            });
      if (state.failures > reconnectsMax || !isWorthRetrying(failure, true)) throw failure;
      waitMs =
        failure.retryAfterMs ?? Math.max(state.reconnectMs, waitBefore(state.failures, failure, random));
    }
    if (state.isOpen && !signal?.aborted) options.onLost?.();
    state.isOpen = false;
    await sleep(waitMs, signal).catch((reason: unknown) => {
      if (!signal?.aborted) throw reason;
    });
  }
}

interface StreamState {
  lastEventId: string | undefined;
  reconnectMs: number;
  readonly seen: Set<string>;
  /** Connections that failed since one last worked. */
  failures: number;
  isOpen: boolean;
}

/** One connection: from the request until the server ends it, it fails, or the reader leaves the loop. */
async function* connect(
  transport: Transport,
  options: StreamOptions,
  state: StreamState,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const { eventTypes, silenceMsMax = silenceMsMaxDefault, onOpen } = options;
  const controller = new AbortController();
  const stop = () => controller.abort(options.signal?.reason);
  options.signal?.addEventListener('abort', stop, { once: true });
  const silent = new ConnectionError({
    code: 'connection_failed',
    message: `The event stream was silent for ${silenceMsMax} ms.`,
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listenOn = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(silent), silenceMsMax);
  };
  try {
    const response = await transport.open(
      {
        verb: 'GET',
        path: streamPath,
        accept: 'text/event-stream',
        query: { eventTypes: eventTypes?.join(',') },
        ...(state.lastEventId === undefined ? {} : { headers: { 'Last-Event-ID': state.lastEventId } }),
      },
      { signal: controller.signal, retriesMax: 0 },
    );
    if (!response.body) return;
    listenOn();
    state.failures = 0;
    state.isOpen = true;
    onOpen?.();
    for await (const message of readServerSent(response.body as ReadableStream<Uint8Array>)) {
      listenOn();
      state.reconnectMs = message.retryMs ?? state.reconnectMs;
      const isReplay = message.event === 'replay';
      if (message.event !== 'event' && !isReplay) continue;
      const event: StreamedEvent = { ...(JSON.parse(message.data) as Event), isReplay };
      if (!isReplay) {
        state.lastEventId = message.id ?? state.lastEventId;
        if (isKnown(state.seen, event.id)) continue;
      }
      // The time that the reader takes is not silence.
      clearTimeout(timer);
      yield event;
      listenOn();
    }
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', stop);
    controller.abort();
  }
}

function isKnown(seen: Set<string>, id: string): boolean {
  if (seen.has(id)) return true;
  seen.add(id);
  if (seen.size > seenMax) for (const oldest of seen) return !seen.delete(oldest);
  return false;
}
