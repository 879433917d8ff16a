/**
 * A caller over `inject` for tens of thousands of requests: the envelope of every answer is checked as the client of the API
 * tests does it, but by plain comparisons, because an expectation costs more than the request itself.
 */
import type { FastifyInstance } from 'fastify';
import type { Body } from '../support/api-client.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: Body;
  /** The error code, or null. */
  readonly code: string | null;
  readonly isReplay: boolean;
}

export class Caller {
  readonly #app: FastifyInstance;
  readonly #authorization: string;

  constructor(app: FastifyInstance, key: string) {
    this.#app = app;
    this.#authorization = `Bearer ${key}`;
  }

  get(url: string): Promise<Answer> {
    return this.#send('GET', url, {});
  }

  post(url: string, body: object | undefined, key: string): Promise<Answer> {
    const headers = { 'idempotency-key': key };
    if (body === undefined) return this.#send('POST', url, headers);
    return this.#send('POST', url, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body));
  }

  async #send(
    method: 'GET' | 'POST',
    url: string,
    headers: Readonly<Record<string, string>>,
    payload?: string,
  ): Promise<Answer> {
    const response = await this.#app.inject({
      method,
      url: `/_api/${url}`,
      headers: { authorization: this.#authorization, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    const { statusCode: status, body: text } = response;
    const body = JSON.parse(text) as Body;
    const isReplay = response.headers['idempotent-replayed'] === 'true';
    const isOwn = body.requestId === response.headers['request-id'];
    const isError = body.object === 'error' && body.status === 'error';
    if (status >= 500 || isError !== status >= 400 || body.sandbox !== true || isOwn === isReplay) {
      throw new Error(`${method} ${url} is answered with ${status} ${text}`);
    }
    return { status, text, body, code: isError ? body.error.code : null, isReplay };
  }
}
