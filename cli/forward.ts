import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { SignedWebhook } from '../sdk/webhooks.ts';

export interface ForwardSettings {
  readonly url: string;
  /** False accepts any certificate: for a target on this machine. */
  readonly verifiesTls: boolean;
  readonly signal: AbortSignal;
  /** Called when nothing listens at the target, before a retry. */
  readonly onWait: (error: string, waitMs: number) => void;
}

export interface Forwarded {
  readonly responseStatus: number | null;
  readonly durationMs: number;
  readonly attempts: number;
  readonly error: string | null;
}

const answerMsMax = 30_000;
const firstWaitMs = 200;
const waitMsMax = 5_000;
/** About half a minute: long enough for a program to restart. */
const attemptsMax = 11;
/** Nothing was delivered, so a retry cannot deliver twice. */
const notDelivered = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * The URL of a forwarding target: a URL, a host with a port or a path (`localhost:3000/hook`), or a port of this machine (`3000/hook`,
 * `:3000`). Undefined for anything else, such as a single word, which is more likely a mistake than a host.
 */
export function targetUrl(text: string): string | undefined {
  const local = /^:?(\d{1,5})(\/.*)?$/.exec(text);
  const isHost = /^(localhost|[\w-]+(\.[\w-]+)+|[\w-]+(?=:)|\[[\da-f:]+\])(:\d{1,5})?([/?].*)?$/i.test(text);
  const url = local ? `http://127.0.0.1:${local[1]}${local[2] ?? '/'}` : isHost ? `http://${text}` : text;
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? url : undefined;
}

/** Sends signed events to one URL, each once. While nothing listens there, it retries. */
export class Forwarder {
  readonly #settings: ForwardSettings;
  readonly #target: URL;
  readonly #http = new HttpAgent({ keepAlive: true });
  readonly #https: HttpsAgent;

  constructor(settings: ForwardSettings) {
    this.#settings = settings;
    this.#target = new URL(settings.url);
    this.#https = new HttpsAgent({ keepAlive: true, rejectUnauthorized: settings.verifiesTls });
  }

  async send(sign: () => Promise<SignedWebhook>): Promise<Forwarded> {
    const { signal, onWait } = this.#settings;
    for (let attempt = 1; ; attempt += 1) {
      const since = performance.now();
      // Signed for each attempt: receivers reject an old timestamp.
      const outcome = await this.#attempt(await sign());
      const durationMs = Math.round(performance.now() - since);
      const shown = { responseStatus: outcome.status, durationMs, attempts: attempt, error: outcome.error };
      if (!outcome.isWorthRetrying || attempt >= attemptsMax || signal.aborted) return shown;
      const waitMs = Math.min(waitMsMax, firstWaitMs * 2 ** (attempt - 1));
      onWait(outcome.error ?? '', waitMs);
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return shown;
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #attempt({
    body,
    headers,
  }: SignedWebhook): Promise<{ status: number | null; error: string | null; isWorthRetrying: boolean }> {
    const isTls = this.#target.protocol === 'https:';
    const options = {
      method: 'POST',
      agent: isTls ? this.#https : this.#http,
      headers: { ...headers, 'content-length': Buffer.byteLength(body), 'user-agent': 'Sandbank-CLI' },
      signal: AbortSignal.any([this.#settings.signal, AbortSignal.timeout(answerMsMax)]),
    };
    return new Promise((resolve) => {
      const onAnswer = (response: IncomingMessage) => {
        // Only the status matters; the body is drained so that the connection can be reused.
        response.resume().on('error', () => undefined);
        response.on('close', () =>
          resolve({ status: response.statusCode ?? null, error: null, isWorthRetrying: false }),
        );
      };
      const sent = isTls
        ? httpsRequest(this.#target, options, onAnswer)
        : httpRequest(this.#target, options, onAnswer);
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const isLate = error.name === 'TimeoutError' || error.name === 'AbortError';
        const message = isLate
          ? `no response within ${answerMsMax / 1_000} seconds`
          : (error.code ?? error.message);
        resolve({ status: null, error: message, isWorthRetrying: notDelivered.has(error.code ?? '') });
      });
      sent.end(body);
    });
  }
}
