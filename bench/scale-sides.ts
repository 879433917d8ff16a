/**
 * The two sides of `--scale`: 1,000 real payments in a realistic mix of states, with a webhook that received their first
 * events, and the data for requests to each server.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import { API_KEY } from './api.ts';
import { type Measurement, percentile } from './measurement.ts';
import { PAYMENTS_PATH } from './requests.ts';
import { value } from './value.ts';
import { Walks } from './walk.ts';

export const SAMPLE = 1_000;
const CUSTOMERS = 20;
const READ = 1_000;
const CONNECTIONS = 64;
const WAIT_MS_MAX = 60_000;
const SCOPES = [
  'payments:read',
  'payments:write',
  'customers:read',
  'customers:write',
  'webhooks:read',
  'webhooks:write',
];

/** Percentages of the payments; the rest stays pending. */
const MIX: readonly { readonly percent: number; readonly advance: object; readonly isRefunded?: boolean }[] =
  [
    { percent: 25, advance: { to: 'settled' } },
    { percent: 15, advance: { to: 'authorized' } },
    { percent: 10, advance: { action: 'fail', failureCode: 'insufficient_funds' } },
    { percent: 5, advance: { to: 'settled' }, isRefunded: true },
  ];

export const WEBHOOK_APP_KEY = 'sbk_sandbox_0123456789abcdefghijABCDEFGHIJ02';

/**
 * Two applications of one organization. One has a webhook for creation events, one delivery per payment. The load uses the
 * other, so that pending deliveries do not slow the next measurement.
 */
export function scaleSeed(receiverUrl: string): object {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const webhooks = [{ url: receiverUrl, secret, eventTypes: ['payment.created'] }];
  const applications = [
    { name: 'bench', apiKeys: [{ name: 'bench', key: API_KEY, scopes: SCOPES }] },
    { name: 'webhook', apiKeys: [{ name: 'webhook', key: WEBHOOK_APP_KEY, scopes: SCOPES }], webhooks },
  ];
  return { organizations: [{ name: 'Bench', applications }] };
}

/** One of the two servers, with the data for requests to it. */
export interface Side {
  readonly url: string;
  readonly caller: Caller;
  /** Paths of 1,000 payments spread over all of them, unordered. */
  readonly paths: readonly string[];
  readonly customerId: string;
  readonly middleCursor: string;
  readonly walks: Walks;
}

export async function sideOf(databaseUrl: string, url: string, receiver: Receiver): Promise<Side> {
  const count = Number(await value(databaseUrl, 'select count(*) from payments'));
  const ids = (
    await value(
      databaseUrl,
      `select string_agg(id, ' ' order by id) from (select id, row_number() over (order by id) as n from payments) p
       where n % ${Math.max(1, Math.floor(count / READ))} = 0`,
    )
  ).split(' ');
  return {
    url,
    caller: new Caller(url, receiver),
    paths: ids.map((_, index) => `${PAYMENTS_PATH}/${ids[(index * 389) % ids.length]}`),
    customerId: await value(databaseUrl, 'select min(id) from customers'),
    middleCursor: Buffer.from(ids[ids.length >> 1] ?? '', 'latin1').toString('base64url'),
    walks: new Walks(url),
  };
}

export async function createSample(url: string, receiver: Receiver): Promise<void> {
  const caller = new Caller(url, receiver);
  const customers: string[] = [];
  for (let n = 0; n < CUSTOMERS; n += 1)
    customers.push(await caller.post('developer_api_customers', { name: `Customer ${n}` }, 201));
  const marks = MIX.flatMap((entry) => Array.from({ length: entry.percent }, () => entry));
  const created = Array.from({ length: SAMPLE }, async (_, n) => {
    const customerId = n % 2 === 0 ? customers[n % CUSTOMERS] : undefined;
    const body = { amount: 1_000 + n, currency: 'EUR', captureMethod: 'manual', reference: `order-${n}` };
    const id = await caller.post(
      'developer_api_payments',
      { ...body, ...(customerId && { customerId }) },
      201,
    );
    // 7 and 100 are coprime, so the states are spread over the sample.
    const mark = marks[(n * 7) % 100];
    if (mark !== undefined) await caller.post(`developer_api_payments/${id}/advance`, mark.advance, 200);
    if (mark?.isRefunded) await caller.post(`developer_api_payments/${id}/refund`, { amount: 100 }, 201);
    await receiver.receipt(id);
  });
  await Promise.all(created);
  await caller.close();
}

export interface Receiver {
  readonly url: string;
  /** Resolves with the receipt time of the payment's first event. */
  receipt(paymentId: string): Promise<number>;
}

export async function openReceiver(cleanups: (() => Promise<unknown>)[]): Promise<Receiver> {
  const receipts = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const at = performance.now();
      response.writeHead(204).end();
      const { data } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { data: { id: string } };
      const waits = waiting.get(data.id);
      if (waits === undefined) receipts.set(data.id, at);
      else waits(at);
      waiting.delete(data.id);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    receipt: (id) => {
      const at = receipts.get(id);
      receipts.delete(id);
      if (at !== undefined) return Promise.resolve(at);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`The event of ${id} did not arrive.`)), WAIT_MS_MAX);
        waiting.set(id, (then) => {
          clearTimeout(timer);
          resolve(then);
        });
      });
    },
  };
}

/** A client with the key of the application that has the webhook. */
export class Caller {
  readonly #pool: Pool;
  readonly #receiver: Receiver;

  constructor(url: string, receiver: Receiver) {
    this.#pool = new Pool(url, { connections: CONNECTIONS });
    this.#receiver = receiver;
  }

  /** Returns the id of the record in the response. */
  async post(operation: string, body: object, status: number): Promise<string> {
    const response = await this.#pool.request({
      path: `/_api/${operation}`,
      method: 'POST',
      headers: {
        authorization: `Bearer ${WEBHOOK_APP_KEY}`,
        'idempotency-key': randomUUID(),
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode !== status)
      throw new Error(`${operation} failed with ${response.statusCode}: ${text}`);
    return (JSON.parse(text) as { id: string }).id;
  }

  /** Creates a payment; `receivedAt` resolves when its event has arrived. */
  async deliver(): Promise<{ id: string; answeredAt: number; receivedAt: Promise<number> }> {
    const id = await this.post('developer_api_payments', { amount: 1_250, currency: 'EUR' }, 201);
    return { id, answeredAt: performance.now(), receivedAt: this.#receiver.receipt(id) };
  }

  /** Reads a payment; without an id, the first page of them. */
  async get(id?: string): Promise<void> {
    const { statusCode, body } = await this.#pool.request({
      path: id === undefined ? PAYMENTS_PATH : `${PAYMENTS_PATH}/${id}`,
      method: 'GET',
      headers: { authorization: `Bearer ${WEBHOOK_APP_KEY}` },
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`A GET failed with ${statusCode}: ${text}`);
  }

  /** Creates `payments` concurrently and waits for all events; latencies are from response to event receipt. */
  async burst(payments: number): Promise<Measurement> {
    const startedAt = performance.now();
    const latenciesMs = await Promise.all(
      Array.from({ length: payments }, async () => {
        const { answeredAt, receivedAt } = await this.deliver();
        return Math.max(0, (await receivedAt) - answeredAt);
      }),
    );
    return {
      ratePerSecond: payments / ((performance.now() - startedAt) / 1000),
      p50Ms: percentile(latenciesMs, 50),
      p99Ms: percentile(latenciesMs, 99),
    };
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}
