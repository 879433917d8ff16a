import { type Refusal, refuse } from '../kernel/errors.ts';

/**
 * A token bucket for each key: `requestsPerSecond` flow in, twice as many fit. Each node counts for itself, by the wall
 * clock. The headers are those of the IETF draft "RateLimit header fields for HTTP".
 */
interface Bucket {
  tokens: number;
  at: number;
}

export interface RateLimiter {
  /** Takes one token; the headers tell the state after that. */
  take(
    keyId: string,
    nowMs: number,
  ): { readonly headers: Readonly<Record<string, string>>; readonly refusal: Refusal | undefined };
}

const bucketsMax = 100_000;

export function createRateLimiter(requestsPerSecond: number): RateLimiter {
  const burst = requestsPerSecond * 2;
  const policy = `"default";q=${burst};w=${Math.ceil(burst / requestsPerSecond)}`;
  const buckets = new Map<string, Bucket>();

  return {
    take: (keyId, nowMs) => {
      let bucket = buckets.get(keyId);
      if (!bucket) {
        // A bucket that is not there is a full one, so forgetting them all is harmless.
        if (buckets.size >= bucketsMax) buckets.clear();
        bucket = { tokens: burst, at: nowMs };
        buckets.set(keyId, bucket);
      }
      const elapsedMs = Math.max(0, nowMs - bucket.at);
      bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs * requestsPerSecond) / 1000);
      bucket.at = nowMs;
      const isAllowed = bucket.tokens >= 1;
      if (isAllowed) bucket.tokens -= 1;
      const secondsToFull = Math.ceil((burst - bucket.tokens) / requestsPerSecond);
      const headers = {
        'RateLimit-Policy': policy,
        RateLimit: `"default";r=${Math.floor(bucket.tokens)};t=${secondsToFull}`,
      };
      if (isAllowed) return { headers, refusal: undefined };
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / requestsPerSecond));
      return { headers, refusal: refuse('rate_limited', { retryAfterSeconds }) };
    },
  };
}
