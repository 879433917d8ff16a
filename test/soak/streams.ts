import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../process/chaos/requests.ts';
import { acme } from './tenants.ts';

const stayMs = { min: 3_000, max: 30_000 };
const pauseMs = 500;

/** Readers of the event stream that connect, stay for some seconds and leave. */
export class StreamReaders {
  readonly #url: string;
  readonly #random: Random;
  readonly #stop = new AbortController();
  connections = 0;
  bytes = 0;

  constructor(url: string, random: Random) {
    this.#url = `${url}/_api/developer_api_webhook_events/stream`;
    this.#random = random;
  }

  async run(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#read()));
  }

  stop(): void {
    this.#stop.abort();
  }

  async #read(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const leave = AbortSignal.timeout(this.#random.between(stayMs.min, stayMs.max));
      try {
        const response = await fetch(this.#url, {
          headers: { authorization: `Bearer ${this.#random.pick(acme).key}`, accept: 'text/event-stream' },
          signal: AbortSignal.any([leave, this.#stop.signal]),
        });
        this.connections += 1;
        for await (const chunk of response.body ?? []) this.bytes += chunk.length;
      } catch {
        // It left, or the node was killed.
      }
      await delay(pauseMs);
    }
  }
}
