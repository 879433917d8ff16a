import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { assert } from '../kernel/assert.ts';
import { attemptError, statusError } from '../kernel/attempt-errors.ts';
import { type Id, isId } from '../kernel/ids.ts';
import { limits } from '../kernel/limits.ts';
import { type AddressGuard, AddressRefused } from './address-guard.ts';
import { Exchange, type ReceivedResponse } from './exchange.ts';
import { retryAfterOf } from './retry.ts';

/** The outcome of one request to a receiver. */
export interface Outcome {
  readonly responseStatus: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** The first 16 KiB. */
  readonly responseBody: string | null;
  readonly durationMs: number;
  /** Null when the receiver answered 2xx. */
  readonly error: string | null;
  readonly retryAfterSeconds: number;
}

/** Options that an examination sets and a delivery does not. */
export interface SendOptions {
  readonly method?: 'POST' | 'GET';
  /** Shorter than the delivery timeout. */
  readonly timeoutMs?: number;
  /** Closes the connection after the response instead of reusing it. */
  readonly closesConnection?: boolean;
  readonly signal?: AbortSignal;
}

const headerBytesMax = 16 * 1024;
/** URLs whose parts are cached: a delivery parsed its URL six times, at 1 µs each. */
const targetsMax = 1_000;

/**
 * The receiver of a request. An inbox is at this server: only its id decides where the request goes, so that its URL cannot lead to
 * another path of the server, and a new public URL changes nothing.
 */
export type ReceiverAddress =
  | { readonly url: string; readonly isInbox?: false }
  | { readonly url: string; readonly isInbox: true; readonly webhookId: Id<'webhook'> };

/** Where a URL leads, or why this server does not send there. */
interface Target {
  /** Undefined for an inbox, because the address of this server is known only once it listens. */
  readonly origin: string | undefined;
  readonly path: string;
  readonly problem: string | null;
}

const noResponse = {
  responseStatus: null,
  responseHeaders: null,
  responseBody: null,
  retryAfterSeconds: 0,
} as const;

/**
 * Sends one request, with bounded time and memory whatever the receiver does: the timeout covers everything from the DNS lookup
 * to the last byte, and only the first 16 KiB of the response are read. Redirects are not followed, so every connection goes to
 * an address that the guard has checked.
 *
 * Requests to inboxes go to this process itself, at an address that the guard may refuse. They have their own connections, which
 * carry nothing else. They wait until the server listens; once it stops listening they are not sent any more.
 */
export class Sender {
  readonly #guard: AddressGuard;
  readonly #agent: Agent;
  readonly #inboxAgent = new Agent(agentOptions);
  readonly #ownOrigin: Promise<string>;
  #onListening: (origin: string) => void = () => undefined;
  #isListening = true;
  readonly #open = new Set<Exchange>();
  readonly #targets = new Map<string, Target>();
  #isStopped = false;

  constructor(guard: AddressGuard) {
    this.#guard = guard;
    this.#agent = new Agent({
      ...agentOptions,
      connect: { lookup: guard.lookup, timeout: limits.webhookTimeoutMs },
    });
    this.#ownOrigin = new Promise((resolve) => {
      this.#onListening = resolve;
    });
  }

  /** The server listens: inboxes are at this origin. */
  openInboxes(origin: string): void {
    this.#onListening(origin);
  }

  /** The server is about to stop listening. Requests to inboxes remain unsent until `stop`. */
  closeInboxes(): void {
    this.#isListening = false;
  }

  /** Undefined when `stop` aborted the request: its outcome is unknown. */
  async send(
    receiver: ReceiverAddress,
    headers: Readonly<Record<string, string>>,
    body: string | Readable | null,
    wallClock: () => number,
    options: SendOptions = {},
  ): Promise<Outcome | undefined> {
    const startedAt = performance.now();
    const { url } = receiver;
    const target = receiver.isInbox ? inboxTarget(receiver.webhookId) : this.#targetOf(url);
    if (target.problem !== null) return { ...noResponse, durationMs: 0, error: target.problem };
    try {
      const response = await this.#exchange(target, headers, body, options);
      if (this.#isStopped) return undefined;
      return {
        responseStatus: response.status,
        responseHeaders: response.headers,
        responseBody: response.body,
        durationMs: Math.round(performance.now() - startedAt),
        error: problemOfStatus(response.status),
        retryAfterSeconds: retryAfterOf(response.headers['retry-after'], response.headers.date, wallClock()),
      };
    } catch (error) {
      if (this.#isStopped) return undefined;
      return {
        ...noResponse,
        durationMs: Math.round(performance.now() - startedAt),
        error: error instanceof TimedOut ? error.message : connectionErrorMessage(error, url),
      };
    }
  }

  #exchange(
    { origin, path }: Target,
    headers: Readonly<Record<string, string>>,
    body: string | Readable | null,
    { method = 'POST', timeoutMs = limits.webhookTimeoutMs, closesConnection = false, signal }: SendOptions,
  ): Promise<ReceivedResponse> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(
        body,
        limits.webhookResponseBytesMax,
        (response) => {
          end();
          resolve(response);
        },
        (error) => {
          end();
          reject(error);
        },
      );
      const timer = setTimeout(() => exchange.abort(new TimedOut(timeoutMessage(timeoutMs))), timeoutMs);
      const onAbort = () => exchange.abort(signal?.reason);
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        this.#open.delete(exchange);
      };
      this.#open.add(exchange);
      // An examination sends many requests at once with one signal.
      if (signal) setMaxListeners(0, signal);
      signal?.addEventListener('abort', onAbort);
      if (signal?.aborted) return onAbort();
      const request = { path, method, headers, body, reset: closesConnection };
      if (origin !== undefined) this.#agent.dispatch({ ...request, origin }, exchange);
      else
        void this.#ownOrigin.then((own) => {
          if (!this.#open.has(exchange)) return;
          if (this.#isListening) this.#inboxAgent.dispatch({ ...request, origin: own }, exchange);
          // Nothing is sent, so nothing can time out: `stop` ends it.
          else clearTimeout(timer);
        });
    });
  }

  /**
   * The connection checks host names when it resolves them. A literal IP address is never resolved, so it is checked here. Both
   * depend on nothing but the URL.
   */
  #targetOf(url: string): Target {
    const cached = this.#targets.get(url);
    if (cached) return cached;
    const problem = this.#guard.problemAsWritten(url);
    const { origin, pathname, search } = new URL(problem === null ? url : 'http://refused.invalid');
    const target = { origin, path: `${pathname}${search}`, problem };
    if (this.#targets.size >= targetsMax) this.#targets.clear();
    this.#targets.set(url, target);
    return target;
  }

  /** Aborts the in-flight requests. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const exchange of this.#open) exchange.abort(new Error('The sender has stopped.'));
    await Promise.all([this.#agent.destroy(), this.#inboxAgent.destroy()]);
  }
}

/** The timer of `send` covers connection, headers and body. */
const agentOptions = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: headerBytesMax } as const;

