import type { Sandbank } from '../client.ts';
import { TimeoutError } from '../errors.ts';
import { matchesEventFilter } from '../event-filter.ts';
import type { EventOf } from '../event-of.ts';
import type { EventFilter } from '../generated/shapes.ts';
import { type OptionNames, rejectUnknownOptions } from '../options.ts';
import type { StreamedEvent } from '../stream.ts';
import { rejectUnknownEventTypes } from './event-filter.ts';

export interface EventWait<Filter extends EventFilter = EventFilter> {
  /** Selects one of the events of this type. */
  readonly where?: ((event: EventOf<Filter, StreamedEvent>) => boolean) | undefined;
  /** Only events after this one. */
  readonly after?: string | undefined;
  /** How long to wait for an event that has not happened yet; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
}

const optionNames: OptionNames<EventWait> = { where: true, after: true, timeoutMs: true };
const timeoutMsDefault = 10_000;

export class TenantEvents {
  readonly #client: Sandbank;

  constructor(client: Sandbank) {
    this.#client = client;
  }

  /** All events so far, oldest first. */
  async list(): Promise<StreamedEvent[]> {
    const events = await this.#client.events.list({ limit: 100 }).toArray();
    return events.reverse().map((event) => ({ ...event, isReplay: false }));
  }

  /**
   * The first event of a type, whether it has already happened or is still to come. The stream is opened before past events are
   * read, so that no event falls between the two.
   */
  async waitFor<Filter extends EventFilter>(
    type: Filter,
    wait: EventWait<Filter> = {},
  ): Promise<EventOf<Filter, StreamedEvent>> {
    rejectUnknownEventTypes([type]);
    rejectUnknownOptions('events.waitFor()', wait, optionNames);
    const { where = () => true, after = '', timeoutMs = timeoutMsDefault } = wait;
    const ending = new AbortController();
    const isWanted = (event: StreamedEvent): event is EventOf<Filter, StreamedEvent> =>
      event.id > after &&
      !event.isReplay &&
      matchesEventFilter([type], event.type) &&
      where(event as EventOf<Filter, StreamedEvent>);
    let onOpen: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      onOpen = resolve;
    });
    const timer = setTimeout(() => ending.abort(), timeoutMs);
    try {
      const coming = this.#nextOf(isWanted, { signal: ending.signal, onOpen });
      const past = opened.then(async () => (await this.list()).find(isWanted));
      const found = (await Promise.race([coming, past])) ?? (await coming);
      if (found) return found;
    } finally {
      clearTimeout(timer);
      ending.abort();
    }
    const seen = (await this.list()).map((event) => event.type);
    throw new TimeoutError({
      code: 'timed_out',
      message: `No${wait.where ? ' matching' : ''} event ${type} within ${timeoutMs} ms. Events so far: ${seen.join(', ') || 'none'}.`,
    });
  }

  async #nextOf<Wanted extends StreamedEvent>(
    isWanted: (event: StreamedEvent) => event is Wanted,
    options: { readonly signal: AbortSignal; readonly onOpen: () => void },
  ): Promise<Wanted | undefined> {
    for await (const event of this.#client.events.stream(options)) if (isWanted(event)) return event;
    return undefined;
  }
}
