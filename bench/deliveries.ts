/**
 * Delivery latency from commit to receipt on the same machine: single payments, and 1,000 payments captured concurrently, with
 * and without two bad endpoints in addition to the good one. On separate servers, for each database.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import type { Postgres } from '../test/support/postgres.ts';
import { startServer } from '../test/support/processes.ts';
import { API_KEY, SEED } from './api.ts';
import { median, percentile } from './measurement.ts';
import { waitForQuiet } from './neighbours.ts';

const PAYMENTS = 1_000;
const ALONE = 200;
const ROUNDS = 5;
const CONNECTIONS = 64;
const WAIT_MS_MAX = 60_000;
const SCOPES = ['payments:read', 'payments:write', 'webhooks:read', 'webhooks:write'];

interface Burst {
  readonly deliveriesPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface DeliveriesMeasured {
  readonly database: string;
  readonly alone: { readonly p50Ms: number; readonly p99Ms: number };
  /** Medians over the rounds. */
  readonly good: Burst;
  readonly withBad: Burst;
  /** p99 with bad endpoints divided by p99 without, within a round; median over the rounds. */
  readonly ratio: number;
  readonly isQuiet: boolean;
}

export interface DeliveriesContext {
  readonly postgres: Postgres;
  readonly folder: string;
  readonly log: (line: string) => void;
}

export async function measureDeliveries(stage: DeliveriesContext): Promise<readonly DeliveriesMeasured[]> {
  const { postgres, folder, log } = stage;
  const seed = path.join(folder, 'deliveries-seed.json');
  const [organization] = SEED.organizations;
  const apiKeys = [{ name: 'bench', key: API_KEY, scopes: SCOPES }];
  const applications = [{ name: 'bench', apiKeys }];
  writeFileSync(seed, JSON.stringify({ organizations: [{ name: organization?.name, applications }] }));
  const results: DeliveriesMeasured[] = [];
  for (const [database, where] of [
    ['PostgreSQL', { databaseUrl: await postgres.createDatabase('sandbank_deliveries') }] as const,
    ['PGlite', { dataDir: path.join(folder, 'deliveries') }] as const,
  ]) {
    const server = await startServer({ ...where, seed, env: { SANDBANK_PRIVATE_WEBHOOKS: 'on' } });
    const receivers = await openReceivers();
    const api = new Api(server.url);
    try {
      const measured = { database, ...(await measure(api, receivers)) };
      log(`deliveries on ${database}: ${deliveriesLine(measured)}`);
      results.push(measured);
    } finally {
      await api.close();
      await receivers.close();
      await server.stop();
    }
  }
  return results;
}

async function measure(api: Api, receivers: Receivers): Promise<Omit<DeliveriesMeasured, 'database'>> {
  const { isQuiet } = await waitForQuiet();
  await api.webhook(receivers.good, ['payment.*']);
  const bad = [
    await api.webhook(receivers.failing, ['payment.captured']),
    await api.webhook(receivers.hanging, ['payment.captured']),
  ];
  const set = async (action: 'enable' | 'disable') => {
    for (const id of bad) await api.post(`developer_api_webhooks/${id}/${action}`, {}, 200);
  };
  await set('disable');
  const alone = await measureAlone(api, receivers);
  const rounds: { readonly good: Burst; readonly withBad: Burst }[] = [];
  await burst(api, receivers);
  for (let round = 0; round < ROUNDS; round += 1) {
    const good = await burst(api, receivers);
    await set('enable');
    const withBad = await burst(api, receivers);
    await set('disable');
    rounds.push({ good, withBad });
  }
  const medianOf = (side: 'good' | 'withBad'): Burst => ({
    deliveriesPerSecond: median(rounds.map((round) => round[side].deliveriesPerSecond)),
    p50Ms: median(rounds.map((round) => round[side].p50Ms)),
    p99Ms: median(rounds.map((round) => round[side].p99Ms)),
  });
  const ratio = median(rounds.map(({ good, withBad }) => withBad.p99Ms / good.p99Ms));
  return { alone, good: medianOf('good'), withBad: medianOf('withBad'), ratio, isQuiet };
}

/** Sequential payments on an idle server. */
async function measureAlone(api: Api, receivers: Receivers): Promise<DeliveriesMeasured['alone']> {
  const latenciesMs: number[] = [];
  for (let index = 0; index < ALONE; index += 1) {
    const { id, answeredAt } = await api.createPayment();
    latenciesMs.push(Math.max(0, (await receivers.receipt(`payment.created ${id}`)) - answeredAt));
  }
  return { p50Ms: percentile(latenciesMs, 50), p99Ms: percentile(latenciesMs, 99) };
}

