import { isWorthRetrying, waitBefore } from './backoff.ts';
import { ConnectionError, SandbankError } from './errors.ts';
import type { Event, EventFilter, SandbankEvent } from './generated/shapes.ts';
import { readServerSent } from './server-sent.ts';
import type { Transport } from './transport.ts';

/** An event as the stream tells it: what a webhook gets, and what the API knows of it beside. */
export type StreamedEvent = WithoutRequest<SandbankEvent> &
  Pick<Event, 'applicationId' | 'resource' | 'resourceId' | 'originRequestId' | 'createdAt'> & {
    /** Whether it was told because someone replayed it; it may have come before. */
    readonly isReplay: boolean;
  };

// Written so that each member of the union stays one.
type WithoutRequest<E> = E extends unknown ? Omit<E, 'requestId'> : never;

export interface StreamOptions {
  /** `*`, all of one kind such as `payment.*`, or single types; all unless told. */
  readonly eventTypes?: readonly EventFilter[] | undefined;
  /** Go on behind this event. */
  readonly lastEventId?: string | undefined;
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined;
  /** Told when the server listens to what happens from now on; also after a reconnect. */
  readonly onOpen?: (() => void) | undefined;
  /** Called when an open connection is lost, before the stream reconnects. */
  readonly onLost?: (() => void) | undefined;
  /** How often in a row a connection may fail before that is thrown; 10 unless told. */
  readonly reconnectsMax?: number | undefined;
  /** A connection that is silent for so long counts as lost; 45,000 unless told, three pings of the server. */
  readonly silenceMsMax?: number | undefined;
}

export interface EventStreaming {
  /**
   * Events as they happen, until you leave the loop or the signal ends it. It reconnects by itself, and then goes on behind
   * the last event it has seen. Each event comes once, and again when it is replayed.
   */
  stream(options?: StreamOptions): AsyncGenerator<StreamedEvent, void, undefined>;
}

export const streamPath = '/_api/developer_api_webhook_events/stream';

const reconnectsMaxDefault = 10;
const silenceMsMaxDefault = 45_000;
const reconnectMsDefault = 2_000;
/** Older servers repeat the last fifteen seconds after a reconnect: events that were received are dropped. */
const seenMax = 5_000;

export async function* streamEvents(
  transport: Transport,
  options: StreamOptions = {},
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
              message: `The stream broke: ${String(error)}`,
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

/** One connection: from the request until the server ends it, or it breaks, or the reader leaves. */
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
    message: `The stream was silent for ${silenceMsMax} ms.`,
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
      const event = {
        ...(JSON.parse(message.data) as Omit<StreamedEvent, 'isReplay'>),
        isReplay,
      } as StreamedEvent;
      if (!isReplay) {
        state.lastEventId = message.id ?? state.lastEventId;
        if (isKnown(state.seen, event.id)) continue;
      }
      // Whoever reads slowly is not silent.
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
