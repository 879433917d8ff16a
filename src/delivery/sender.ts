import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { limits } from '../kernel/limits.ts';
import { retryAfterOf } from '../kernel/retry.ts';
import { type AddressGuard, AddressRefused } from './address-guard.ts';

/** What came of one request to a receiver. */
export interface Outcome {
  readonly responseStatus: number | null;
  readonly responseHeaders: Readonly<Record<string, string>> | null;
  /** The first 16 KiB. */
  readonly responseBody: string | null;
  readonly durationMs: number;
  /** Null when it was delivered. */
  readonly error: string | null;
  readonly retryAfterSeconds: number;
}

/** What an examination does otherwise than a delivery. */
export interface Manner {
  readonly method?: 'POST' | 'GET';
  /** Less than the limit. */
  readonly timeoutMs?: number;
  /** On a connection that is used for nothing else. */
  readonly isAlone?: boolean;
  readonly signal?: AbortSignal;
}

const headerBytesMax = 16 * 1024;

/**
 * Sends one request, within bounds of time and memory whatever the receiver does: it is waited for as long as the limit
 * says, from the look-up of its name to the last byte, and of its answer the first 16 KiB are read. Redirects are not
 * followed, so what the guard has looked at is all that is ever connected to.
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

  /** Undefined when it was cut short by `stop`: nobody knows then what became of it. */
  async send(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | Readable | null,
    wallClock: () => number,
    { method = 'POST', timeoutMs = limits.webhookTimeoutMs, isAlone = false, signal }: Manner = {},
  ): Promise<Outcome | undefined> {
    const startedAt = performance.now();
    const took = () => Math.round(performance.now() - startedAt);
    const nothing = { responseStatus: null, responseHeaders: null, responseBody: null, retryAfterSeconds: 0 };
    // A name is looked at by the connection; an address that is written out is not looked up at all.
    const problem = this.#guard.problemAsWritten(url);
    if (problem !== null) return { ...nothing, durationMs: took(), error: problem };
    const cut = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      cut.abort();
    }, timeoutMs);
    const signals = signal ? AbortSignal.any([cut.signal, signal]) : cut.signal;
    this.#open.add(cut);
    try {
      const response = await request(url, {
        dispatcher: this.#agent,
        method,
        headers,
        body,
        reset: isAlone,
        signal: signals,
      });
      const { statusCode } = response;
      const shown = textHeaders(response.headers);
      const responseBody = await firstBytes(response.body, limits.webhookResponseBytesMax);
      if (this.#isStopped) return undefined;
      return {
        responseStatus: statusCode,
        responseHeaders: shown,
        responseBody,
        durationMs: took(),
        error: problemOfStatus(statusCode),
        retryAfterSeconds: retryAfterOf(shown['retry-after'], shown.date, wallClock()),
      };
    } catch (error) {
      if (this.#isStopped) return undefined;
      return { ...nothing, durationMs: took(), error: isLate ? tooLate(timeoutMs) : plainWords(error, url) };
    } finally {
      clearTimeout(timer);
      this.#open.delete(cut);
    }
  }

  /** Cuts short what is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cut of this.#open) cut.abort();
    await this.#agent.destroy();
  }
}

const tooLate = (ms: number = limits.webhookTimeoutMs) =>
  `Timeout: no answer within ${Math.round(ms / 1_000)} seconds.`;

function problemOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `Status ${status}: redirects are not followed.`;
  if (status === 410) return 'Status 410: the receiver is gone, so the endpoint was disabled.';
  return `Status ${status}: only 2xx counts as delivered.`;
}

/** What a body begins with, as text that a database can keep. An answer that never ends is left when there is enough of it. */
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
    // The status has come, and that is what counts; the rest of the body did not.
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

const plain: Readonly<Record<string, (host: string) => string>> = {
  ECONNREFUSED: (host) => `Connection refused: nothing listens at ${host}.`,
  EHOSTUNREACH: (host) => `Network: there is no way to ${host}.`,
  ENETUNREACH: (host) => `Network: there is no way to ${host}.`,
  ETIMEDOUT: () => tooLate(),
  UND_ERR_CONNECT_TIMEOUT: () => tooLate(),
  UND_ERR_HEADERS_TIMEOUT: () => tooLate(),
  UND_ERR_BODY_TIMEOUT: () => tooLate(),
  ECONNRESET: () => 'Connection closed: it ended before an answer came.',
  EPIPE: () => 'Connection closed: it ended before an answer came.',
  UND_ERR_SOCKET: () => 'Connection closed: it ended before an answer came.',
  UND_ERR_HEADERS_OVERFLOW: () => `Answer: its headers are larger than ${headerBytesMax} bytes.`,
};

/** What went wrong before there was a status, in words that say where to look. */
function plainWords(error: unknown, url: string): string {
  const causes = causesOf(error);
  const refused = causes.find((cause) => cause instanceof AddressRefused);
  if (refused) return refused.message;
  const { host, hostname } = new URL(url);
  for (const { code = '', message, name, syscall, reason } of causes) {
    // Some messages go on for lines that only a developer of Node could use.
    const [line = ''] = (reason ?? message).split('\n');
    if (syscall === 'getaddrinfo' || syscall?.startsWith('query'))
      return code === 'ENOTFOUND'
        ? `DNS: the name ${hostname} is not known.`
        : `DNS: the name ${hostname} could not be looked up just now.`;
    const words = plain[code];
    if (words) return words(host);
    if (unreadable.has(name) || unreadable.has(code)) return `Answer: it is not HTTP (${line}).`;
    if (isTls(code, message)) return `TLS: ${line.trim()}.`;
    // Its message names addresses, also the local one of this machine.
    if (syscall === 'connect') return `Connection failed: ${code}.`;
  }
  return `Connection failed: ${causes.at(-1)?.message.split('\n')[0] ?? 'for a reason unknown'}.`;
}

/** How undici says that an answer makes no sense: by name, and once by code. */
const unreadable: ReadonlySet<string> = new Set([
  'HTTPParserError',
  'AssertionError',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

type Cause = Error & {
  readonly code?: string;
  readonly syscall?: string;
  /** What OpenSSL calls it. */
  readonly reason?: string;
};

/** An error, what it holds (one for each address that was tried) and what caused it. */
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
