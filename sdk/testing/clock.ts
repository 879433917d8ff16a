import type { Sandbank } from '../client.ts';
import type { Clock, ClockAdvanced } from '../generated/shapes.ts';

/** How far, as a sum, or where to. */
export type ClockSpan =
  | {
      readonly days?: number;
      readonly hours?: number;
      readonly minutes?: number;
      readonly seconds?: number;
    }
  | { readonly to: string | Date };

// Ten thousand steps a call: whoever needs more than this many calls has a test that is none.
const callsMax = 50;

/** The clock of a tenant's application. */
export class TenantClock {
  readonly #client: Sandbank;

  constructor(client: Sandbank) {
    this.#client = client;
  }

  async now(): Promise<Date> {
    return new Date((await this.#client.clock.retrieve()).now);
  }

  /**
   * Moves the clock and resolves when everything that fell due has happened and was delivered: no sleeping behind it. A call of
   * the API is bounded; this goes on until the clock is there.
   */
  async advance(span: ClockSpan): Promise<ClockAdvanced> {
    const to =
      'to' in span ? new Date(span.to) : new Date((await this.now()).getTime() + millisecondsOf(span));
    let advanced = await this.#client.clock.advance({ to: to.toISOString() });
    const happened = [...advanced.happened];
    for (let calls = 1; !advanced.complete; calls += 1) {
      if (calls >= callsMax)
        throw new Error(`The clock was advanced ${callsMax} times and is still not at ${to.toISOString()}.`);
      advanced = await this.#client.clock.advance({ to: to.toISOString() });
      happened.push(...advanced.happened);
    }
    return { ...advanced, happened };
  }

  freeze(): Promise<Clock> {
    return this.#client.clock.freeze();
  }

  reset(): Promise<Clock> {
    return this.#client.clock.reset();
  }
}

function millisecondsOf({
  days = 0,
  hours = 0,
  minutes = 0,
  seconds = 0,
}: Exclude<ClockSpan, { to: unknown }>): number {
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
}
