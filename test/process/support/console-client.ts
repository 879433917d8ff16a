/** A person at the console of a running server, with session cookies. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';

const password = 'correct horse battery';
type Body = Readonly<Record<string, unknown>> & { readonly id: string };

export class ConsoleClient {
  readonly email: string;
  readonly #url: string;
  readonly #cookies: Map<string, string>;

  private constructor(url: string, email: string, cookies: ReadonlyMap<string, string> = new Map()) {
    this.email = email;
    this.#url = url;
    this.#cookies = new Map(cookies);
  }

  /** Signs up a new person. The server must have open registration. */
  static async signUp(url: string): Promise<ConsoleClient> {
    const client = new ConsoleClient(url, `ada-${randomUUID()}@example.test`);
    await client.post('session/sign_up', { name: 'Ada', email: client.email, password });
    return client;
  }

  /** A new session of a person who signed up above. */
  static async signIn(url: string, email: string): Promise<ConsoleClient> {
    const client = new ConsoleClient(url, email);
    await client.post('session/sign_in', { email, password });
    return client;
  }

  /** The same browser, with the same cookies, at another node or after a restart. */
  at(url: string): ConsoleClient {
    return new ConsoleClient(url, this.email, this.#cookies);
  }

  get(path: string): Promise<Body> {
    return this.#send(path);
  }

  post(path: string, body: object = {}): Promise<Body> {
    return this.#send(path, body);
  }

  async #send(path: string, body?: object): Promise<Body> {
    const response = await fetch(`${this.#url}/console/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        'sec-fetch-site': 'same-origin',
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const text = await response.text();
    expect(response.status, `${path}: ${text}`).toBeLessThan(300);
    return JSON.parse(text) as Body;
  }
}
