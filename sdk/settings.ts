import { sleep } from './backoff.ts';
import type { SandbankError } from './errors.ts';

export interface ConnectionOptions {
  /** How long one attempt may take; 30,000 unless told. */
  readonly timeoutMs?: number | undefined;
  /** How many attempts may follow the first one; 3 unless told, 0 for none. */
  readonly retriesMax?: number | undefined;
  /** Another `fetch` than the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Told before each retry. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** How to wait before a retry. For tests that do not want to. */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** Between 0 and 1: where in its span a wait falls. */
  readonly random?: (() => number) | undefined;
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
  const given = url ?? fromEnvironment('SANDBANK_URL') ?? urlDefault;
  if (!/^https?:\/\/[^/]/.test(given) || !URL.canParse(given))
    throw new TypeError(`The address of the server is not one: ${given}. It looks like ${urlDefault}.`);
  return {
    baseUrl: given.replace(/\/+$/, ''),
    timeoutMs: atLeast(1, options.timeoutMs, 'timeoutMs') ?? timeoutMsDefault,
    retriesMax: atLeast(0, options.retriesMax, 'retriesMax') ?? retriesMaxDefault,
    // Bound to nothing: some platforms refuse to be called as a method of something else.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    headers: { ...headers, ...options.headers },
    onRetry: options.onRetry ?? (() => undefined),
    sleep: options.sleep ?? sleep,
    random: options.random ?? Math.random,
  };
}

export function atLeast(least: number, value: number | undefined, name: string): number | undefined {
  if (value === undefined || (Number.isFinite(value) && value >= least)) return value;
  throw new RangeError(`${name} must be a number of at least ${least}, and is ${value}.`);
}

let isOldNameReported = false;

/** The variable had another name in 0.1.0. */
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

/** Workers and browsers have no environment, and Deno may forbid to read it. */
export function fromEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}
