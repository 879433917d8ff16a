import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import type { Server } from '../../src/server.ts';
import { expectOk } from '../support/api-client.ts';
import { hourMs, isoTime } from '../support/clock.ts';
import { createFaultPlan, faultPlans, hitsOf, readFaultPlan } from '../support/fault-plans.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { migratedDatabase } from '../support/postgres.ts';
import type { Receiver } from '../support/receiver.ts';
import { withStatus } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import {
  type Attempt,
  deliveries,
  type EventPayload,
  eventPayloads,
  events,
  expectSigned,
  readUntil,
  receivedTypes,
  testReceiver,
  webhooks,
} from '../support/webhooks.ts';

type FaultedAttempt = Attempt & { readonly faultPlanId: string | null };

describe.each(databaseKinds)('webhook faults on %s', (kind) => {
  let server: Server;

  beforeAll(async () => {
    // A separate server, because the test verifies the whole database.
    server = await openServer(kind);
  });
  afterAll(() => server?.close());

  const idsOf = (receiver: Receiver) => eventPayloads(receiver).map(({ id }) => id);
  const attemptsOf = async (shop: Merchant, eventId: string) => {
    const delivery = await shop.onlyDelivery(`eventId=${eventId}`);
    return { delivery, attempts: delivery.attempts as readonly FaultedAttempt[] };
  };
  /** Creates events through the API, one after the other. */
  const emitEvents = async (shop: Merchant, count: number, type?: string): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) ids.push((await shop.emitEvent(type)).id);
    return ids;
  };

  describe('duplicate', () => {
    test('sends the same bytes twice, with the same id and signature, and records every attempt', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server, { isFrozen: true });
      const webhook = await shop.createWebhook(receiver);
      const { id: planId } = await createFaultPlan(shop.client, {
        on: 'webhooks',
        fault: { type: 'duplicate' },
        count: 1,
      });
      const [first = '', second = ''] = await emitEvents(shop, 2);
      await shop.sendDue();
      const twice = receiver.received.filter(({ headers }) => headers['webhook-id'] === first);
      expect(twice).toHaveLength(2);
      expect(twice[1]?.body).toBe(twice[0]?.body);
      for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
        expect(twice[1]?.headers[name]).toBe(twice[0]?.headers[name]);
      for (const received of twice) expectSigned(received, [webhook.secret], []);
      expect(receiver.received).toHaveLength(3);
      const { delivery, attempts } = await attemptsOf(shop, first);
      expect(delivery).toMatchObject({ status: 'succeeded', attemptCount: 2, faultPlanId: planId });
      expect(attempts).toMatchObject([
        { number: 1, status: 'pending', responseStatus: 204, error: null, faultPlanId: planId },
        { number: 2, status: 'succeeded', responseStatus: 204, error: null, faultPlanId: planId },
      ]);
      const other = await attemptsOf(shop, second);
      expect(other.delivery).toMatchObject({ status: 'succeeded', attemptCount: 1, faultPlanId: null });
      expect(other.attempts).toMatchObject([{ number: 1, faultPlanId: null }]);
      expect(await readFaultPlan(shop.client, planId)).toMatchObject({
        status: 'exhausted',
        seen: 1,
        applied: 1,
      });
    });

    test('five copies are five extra attempts; the last response decides, and a retry is not copied', async () => {
      const receiver = await testReceiver((_one, response, count) =>
        response.writeHead(count <= 6 ? 500 : 204).end(),
      );
      const shop = await openMerchant(server, { isFrozen: true });
      await shop.createWebhook(receiver, { maxConcurrency: 1 });
      const { id: planId } = await createFaultPlan(shop.client, {
        ...{ on: 'webhooks', fault: { type: 'duplicate', copies: 5 }, count: 1 },
      });
      const [event = ''] = await emitEvents(shop, 1);
      await shop.sendDue();
      expect(receiver.received).toHaveLength(6);
      const before = await attemptsOf(shop, event);
      expect(before.delivery).toMatchObject({ status: 'pending', attemptCount: 6 });
      expect(before.attempts.map(({ responseStatus }) => responseStatus)).toEqual([
        500, 500, 500, 500, 500, 500,
      ]);
      await shop.clock.advance({ seconds: 30 });
      expect(receiver.received).toHaveLength(7);
      const { delivery, attempts } = await attemptsOf(shop, event);
      expect(delivery).toMatchObject({ status: 'succeeded', attemptCount: 7 });
      expect(attempts.map(({ number, faultPlanId }) => [number, faultPlanId])).toEqual([
        ...[1, 2, 3, 4, 5, 6].map((number) => [number, planId]),
        [7, null],
      ]);
    });
  });

  describe('drop', () => {
    test('does not send the first attempt and records it as failed; the retry follows the profile', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server, { isFrozen: true });
      await shop.createWebhook(receiver);
      const { id: planId } = await createFaultPlan(shop.client, {
        on: 'webhooks',
        fault: { type: 'drop' },
        count: 1,
      });
      const [lost = '', safe = ''] = await emitEvents(shop, 2);
      await shop.sendDue();
      expect(idsOf(receiver)).toEqual([safe]);
      const before = await attemptsOf(shop, lost);
      expect(before.delivery).toMatchObject({ status: 'pending', attemptCount: 1 });
      expect(before.attempts).toMatchObject([
        {
          ...{ number: 1, status: 'pending', error: `Fault plan ${planId}: dropped`, faultPlanId: planId },
          ...{ requestHeaders: null, responseStatus: null, responseBody: null },
        },
      ]);
      await shop.clock.advance({ seconds: 10 });
      expect(idsOf(receiver)).toEqual([safe, lost]);
      const { delivery, attempts } = await attemptsOf(shop, lost);
      expect(delivery).toMatchObject({ status: 'succeeded', attemptCount: 2 });
      expect(attempts[1]).toMatchObject({ number: 2, status: 'succeeded', faultPlanId: null });
    });

    test('without retries, the delivery fails', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server, { isFrozen: true });
      await shop.createWebhook(receiver, { retryProfile: 'none' });
      await createFaultPlan(shop.client, { on: 'webhooks', fault: { type: 'drop' }, count: 1 });
      const [lost = ''] = await emitEvents(shop, 1);
      await shop.sendDue();
      expect(receiver.received).toEqual([]);
      expect((await attemptsOf(shop, lost)).delivery).toMatchObject({ status: 'failed', attemptCount: 1 });
    });

    test('one seed drops the same events in every run, another seed drops others', async () => {
      const runs: (readonly number[])[] = [];
      for (const seed of [21, 21, 22]) {
        const receiver = await testReceiver();
        const shop = await openMerchant(server, { isFrozen: true });
        await shop.createWebhook(receiver, { maxConcurrency: 1 });
        const { id } = await createFaultPlan(shop.client, {
          on: 'webhooks',
          fault: { type: 'drop' },
          share: 25,
          seed,
        });
        const eventIds = await emitEvents(shop, 24);
        await shop.sendDue();
        const receivedIds = new Set(idsOf(receiver));
        runs.push(eventIds.flatMap((event, i) => (receivedIds.has(event) ? [] : [i + 1])));
        expect(await readFaultPlan(shop.client, id)).toMatchObject({
          seen: 24,
          applied: runs.at(-1)?.length,
        });
      }
      expect(runs[0]).toEqual(hitsOf(21, 25, 24));
      expect(runs[1]).toEqual(runs[0]);
      expect(runs[2]).toEqual(hitsOf(22, 25, 24));
      expect(runs[2]).not.toEqual(runs[0]);
    });
  });

  describe('delay', () => {
    test('sends the delivery later by the application clock, and an advance sends it', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server, { isFrozen: true });
      await shop.createWebhook(receiver);
      const { id: planId } = await createFaultPlan(shop.client, {
        ...{ on: 'webhooks', fault: { type: 'delay', seconds: 3_600 }, count: 1 },
      });
      const { now } = await shop.clock.read();
      const [late = '', soon = ''] = await emitEvents(shop, 2);
      await shop.sendDue();
      expect(idsOf(receiver)).toEqual([soon]);
      const before = await attemptsOf(shop, late);
      const dueAt = isoTime(Date.parse(now) + hourMs);
      expect(before.delivery).toMatchObject({
        ...{ status: 'pending', attemptCount: 0, faultPlanId: planId, nextAttemptAt: dueAt },
      });
      await shop.clock.advance({ seconds: 3_599 });
      expect(idsOf(receiver)).toEqual([soon]);
      const { happened } = await shop.clock.advance({ seconds: 1 });
      expect(idsOf(receiver)).toEqual([soon, late]);
      expect(happened).toMatchObject([{ type: 'delivery', at: dueAt, to: 'succeeded' }]);
      const { delivery, attempts } = await attemptsOf(shop, late);
      expect(delivery).toMatchObject({ status: 'succeeded', attemptCount: 1 });
      expect(attempts).toMatchObject([{ number: 1, at: dueAt, error: null, faultPlanId: planId }]);
    });

    test('a delayed attempt that fails is retried by the profile, counted from that attempt', async () => {
      const receiver = await testReceiver((_one, response, count) =>
        response.writeHead(count === 1 ? 500 : 204).end(),
      );
      const shop = await openMerchant(server, { isFrozen: true });
      await shop.createWebhook(receiver);
      await createFaultPlan(shop.client, { on: 'webhooks', fault: { type: 'delay', seconds: 60 }, count: 1 });
      const [late = ''] = await emitEvents(shop, 1);
      await shop.clock.advance({ seconds: 60 });
      expect(receiver.received).toHaveLength(1);
      await shop.clock.advance({ seconds: 6 });
      expect((await attemptsOf(shop, late)).delivery).toMatchObject({ status: 'succeeded', attemptCount: 2 });
    });
  });

  describe('reorder', () => {
    test("sends an event after the endpoint's next one, with a running clock", async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server);
      await shop.createWebhook(receiver);
      const { id: planId } = await createFaultPlan(shop.client, {
        on: 'webhooks',
        fault: { type: 'reorder' },
        count: 1,
      });
      const [first = ''] = await emitEvents(shop, 1);
      await readUntil(
        () => readFaultPlan(shop.client, planId),
        ({ applied }) => applied === 1,
      );
      expect(receiver.received).toEqual([]);
      const [second = '', third = ''] = await emitEvents(shop, 2);
      await receiver.waitFor(3);
      const receivedIds = idsOf(receiver);
      expect(new Set(receivedIds)).toEqual(new Set([first, second, third]));
      expect(receivedIds.indexOf(second)).toBeLessThan(receivedIds.indexOf(first));
      const { delivery, attempts } = await readUntil(
        () => attemptsOf(shop, first),
        (one) => one.delivery.status === 'succeeded',
      );
      expect(delivery.attemptCount).toBe(1);
      expect(attempts).toMatchObject([{ number: 1, faultPlanId: planId, error: null }]);
    });

    test('with concurrency 1 and several pending, pairs are swapped and none is lost', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server, { isFrozen: true });
      const webhook = await shop.createWebhook(receiver, { maxConcurrency: 1 });
      await shop.webhookAction(webhook.id, 'disable');
      await createFaultPlan(shop.client, { on: 'webhooks', fault: { type: 'reorder' }, count: 3 });
      const eventIds = await emitEvents(shop, 8);
      await shop.webhookAction(webhook.id, 'enable');
      await shop.sendDue();
      const receivedIds = idsOf(receiver);
      expect([...receivedIds].sort()).toEqual([...eventIds].sort());
      const position = (k: number) => receivedIds.indexOf(eventIds[k - 1] ?? '');
      for (const k of [1, 3, 5]) expect(position(k)).toBeGreaterThan(position(k + 1));
      expect(position(7)).toBeLessThan(position(8));
    });

    /** Responds late, so that more deliveries are claimed while a request is open. */
    const slowly = () =>
      testReceiver((_one, response) => {
        setTimeout(() => response.writeHead(204).end(), 30);
      });

    test.each([1, 10])('swaps neighbors in quick succession, with concurrency %d', async (maxConcurrency) => {
      const receiver = await slowly();
      const shop = await openMerchant(server);
      await shop.createWebhook(receiver, { maxConcurrency });
      await createFaultPlan(shop.client, { on: 'webhooks', fault: { type: 'reorder' }, count: 3 });
      const eventIds: string[] = [];
      for (let i = 0; i < 6; i += 1) eventIds.push(...(await emitEvents(shop, 1)));
      await receiver.waitFor(6);
      expect(idsOf(receiver).map((id) => eventIds.indexOf(id) + 1)).toEqual([2, 1, 4, 3, 6, 5]);
    });

    test('one seed swaps the same neighbors in every run', async () => {
      const [seed, share, count] = [5, 40, 12];
      const rounds: number[][] = [];
      for (let round = 0; round < 2; round += 1) {
        const receiver = await slowly();
        const shop = await openMerchant(server);
        await shop.createWebhook(receiver, { maxConcurrency: 1 });
        await createFaultPlan(shop.client, { on: 'webhooks', fault: { type: 'reorder' }, share, seed });
        const eventIds: string[] = [];
        for (let i = 0; i < count; i += 1) eventIds.push(...(await emitEvents(shop, 1)));
        // The last one may be held.
        await receiver.waitFor(count - 1);
        rounds.push(idsOf(receiver).map((id) => eventIds.indexOf(id) + 1));
      }
      const hits = hitsOf(seed, share, count);
      const order: number[] = [];
      for (let event = 1, seen = 0; event <= count; event += 1) {
        seen += 1;
        if (hits.includes(seen) && event < count) {
          order.push(event + 1, event);
          event += 1;
        } else if (!hits.includes(seen)) order.push(event);
      }
      expect(order.length).toBeGreaterThanOrEqual(count - 1);
      expect(new Set(order.map((event, position) => event - position - 1)).size).toBeGreaterThan(1);
      for (const round of rounds) expect(round.slice(0, count - 1)).toEqual(order.slice(0, count - 1));
    });

    test('events of one request are swapped like any others', async () => {
      const receiver = await slowly();
      const shop = await openMerchant(server);
      const payment = expectOk(
        await shop.client.post('developer_api_payments', { amount: 1_250, currency: 'EUR' }),
      );
      await shop.createWebhook(receiver, { maxConcurrency: 1, eventTypes: ['payment.*'] });
      await createFaultPlan(shop.client, { on: 'webhooks', fault: { type: 'reorder' }, count: 1 });
      expectOk(
        await shop.client.post(`developer_api_payments/${payment.id}/advance`, { to: 'charged_back' }),
      );
      const listed = expectOk(await shop.client.get(events, `resourceId=${payment.id}`))
        .data as unknown as readonly EventPayload[];
      const [first, second, ...others] = listed
        .map(({ type }) => type)
        .toReversed()
        .slice(1);
      expect(others.length).toBeGreaterThan(0);
      await receiver.waitFor(others.length + 2);
      expect(receivedTypes(receiver)).toEqual([second, first, ...others]);
    });

    test('a slow or failed response does not release the held delivery early', async () => {
      const order: string[] = [];
      const receiver = await testReceiver((one, response) => {
        const id = String(one.headers['webhook-id']);
        order.push(`${id} came`);
        setTimeout(() => {
          order.push(`${id} answered`);
          response.writeHead(order.length === 2 ? 500 : 204).end();
        }, 150);
      });
      const shop = await openMerchant(server);
      await shop.createWebhook(receiver, { retryProfile: 'none' });
      const { id: planId } = await createFaultPlan(shop.client, {
        on: 'webhooks',
        fault: { type: 'reorder' },
        count: 1,
      });
      const [first = ''] = await emitEvents(shop, 1);
      await readUntil(
        () => readFaultPlan(shop.client, planId),
        ({ applied }) => applied === 1,
      );
      const [second = ''] = await emitEvents(shop, 1);
      await readUntil(
        async () => order.length,
        (length) => length === 4,
      );
      expect(order).toEqual([`${second} came`, `${second} answered`, `${first} came`, `${first} answered`]);
    });

    test('without another event, a clock advance releases the held delivery at once', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server);
      await shop.createWebhook(receiver);
      const { id: planId } = await createFaultPlan(shop.client, {
        on: 'webhooks',
        fault: { type: 'reorder' },
        count: 1,
      });
      const [only = ''] = await emitEvents(shop, 1);
      await readUntil(
        () => readFaultPlan(shop.client, planId),
        ({ applied }) => applied === 1,
      );
      const startedAt = performance.now();
      const { complete } = await shop.clock.advance({ seconds: 1 });
      expect(complete).toBe(true);
      expect(performance.now() - startedAt).toBeLessThan(15_000);
      expect(idsOf(receiver)).toEqual([only]);
    });

    test('without another event or a clock change, the held delivery is released after twenty seconds', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server);
      await shop.createWebhook(receiver);
      await createFaultPlan(shop.client, { on: 'webhooks', fault: { type: 'reorder' }, count: 1 });
      const startedAt = performance.now();
      const [only = ''] = await emitEvents(shop, 1);
      await receiver.waitFor(1, 60_000);
      expect(performance.now() - startedAt).toBeGreaterThan(19_000);
      expect(idsOf(receiver)).toEqual([only]);
      await readUntil(
        () => attemptsOf(shop, only),
        (one) => one.delivery.status === 'succeeded',
      );
    });

    test.runIf(kind === 'postgres')('works across two nodes, whichever sends', async () => {
      const databaseUrl = await migratedDatabase(inject('postgresUrl'));
      const settings = { databaseUrl, secret: 'the secret of a test server' };
      const nodes = await Promise.all([openServer(kind, settings), openServer(kind, settings)]);
      try {
        const receiver = await testReceiver();
        const acme = await tenant(nodes[0]);
        const clients = nodes.map((node) => acme.clientOn(node.app));
        const on = (i: number) => clients[i % 2] ?? acme.client;
        expectOk(await acme.client.post(webhooks, { url: receiver.url }));
        for (let round = 0; round < 5; round += 1) {
          const { id } = await createFaultPlan(on(round), {
            on: 'webhooks',
            fault: { type: 'reorder' },
            count: 1,
          });
          const first = expectOk(await on(round).post(events, { type: 'customer.created' }));
          await readUntil(
            () => readFaultPlan(on(round), id),
            ({ applied }) => applied === 1,
          );
          const second = expectOk(await on(round + 1).post(events, { type: 'customer.created' }));
          await receiver.waitFor(2 * round + 2);
          expect(idsOf(receiver).slice(2 * round)).toEqual([second.id, first.id]);
        }
      } finally {
        for (const node of nodes) await node.close();
      }
    });
  });

  describe('matching', () => {
    test('event types use the same filters as endpoints', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server, { isFrozen: true });
      await shop.createWebhook(receiver, { retryProfile: 'none' });
      const { id } = await createFaultPlan(shop.client, {
        ...{ on: 'webhooks', fault: { type: 'drop' }, share: 100 },
        eventTypes: ['payment.*', 'customer.archived'],
      });
      for (const type of ['payment.created', 'customer.created', 'customer.archived', 'transfer.quoted'])
        await shop.emitEvent(type);
      await shop.sendDue();
      expect(
        eventPayloads(receiver)
          .map(({ type }) => type)
          .sort(),
      ).toEqual(['customer.created', 'transfer.quoted']);
      expect(await readFaultPlan(shop.client, id)).toMatchObject({ seen: 2, applied: 2 });
    });

    test('endpoint tests, replays, retries and other applications are not affected', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server, { isFrozen: true });
      const webhook = await shop.createWebhook(receiver, { retryProfile: 'fast' });
      const [eventId = ''] = await emitEvents(shop, 1);
      receiver.answer(withStatus(500));
      const [failing = ''] = await emitEvents(shop, 1);
      await shop.sendDue();
      receiver.answer(withStatus(204));
      const { id } = await createFaultPlan(shop.client, {
        on: 'webhooks',
        fault: { type: 'drop' },
        share: 100,
      });
      const before = receiver.received.length;
      expect(expectOk(await shop.client.post(`${webhooks}/${webhook.id}/test`)).status).toBe('succeeded');
      expectOk(await shop.client.post(`${events}/${eventId}/replay`));
      await shop.clock.advance({ seconds: 5 });
      expect(receiver.received.length).toBeGreaterThanOrEqual(before + 3);
      expect((await attemptsOf(shop, failing)).delivery.status).toBe('succeeded');
      expect(await readFaultPlan(shop.client, id)).toMatchObject({ status: 'active', seen: 0 });
      const sibling = await shop.addKey({ application: 'app' });
      const theirs = await testReceiver();
      expectOk(await sibling.client.post(webhooks, { url: theirs.url }));
      expectOk(await sibling.client.post(events, { type: 'customer.created' }));
      await theirs.waitFor(1);
      expect(await readFaultPlan(shop.client, id)).toMatchObject({ status: 'active', seen: 0 });
    });

    test('each endpoint of an event counts separately; a canceled plan has no further effect', async () => {
      const shop = await openMerchant(server, { isFrozen: true });
      const [one, two] = [await testReceiver(), await testReceiver()];
      await shop.createWebhook(one, { retryProfile: 'none' });
      await shop.createWebhook(two, { retryProfile: 'none' });
      const { id } = await createFaultPlan(shop.client, {
        on: 'webhooks',
        fault: { type: 'drop' },
        share: 100,
      });
      await emitEvents(shop, 1);
      await shop.sendDue();
      expect([one.received.length, two.received.length]).toEqual([0, 0]);
      expect(await readFaultPlan(shop.client, id)).toMatchObject({ seen: 2, applied: 2 });
      expectOk(await shop.client.post(`${faultPlans}/${id}/cancel`));
      await emitEvents(shop, 1);
      await shop.sendDue();
      expect([one.received.length, two.received.length]).toEqual([1, 1]);
    });

    test('a webhook plan does not affect requests, and a request plan does not affect webhooks', async () => {
      const receiver = await testReceiver();
      const shop = await openMerchant(server, { isFrozen: true });
      await shop.createWebhook(receiver);
      const forWebhooks = await createFaultPlan(shop.client, {
        on: 'webhooks',
        fault: { type: 'duplicate' },
        count: 5,
      });
      const created = expectOk(await shop.client.post('developer_api_customers', { name: 'Ada' }));
      await createFaultPlan(shop.client, {
        on: 'requests',
        fault: { type: 'error', code: 'internal_error' },
        count: 1,
      });
      await shop.sendDue();
      expect(receiver.received).toHaveLength(2);
      expect(await readFaultPlan(shop.client, forWebhooks.id)).toMatchObject({ seen: 1, applied: 1 });
      expect((await shop.client.get(`developer_api_customers/${created.id}`)).code).toBe('internal_error');
    });
  });

  test('with many events and a share of each fault, every event arrives and the counts are exact', async () => {
    const receiver = await testReceiver();
    const shop = await openMerchant(server, { isFrozen: true });
    await shop.createWebhook(receiver, { retryProfile: 'fast' });
    const plans = [];
    for (const fault of [
      { type: 'drop' },
      { type: 'duplicate', copies: 2 },
      { type: 'delay', seconds: 30 },
      { type: 'reorder' },
    ])
      plans.push(await createFaultPlan(shop.client, { on: 'webhooks', fault, share: 20, seed: 1 }));
    const emitted = await Promise.all(Array.from({ length: 100 }, () => shop.emitEvent()));
    await shop.clock.advance({ seconds: 120 });
    const receivedIds = idsOf(receiver);
    expect(new Set(receivedIds)).toEqual(new Set(emitted.map(({ id }) => id)));
    const [drop, duplicate, delay] = await Promise.all(plans.map(({ id }) => readFaultPlan(shop.client, id)));
    expect(drop).toMatchObject({ seen: 100, applied: 20 });
    expect(duplicate?.seen).toBe(80);
    expect(delay?.seen).toBe(80 - Number(duplicate?.applied));
    expect(receivedIds).toHaveLength(100 + 2 * Number(duplicate?.applied));
    const left = expectOk(await shop.client.get(deliveries, 'status=pending')).data;
    expect(left).toEqual([]);
  });

  test('verification finds no inconsistency after these tests', async () => {
    const { checks } = await verify(server.database);
    expect(checks.filter(({ differences }) => differences.length > 0)).toEqual([]);
  });
});
