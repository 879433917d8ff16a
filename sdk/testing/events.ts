import type { Sandbank } from '../client.ts';
import { TimeoutError } from '../errors.ts';
import type { EventFilter } from '../generated/shapes.ts';
import type { StreamedEvent } from '../stream.ts';
import { fitsFilter } from './event-filter.ts';

export interface EventWait {
  /** Which of the events of this type. */
  readonly where?: ((event: StreamedEvent) => boolean) | undefined;
  /** Only events behind this one. */
  readonly after?: string | undefined;
  /** How long to wait for one that has not happened yet; 10,000 unless told. */
  readonly timeoutMs?: number | undefined;
}

const timeoutMsDefault = 10_000;

export class TenantEvents {
  readonly #client: Sandbank;

  constructor(client: Sandbank) {
    this.#client = client;
  }

  /** All events so far, oldest first. */
  async list(): Promise<StreamedEvent[]> {
    const events = await this.#client.events.list({ limit: 100 }).toArray();
    return events.reverse().map((event) => ({ ...event, isReplay: false }) as unknown as StreamedEvent);
  }

  /**
   * The first event of a type, whether it has happened already or is still to come. The stream is opened before what has
   * happened is looked through, so nothing falls between the two.
   */
  async waitFor(type: EventFilter, wait: EventWait = {}): Promise<StreamedEvent> {
    const { where = () => true, after = '', timeoutMs = timeoutMsDefault } = wait;
    const ending = new AbortController();
    const isWanted = (event: StreamedEvent) =>
      event.id > after && !event.isReplay && fitsFilter(event.type, type) && where(event);
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
      message: `No event ${type}${wait.where ? ' that fits' : ''} within ${timeoutMs} ms. There were: ${seen.join(', ') || 'none'}.`,
    });
  }

  async #nextOf(
    isWanted: (event: StreamedEvent) => boolean,
    options: { readonly signal: AbortSignal; readonly onOpen: () => void },
  ): Promise<StreamedEvent | undefined> {
    for await (const event of this.#client.events.stream(options)) if (isWanted(event)) return event;
    return undefined;
  }
}
