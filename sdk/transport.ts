import { isBusyRefusal, isWorthRetrying, retryAfterMs, waitBefore } from './backoff.ts';
import { ConnectionError, errorOf, SandbankError, TimeoutError } from './errors.ts';
import { type CallOptions, callOptionNames } from './operation.ts';
import { rejectUnknownOptions } from './options.ts';
import { atLeast, type Connection } from './settings.ts';

export type Query = Readonly<Record<string, unknown>>;

export interface Outgoing {
  readonly verb: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Query | undefined;
  readonly accept: string;
  readonly contentType?: string;
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array> | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller reads the body after the call has returned; the signal still aborts it. */
  readonly isReadOn?: boolean;
  /** Sent again after a 503 with `Retry-After`: the server has not started to process it. */
  readonly isRetriedWhenBusy?: boolean;
  /** The options that this call takes, if there are more than `CallOptions`. */
  readonly optionNames?: Readonly<Record<string, true>>;
}

/** The metadata of a response. */
export interface ResponseFacts {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /** Whether the server returned the stored response of an earlier request with the same idempotency key. */
  readonly isReplay: boolean;
  /** How many times the request was sent. */
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;
}

const facts = new WeakMap<object, ResponseFacts>();

/** The metadata of a response that the client returned: its status, its headers, whether it was a replay. */
export function responseOf(body: object): ResponseFacts | undefined {
  return facts.get(body);
}

/** Sends requests and retries them. It throws a SandbankError, or the reason of the caller's own signal. */
export class Transport {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get connection(): Connection {
    return this.#connection;
  }

  async json<T extends object>(outgoing: Outgoing, options: CallOptions = {}): Promise<T> {
    const { value, ...known } = await this.send(outgoing, options, (response) => response.text());
    const body = parse(value, `${this.#connection.baseUrl}${outgoing.path}`, known) as T;
    facts.set(body, known);
    return body;
  }

  async text(outgoing: Outgoing, options: CallOptions = {}): Promise<string> {
    return (await this.send(outgoing, options, (response) => response.text())).value;
  }

  /** Returns the response without reading its body. The timeout covers the headers only; the signal covers the body too. */
  async open(outgoing: Outgoing, options: CallOptions = {}): Promise<Response> {
    return (
      await this.send({ ...outgoing, isReadOn: true }, options, (response) => Promise.resolve(response))
    ).value;
  }

