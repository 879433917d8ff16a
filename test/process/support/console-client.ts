/** A person at the console of a running server, with session cookies. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';

type Body = Readonly<Record<string, unknown>> & { readonly id: string };

export class ConsoleClient {
  readonly #url: string;
  readonly #cookies = new Map<string, string>();

  private constructor(url: string) {
    this.#url = url;
  }

  /** Signs up a new person. The server must have open registration. */
  static async signUp(url: string): Promise<ConsoleClient> {
    const client = new ConsoleClient(url);
    const email = `ada-${randomUUID()}@example.test`;
    await client.post('session/sign_up', { name: 'Ada', email, password: 'correct horse battery' });
    return client;
  }

  async post(path: string, body: object = {}): Promise<Body> {
    const response = await fetch(`${this.#url}/console/api/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        'sec-fetch-site': 'same-origin',
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      body: JSON.stringify(body),
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