function inboxTarget(webhookId: Id<'webhook'>): Target {
  assert(isId('webhook', webhookId), 'an inbox is named by the id of its webhook');
  return { origin: undefined, path: `/inbox/${webhookId}`, problem: null };
}

class TimedOut extends Error {}

const timeoutMessage = (ms: number = limits.webhookTimeoutMs) =>
  attemptError('timeout', `no response within ${Math.round(ms / 1_000)} seconds.`);

function problemOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return statusError(status, 'redirects are not followed.');
  if (status === 410) return statusError(status, 'the receiver is gone, so the endpoint was disabled.');
  return statusError(status, 'only 2xx counts as delivered.');
}

const messagesByCode: Readonly<Record<string, (host: string) => string>> = {
  ECONNREFUSED: (host) => attemptError('connectionRefused', `nothing listens at ${host}.`),
  EHOSTUNREACH: (host) => attemptError('network', `there is no route to ${host}.`),
  ENETUNREACH: (host) => attemptError('network', `there is no route to ${host}.`),
  ETIMEDOUT: () => timeoutMessage(),
  UND_ERR_CONNECT_TIMEOUT: () => timeoutMessage(),
  UND_ERR_HEADERS_TIMEOUT: () => timeoutMessage(),
  UND_ERR_BODY_TIMEOUT: () => timeoutMessage(),
  ECONNRESET: () => attemptError('connectionClosed', 'the receiver sent no response.'),
  EPIPE: () => attemptError('connectionClosed', 'the receiver sent no response.'),
  UND_ERR_SOCKET: () => attemptError('connectionClosed', 'the receiver sent no response.'),
  UND_ERR_HEADERS_OVERFLOW: () =>
    attemptError('response', `its headers are larger than ${headerBytesMax} bytes.`),
};

/** The message for a request that failed before a status arrived. Its prefix names the area to check. */
function connectionErrorMessage(error: unknown, url: string): string {
  const causes = causesOf(error);
  const refused = causes.find((cause) => cause instanceof AddressRefused);
  if (refused) return refused.message;
  const { host, hostname } = new URL(url);
  for (const { code = '', message: text, name, syscall, reason } of causes) {
    // Some messages have further lines that only help a developer of Node.
    const [line = ''] = (reason ?? text).split('\n');
    if (syscall === 'getaddrinfo' || syscall?.startsWith('query'))
      return code === 'ENOTFOUND'
        ? attemptError('dns', `the name ${hostname} was not found.`)
        : attemptError(
            'dns',
            `the name ${hostname} could not be resolved. The name server may be unavailable.`,
          );
    const message = messagesByCode[code];
    if (message) return message(host);
    if (invalidResponses.has(name) || invalidResponses.has(code))
      return attemptError('response', `it is not valid HTTP (${line}).`);
    if (isTls(code, text)) return attemptError('tls', `${line.trim()}.`);
    // The message contains addresses, including the local one of this machine.
    if (syscall === 'connect') return attemptError('connectionFailed', `${code}.`);
  }
  return attemptError('connectionFailed', `${causes.at(-1)?.message.split('\n')[0] ?? 'unknown reason'}.`);
}

/** Errors that undici reports for a response that is not valid HTTP: by name, and one by code. */
const invalidResponses: ReadonlySet<string> = new Set([
  'HTTPParserError',
  'AssertionError',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

type Cause = Error & {
  readonly code?: string;
  readonly syscall?: string;
  /** The reason that OpenSSL reports. */
  readonly reason?: string;
};

/** An error, its inner errors (one per attempted address) and its causes. */
function causesOf(error: unknown): readonly Cause[] {
  if (!(error instanceof Error)) return [];
  const inner = error instanceof AggregateError ? error.errors : [];
  return [error as Cause, ...inner.flatMap(causesOf), ...causesOf(error.cause)];
}

function isTls(code: string, message: string): boolean {
  return (
    code === 'EPROTO' || /CERT|TLS|SSL|SIGNATURE|ISSUER|CRL/.test(code) || /\b(tls|ssl)\b/i.test(message)
  );
}
