import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Server } from '../../src/server.ts';
import type { Answer, Body } from './api-client.ts';

/** A person at a browser: it keeps cookies, says where it comes from, and knows nothing else. */
export class Visitor {
  readonly #app: FastifyInstance;
  readonly #cookies = new Map<string, string>();
  /** What the browser says of itself; a test may say something else. */
  headers: Record<string, string> = { host: 'sandbank.test', 'sec-fetch-site': 'same-origin' };

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#cookies;
  }

  /** The whole of what the server said about cookies in its last answer. */
  setCookies: readonly string[] = [];

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#send('POST', path, body, { 'idempotency-key': randomUUID(), ...headers });
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await this.#app.inject({
      method,
      url: `/console/api/${path}`,
      headers: {
        ...this.headers,
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    const given = response.headers['set-cookie'] ?? [];
    this.setCookies = typeof given === 'string' ? [given] : given;
    for (const line of this.setCookies) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0/i.test(line) || at === pair.length - 1) this.#cookies.delete(pair.slice(0, at));
      else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: JSON.parse(response.body) as Body,
    };
  }
}

export const goodPassword = 'correct horse battery';

/** Somebody who has just signed up. */
export async function newcomer(
  server: Pick<Server, 'app'>,
  name = 'Ada',
): Promise<Visitor & { email: string }> {
  const visitor = new Visitor(server.app);
  const email = `${name.toLowerCase()}-${randomUUID()}@example.test`;
  const answer = await visitor.post('session/sign_up', { name, email, password: goodPassword });
  if (answer.status !== 201) throw new Error(answer.text);
  return Object.assign(visitor, { email });
}
