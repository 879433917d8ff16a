/** The traffic of a soak: requests at a constant rate, whatever the response times are, and people and organizations besides. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  clockRequests,
  drawRequest,
  paymentRequests,
  type Random,
  type RequestKind,
  transferRequests,
} from '../process/chaos/requests.ts';
import type { App, ClientRequest } from '../process/chaos/servers.ts';
import { Archive } from './archive.ts';
import type { SoakClient } from './client.ts';
import type { Measurements } from './latencies.ts';
import { Organizations } from './organizations.ts';
import { Person } from './people.ts';
import type { Receivers } from './receivers.ts';
import { Acknowledged, RecentRecords } from './records.ts';
import { StreamReaders } from './streams.ts';
import { acme, auditedApps, clocked, volatile } from './tenants.ts';
import type { WallClock } from './wall-clock.ts';

const inFlightMax = 64;
const people = 3;
const streams = 3;
const hourMs = 3_600_000;
/** A stored response is available for a day; these are certainly younger. */
const replayMsMax = 12 * hourMs;
const pollMs = 50;

export interface TrafficOptions {
  readonly client: SoakClient;
  readonly measurements: Measurements;
  readonly random: Random;
  readonly clock: WallClock;
  readonly receivers: Receivers;
  readonly operatorToken: string;
  /** Requests per second. */
  readonly rate: number;
  readonly archivedPayments: number;
  /** Divides the pauses between rare actions, for a run of seconds. */
  readonly hurry: number;
}

interface Kind {
  readonly weight: number;
  readonly run: () => Promise<unknown>;
}

const payments = 'payments?limit=20';
const lists: readonly string[] = [
  ...[payments, `${payments}&status=captured`, `${payments}&currency=EUR&amountMin=1000`],
  ...[
    'refunds?limit=20',
    'disputes?status=needs_response',
    'transfers?status=completed',
    'customers?limit=50',
  ],
  ...['webhook_events?type=payment.captured', 'webhook_deliveries?status=failed', 'requests?method=POST'],
  ...['audit_entries?limit=20', 'ledger_entries?limit=20', 'settlements?limit=5', 'balances'],
];
const searches: readonly string[] = [
  'payments?q=order',
  'customers?q=ada',
  'payments?q=pay_',
  'refunds?q=re',
];

