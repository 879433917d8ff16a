/** The HTTP client of a soak: it repeats a request until its response is final, and measures every response. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Body } from '../process/chaos/servers.ts';
import type { Measurements } from './latencies.ts';

export interface SoakRequest {
  readonly method?: 'GET' | 'POST';
  /** From the root: `/_api/developer_api_payments`. */
  readonly path: string;
  readonly token?: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** An application with fault plans returns 500 on purpose. */
  readonly mayFail?: boolean;
}

export interface SoakResponse {
  readonly status: number;
  readonly text: string;
  readonly body: Body;
  readonly headers: Headers;
}

const finalMsMax = 120_000;
const pauseMs = 150;
const problemsMax = 50;
const textShown = 300;
const retriedCodes: readonly string[] = [
  'idempotency_in_progress',
  'clock_advancing',
  'service_unavailable',
  'rate_limited',
];

export class SoakClient {
  /** Responses that no client may get: status 500, or none that is final. */
  readonly problems: string[] = [];
  readonly #url: string;
  readonly #measurements: Measurements;

  constructor(url: string, measurements: Measurements) {
    this.#url = url;
    this.#measurements = measurements;
  }

  get url(): string {
    return this.#url;
  }

  get(kind: string, path: string, token: string): Promise<SoakResponse | undefined> {
    return this.send(kind, { path: `/_api/developer_api_${path}`, token });
  }

  post(kind: string, path: string, token: string, body: unknown = {}): Promise<SoakResponse | undefined> {
    return this.send(kind, { method: 'POST', path: `/_api/developer_api_${path}`, token, body });
  }

  /** Undefined, and a problem, when no response is final in time. */
  async send(kind: string, request: SoakRequest): Promise<SoakResponse | undefined> {
    const { method = 'GET', key = randomUUID() } = request;
    const since = performance.now();
    let last = 'no response';
    while (performance.now() - since < finalMsMax) {
      const sentAt = performance.now();
      const response = await this.#attempt(method, key, request);
      if (response) {
        const { status, text, body } = response;
        const isRetried = status === 502 || (status !== 200 && retriedCodes.includes(body.error?.code ?? ''));
        last = `status ${status}: ${text.slice(0, textShown)}`;
        if (status === 500 && request.mayFail !== true) this.report(`${method} ${request.path}: ${last}`);
        if (!isRetried) {
          this.#measurements.record(kind, performance.now() - sentAt);
          return response;
        }
        if (status >= 502) this.#measurements.count('unavailable');
      } else this.#measurements.count('lost');
      await delay(pauseMs);
    }
    this.report(`${method} ${request.path} has no final response after ${finalMsMax / 1_000} s: ${last}`);
    return undefined;
  }

  report(problem: string): void {
    if (this.problems.length < problemsMax) this.problems.push(problem);
  }

  /** Undefined when the connection was lost: the outcome is unknown. */
  async #attempt(
    method: string,
    key: string,
    { path, token, body, headers }: SoakRequest,
  ): Promise<SoakResponse | undefined> {
    try {
      const response = await fetch(`${this.#url}${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(method === 'POST' ? { 'idempotency-key': key } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(finalMsMax),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      const parsed = isJson && !text.startsWith('{"format"') ? (JSON.parse(text) as Body) : {};
      return { status: response.status, text, body: parsed, headers: response.headers };
    } catch {
      return undefined;
    }
  }
}
