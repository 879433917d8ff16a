import { type Refusal, refuse } from '../kernel/errors.ts';
import { TokenBucket } from '../kernel/token-bucket.ts';

/**
 * Token buckets with `requestsPerSecond` tokens per second and a burst of twice as many. Each key and each person has one
 * bucket, and each application has one for all of its keys. Every node counts separately. The headers are those of the IETF
 * draft "RateLimit header fields for HTTP".
 */
export interface RateLimiter {
  /** Takes one token from the key or person and one from its application. The headers show the state afterwards. */
  take(holderId: string, nowMs: number, applicationId?: string): RateLimitResult;
}

export interface RateLimitResult {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Refusal | undefined;
}

const bucketsMax = 100_000;
/** The rate of an application, as a multiple of the rate of one key. */
export const applicationFactor = 5;

export function createRateLimiter(requestsPerSecond: number): RateLimiter {
  const holders = new Buckets('default', requestsPerSecond);
  const applications = new Buckets('application', requestsPerSecond * applicationFactor);
  return {
    take: (holderId, nowMs, applicationId) => {
      const ofHolder = holders.take(holderId, nowMs);
      if (ofHolder.refusal || applicationId === undefined) return ofHolder;
      const ofApplication = applications.take(applicationId, nowMs);
      return ofApplication.refusal ? ofApplication : ofHolder;
    },
  };
}

class Buckets {
  readonly #buckets = new Map<string, TokenBucket>();
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

  take(id: string, nowMs: number): RateLimitResult {
    const bucket = this.#bucketOf(id);
    const isAllowed = bucket.take(nowMs);
    const headers = {
      'RateLimit-Policy': this.#policy,
      RateLimit: `"${this.#name}";r=${Math.floor(bucket.tokens)};t=${bucket.secondsUntil(this.#burst)}`,
    };
    if (isAllowed) return { headers, refusal: undefined };
    const retryAfterSeconds = Math.max(1, bucket.secondsUntil(1));
    return { headers, refusal: refuse('rate_limited', { retryAfterSeconds }) };
  }

  #bucketOf(id: string): TokenBucket {
    const existing = this.#buckets.get(id);
    if (existing) return existing;
    // A missing bucket is a full one, so clearing the map is harmless.
    if (this.#buckets.size >= bucketsMax) this.#buckets.clear();
    const bucket = new TokenBucket(this.#perSecond, this.#burst);
    this.#buckets.set(id, bucket);
    return bucket;
  }
}
