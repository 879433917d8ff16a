import type { Event, EventFilter, Sandbank, StreamedEvent } from '../sdk/client.ts';
import { matchesEventFilter } from '../sdk/event-filter.ts';
import type { Output } from './output.ts';
import type { Since } from './reading.ts';

export interface Following {
  readonly signal: AbortSignal;
  readonly eventTypes: readonly string[] | undefined;
  /** Past events, oldest first; called once the stream is open, so that no event is missed in between. */
  readonly backlog: () => Promise<readonly Event[]>;
  /** Called once, when the stream is open for the first time. */
  readonly onOpen: () => void;
  /** For messages about a connection that is lost and restored. */
  readonly out: Pick<Output, 'say'>;
}

export type Followed = Event & { readonly isReplay: boolean };

/** Past events, then new ones, each once; replayed events again. */
export async function* follow(
  sandbank: Sandbank,
  following: Following,
): AsyncGenerator<Followed, void, undefined> {
  const { signal, eventTypes, backlog, onOpen, out } = following;
  let isFirst = true;
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const stream = sandbank.events.stream({
    signal,
    eventTypes: eventTypes as readonly EventFilter[] | undefined,
    // A server restart may take a while; Ctrl-C stops waiting.
    reconnectsMax: Number.POSITIVE_INFINITY,
    onOpen: () => {
      if (isFirst) onOpen();
      else out.say('Connected again.');
      isFirst = false;
      open();
    },
    onLost: () => out.say('Connection lost. Reconnecting; no event is missed.'),
  });
  try {
    let next = stream.next();
    // The await below reports an error.
    await Promise.race([opened, next.catch(() => undefined)]);
    const before = new Set<string>();
    if (!isFirst)
      for (const event of await backlog()) {
        before.add(event.id);
        yield { ...event, isReplay: false };
      }
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = stream.next();
      next.catch(() => undefined);
      if (value.isReplay || !before.has(value.id)) yield shown(value);
    }
  } finally {
    await stream.return(undefined);
  }
}

function shown(event: StreamedEvent): Followed {
  return event as unknown as Followed;
}

const backlogMax = 10_000;

/** The events since an instant, or the last few, of the wanted types; oldest first. */
export async function recent(
  sandbank: Sandbank,
  wanted: {
    readonly since?: Since | undefined;
    readonly last?: number | undefined;
    readonly types?: readonly string[] | undefined;
  },
): Promise<readonly Event[]> {
  const { since, last = backlogMax, types } = wanted;
  if (last === 0) return [];
  const createdAfter = since === undefined ? undefined : await instantOf(sandbank, since);
  const found: Event[] = [];
  let readCount = 0;
  for await (const event of sandbank.events.list({
    limit: 100,
    ...(createdAfter === undefined ? {} : { createdAfter }),
  })) {
    readCount += 1;
    if (types === undefined || matchesEventFilter(types, event.type)) found.push(event);
    if (found.length >= last || readCount >= backlogMax) break;
  }
  return found.reverse();
}

/** Event times are on the application clock, so durations are relative to it as well. */
export async function instantOf(sandbank: Sandbank, since: Since): Promise<string> {
  if ('at' in since) return since.at;
  const { now } = await sandbank.clock.retrieve();
  return new Date(Date.parse(now) - since.seconds * 1_000).toISOString();
}
