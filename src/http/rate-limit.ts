import { type Refusal, refuse } from '../kernel/errors.ts';

/**
 * Token buckets: `requestsPerSecond` flow in, twice as many fit. Each key and each person has one, and each application one
 * for all of its keys. Every node counts for itself. The headers are those of the IETF draft "RateLimit header
 * fields for HTTP".
 */
export interface RateLimiter {
  /** Takes one token of a key or person, and one of its application; the headers show the state after that. */
  take(holderId: string, nowMs: number, applicationId?: string): Taken;
}

export interface Taken {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Refusal | undefined;
}

interface Bucket {
  tokens: number;
  at: number;
}

const bucketsMax = 100_000;
/** An application with many keys has this many times the rate of one. */
export const applicationFactor = 5;

export function createRateLimiter(requestsPerSecond: number): RateLimiter {
  const holders = new Buckets('default', requestsPerSecond);
  const applications = new Buckets('application', requestsPerSecond * applicationFactor);
  return {
    take: (holderId, nowMs, applicationId) => {
      const taken = holders.take(holderId, nowMs);
      if (taken.refusal || applicationId === undefined) return taken;
      const ofApplication = applications.take(applicationId, nowMs);
      return ofApplication.refusal ? ofApplication : taken;
    },
  };
}

class Buckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #name: string;
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #policy: string;

  constructor(name: string, perSecond: number) {
    this.#name = name;
    this.#perSecond = perSecond;
    this.#burst = perSecond * 2;
    this.#policy = `"${name}";q=${this.#burst};w=${Math.ceil(this.#burst / perSecond)}`;
  }

  take(id: string, nowMs: number): Taken {
    const [burst, perSecond] = [this.#burst, this.#perSecond];
    let bucket = this.#buckets.get(id);
    if (!bucket) {
      // A bucket that is not there is a full one, so forgetting them all is harmless.
      if (this.#buckets.size >= bucketsMax) this.#buckets.clear();
      bucket = { tokens: burst, at: nowMs };
      this.#buckets.set(id, bucket);
    }
    const elapsedMs = Math.max(0, nowMs - bucket.at);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * perSecond) / 1000);
    bucket.at = nowMs;
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    const secondsToFull = Math.ceil((burst - bucket.tokens) / perSecond);
    const headers = {
      'RateLimit-Policy': this.#policy,
      RateLimit: `"${this.#name}";r=${Math.floor(bucket.tokens)};t=${secondsToFull}`,
    };
    if (isAllowed) return { headers, refusal: undefined };
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
    return { headers, refusal: refuse('rate_limited', { retryAfterSeconds }) };
  }
}
