import type { Sandbank } from '../client.ts';
import { SandbankError } from '../errors.ts';
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
    const { clock } = this.#client;
    let advanced = await clock.advance(
      'to' in span ? { to: new Date(span.to).toISOString() } : { seconds: secondsOf(span) },
    );
    const happened = [...advanced.happened];
    for (let calls = 1; !advanced.complete; calls += 1) {
      const to = advanced.left?.to ?? advanced.now;
      if (calls >= callsMax)
        throw new Error(`The clock was advanced ${callsMax} times and is still not at ${to}.`);
      // A clock that runs may have come there by itself meanwhile, with what was due still to be done.
      advanced = await clock.advance({ to }).catch((error: unknown) => {
        if (error instanceof SandbankError && error.code === 'clock_moves_back')
          return clock.advance({ seconds: 1 });
        throw error;
      });
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

function secondsOf(span: Exclude<ClockSpan, { to: unknown }>): number {
  const { days = 0, hours = 0, minutes = 0, seconds = 0 } = span;
  const sum = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
  if (Number.isInteger(sum) && sum >= 1) return sum;
  throw new RangeError(
    `The clock moves forward by whole seconds, at least one, and ${JSON.stringify(span)} are ${sum}. To move to an instant, give to.`,
  );
}
