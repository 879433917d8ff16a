import { isBusyRefusal, isWorthRetrying, retryAfterMs, waitBefore } from './backoff.ts';
import { ConnectionError, errorOf, SandbankError, TimeoutError } from './errors.ts';
import type { CallOptions } from './operation.ts';
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
  /** The caller reads on when the call is over, and the signal still ends that. */
  readonly isReadOn?: boolean;
  /** Sent again after a 503 with `Retry-After`, by which the server says that it has not begun. */
  readonly isRetriedWhenBusy?: boolean;
}

/** What is known of an answer beside its body. */
export interface ResponseFacts {
  readonly status: number;
  readonly headers: Headers;
  readonly requestId: string | undefined;
  /** Whether the server had this answer already: an earlier request with the same key was carried out. */
  readonly isReplay: boolean;
  /** How many times the request was sent. */
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;
}

const facts = new WeakMap<object, ResponseFacts>();

/** What is known of the answer that the client has given: its status, its headers, whether it was a replay. */
export function responseOf(answer: object): ResponseFacts | undefined {
  return facts.get(answer);
}

/** Sends requests, and sends them again when that can help. Everything that is thrown is a SandbankError, or the reason of the caller's own signal. */
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

  /** The answer as soon as it has begun. The time that is allowed for an attempt ends there; the signal goes on. */
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
    const { retriesMax: usual, sleep, random, onRetry } = this.#connection;
    const retriesMax = atLeast(0, options.retriesMax, 'retriesMax') ?? usual;
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
    { signal, timeoutMs: asked, headers }: CallOptions,
    attempts: number,
    read: (response: Response) => Promise<T>,
  ): Promise<SandbankError | (ResponseFacts & { readonly value: T })> {
    const { fetch, baseUrl, timeoutMs: usual } = this.#connection;
    const timeoutMs = atLeast(1, asked, 'timeoutMs') ?? usual;
    const controller = new AbortController();
    const late = new TimeoutError({
      code: 'timed_out',
      message: `${baseUrl} gave no answer within ${timeoutMs} ms.`,
      retryable: true,
      attempts,
    });
    const timer = setTimeout(() => controller.abort(late), timeoutMs);
    const stop = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const url = `${baseUrl}${outgoing.path}${queryText(outgoing.query)}`;
      const response = await fetch(url, { ...this.#init(outgoing, headers), signal: controller.signal });
      const requestId = response.headers.get('request-id') ?? undefined;
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
        idempotencyKey: outgoing.idempotencyKey,
      };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (controller.signal.aborted) return late;
      return new ConnectionError({
        code: 'connection_failed',
        message: lost(baseUrl, error),
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
      // Platforms want to be told that the answer is not read while the body is still sent.
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    } as RequestInit;
  }
}

/** Fields without a value are left out, dates are written as text, and a list is its name once for each value. */
export function queryText(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, given]) =>
    (Array.isArray(given) ? (given as unknown[]) : [given]).flatMap((value) => {
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
    // Said below.
  }
  const message = `The answer of ${url} is not JSON. Is that the address of a Sandbank server?`;
  throw new SandbankError({ code: 'unreadable_answer', message, status, requestId, attempts });
}

function lost(baseUrl: string, error: unknown): string {
  const { code, message } = ((error as { cause?: unknown })?.cause ?? error ?? {}) as {
    code?: string;
    message?: string;
  };
  const advice =
    code === 'ECONNREFUSED' ? ' Nothing listens there: start the server, or set SANDBANK_URL.' : '';
  return `The connection to ${baseUrl} failed: ${[code, message].filter(Boolean).join(', ')}.${advice}`;
}