export class Traffic {
  readonly acknowledged = new Acknowledged();
  readonly organizations: Organizations;
  readonly streams: StreamReaders;
  readonly #options: TrafficOptions;
  readonly #records: RecentRecords;
  readonly #volatileRecords: RecentRecords;
  readonly #people: readonly Person[];
  readonly #archive: Archive;
  readonly #customers: string[] = [];
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #background: Promise<unknown>[] = [];
  #isStopped = false;
  requests = 0;
  replays = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
    const { client, random, clock, receivers, operatorToken: token } = options;
    this.#records = new RecentRecords(auditedApps, () => clock.now);
    this.#volatileRecords = new RecentRecords([volatile], () => clock.now);
    this.#archive = new Archive(client);
    this.#people = Array.from({ length: people }, () => new Person(client, random));
    this.organizations = new Organizations(client, { token, receivers, clock, random });
    this.streams = new StreamReaders(client.url, random);
  }

  get payments(): number {
    return this.#options.archivedPayments + this.acknowledged.payments + this.organizations.payments;
  }

  async start(): Promise<void> {
    await this.#archive.create(this.#options.archivedPayments);
    await Promise.all(this.#people.map((person) => person.signUp()));
    const { random, client } = this.#options;
    this.#background.push(
      this.#pace(),
      this.streams.run(streams),
      this.#every(20, () => random.pick(this.#people).signOut()),
      this.#every(30, () => random.pick(this.#people).createKey()),
      this.#every(15, () => this.organizations.createOne()),
      this.#every(60, () => this.organizations.copyVolatile()),
      this.#every(45, async () => {
        this.#volatileRecords.clear();
        await this.organizations.resetVolatile();
      }),
      this.#every(25, () => this.#changeEndpoint()),
      this.#every(40, () => this.#planFault()),
      this.#every(60, async () => {
        for (const app of [...auditedApps, volatile]) await enableEndpoints(client, app);
      }),
    );
  }

  /** Every request that was sent gets its final response. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.streams.stop();
    await Promise.all(this.#background);
    await Promise.all(this.#inFlight);
  }

  async #pace(): Promise<void> {
    const kinds = this.#kinds();
    const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
    const startedAt = performance.now();
    let sent = 0;
    while (!this.#isStopped) {
      const due = ((performance.now() - startedAt) / 1_000) * this.#options.rate;
      for (; sent < due; sent += 1) {
        if (this.#inFlight.size >= inFlightMax) {
          this.#options.measurements.count('skipped');
          continue;
        }
        let left = this.#options.random.next() * total;
        const kind = kinds.find(({ weight }) => {
          left -= weight;
          return left < 0;
        });
        this.requests += 1;
        const done: Promise<unknown> = Promise.resolve(kind?.run()).finally(() =>
          this.#inFlight.delete(done),
        );
        this.#inFlight.add(done);
      }
      await delay(pollMs);
    }
  }

  #kinds(): readonly Kind[] {
    const { client, random } = this.#options;
    const audited: readonly RequestKind[] = [
      ...paymentRequests,
      ...transferRequests,
      ...clockRequests([clocked]).map(({ weight, create }) => ({ weight: weight / 10, create })),
    ];
    const app = () => random.pick(auditedApps);
    return [
      { weight: 38, run: () => this.#write(drawRequest(audited, this.#records, random)) },
      { weight: 6, run: () => this.#writeVolatile() },
      { weight: 5, run: () => this.#createForCustomer() },
      { weight: 4, run: () => this.#replay() },
      { weight: 18, run: () => this.#readOne() },
      { weight: 16, run: () => client.get('list', random.pick(lists), app().key) },
      { weight: 4, run: () => this.#archive.readPage(random) },
      { weight: 4, run: () => client.get('search', random.pick(searches), app().key) },
      { weight: 8, run: () => random.pick(this.#people).visit() },
      { weight: 1, run: () => client.get('list', payments, random.pick(this.#people).apiKey) },
    ];
  }

  async #write({ app, path, body }: ClientRequest): Promise<void> {
    const { client, clock } = this.#options;
    const key = randomUUID();
    const at = clock.now;
    const request = {
      method: 'POST' as const,
      path: `/_api/developer_api_${path}`,
      token: app.key,
      key,
      body,
    };
    const kind = path === 'clock/advance' ? 'advance of a clock' : 'write';
    const response = await client.send(kind, request);
    if (!response || response.status >= 300) return;
    this.#records.see(app, response.body);
    const { status, text } = response;
    this.acknowledged.add(response.body, { app, path, body, key, status, text, at });
    if (path === 'payments') this.acknowledged.payments += 1;
  }

  async #writeVolatile(): Promise<void> {
    const { client, random } = this.#options;
    const { app, path, body } = drawRequest(
      [...paymentRequests, ...transferRequests],
      this.#volatileRecords,
      random,
    );
    const response = await client.send('write with faults', {
      ...{ method: 'POST', path: `/_api/developer_api_${path}`, token: app.key, body, mayFail: true },
    });
    if (response && response.status < 300) this.#volatileRecords.see(app, response.body);
  }

  async #createForCustomer(): Promise<void> {
    const { client, random } = this.#options;
    const app = acme[0] as App;
    if (this.#customers.length === 0 || random.oneIn(4)) {
      const customer = { name: `Ada ${random.below(1_000)}`, email: 'ada@example.test' };
      const created = await client.post('write', 'customers', app.key, customer);
      if (created?.status !== 201) return;
      this.#customers.push(created.body.id);
      if (this.#customers.length > 100) this.#customers.shift();
    }
    const customerId = random.pick(this.#customers);
    const order = {
      amount: random.between(100, 50_000),
      currency: 'EUR',
      reference: `order ${this.requests}`,
    };
    await this.#write({ app, path: 'payments', body: { ...order, customerId } });
  }

  /** The same request with the same key gets the same bytes, from any node. */
  async #replay(): Promise<void> {
    const { client, clock, random } = this.#options;
    const young = this.acknowledged.replayable.filter(({ at }) => clock.now - at < replayMsMax);
    if (young.length === 0) return;
    const { app, path, body, key, text } = random.pick(young);
    const again = await client.send('replay', {
      ...{ method: 'POST', path: `/_api/developer_api_${path}`, token: app.key, key, body },
    });
    this.replays += 1;
    if (again && again.text !== text)
      client.report(`a retry of ${path} got ${again.text.slice(0, 200)} instead of ${text.slice(0, 200)}`);
  }

  async #readOne(): Promise<void> {
    const { client, random } = this.#options;
    const kind = random.pick(['payment', 'payment', 'payment', 'transfer', 'refund'] as const);
    const record = this.#records.pick(kind, random);
    if (!record) return;
    const more = kind === 'refund' ? '' : random.pick(['', '', '/history', '/ledger_entries']);
    const app = this.#records.appFor(record, random);
    await client.get('read', `${kind}s/${record.id}${more}`, app.key);
  }

  async #changeEndpoint(): Promise<void> {
    const { client, receivers, random } = this.#options;
    const { key } = random.pick(auditedApps);
    const body = { url: receivers.urlOf('temporary'), eventTypes: ['payment.created'] };
    const created = await client.post('write', 'webhooks', key, body);
    await delay(random.between(2_000, 10_000));
    if (created?.status === 201) await client.post('write', `webhooks/${created.body.id}/delete`, key);
  }

  async #planFault(): Promise<void> {
    const { client, random } = this.#options;
    const faults = [
      { type: 'latency', delayMs: 700 },
      { type: 'error', code: 'internal_error' },
      { type: 'error', code: 'service_unavailable' },
      { type: 'reset_connection' },
      { type: 'lose_answer' },
    ];
    const body = { on: 'requests', fault: random.pick(faults), share: 50, count: random.between(3, 15) };
    await client.send('write with faults', {
      ...{
        method: 'POST',
        path: '/_api/developer_api_fault_plans',
        token: volatile.key,
        body,
        mayFail: true,
      },
    });
  }

  /** Repeats a rare action until the traffic stops. The first comes early, so that also a short run has it. */
  async #every(seconds: number, action: () => Promise<unknown>): Promise<void> {
    const ms = (seconds * 1_000) / this.#options.hurry;
    for (let next = performance.now() + ms * this.#options.random.next(); !this.#isStopped; ) {
      await delay(pollMs);
      if (performance.now() < next) continue;
      await action();
      next = performance.now() + ms * (0.5 + this.#options.random.next());
    }
  }
}

/** Endpoints of receivers that fail or are silent are disabled after days of failures. */
export async function enableEndpoints(client: SoakClient, { key: token }: App): Promise<void> {
  const path = '/_api/developer_api_webhooks';
  const listed = await client.send('list', { path, token, mayFail: true });
  for (const { id, status } of listed?.body.data ?? []) {
    if (status !== 'disabled') continue;
    await client.send('write', { method: 'POST', path: `${path}/${id}/enable`, token, mayFail: true });
  }
}
