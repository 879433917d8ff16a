import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { limits } from '../kernel/limits.ts';
import { type AddressGuard, AddressRefused } from './address-guard.ts';
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

/**
 * Sends one request, with bounded time and memory whatever the receiver does: the timeout covers everything from the DNS lookup
 * to the last byte, and only the first 16 KiB of the response are read. Redirects are not followed, so every connection goes to
 * an address that the guard has checked.
 */
export class Sender {
  readonly #guard: AddressGuard;
  readonly #agent: Agent;
  readonly #open = new Set<AbortController>();
  #isStopped = false;

  constructor(guard: AddressGuard) {
    this.#guard = guard;
    this.#agent = new Agent({
      connect: { lookup: guard.lookup, timeout: limits.webhookTimeoutMs },
      headersTimeout: limits.webhookTimeoutMs,
      bodyTimeout: limits.webhookTimeoutMs,
      maxHeaderSize: headerBytesMax,
    });
  }

  /** Undefined when `stop` aborted the request: its outcome is unknown. */
  async send(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | Readable | null,
    wallClock: () => number,
    {
      method = 'POST',
      timeoutMs = limits.webhookTimeoutMs,
      closesConnection = false,
      signal,
    }: SendOptions = {},
  ): Promise<Outcome | undefined> {
    const startedAt = performance.now();
    const elapsedMs = () => Math.round(performance.now() - startedAt);
    const noResponse = {
      responseStatus: null,
      responseHeaders: null,
      responseBody: null,
      retryAfterSeconds: 0,
    };
    // The connection checks host names when it resolves them. A literal IP address is never resolved, so it is checked here.
    const problem = this.#guard.problemAsWritten(url);
    if (problem !== null) return { ...noResponse, durationMs: elapsedMs(), error: problem };
    const controller = new AbortController();
    let isTimedOut = false;
    const timer = setTimeout(() => {
      isTimedOut = true;
      controller.abort();
    }, timeoutMs);
    const abortSignal = signal ? AbortSignal.any([controller.signal, signal]) : controller.signal;
    this.#open.add(controller);
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        method,
        headers,
        body,
        reset: closesConnection,
        signal: abortSignal,
      });
      const { statusCode } = response;
      const responseHeaders = textHeaders(response.headers);
      const responseBody = await firstBytes(response.body, limits.webhookResponseBytesMax);
      if (this.#isStopped) return undefined;
      return {
        responseStatus: statusCode,
        responseHeaders,
        responseBody,
        durationMs: elapsedMs(),
        error: problemOfStatus(statusCode),
        retryAfterSeconds: retryAfterOf(responseHeaders['retry-after'], responseHeaders.date, wallClock()),
      };
    } catch (error) {
      if (this.#isStopped) return undefined;
      return {
        ...noResponse,
        durationMs: elapsedMs(),
        error: isTimedOut ? timeoutMessage(timeoutMs) : connectionErrorMessage(error, url),
      };
    } finally {
      clearTimeout(timer);
      this.#open.delete(controller);
    }
  }

  /** Aborts the in-flight requests. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const controller of this.#open) controller.abort();
    await this.#agent.destroy();
  }
}

const timeoutMessage = (ms: number = limits.webhookTimeoutMs) =>
  `Timeout: no answer within ${Math.round(ms / 1_000)} seconds.`;

function problemOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `Status ${status}: redirects are not followed.`;
  if (status === 410) return 'Status 410: the receiver is gone, so the endpoint was disabled.';
  return `Status ${status}: only 2xx counts as delivered.`;
}

/** The start of a body as text that a database can store. Stops reading an endless response when there is enough of it. */
async function firstBytes(
  body: AsyncIterable<Buffer> & { destroy(): unknown },
  bytesMax: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= bytesMax) break;
    }
  } catch {
    // The status has arrived and decides the outcome, so an incomplete body does not matter.
  }
  body.destroy();
  const text = Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8');
  return text.replaceAll('\u0000', '\ufffd').toWellFormed();
}

function textHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      [value ?? []].flat().join(', ').replaceAll('\u0000', '\ufffd').toWellFormed(),
    ]),
  );
}

const messagesByCode: Readonly<Record<string, (host: string) => string>> = {
  ECONNREFUSED: (host) => `Connection refused: nothing listens at ${host}.`,
  EHOSTUNREACH: (host) => `Network: there is no route to ${host}.`,
  ENETUNREACH: (host) => `Network: there is no route to ${host}.`,
  ETIMEDOUT: () => timeoutMessage(),
  UND_ERR_CONNECT_TIMEOUT: () => timeoutMessage(),
  UND_ERR_HEADERS_TIMEOUT: () => timeoutMessage(),
  UND_ERR_BODY_TIMEOUT: () => timeoutMessage(),
  ECONNRESET: () => 'Connection closed: the receiver sent no response.',
  EPIPE: () => 'Connection closed: the receiver sent no response.',
  UND_ERR_SOCKET: () => 'Connection closed: the receiver sent no response.',
  UND_ERR_HEADERS_OVERFLOW: () => `Answer: its headers are larger than ${headerBytesMax} bytes.`,
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
        ? `DNS: the name ${hostname} was not found.`
        : `DNS: the name ${hostname} could not be resolved. The name server may be unavailable.`;
    const message = messagesByCode[code];
    if (message) return message(host);
    if (invalidResponses.has(name) || invalidResponses.has(code)) return `Answer: it is not HTTP (${line}).`;
    if (isTls(code, text)) return `TLS: ${line.trim()}.`;
    // The message contains addresses, including the local one of this machine.
    if (syscall === 'connect') return `Connection failed: ${code}.`;
  }
  return `Connection failed: ${causes.at(-1)?.message.split('\n')[0] ?? 'unknown reason'}.`;
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
