/** People who sign in to the console, read pages, create and revoke API keys, and sign out. */
import { randomUUID } from 'node:crypto';
import type { Random } from '../process/chaos/requests.ts';
import type { SoakClient, SoakResponse } from './client.ts';

const password = 'correct horse battery';
const keysMax = 5;
const origin = { 'sec-fetch-site': 'same-origin' };

const pages: readonly string[] = [
  ...['overview', 'attention', 'schedule', 'deliveries?limit=20', 'search?q=pay'],
  ...['developer_api_payments?limit=20', 'developer_api_requests?limit=20', 'developer_api_webhooks'],
];

export class Person {
  readonly #client: SoakClient;
  readonly #random: Random;
  readonly #email = `person-${randomUUID()}@example.test`;
  readonly #cookies = new Map<string, string>();
  readonly #keys: string[] = [];
  #organization = '';
  #application = '';
  #isSignedIn = false;
  /** A key of the organization. */
  apiKey = '';

  constructor(client: SoakClient, random: Random) {
    this.#client = client;
    this.#random = random;
  }

  async signUp(): Promise<void> {
    await this.#post('session/sign_up', { name: 'Ada', email: this.#email, password });
    this.#organization = (await this.#post('session/organizations', { name: 'Console' }))?.body.id ?? '';
    const application = await this.#post(`${this.#organization}/applications`, { name: 'web' });
    this.#application = application?.body.id ?? '';
    this.#isSignedIn = true;
    await this.createKey();
  }

  /** A session ends by a sign-out, or when the clock jumps past it. */
  async visit(): Promise<void> {
    if (!this.#isSignedIn) return this.signIn();
    if (this.#random.oneIn(10)) return this.#read(`${this.#organization}/members`);
    return this.#read(`${this.#organization}/${this.#application}/${this.#random.pick(pages)}`);
  }

  async signIn(): Promise<void> {
    const response = await this.#post('session/sign_in', { email: this.#email, password });
    this.#isSignedIn = response?.status === 200;
  }

  async signOut(): Promise<void> {
    if (!this.#isSignedIn) return;
    this.#isSignedIn = false;
    await this.#post('session/sign_out');
    this.#cookies.clear();
  }

  /** Creates a key, and revokes the oldest. */
  async createKey(): Promise<void> {
    if (!this.#isSignedIn) await this.signIn();
    const path = `${this.#organization}/${this.#application}/api_keys`;
    const scopes = ['payments:read', 'payments:write'];
    const created = await this.#post(path, { name: 'soak', scopes });
    if (created?.status !== 201) return;
    this.apiKey = created.body.key;
    this.#keys.push(created.body.id);
    const oldest = this.#keys.length > keysMax ? this.#keys.shift() : undefined;
    if (oldest !== undefined) await this.#post(`${path}/${oldest}/revoke`);
  }

  async #read(path: string): Promise<void> {
    const response = await this.#client.send('console', {
      path: `/console/api/${path}`,
      headers: this.#headers,
    });
    this.#store(response);
    if (response?.status === 401) this.#isSignedIn = false;
    else this.#expectFound(path, response);
  }

  async #post(path: string, body: object = {}): Promise<SoakResponse | undefined> {
    const kind = /sign_(in|up)$/.test(path) ? 'sign-in' : 'console';
    const request = { method: 'POST' as const, path: `/console/api/${path}`, body, headers: this.#headers };
    const response = await this.#client.send(kind, request);
    this.#store(response);
    if (response?.status === 401) this.#isSignedIn = false;
    else this.#expectFound(path, response);
    return response;
  }

  /** A page of the console that is not found would measure nothing. */
  #expectFound(path: string, response: SoakResponse | undefined): void {
    if (response && response.status >= 400)
      this.#client.report(`${path}: ${response.status} ${response.text}`);
  }

  get #headers(): Readonly<Record<string, string>> {
    return { ...origin, cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
  }

  #store(response: SoakResponse | undefined): void {
    for (const line of response?.headers.getSetCookie() ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}
