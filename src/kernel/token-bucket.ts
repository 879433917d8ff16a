import { secondMs } from './time.ts';

/**
 * A token bucket: tokens flow in at a constant rate, up to the capacity, and each `take` removes some, usually one. It starts full. A clock that is
 * set back neither adds nor removes tokens; the bucket fills up again from the new time on.
 */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #capacity: number;
  #tokens: number;
  #at = 0;

  constructor(perSecond: number, capacity: number) {
    this.#perSecond = perSecond;
    this.#capacity = capacity;
    this.#tokens = capacity;
  }

  /** Takes tokens. False, and nothing is taken, when fewer are left. */
  take(nowMs: number, count = 1): boolean {
    const elapsedMs = Math.max(0, nowMs - this.#at);
    this.#tokens = Math.min(this.#capacity, this.#tokens + (elapsedMs * this.#perSecond) / secondMs);
    this.#at = nowMs;
    if (this.#tokens < count) return false;
    this.#tokens -= count;
    return true;
  }

  /** The tokens left after the last `take`, with fractions. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Whole seconds from the last `take` until the bucket has this many tokens. */
  secondsUntil(tokens: number): number {
    return Math.max(0, Math.ceil((tokens - this.#tokens) / this.#perSecond));
  }
}
