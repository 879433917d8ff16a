import {
  ConflictError,
  ConnectionError,
  RateLimitError,
  type SandbankError,
  ServerError,
  TimeoutError,
} from './errors.ts';

const firstWaitMs = 250;
const waitMsMax = 8_000;
/** A longer `Retry-After` is not waited for: the caller gets the error and decides. */
const retryAfterMsMax = 60_000;

/**
 * Whether the request may be sent again. A request that may have been executed is repeated only if that is safe: a read, or a
 * write with an idempotency key, which the server answers with the stored response.
 */
export function isWorthRetrying(error: SandbankError, isRepeatable: boolean): boolean {
  if ((error.retryAfterMs ?? 0) > retryAfterMsMax) return false;
  if (error instanceof RateLimitError) return true;
  if (error instanceof ConflictError) return error.code === 'idempotency_in_progress';
  if (error instanceof ServerError) return isRepeatable && [500, 502, 503, 504].includes(error.status ?? 0);
  return isRepeatable && (error instanceof ConnectionError || error instanceof TimeoutError);
}

/** The server is busy and sent `Retry-After`. */
export function isBusyRefusal(error: SandbankError): boolean {
  return error instanceof ServerError && error.status === 503 && error.retryAfterMs !== undefined;
}

/** Exponential backoff with full jitter, so that callers that failed together do not retry together. `Retry-After` overrides it. */
export function waitBefore(retry: number, error: SandbankError, random: () => number): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  return Math.round(random() * Math.min(waitMsMax, firstWaitMs * 2 ** (retry - 1)));
}

/** Seconds, or a date. */
export function retryAfterMs(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Rejects with the signal's reason if it is aborted first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}
