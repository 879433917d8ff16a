import type { Sandbank } from '../client.ts';
import { SandbankError } from '../errors.ts';
import type { Clock, ClockAdvanced } from '../generated/shapes.ts';
import { rejectUnknownOptions } from '../options.ts';

/** A duration, as the sum of its units, or an instant. */
export type ClockSpan =
  | {
      readonly days?: number;
      readonly hours?: number;
      readonly minutes?: number;
      readonly seconds?: number;
    }
  | { readonly to: string | Date };

const spanNames = { days: true, hours: true, minutes: true, seconds: true, to: true } as const;
// A call executes up to ten thousand steps. No reasonable test needs more calls.
const callsMax = 50;

/** The application clock of a tenant. */
export class TenantClock {
  readonly #client: Sandbank;

  constructor(client: Sandbank) {
    this.#client = client;
  }

  async now(): Promise<Date> {
    return new Date((await this.#client.clock.retrieve()).now);
  }

  /**
   * Advances the clock and resolves when everything that fell due has happened and was delivered, so that tests need no sleep. One
   * API call is bounded; this method repeats it until the clock has arrived.
   */
  async advance(span: ClockSpan): Promise<ClockAdvanced> {
    rejectUnknownOptions('clock.advance()', span, spanNames);
    const { clock } = this.#client;
    let advanced = await clock.advance(
      'to' in span ? { to: new Date(span.to).toISOString() } : { seconds: secondsOf(span) },
    );
    const happened = [...advanced.happened];
    for (let calls = 1; !advanced.complete; calls += 1) {
      const to = advanced.left?.to ?? advanced.now;
      if (calls >= callsMax)
        throw new Error(`The clock was advanced ${callsMax} times and is still not at ${to}.`);
      // A running clock may have passed this instant meanwhile, with due work still to do.
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
    `The clock advances by whole seconds, at least one; ${JSON.stringify(span)} is ${sum}. To advance to an instant, pass to.`,
  );
}