/** Creates 1,000 payments, waits for their events, then measures capturing all of them concurrently. */
async function burst(api: Api, receivers: Receivers): Promise<Burst> {
  const payments = await Promise.all(Array.from({ length: PAYMENTS }, () => api.createPayment()));
  await Promise.all(payments.map(({ id }) => receivers.receipt(`payment.created ${id}`)));
  const startedAt = performance.now();
  const latenciesMs = await Promise.all(
    payments.map(async ({ id }) => {
      const answeredAt = await api.capture(id);
      return Math.max(0, (await receivers.receipt(`payment.captured ${id}`)) - answeredAt);
    }),
  );
  return {
    deliveriesPerSecond: PAYMENTS / ((performance.now() - startedAt) / 1000),
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
  };
}

class Api {
  readonly #pool: Pool;

  constructor(url: string) {
    this.#pool = new Pool(url, { connections: CONNECTIONS });
  }

  async post(operation: string, body: object, status: number): Promise<{ id: string; answeredAt: number }> {
    const response = await this.#pool.request({
      path: `/_api/${operation}`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'idempotency-key': randomUUID(),
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    const answeredAt = performance.now();
    if (response.statusCode !== status)
      throw new Error(`${operation} failed with ${response.statusCode}: ${text}`);
    return { id: (JSON.parse(text) as { id: string }).id, answeredAt };
  }

  createPayment(): Promise<{ id: string; answeredAt: number }> {
    return this.post('developer_api_payments', { amount: 1_250, currency: 'EUR' }, 201);
  }

  async capture(id: string): Promise<number> {
    return (await this.post(`developer_api_payments/${id}/advance`, { action: 'capture' }, 200)).answeredAt;
  }

  async webhook(url: string, eventTypes: readonly string[]): Promise<string> {
    return (await this.post('developer_api_webhooks', { url, eventTypes }, 201)).id;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

interface Receivers {
  readonly good: string;
  readonly failing: string;
  readonly hanging: string;
  /** Resolves with the time at which the good endpoint received this event. */
  receipt(name: string): Promise<number>;
  close(): Promise<void>;
}

async function openReceivers(): Promise<Receivers> {
  const receipts = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  const good = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const at = performance.now();
      response.writeHead(204).end();
      const { type, data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
        type: string;
        data: { id: string };
      };
      const name = `${type} ${data.id}`;
      receipts.set(name, at);
      waiting.get(name)?.(at);
      waiting.delete(name);
    });
  });
  const failing = createServer((request, response) => {
    request.resume();
    response.writeHead(500).end();
  });
  const hanging = createServer((request) => {
    request.resume();
  });
  const servers = [good, failing, hanging];
  const [goodUrl = '', failingUrl = '', hangingUrl = ''] = await Promise.all(servers.map(listen));
  return {
    good: goodUrl,
    failing: failingUrl,
    hanging: hangingUrl,
    receipt: (name) => {
      const at = receipts.get(name);
      if (at !== undefined) return Promise.resolve(at);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${name} did not arrive`)), WAIT_MS_MAX);
        waiting.set(name, (then) => {
          clearTimeout(timer);
          resolve(then);
        });
      });
    },
    close: async () => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    },
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

export function deliveriesLine({ alone, good, withBad, ratio, isQuiet }: DeliveriesMeasured): string {
  const ms = (value: number) => value.toFixed(1);
  const rate = (value: number) => Math.round(value).toLocaleString('en-US');
  const noise = isQuiet ? '' : ', started under other load';
  return (
    `idle p50 ${ms(alone.p50Ms)} ms, p99 ${ms(alone.p99Ms)} ms; ${PAYMENTS.toLocaleString('en-US')} concurrent: ` +
    `${rate(good.deliveriesPerSecond)} per second, p50 ${ms(good.p50Ms)} ms, p99 ${ms(good.p99Ms)} ms; with a failing and a ` +
    `hanging endpoint ${rate(withBad.deliveriesPerSecond)} per second, p50 ${ms(withBad.p50Ms)} ms, p99 ` +
    `${ms(withBad.p99Ms)} ms, p99 ratio ${ratio.toFixed(2)}${noise}`
  );
}
