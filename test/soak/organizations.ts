/** Organizations that appear and disappear: created, filled, reset, forked, exported, imported, deleted, or left to expire. */
import type { Random } from '../process/chaos/requests.ts';
import type { SoakClient, SoakResponse } from './client.ts';
import type { Receivers } from './receivers.ts';
import { volatile } from './tenants.ts';
import type { WallClock } from './wall-clock.ts';

const kind = 'organizations';
const hourMs = 3_600_000;
const paymentsEach = 6;
const copiesMax = 3;

export class Organizations {
  readonly #client: SoakClient;
  readonly #token: string;
  readonly #receivers: Receivers;
  readonly #clock: WallClock;
  readonly #random: Random;
  readonly #copies: string[] = [];
  created = 0;
  deleted = 0;
  payments = 0;

  constructor(client: SoakClient, options: OrganizationOptions) {
    this.#client = client;
    this.#token = options.token;
    this.#receivers = options.receivers;
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** Creates one with records and an endpoint. Half of them are deleted; the others expire. */
  async createOne(): Promise<void> {
    const expiresAt = new Date(this.#clock.now + this.#random.between(3, 20) * hourMs).toISOString();
    const created = await this.#operate('organizations', { name: 'Temporary', expiresAt });
    // The clock may jump past it while the request is repeated.
    const isPast = created?.status === 400 && Date.parse(expiresAt) <= this.#clock.now;
    if (isPast || !this.#expect(created, 201)) return;
    this.created += 1;
    const { apiKey, organization } = created.body;
    const url = this.#receivers.urlOf('temporary');
    await this.#client.post('write', 'webhooks', apiKey.key, { url, eventTypes: ['payment.*'] });
    for (let i = 0; i < paymentsEach; i += 1) {
      const payment = { amount: this.#random.between(100, 90_000), currency: 'EUR' };
      const { body } = (await this.#client.post('write', 'payments', apiKey.key, payment)) ?? {};
      if (body?.id) await this.#client.post('write', `payments/${body.id}/advance`, apiKey.key);
      this.payments += 1;
    }
    if (this.#random.oneIn(3)) await this.#operate(`organizations/${organization.id}/reset`, {});
    if (this.#random.oneIn(2)) await this.#delete(organization.id);
  }

  /** Through the API, by a key that may. */
  async resetVolatile(): Promise<void> {
    const request = { path: '/_api/developer_api_reset', token: volatile.key, body: {} };
    await this.#client.send(kind, { method: 'POST', ...request, mayFail: true });
  }

  /** Copies the organization that is reset: directly, or through a file. */
  async copyVolatile(): Promise<void> {
    const id = await this.#volatileId();
    if (id === undefined) return;
    const copy = this.#random.oneIn(2)
      ? await this.#operate(`organizations/${id}/fork`, { name: 'Copy' })
      : await this.#exportAndImport(id);
    const copied = copy?.body.organization?.id;
    if (!this.#expect(copy, 201) || copied === undefined) return;
    this.created += 1;
    this.#copies.push(copied);
    const oldest = this.#copies.length > copiesMax ? this.#copies.shift() : undefined;
    if (oldest !== undefined) await this.#delete(oldest);
  }

  async #exportAndImport(id: string): Promise<SoakResponse | undefined> {
    const path = `/_operator/organizations/${id}/snapshot`;
    const exported = await this.#client.send(kind, { path, token: this.#token });
    if (!this.#expect(exported, 200)) return undefined;
    return this.#client.send(kind, {
      ...{ method: 'POST', path: '/_operator/snapshots?fork=true&name=Copy', token: this.#token },
      ...{ body: exported.text, headers: { 'content-type': 'application/jsonl' } },
    });
  }

  async #delete(id: string): Promise<void> {
    const deleted = await this.#operate(`organizations/${id}/delete`, {});
    // A deletion whose response was lost has happened.
    if (deleted?.status !== 404 && this.#expect(deleted, 200)) this.deleted += 1;
  }

  async #volatileId(): Promise<string | undefined> {
    const status = await this.#client.send('read', {
      ...{ path: '/_api/developer_api_status', token: volatile.key, mayFail: true },
    });
    return status?.body.organization?.id;
  }

  #operate(path: string, body: object): Promise<SoakResponse | undefined> {
    return this.#client.send(kind, { method: 'POST', path: `/_operator/${path}`, token: this.#token, body });
  }

  #expect(response: SoakResponse | undefined, status: number): response is SoakResponse {
    if (response?.status === status) return true;
    if (response) this.#client.report(`${kind}: ${response.status} ${response.text.slice(0, 300)}`);
    return false;
  }
}

interface OrganizationOptions {
  readonly token: string;
  readonly receivers: Receivers;
  readonly clock: WallClock;
  readonly random: Random;
}
