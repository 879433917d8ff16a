import { sleep } from './backoff.ts';
import type { SandbankError } from './errors.ts';
import type { OptionNames } from './options.ts';

export interface ConnectionOptions {
  /** How long one attempt may take; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** How many attempts may follow the first one; 3 by default, 0 for none. */
  readonly retriesMax?: number | undefined;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called before each attempt. May return headers to add to it, such as `traceparent`. */
  readonly onRequest?: ((request: SentRequest) => Readonly<Record<string, string>> | undefined) | undefined;
  /** Called for each response, also for errors, before its body is read. */
  readonly onResponse?: ((response: ReceivedResponse) => void) | undefined;
  /** Called before each retry. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Waits before a retry. Replace it in tests that must not wait. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** Returns a number between 0 and 1, which selects a wait within the backoff. */
  readonly random?: (() => number) | undefined;
}

export const connectionOptionNames: OptionNames<ConnectionOptions> = {
  timeoutMs: true,
  retriesMax: true,
  fetch: true,
  headers: true,
  onRequest: true,
  onResponse: true,
  onRetry: true,
  sleep: true,
  random: true,
};

/** One attempt of a call. It has no credentials, so that it can be logged. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly idempotencyKey: string | undefined;
}

export interface ReceivedResponse extends SentRequest {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /** From the start of the attempt to the response headers. */
  readonly durationMs: number;
}

export interface Retry {
  /** 1 for the first retry, which is the second attempt. */
  readonly retry: number;
  readonly waitMs: number;
  readonly error: SandbankError;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
}

export interface Connection {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly retriesMax: number;
  readonly fetch: typeof globalThis.fetch;
  readonly headers: Readonly<Record<string, string>>;
  readonly onRequest: (request: SentRequest) => Readonly<Record<string, string>> | undefined;
  readonly onResponse: (response: ReceivedResponse) => void;
  readonly onRetry: (retry: Retry) => void;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

const timeoutMsDefault = 30_000;
const retriesMaxDefault = 3;
const urlDefault = 'http://127.0.0.1:4000';

export function connectionTo(
  url: string | undefined,
  options: ConnectionOptions,
  headers: Readonly<Record<string, string>>,
): Connection {
  const serverUrl = url ?? fromEnvironment('SANDBANK_URL') ?? urlDefault;
  if (!/^https?:\/\/[^/]/.test(serverUrl) || !URL.canParse(serverUrl))
    throw new TypeError(`${serverUrl} is not a server address. Pass one such as ${urlDefault}.`);
  return {
    baseUrl: serverUrl.replace(/\/+$/, ''),
    timeoutMs: atLeast(1, options.timeoutMs, 'timeoutMs') ?? timeoutMsDefault,
    retriesMax: atLeast(0, options.retriesMax, 'retriesMax') ?? retriesMaxDefault,
    // Some platforms reject a `fetch` that is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    headers: { ...headers, ...options.headers },
    onRequest: options.onRequest ?? (() => undefined),
    onResponse: options.onResponse ?? (() => undefined),
    onRetry: options.onRetry ?? (() => undefined),
    sleep: options.sleep ?? sleep,
    random: options.random ?? Math.random,
  };
}

export function atLeast(least: number, value: number | undefined, name: string): number | undefined {
  if (value === undefined || (Number.isFinite(value) && value >= least)) return value;
  throw new RangeError(`${name} must be at least ${least}; it is ${value}.`);
}

let isOldNameReported = false;

/** The variable was called SANDBANK_KEY in 0.1.0. */
export function apiKeyFromEnvironment(): string | undefined {
  const apiKey = fromEnvironment('SANDBANK_API_KEY');
  if (apiKey !== undefined) return apiKey;
  const old = fromEnvironment('SANDBANK_KEY');
  if (old !== undefined && !isOldNameReported) {
    isOldNameReported = true;
    console.warn(oldNameHint);
  }
  return old;
}

export const oldNameHint = 'SANDBANK_KEY is the old name of SANDBANK_API_KEY. Set SANDBANK_API_KEY instead.';

/** Workers and browsers have no environment variables, and Deno may deny access to them. */
export function fromEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}