  async send<T>(
    outgoing: Outgoing,
    options: CallOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<ResponseFacts & { readonly value: T }> {
    const { retriesMax: retriesMaxDefault, sleep, random, onRetry } = this.#connection;
    const known = outgoing.optionNames ?? callOptionNames;
    rejectUnknownOptions(`${outgoing.verb} ${outgoing.path}`, options, known);
    const retriesMax = atLeast(0, options.retriesMax, 'retriesMax') ?? retriesMaxDefault;
    const { verb, path, idempotencyKey, body } = outgoing;
    // A stream can be read once.
    const isRepeatable =
      !(body instanceof ReadableStream) && (verb === 'GET' || idempotencyKey !== undefined);
    for (let attempt = 1; ; attempt += 1) {
      options.signal?.throwIfAborted();
      const outcome = await this.#attempt(outgoing, options, attempt, read);
      if (!(outcome instanceof SandbankError)) return outcome;
      const isBusy = outgoing.isRetriedWhenBusy === true && isBusyRefusal(outcome);
      if (attempt > retriesMax || !isWorthRetrying(outcome, isRepeatable || isBusy)) throw outcome;
      const waitMs = waitBefore(attempt, outcome, random);
      onRetry({ retry: attempt, waitMs, error: outcome, method: verb, path, idempotencyKey });
      await sleep(waitMs, options.signal);
    }
  }

  async #attempt<T>(
    outgoing: Outgoing,
    { signal, timeoutMs: requestedMs, headers }: CallOptions,
    attempts: number,
    read: (response: Response) => Promise<T>,
  ): Promise<SandbankError | (ResponseFacts & { readonly value: T })> {
    const { fetch, baseUrl, timeoutMs: defaultMs, onRequest, onResponse } = this.#connection;
    const timeoutMs = atLeast(1, requestedMs, 'timeoutMs') ?? defaultMs;
    const { verb: method, path, idempotencyKey } = outgoing;
    const sent = { method, path, attempt: attempts, idempotencyKey };
    const added = onRequest(sent);
    const startedAt = performance.now();
    let isInHook = false;
    const controller = new AbortController();
    const late = new TimeoutError({
      code: 'timed_out',
      message: `${baseUrl} did not respond within ${timeoutMs} ms.`,
      retryable: true,
      attempts,
    });
    const timer = setTimeout(() => controller.abort(late), timeoutMs);
    const stop = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const url = `${baseUrl}${path}${queryText(outgoing.query)}`;
      const init = this.#init(outgoing, { ...added, ...headers });
      const response = await fetch(url, { ...init, signal: controller.signal });
      const requestId = response.headers.get('request-id') ?? undefined;
      isInHook = true;
      onResponse({
        ...sent,
        status: response.status,
        headers: response.headers,
        requestId,
        durationMs: performance.now() - startedAt,
      });
      isInHook = false;
      const isReplay = response.headers.get('idempotent-replayed') === 'true';
      if (!response.ok) {
        const text = await response.text();
        const pause = retryAfterMs(response.headers.get('retry-after'));
        return errorOf(
          { status: response.status, text },
          { requestId, isReplay, attempts, retryAfterMs: pause, baseUrl },
        );
      }
      const value = await read(response);
      const { status, headers: received } = response;
      return {
        value,
        status,
        headers: received,
        requestId,
        isReplay,
        attempts,
        idempotencyKey,
      };
    } catch (error) {
      // An error in the caller's hook is not a failed connection.
      if (isInHook) throw error;
      if (signal?.aborted) throw signal.reason;
      if (controller.signal.aborted) return late;
      return new ConnectionError({
        code: 'connection_failed',
        message: connectionMessage(baseUrl, error),
        retryable: true,
        attempts,
        cause: error,
      });
    } finally {
      clearTimeout(timer);
      if (!outgoing.isReadOn) signal?.removeEventListener('abort', stop);
    }
  }

  #init(outgoing: Outgoing, headers: CallOptions['headers']): RequestInit {
    const { verb, accept, body, contentType = 'application/json', idempotencyKey } = outgoing;
    return {
      method: verb,
      headers: {
        Accept: accept,
        ...(body === undefined ? {} : { 'Content-Type': contentType }),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...this.#connection.headers,
        ...outgoing.headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: body as RequestInit['body'] }),
      // The fetch standard requires this for a body that is a stream.
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    } as RequestInit;
  }
}

/** Omits fields without a value, writes dates as ISO 8601, and repeats the name for each value of a list. */
function queryText(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    (Array.isArray(values) ? (values as unknown[]) : [values]).flatMap((value) => {
      if (value === undefined || value === null) return [];
      const text = value instanceof Date ? value.toISOString() : String(value);
      return [`${encodeURIComponent(name)}=${encodeURIComponent(text)}`];
    }),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function parse(
  text: string,
  url: string,
  { status, requestId, attempts }: Omit<ResponseFacts, 'value'>,
): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  const message = `The response of ${url} is not JSON. Check that this is the address of a Sandbank server.`;
  throw new SandbankError({ code: 'unreadable_answer', message, status, requestId, attempts });
}

function connectionMessage(baseUrl: string, error: unknown): string {
  const { code, message } = ((error as { cause?: unknown })?.cause ?? error ?? {}) as {
    code?: string;
    message?: string;
  };
  const advice =
    code === 'ECONNREFUSED' ? ' Nothing listens there: start the server, or set SANDBANK_URL.' : '';
  return `The connection to ${baseUrl} failed: ${[code, message].filter(Boolean).join(', ')}.${advice}`;
}
