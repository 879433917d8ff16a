// One slow or dead endpoint never delays the others. Tested with real sockets and in real time, because the guarantee
// is about time.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';
import { expectOk } from '../support/api-client.ts';
import { payments } from '../support/payments.ts';
import { openReceiver, type Receiver, type Reply } from '../support/receiver.ts';
import { databaseKinds, queryRows, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const webhooks = 'developer_api_webhooks';
const paymentsCount = 200;
const hangingMax = 5;
const drippingMax = 7;

interface TrackedReceiver extends Receiver {
  /** The maximum number of concurrently open requests. */
  readonly concurrentMax: () => number;
}

/**
 * When one request times out and the next one starts, a busy receiver may see the second before the first one closes.
 */
const graceMs = 500;

/** A receiver that records from when to when each request was open. */
async function openTrackedReceiver(reply: Reply): Promise<TrackedReceiver> {
  const spans: { readonly from: number; to: number }[] = [];
  const receiver = await openReceiver((received, response, count) => {
    const span = { from: received.at, to: Number.POSITIVE_INFINITY };
    spans.push(span);
    response.on('close', () => {
      span.to = performance.now();
    });
    reply(received, response, count);
  });
  onTestFinished(() => receiver.close());
  const openAt = (at: number) => spans.filter(({ from, to }) => from <= at && to - graceMs > at).length;
  return { ...receiver, concurrentMax: () => Math.max(...spans.map(({ from }) => openAt(from))) };
}

const hangs: Reply = () => undefined;
const drips: Reply = (_received, response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 100);
  response.on('close', () => clearInterval(timer));
};
const fails: Reply = (_received, response) => {
  response.writeHead(500).end('no');
};
const answers: Reply = (_received, response) => {
  response.writeHead(204).end();
};

describe.each(databaseKinds)('slow receivers on %s', (kind) => {
  let server: Server;
  let address: string;
  beforeAll(async () => {
    server = await sharedServer(kind);
    address = await server.listen();
  });

  async function endpoint({ client }: Tenant, receiver: Receiver, settings: object = {}): Promise<string> {
    const input = { url: receiver.url, eventTypes: ['payment.created'], ...settings };
    return expectOk(await client.post(webhooks, input)).id;
  }

  async function pay({ key }: Tenant): Promise<string> {
    const response = await fetch(`${address}/_api/${payments}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify({ amount: 1_000, currency: 'EUR' }),
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as Body).id;
  }

  /**
   * Creates all payments concurrently, waits until each event was received once, and returns the time of the last
   * one.
   */
  async function run(shop: Tenant, good: Receiver): Promise<number> {
    const paid = await Promise.all(Array.from({ length: paymentsCount }, () => pay(shop)));
    await good.waitFor(paymentsCount);
    const lastAt = Math.max(...good.received.map(({ at }) => at));
    const receivedIds = good.received.map(
      ({ body }) => (JSON.parse(body) as { data: { id: string } }).data.id,
    );
    expect(receivedIds.toSorted()).toEqual(paid.toSorted());
    return lastAt;
  }

  const errorsOf = (webhookId: string) =>
    queryRows<{ error: string | null; ms: number; status: number | null; body: string | null }>(
      server,
      `select a.error, a.duration_ms as ms, a.response_status as status, a.response_body as body
        from delivery_attempts a join deliveries d on d.org_id = a.org_id and d.id = a.delivery_id where d.webhook_id = $1`,
      [webhookId],
    );

  test('a fast endpoint is not delayed by slow ones, and a slow one never exceeds its concurrency', async () => {
    const before = process.memoryUsage().rss;
    const shop = await tenant(server);
    const [hanging, failing, dripping, good] = await Promise.all(
      [hangs, fails, drips, answers].map(openTrackedReceiver),
    );
    if (!hanging || !failing || !dripping || !good) throw new Error('expected four receivers');
    const hangingId = await endpoint(shop, hanging, { maxConcurrency: hangingMax });
    const failingId = await endpoint(shop, failing);
    const drippingId = await endpoint(shop, dripping, { maxConcurrency: drippingMax });
    await endpoint(shop, good);

    const lastAt = await run(shop, good);
    // Each of its requests times out after 10 s: its last one would arrive after six minutes, on any machine.
    const triedMeanwhile = hanging.received.filter(({ at }) => at < lastAt).length;
    expect(triedMeanwhile, 'the fast endpoint did not wait for the hanging one').toBeLessThan(
      paymentsCount / 2,
    );
    await hanging.waitFor(hangingMax + 1);
    const rss = process.memoryUsage().rss;
    expect(hanging.concurrentMax()).toBe(hangingMax);
    expect(dripping.concurrentMax()).toBe(drippingMax);

    const late = await vi.waitFor(async () => {
      const found = await errorsOf(hangingId);
      expect(found.length).toBeGreaterThanOrEqual(hangingMax);
      return found;
    }, 120_000);
    for (const { error } of late) expect(error).toBe('Timeout: no response within 10 seconds.');
    // A 2xx status decides, even if the body never ends.
    for (const attempt of await errorsOf(drippingId))
      expect(attempt).toMatchObject({
        error: null,
        status: 200,
        body: expect.stringMatching(/^\.{20,105}$/),
      });
    const failed = await vi.waitFor(async () => {
      const found = await errorsOf(failingId);
      expect(found.length).toBeGreaterThanOrEqual(paymentsCount);
      return found;
    }, 120_000);
    for (const { status, body } of failed) expect([status, body]).toEqual([500, 'no']);
    expect((rss - before) / 1024 / 1024).toBeLessThan(300);

    // A later event overtakes the other endpoints' queues: it arrives before their next attempts time out.
    const begun = hanging.received.length;
    await pay(shop);
    await good.waitFor(paymentsCount + 1);
    expect(hanging.received.length).toBeLessThanOrEqual(begun + hangingMax);
  });
});
