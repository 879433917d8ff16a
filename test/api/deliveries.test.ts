import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, expectRefused, listAll, seenCodes } from '../support/api-client.ts';
import { type AdvanceBody, clockApi, dayMs, expectTimeOrder, isoTime, secondMs } from '../support/clock.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { type Reply, withStatus } from '../support/receiver.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import {
  closedReceiver,
  type DeliveryBody,
  deliveries,
  eventPayload,
  eventPayloads,
  expectSigned,
  readUntil,
  receivedTypes,
  testReceiver,
  unknownEvent,
  unknownWebhook,
  type WebhookBody,
} from '../support/webhooks.ts';

/** Documented delay in seconds before each attempt. */
const standardDelays = [0, 5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200];
const fastDelays = [0, 1, 4, 15, 30];
const jitterMax = 1.05;
const unknownDelivery = 'dlv_01m7epxwjmf7za77rhky2f93cc';

/** Fails the given number of times, then succeeds. */
const failing =
  (times: number): Reply =>
  (_received, response, count) => {
    response.writeHead(count <= times ? 500 : 204).end();
  };

/** Attempts follow their retry profile: none before its time, and none later than the jitter allows. */
function expectRetryDelays(delivery: DeliveryBody, waits: readonly number[]): void {
  expect(delivery.attempts.map(({ number }) => number)).toEqual(waits.map((_, i) => i + 1));
  delivery.attempts.forEach(({ at }, i) => {
    const before = delivery.attempts[i - 1];
    if (!before) return;
    const waited = Date.parse(at) - Date.parse(before.at);
    const planned = (waits[i] ?? 0) * secondMs;
    expect(waited, `before attempt ${i + 1}`).toBeGreaterThanOrEqual(planned);
    expect(waited, `before attempt ${i + 1}`).toBeLessThanOrEqual(planned * jitterMax + 1);
  });
}

describe.each(databaseKinds)('deliveries on %s', (kind) => {
  let server: Server;
  let other: Tenant;
  let shop: Merchant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    other = await tenant(server);
    // Runs every delivery statement once, so that the database has planned them before the tests measure time.
    const warm = await openMerchant(server, { isFrozen: true });
    await warm.createWebhook(await closedReceiver());
    await warm.emitEvent();
    await warm.clock.advance({ seconds: 2 * 86_400 });
  });
  beforeEach(async () => {
    shop = await openMerchant(server, { isFrozen: true });
  });

  const nowMs = async () => Date.parse((await shop.clock.read()).now);

  describe('200', () => {
    test('a delivery shows the request and the response of each attempt', async () => {
      const receiver = await testReceiver((_received, response, count) => {
        if (count === 1)
          response.writeHead(503, { 'X-Reason': 'tired', 'retry-after': '9' }).end('Later, please');
        else response.writeHead(201, { 'content-type': 'text/plain' }).end('Danke schön');
      });
      const webhook = await shop.createWebhook(receiver, { retryProfile: 'fast' });
      const wallFrom = Date.now();
      const event = await shop.emitEvent('payment.captured', { amount: 5 });
      const emittedAt = await nowMs();
      await shop.sendDue();
      const retryAt = isoTime(emittedAt + 9 * secondMs);
      const waiting = await shop.onlyDelivery(`webhookId=${webhook.id}`);
      const shown = {
        faultPlanId: null,
        object: 'delivery',
        sandbox: true,
        requestId: expect.stringMatching(/^req_/),
        id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
        webhookId: webhook.id,
        eventId: event.id,
        eventType: 'payment.captured',
        trigger: 'event',
        replayId: null,
        held: false,
        createdAt: isoTime(emittedAt),
        url: receiver.url,
        requestBody: receiver.received[0]?.body,
      };
      const requestHeaders = {
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^Sandbank\//),
        'accept-encoding': 'identity',
        'webhook-id': event.id,
        'webhook-timestamp': receiver.received[0]?.headers['webhook-timestamp'],
        'webhook-signature': receiver.received[0]?.headers['webhook-signature'],
      };
      const first = {
        number: 1,
        at: isoTime(emittedAt),
        sentAt: expect.stringMatching(/Z$/),
        status: 'pending',
        requestHeaders,
        responseStatus: 503,
        responseHeaders: expect.objectContaining({ 'x-reason': 'tired', 'retry-after': '9' }),
        responseBody: 'Later, please',
        durationMs: expect.any(Number),
        error: 'Status 503: only 2xx counts as delivered.',
        faultPlanId: null,
        bodiesCleared: false,
      };
      expect(waiting).toEqual({
        ...shown,
        status: 'pending',
        attemptCount: 1,
        nextAttemptAt: retryAt,
        lastResponseStatus: 503,
        lastError: first.error,
        updatedAt: isoTime(emittedAt),
        attempts: [first],
      });
      await shop.clock.advanceTo(emittedAt + 9 * secondMs);
      const ended = await shop.delivery(waiting.id);
      expect(ended).toEqual({
        ...shown,
        status: 'succeeded',
        attemptCount: 2,
        nextAttemptAt: null,
        lastResponseStatus: 201,
        lastError: null,
        updatedAt: retryAt,
        attempts: [
          first,
          {
            ...first,
            number: 2,
            at: retryAt,
            status: 'succeeded',
            requestHeaders: {
              ...requestHeaders,
              'webhook-timestamp': receiver.received[1]?.headers['webhook-timestamp'],
              'webhook-signature': receiver.received[1]?.headers['webhook-signature'],
            },
            responseStatus: 201,
            responseHeaders: expect.objectContaining({ 'content-type': 'text/plain' }),
            responseBody: 'Danke schön',
            error: null,
          },
        ],
      });
      for (const { sentAt, durationMs } of ended.attempts) {
        expect(Date.parse(sentAt)).toBeGreaterThanOrEqual(wallFrom);
        expect(Date.parse(sentAt)).toBeLessThanOrEqual(Date.now());
        expect(durationMs).toBeGreaterThanOrEqual(0);
        expect(durationMs).toBeLessThan(limits.webhookTimeoutMs);
      }
      for (const { method, path, headers } of receiver.received) {
        expect([method, path]).toEqual(['POST', '/hook']);
        expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': event.id });
      }
    });

    test('lists all pages newest first, and filters by status, endpoint, event and time', async () => {
      const [good, bad] = [await testReceiver(), await testReceiver(withStatus(500))];
      const one = await shop.createWebhook(good);
      const two = await shop.createWebhook(bad);
      const eventIds: string[] = [];
      for (let i = 0; i < 3; i += 1) {
        eventIds.unshift((await shop.emitEvent()).id);
        await shop.sendDue();
        if (i < 2) await shop.clock.advance({ seconds: 1 });
      }
      const three = await shop.createWebhook(bad, { retryProfile: 'none', eventTypes: ['payment.failed'] });
      const lost = await shop.emitEvent('payment.failed');
      await shop.sendDue();
      const list = (query: string) => shop.client.get(deliveries, query);
      const all = await listAll(list, 3);
      expect(all.map(({ id }) => id)).toEqual(
        all
          .map(({ id }) => id)
          .toSorted()
          .toReversed(),
      );
      expect(all).toHaveLength(9);
      for (const item of all) {
        expect(item).not.toHaveProperty('attempts');
        expect(item).toMatchObject({ object: 'delivery', sandbox: true });
      }
      const pairs = async (query: string) =>
        (await shop.deliveries(query)).map(({ webhookId, eventId }) => [webhookId, eventId]);
      expect(await pairs('status=succeeded')).toEqual([lost.id, ...eventIds].map((id) => [one.id, id]));
      expect(await pairs('status=pending')).toEqual([lost.id, ...eventIds].map((id) => [two.id, id]));
      expect(await pairs('status=failed')).toEqual([[three.id, lost.id]]);
      expect(await pairs(`webhookId=${two.id}`)).toEqual([lost.id, ...eventIds].map((id) => [two.id, id]));
      expect((await pairs(`eventId=${eventIds[1]}`)).toSorted()).toEqual(
        [one.id, two.id].map((id) => [id, eventIds[1]]).toSorted(),
      );
      expect(await pairs(`eventId=${eventIds[1]}&webhookId=${one.id}&status=succeeded`)).toHaveLength(1);
      expect(await pairs(`eventId=${eventIds[1]}&webhookId=${three.id}`)).toEqual([]);
      expect(await pairs(`eventId=${unknownEvent}`)).toEqual([]);
      const { createdAt } = await shop.onlyDelivery(`eventId=${eventIds[1]}&webhookId=${one.id}`);
      expect(await pairs(`webhookId=${one.id}&createdBefore=${createdAt}`)).toEqual([[one.id, eventIds[2]]]);
      expect(await pairs(`webhookId=${one.id}&createdAfter=${createdAt}`)).toEqual(
        [lost.id, eventIds[0]].map((id) => [one.id, id]),
      );
      expect((await other.client.get(deliveries)).body.data).toEqual([]);
    });

    test('stores the first 16 KiB of a response, and tolerates any bytes in it', async () => {
      const long = 'ä'.repeat(limits.webhookResponseBytesMax);
      const bodies = [long, 'a\u0000b', Buffer.from([0xff, 0xfe, 0x00, 0x41]), ''];
      const receiver = await testReceiver((_received, response, count) => {
        response.writeHead(200).end(bodies[count - 1]);
      });
      const { id } = await shop.createWebhook(receiver, { maxConcurrency: 1 });
      for (const _ of bodies) await shop.emitEvent();
      await shop.sendDue();
      const storedBodies: (string | null | undefined)[] = [];
      for (const { id: one } of (await shop.deliveries(`webhookId=${id}`)).toReversed())
        storedBodies.push((await shop.delivery(one)).attempts[0]?.responseBody);
      expect(storedBodies[0]).toBe('ä'.repeat(limits.webhookResponseBytesMax / 2));
      expect(storedBodies.slice(1)).toEqual(['a\ufffdb', '\ufffd\ufffd\ufffdA', '']);
    });
  });

  describe('signatures', () => {
    test('each attempt has a new signature with wall-clock time, over the same bytes and the same event id', async () => {
      const receiver = await testReceiver(failing(4));
      await shop.clock.advance({ seconds: 300 * 86_400 });
      const { secret } = await shop.createWebhook(receiver, { retryProfile: 'fast' });
      const event = await shop.emitEvent('payment.captured', { note: 'Ä "quoted" \\ 🎉 \u2028' });
      await shop.clock.advance({ seconds: 60 });
      expect(receiver.received).toHaveLength(5);
      const otherSecret = (await shop.createWebhook(await closedReceiver())).secret;
      for (const received of receiver.received) {
        expectSigned(received, [secret], [otherSecret]);
        expect(received.headers['webhook-id']).toBe(event.id);
        const sentAt = Number(received.headers['webhook-timestamp']);
        expect(Math.abs(Date.now() / 1_000 - sentAt)).toBeLessThan(30);
      }
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    });

    test('the signature does not match a changed body, event id or timestamp', async () => {
      const receiver = await testReceiver();
      const { secret } = await shop.createWebhook(receiver);
      await shop.emitEvent();
      const [received] = await receiver.waitFor(1);
      if (!received) throw new Error('no request was received');
      const { headers } = received;
      const forgeries = [
        { ...received, body: received.body.replace('customer.created', 'customer.archived') },
        { ...received, headers: { ...headers, 'webhook-id': unknownEvent } },
        {
          ...received,
          headers: { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) + 1) },
        },
      ];
      expectSigned(received, [secret], []);
      for (const forged of forgeries) expect(() => expectSigned(forged, [secret], [])).toThrow();
    });
  });

  describe('retries', () => {
    test('one advance runs the complete standard schedule', async () => {
      const receiver = await testReceiver(withStatus(500));
      const webhook = await shop.createWebhook(receiver, { eventTypes: ['customer.created'] });
      const event = await shop.emitEvent();
      await shop.sendDue();
      expect(receiver.received).toHaveLength(1);
      const { complete, happened } = await shop.clock.advance({ seconds: 2 * 86_400 });
      expect(complete).toBe(true);
      const delivery = await shop.onlyDelivery(`webhookId=${webhook.id}`);
      expect(delivery).toMatchObject({
        status: 'failed',
        attemptCount: 10,
        nextAttemptAt: null,
        held: false,
        lastResponseStatus: 500,
      });
      expectRetryDelays(delivery, standardDelays);
      expect(receiver.received).toHaveLength(10);
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
      for (const { headers } of receiver.received) expect(headers['webhook-id']).toBe(event.id);
      expect(happened.filter(({ id }) => id === delivery.id)).toEqual(
        delivery.attempts.slice(1).map(({ at, status }) => ({
          at,
          type: 'delivery',
          id: delivery.id,
          action: 'attempt',
          to: status,
          event: 'customer.created',
        })),
      );
      await shop.webhookAction(webhook.id, 'disable');
    });

    test.each<[profile: string, waits: readonly number[]]>([
      ['standard', standardDelays],
      ['fast', fastDelays],
      ['none', [0]],
    ])(
      '%s: sends no attempt a millisecond before its time, and exactly one at it',
      async (retryProfile, waits) => {
        const receiver = await testReceiver(withStatus(500));
        const { id } = await shop.createWebhook(receiver, { retryProfile });
        await shop.emitEvent();
        await shop.sendDue();
        for (let sent = 1; sent < waits.length; sent += 1) {
          const { nextAttemptAt, attemptCount, status } = await shop.onlyDelivery(`webhookId=${id}`);
          expect([attemptCount, status]).toEqual([sent, 'pending']);
          const dueAt = Date.parse(nextAttemptAt ?? '');
          expect(await shop.clock.advanceTo(dueAt - 1)).toMatchObject({ complete: true, happened: [] });
          expect(receiver.received).toHaveLength(sent);
          const { happened } = await shop.clock.advanceTo(dueAt);
          expect(happened).toMatchObject([{ at: nextAttemptAt, type: 'delivery' }]);
          expect(receiver.received).toHaveLength(sent + 1);
        }
        const ended = await shop.onlyDelivery(`webhookId=${id}`);
        expectRetryDelays(ended, waits);
        expect(ended).toMatchObject({ status: 'failed', attemptCount: waits.length, nextAttemptAt: null });
        expect((await shop.clock.advance({ seconds: 3 * 86_400 })).happened).toEqual([]);
        expect(receiver.received).toHaveLength(waits.length);
      },
    );

    test('the fast profile finishes within a minute, including jitter', async () => {
      const { id } = await shop.createWebhook(await closedReceiver(), { retryProfile: 'fast' });
      await shop.emitEvent();
      await shop.clock.advance({ seconds: 60 });
      expect(await shop.onlyDelivery(`webhookId=${id}`)).toMatchObject({ status: 'failed', attemptCount: 5 });
    });

    test.each([200, 201, 202, 204, 299])('%i counts as delivered, and is not retried', async (status) => {
      const receiver = await testReceiver(withStatus(status));
      const { id } = await shop.createWebhook(receiver);
      await shop.emitEvent();
      await shop.clock.advance({ seconds: 2 * 86_400 });
      expect(await shop.onlyDelivery(`webhookId=${id}`)).toMatchObject({
        status: 'succeeded',
        attemptCount: 1,
        lastResponseStatus: status,
        lastError: null,
      });
    });

    test.each([300, 301, 302, 303, 304, 307, 308])(
      '%i counts as failed, and the redirect is never followed',
      async (status) => {
        const target = await testReceiver();
        const receiver = await testReceiver(withStatus(status, { location: target.url }));
        const { id } = await shop.createWebhook(receiver, { retryProfile: 'fast' });
        await shop.emitEvent();
        await shop.clock.advance({ seconds: 60 });
        expect(await shop.onlyDelivery(`webhookId=${id}`)).toMatchObject({
          status: 'failed',
          attemptCount: 5,
          lastResponseStatus: status,
          lastError: `Status ${status}: redirects are not followed.`,
        });
        expect(receiver.received).toHaveLength(5);
        expect(target.received).toEqual([]);
      },
    );

    test.each([400, 401, 404, 408, 429, 500, 502, 503, 504])(
      '%i is retried, and the retry is delivered',
      async (status) => {
        const receiver = await testReceiver((_received, response, count) =>
          response.writeHead(count === 1 ? status : 200).end(),
        );
        const { id } = await shop.createWebhook(receiver, { retryProfile: 'fast' });
        await shop.emitEvent();
        await shop.clock.advance({ seconds: 60 });
        const delivery = await shop.onlyDelivery(`webhookId=${id}`);
        expect(delivery).toMatchObject({ status: 'succeeded', attemptCount: 2 });
        expect(delivery.attempts[0]).toMatchObject({
          responseStatus: status,
          error: `Status ${status}: only 2xx counts as delivered.`,
        });
      },
    );

    test.each<[name: string, reply: Reply | null, error: RegExp]>([
      ['nothing listens', null, /^Connection refused: nothing listens at 127\.0\.0\.1:\d+\.$/],
      ['the connection is cut', (_received, response) => response.destroy(), /^Connection closed: /],
    ])('where %s, the attempt has a readable error and is retried', async (_name, reply, error) => {
      const receiver = reply === null ? await closedReceiver() : await testReceiver(reply);
      const { id } = await shop.createWebhook(receiver, { retryProfile: 'fast' });
      await shop.emitEvent();
      await shop.clock.advance({ seconds: 60 });
      const delivery = await shop.onlyDelivery(`webhookId=${id}`);
      expect(delivery).toMatchObject({ status: 'failed', attemptCount: 5, lastResponseStatus: null });
      for (const attempt of delivery.attempts) {
        expect(attempt).toMatchObject({ responseStatus: null, responseHeaders: null, responseBody: null });
        expect(attempt.error).toMatch(error);
      }
    });

    test('where the response is not HTTP, the attempt has a readable error', async () => {
      const receiver = await testReceiver((_received, response) => response.socket?.end('Hello\r\n\r\n'));
      const { id } = await shop.createWebhook(receiver, { retryProfile: 'none' });
      await shop.emitEvent();
      await shop.sendDue();
      expect((await shop.onlyDelivery(`webhookId=${id}`)).lastError).toMatch(
        /^Response: it is not valid HTTP \(/,
      );
    });

    describe('Retry-After', () => {
      const httpDate = (instant: number) => new Date(instant).toUTCString();
      const wrong = Date.parse('1999-12-31T23:00:00Z');

      test.each<[name: string, headers: () => Record<string, string>, seconds: number]>([
        ['in seconds', () => ({ 'retry-after': '7200' }), 7_200],
        ['of a day', () => ({ 'retry-after': '86400' }), 86_400],
        ['of more than a day', () => ({ 'retry-after': '86401' }), 86_400],
        ['of a year', () => ({ 'retry-after': '31536000' }), 86_400],
        [
          "as a date, relative to the receiver's clock",
          () => ({ date: httpDate(wrong), 'retry-after': httpDate(wrong + 7_200_000) }),
          7_200,
        ],
        [
          'as a date a month ahead',
          () => ({ date: httpDate(wrong), 'retry-after': httpDate(wrong + 30 * dayMs) }),
          86_400,
        ],
      ])('%s is honored, up to one day', async (_name, headers, seconds) => {
        const receiver = await testReceiver(withStatus(503, headers()));
        const { id } = await shop.createWebhook(receiver);
        await shop.emitEvent();
        await shop.sendDue();
        const { nextAttemptAt, attempts } = await shop.onlyDelivery(`webhookId=${id}`);
        const dueAt = Date.parse(attempts[0]?.at ?? '') + seconds * secondMs;
        expect(nextAttemptAt).toBe(isoTime(dueAt));
        await shop.clock.advanceTo(dueAt - 1);
        expect(receiver.received).toHaveLength(1);
        await shop.clock.advanceTo(dueAt);
        expect(receiver.received).toHaveLength(2);
      });

      test.each<[name: string, value: string]>([
        ['shorter than the profile', '1'],
        ['of zero', '0'],
        ['in the past', httpDate(wrong)],
        ['that is malformed', 'soon'],
        ['below zero', '-60'],
      ])('%s does not change the profile', async (_name, value) => {
        const receiver = await testReceiver(withStatus(503, { 'retry-after': value }));
        const { id } = await shop.createWebhook(receiver);
        await shop.emitEvent();
        await shop.sendDue();
        const { nextAttemptAt, attempts } = await shop.onlyDelivery(`webhookId=${id}`);
        const waited = Date.parse(nextAttemptAt ?? '') - Date.parse(attempts[0]?.at ?? '');
        expect(waited).toBeGreaterThanOrEqual(5 * secondMs);
        expect(waited).toBeLessThanOrEqual(5 * secondMs * jitterMax);
      });

      test('a date is compared with real time when the response has no Date header', async () => {
        const receiver = await testReceiver((_received, response) => {
          response.sendDate = false;
          response.writeHead(503, { 'retry-after': httpDate(Date.now() + 7_200_000) }).end();
        });
        const { id } = await shop.createWebhook(receiver);
        await shop.emitEvent();
        await shop.sendDue();
        const { nextAttemptAt, attempts } = await shop.onlyDelivery(`webhookId=${id}`);
        const waited = Date.parse(nextAttemptAt ?? '') - Date.parse(attempts[0]?.at ?? '');
        expect(Math.abs(waited - 7_200_000)).toBeLessThan(5 * secondMs);
      });

      test('does not add attempts to the profile', async () => {
        const receiver = await testReceiver(withStatus(503, { 'retry-after': '10' }));
        const { id } = await shop.createWebhook(receiver, { retryProfile: 'none' });
        await shop.emitEvent();
        await shop.clock.advance({ seconds: 86_400 });
        expect(await shop.onlyDelivery(`webhookId=${id}`)).toMatchObject({
          status: 'failed',
          attemptCount: 1,
        });
      });
    });

    test('with a frozen clock, the first attempt is sent and retries wait; with a running clock, they are sent', async () => {
      const [frozenReceiver, runningReceiver] = [
        await testReceiver(withStatus(500)),
        await testReceiver(failing(1)),
      ];
      const running = await openMerchant(server);
      await shop.createWebhook(frozenReceiver, { retryProfile: 'fast' });
      const { id } = await running.createWebhook(runningReceiver, { retryProfile: 'fast' });
      await shop.emitEvent();
      await frozenReceiver.waitFor(1);
      await running.emitEvent();
      // One second of real time: the worker sends deliveries due by the wall clock without a request.
      await runningReceiver.waitFor(2);
      const delivery = await readUntil(
        () => running.onlyDelivery(`webhookId=${id}`),
        ({ status }) => status === 'succeeded',
      );
      const [first, second] = delivery.attempts.map(({ at }) => Date.parse(at));
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(secondMs);
      // Emitted earlier, due earlier, and still waiting.
      expect(frozenReceiver.received).toHaveLength(1);
      await shop.clock.advance({ seconds: 60 });
      expect(frozenReceiver.received).toHaveLength(5);
    });

    test('a clock reset makes attempts due that were scheduled further ahead', async () => {
      const receiver = await testReceiver(failing(1));
      await shop.clock.advance({ seconds: 30 * 86_400 });
      const { id } = await shop.createWebhook(receiver);
      await shop.emitEvent();
      await shop.sendDue();
      const { nextAttemptAt } = await shop.onlyDelivery(`webhookId=${id}`);
      expect(Date.parse(nextAttemptAt ?? '')).toBeGreaterThan(Date.now() + 29 * dayMs);
      await shop.clock.reset();
      await receiver.waitFor(2);
      const ended = await readUntil(
        () => shop.onlyDelivery(`webhookId=${id}`),
        ({ status }) => status === 'succeeded',
      );
      expect(Date.parse(ended.attempts[1]?.at ?? '')).toBeLessThanOrEqual(Date.now());
    });
  });

  describe('a disabled endpoint', () => {
    test('holds new deliveries and sends them when it is enabled, each exactly once', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver, { maxConcurrency: 4 });
      await shop.webhookAction(id, 'disable');
      const eventIds: string[] = [];
      for (let i = 0; i < 30; i += 1) eventIds.push((await shop.emitEvent()).id);
      const { happened, complete } = await shop.clock.advance({ seconds: 86_400 });
      expect([complete, happened]).toEqual([true, []]);
      expect(receiver.received).toEqual([]);
      const held = await shop.deliveries(`webhookId=${id}&limit=100`);
      expect(held).toHaveLength(30);
      for (const one of held)
        expect(one).toMatchObject({ status: 'pending', held: true, nextAttemptAt: null, attemptCount: 0 });
      expect((await shop.delivery(held[0]?.id ?? '')).held).toBe(true);
      expect((await shop.readWebhook(id)).health.pendingDeliveries).toBe(30);
      await shop.webhookAction(id, 'enable');
      await shop.sendDue();
      expect(
        eventPayloads(receiver)
          .map((one) => one.id)
          .toSorted(),
      ).toEqual(eventIds.toSorted());
      expect(await shop.deliveries('status=succeeded&limit=100')).toHaveLength(30);
    });

    test('holds its retries too', async () => {
      const receiver = await testReceiver(failing(1));
      const { id } = await shop.createWebhook(receiver);
      await shop.emitEvent();
      await shop.sendDue();
      await shop.webhookAction(id, 'disable');
      await shop.clock.advance({ seconds: 3 * 86_400 });
      expect(await shop.onlyDelivery(`webhookId=${id}`)).toMatchObject({ held: true, attemptCount: 1 });
      await shop.webhookAction(id, 'enable');
      await shop.sendDue();
      expect(await shop.onlyDelivery(`webhookId=${id}`)).toMatchObject({
        status: 'succeeded',
        attemptCount: 2,
      });
    });

    /**
     * An endpoint with thirty deliveries that answered the first five quickly, so that many are claimed at once, and
     * holds its sixth request open.
     */
    async function openHoldingEndpoint({ isSecondHeld }: { isSecondHeld: boolean }) {
      const held: ServerResponse[] = [];
      const receiver = await testReceiver((received, response, count) => {
        const isTest = eventPayload(received).type === 'webhook.tested';
        if (!isTest && (count === 6 || (count === 7 && isSecondHeld))) held.push(response);
        else response.writeHead(204).end();
      });
      const { id } = await shop.createWebhook(receiver, { maxConcurrency: 1 });
      await shop.webhookAction(id, 'disable');
      for (let i = 0; i < 30; i += 1) await shop.emitEvent();
      await shop.webhookAction(id, 'enable');
      await receiver.waitFor(6);
      await readUntil(
        () => shop.deliveries('status=succeeded&limit=100'),
        ({ length }) => length === 5,
      );
      return { receiver, id, release: (status: number) => held.shift()?.writeHead(status).end() };
    }

    test('gets no queued delivery, except those already in flight', async () => {
      const { receiver, id, release } = await openHoldingEndpoint({ isSecondHeld: true });
      await shop.webhookAction(id, 'disable');
      release(204);
      // One more may be in flight before the sender, possibly another node, learns of the change.
      await readUntil(
        () => shop.deliveries('status=succeeded&limit=100'),
        ({ length }) => length === 6,
      );
      await shop.webhookAction(id, 'test');
      release(204);
      await shop.webhookAction(id, 'test');
      const arrived = eventPayloads(receiver).filter(({ type }) => type !== 'webhook.tested');
      expect(arrived.length).toBeLessThanOrEqual(7);
      expect((await shop.deliveries('status=pending&limit=100')).length).toBeGreaterThanOrEqual(23);
    });

    test('gets all queued deliveries once it is enabled again, each once', async () => {
      const { receiver, id, release } = await openHoldingEndpoint({ isSecondHeld: false });
      await shop.webhookAction(id, 'disable');
      release(204);
      await shop.webhookAction(id, 'enable');
      await shop.sendDue();
      expect(receiver.received).toHaveLength(30);
      expect(new Set(eventPayloads(receiver).map((one) => one.id)).size).toBe(30);
    });

    test('after 410, gets no queued delivery once it is disabled', async () => {
      const { receiver, id, release } = await openHoldingEndpoint({ isSecondHeld: true });
      release(410);
      // The next delivery may be in flight before the first response is processed.
      await readUntil(
        () => shop.readWebhook(id),
        ({ status }) => status === 'disabled',
      );
      const before = receiver.received.length;
      expect(before).toBeLessThanOrEqual(7);
      release(204);
      await shop.webhookAction(id, 'test');
      expect(receiver.received).toHaveLength(before + 1);
    });

    test('after 410: other endpoints get webhook.disabled, and the delivery is held until it is enabled', async () => {
      const [receiver, watcher] = [await testReceiver(withStatus(410)), await testReceiver()];
      const { id } = await shop.createWebhook(receiver, { eventTypes: ['customer.created', 'webhook.*'] });
      await shop.createWebhook(watcher, { eventTypes: ['webhook.disabled'] });
      const event = await shop.emitEvent();
      const disabledAt = await nowMs();
      const [notification] = await watcher.waitFor(1);
      expect(await shop.readWebhook(id)).toMatchObject({
        status: 'disabled',
        disabledReason: 'gone',
        version: 2,
      });
      const { type, data, sequence, timestamp } = eventPayload(notification ?? { body: '' });
      expect([type, sequence, timestamp]).toEqual(['webhook.disabled', 2, isoTime(disabledAt)]);
      expect(data).toMatchObject({
        object: 'webhook',
        id,
        status: 'disabled',
        disabledReason: 'gone',
        allowedActions: ['update', 'rotate_secret', 'enable', 'test', 'delete'],
      });
      expect(data).not.toHaveProperty('secret');
      const held = await shop.onlyDelivery(`webhookId=${id}`);
      expect(held).toMatchObject({
        status: 'pending',
        held: true,
        nextAttemptAt: null,
        attemptCount: 1,
        lastResponseStatus: 410,
        lastError: 'Status 410: the receiver is gone, so the endpoint was disabled.',
      });
      await shop.clock.advance({ seconds: 86_400 });
      expect(receiver.received).toHaveLength(1);
      receiver.answer(withStatus(204));
      expect(await shop.webhookAction(id, 'enable')).toMatchObject({
        status: 'enabled',
        disabledReason: null,
      });
      await shop.sendDue();
      expect(await shop.onlyDelivery(`webhookId=${id}`)).toMatchObject({
        id: held.id,
        status: 'succeeded',
        attemptCount: 2,
      });
      // An endpoint does not receive events about itself.
      expect(eventPayloads(receiver).map((one) => one.id)).toEqual([event.id, event.id]);
      expect(watcher.received).toHaveLength(1);
    });

    test('many concurrent 410 responses disable the endpoint once', async () => {
      const [receiver, watcher] = [await testReceiver(withStatus(410)), await testReceiver()];
      const { id } = await shop.createWebhook(receiver, { eventTypes: ['customer.created'] });
      await shop.createWebhook(watcher, { eventTypes: ['webhook.*'] });
      await Promise.all(Array.from({ length: 10 }, () => shop.emitEvent()));
      await watcher.waitFor(1);
      await shop.sendDue();
      expect(await shop.readWebhook(id)).toMatchObject({ status: 'disabled', version: 2 });
      expect(watcher.received).toHaveLength(1);
    });

    /** Emits an event and sends it at the given clock time. */
    async function emitAt(instant: number): Promise<string> {
      await shop.clock.advanceTo(instant);
      const { id } = await shop.emitEvent();
      await shop.sendDue();
      return id;
    }

    test('is disabled after five days of continuous failure, not earlier, with an event and no lost delivery', async () => {
      const [receiver, watcher] = [await testReceiver(withStatus(500)), await testReceiver()];
      const { id } = await shop.createWebhook(receiver, { eventTypes: ['customer.*'] });
      await shop.createWebhook(watcher, { eventTypes: ['webhook.*'] });
      const since = await nowMs();
      const eventIds = [await emitAt(since)];
      for (let day = 1; day < 5; day += 1) eventIds.push(await emitAt(since + day * dayMs));
      eventIds.push(await emitAt(since + 5 * dayMs - 1));
      const before = await shop.readWebhook(id);
      expect([before.status, before.health.failingSince]).toEqual(['enabled', isoTime(since)]);
      eventIds.push(await emitAt(since + 5 * dayMs));
      const [notification] = await watcher.waitFor(1);
      expect(eventPayload(notification ?? { body: '' })).toMatchObject({
        type: 'webhook.disabled',
        timestamp: isoTime(since + 5 * dayMs),
        data: { id, status: 'disabled', disabledReason: 'failing' },
      });
      expect(await shop.readWebhook(id)).toMatchObject({ status: 'disabled', disabledReason: 'failing' });
      expect(receivedTypes(watcher)).toEqual(['webhook.disabled']);
      const attemptsBefore = receiver.received.length;
      for (let i = 0; i < 3; i += 1) eventIds.push((await shop.emitEvent('customer.updated')).id);
      await shop.clock.advance({ seconds: 86_400 });
      expect(receiver.received).toHaveLength(attemptsBefore);
      const held = (await shop.deliveries(`webhookId=${id}&status=pending`)).map(({ eventId }) => eventId);
      expect(held.toSorted()).toEqual(eventIds.slice(5).toSorted());
      receiver.answer(withStatus(204));
      await shop.webhookAction(id, 'enable');
      await shop.sendDue();
      const arrived = eventPayloads(receiver).slice(attemptsBefore);
      expect(arrived.map((one) => one.id).toSorted()).toEqual(held.toSorted());
      expect(await shop.deliveries(`webhookId=${id}&status=pending`)).toEqual([]);
    });

    test('a success in between restarts the five days', async () => {
      const receiver = await testReceiver(withStatus(500));
      const { id } = await shop.createWebhook(receiver, { retryProfile: 'none' });
      const since = await nowMs();
      for (const day of [0, 2, 4]) await emitAt(since + day * dayMs);
      receiver.answer(withStatus(204));
      await emitAt(since + 4.5 * dayMs);
      expect((await shop.readWebhook(id)).health.failingSince).toBeNull();
      receiver.answer(withStatus(500));
      for (const day of [5, 6, 9.9]) await emitAt(since + day * dayMs);
      expect(await shop.readWebhook(id)).toMatchObject({
        status: 'enabled',
        health: { failingSince: isoTime(since + 5 * dayMs) },
      });
      await emitAt(since + 10 * dayMs);
      await readUntil(
        () => shop.readWebhook(id),
        ({ status }) => status === 'disabled',
      );
    });

    test('an endpoint that is enabled again has another five days', async () => {
      const receiver = await testReceiver(withStatus(500));
      const { id } = await shop.createWebhook(receiver, { retryProfile: 'none' });
      const since = await nowMs();
      for (const day of [0, 5]) await emitAt(since + day * dayMs);
      await readUntil(
        () => shop.readWebhook(id),
        ({ status }) => status === 'disabled',
      );
      await shop.clock.advanceTo(since + 6 * dayMs);
      await shop.webhookAction(id, 'enable');
      for (const day of [6, 8, 10.9]) await emitAt(since + day * dayMs);
      expect((await shop.readWebhook(id)).status).toBe('enabled');
      await emitAt(since + 11 * dayMs);
      expect(
        await readUntil(
          () => shop.readWebhook(id),
          ({ status }) => status === 'disabled',
        ),
      ).toMatchObject({ disabledReason: 'failing' });
    });
  });

  describe('an advance', () => {
    test('reports the attempts of all endpoints in time order, and leaves nothing due', async () => {
      const slow: Reply = (_received, response) => {
        setTimeout(() => response.writeHead(500).end(), 10);
      };
      const receivers = [await testReceiver(slow), await testReceiver(slow), await testReceiver(failing(2))];
      for (const receiver of receivers) await shop.createWebhook(receiver, { retryProfile: 'fast' });
      for (const type of ['customer.created', 'payment.created']) await shop.emitEvent(type);
      const advanced = await shop.clock.advance({ seconds: 60 });
      expect(advanced.complete).toBe(true);
      expectTimeOrder(advanced.happened);
      const allDeliveries = await Promise.all((await shop.deliveries()).map(({ id }) => shop.delivery(id)));
      expect(allDeliveries).toHaveLength(6);
      for (const delivery of allDeliveries) {
        expect(delivery.status).not.toBe('pending');
        const effects = advanced.happened.filter(({ id }) => id === delivery.id);
        // The first attempt may have been sent before the clock was advanced.
        expect(effects).toEqual(
          delivery.attempts.slice(-effects.length).map(({ at, status }) => ({
            at,
            type: 'delivery',
            id: delivery.id,
            action: 'attempt',
            to: status,
            event: delivery.eventType,
          })),
        );
        expect(effects.length).toBeGreaterThanOrEqual(delivery.attempts.length - 1);
      }
      expect(receivers.map(({ received }) => received.length)).toEqual([10, 10, expect.any(Number)]);
      expect((await shop.sendDue()).happened).toEqual([]);
    });

    test('sends the events it causes before it responds, with the time of their effect', async () => {
      const receiver = await testReceiver((_received, response) => {
        setTimeout(() => response.writeHead(204).end(), 20);
      });
      await shop.createWebhook(receiver, { eventTypes: ['payment.*'] });
      const emittedAt = await nowMs();
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      await shop.sendDue();
      const { happened } = await shop.clock.advance({ seconds: 30 * 86_400 });
      const expiredAt = isoTime(emittedAt + limits.authorizationDays * dayMs);
      expect(happened).toMatchObject([
        { type: 'payment', id, event: 'payment.expired', at: expiredAt },
        { type: 'delivery', event: 'payment.expired', at: expiredAt, to: 'succeeded' },
      ]);
      expect(eventPayloads(receiver).at(-1)).toMatchObject({
        type: 'payment.expired',
        timestamp: expiredAt,
        data: { id, status: 'expired' },
      });
    });

    test('sends deliveries due between two effects between those effects', async () => {
      const receiver = await testReceiver(withStatus(500));
      await shop.createWebhook(receiver, { eventTypes: ['customer.created'] });
      await shop.payments.createAndAdvance(['authorize']);
      await shop.clock.advance({ seconds: 7 * 86_400 - 3_600 });
      await shop.emitEvent();
      await shop.payments.createAndAdvance(['authorize']);
      const { happened } = await shop.clock.advance({ seconds: 8 * 86_400 });
      expectTimeOrder(happened);
      const types = happened.map(({ type }) => type);
      const first = types.indexOf('payment');
      const attempts = happened.filter(({ type }) => type === 'delivery');
      expect(types.filter((type) => type === 'payment')).toHaveLength(2);
      expect(first).toBeGreaterThan(3);
      expect(types.indexOf('payment', first + 1)).toBe(types.length - 1);
      expect(attempts.length).toBeGreaterThanOrEqual(9);
    });

    test('repeated with its idempotency key returns the stored response and sends nothing', async () => {
      const receiver = await testReceiver(withStatus(500));
      await shop.createWebhook(receiver, { retryProfile: 'fast' });
      await shop.emitEvent();
      await shop.sendDue();
      const call = { idempotencyKey: 'once' };
      const first = await shop.clock.post('advance', { seconds: 60 }, call);
      const replay = await shop.clock.post('advance', { seconds: 60 }, call);
      expect(replay.text).toBe(first.text);
      expect((first.body as AdvanceBody).happened).toHaveLength(4);
      expect(receiver.received).toHaveLength(5);
    });

    /** An advance by one minute that reaches its real-time limit while a request is in flight. */
    async function advanceToTimeLimit(): Promise<AdvanceBody> {
      let aheadMs = 0;
      const app = openApp(server, { wallClock: () => Date.now() + aheadMs });
      const to = isoTime((await nowMs()) + 60 * secondMs);
      const advancing = clockApi(shop.clientOn(app)).advance({ to });
      // The clock has arrived, and waits for the request in flight.
      await readUntil(
        () => shop.clock.read(),
        ({ now }) => now === to,
      );
      aheadMs = limits.clockAdvanceMsMax;
      return advancing;
    }

    test('with a hanging endpoint responds at its limit and reports the remaining work', async () => {
      const hanging = await testReceiver(() => undefined);
      const good = await testReceiver();
      await shop.createWebhook(hanging);
      await shop.createWebhook(good);
      await shop.emitEvent();
      const { now } = await shop.clock.read();
      await Promise.all([hanging.waitFor(1), good.waitFor(1)]);
      const advanced = await advanceToTimeLimit();
      expect(advanced.complete).toBe(false);
      expect(advanced.left).toEqual({
        timers: 0,
        deliveries: 1,
        passedOver: 1,
        nextAt: now,
        to: isoTime(Date.parse(now) + 60 * secondMs),
      });
    });

    test('that continues after its limit completes the remaining work', async () => {
      const held: ServerResponse[] = [];
      const hanging = await testReceiver((_received, response) => held.push(response));
      const { id } = await shop.createWebhook(hanging, { retryProfile: 'fast' });
      await shop.emitEvent();
      await hanging.waitFor(1);
      const { left } = await advanceToTimeLimit();
      hanging.answer(withStatus(500));
      for (const response of held) response.writeHead(500).end();
      const rest = await shop.clock.advance({ to: left?.to ?? '' });
      expect(rest.complete).toBe(true);
      await shop.clock.advance({ seconds: 60 });
      expect(await shop.onlyDelivery(`webhookId=${id}`)).toMatchObject({ status: 'failed', attemptCount: 5 });
    });
  });

  describe('concurrency', () => {
    test('with concurrency 1, first attempts arrive in event order', async () => {
      let open = 0;
      let openMax = 0;
      const receiver = await testReceiver((_received, response) => {
        open += 1;
        openMax = Math.max(openMax, open);
        setTimeout(() => {
          open -= 1;
          response.writeHead(204).end();
        }, 1);
      });
      await shop.createWebhook(receiver, { maxConcurrency: 1 });
      const eventIds: string[] = [];
      for (let i = 0; i < 25; i += 1) eventIds.push((await shop.emitEvent()).id);
      await shop.sendDue();
      expect(eventPayloads(receiver).map(({ id }) => id)).toEqual(eventIds);
      expect(openMax).toBe(1);
    });

    test('with concurrency 1, held deliveries arrive in event order too', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver, { maxConcurrency: 1 });
      await shop.webhookAction(id, 'disable');
      const eventIds: string[] = [];
      for (let i = 0; i < 25; i += 1) eventIds.push((await shop.emitEvent()).id);
      await shop.webhookAction(id, 'enable');
      await shop.sendDue();
      expect(eventPayloads(receiver).map((one) => one.id)).toEqual(eventIds);
    });

    test.each([1, 2, 3, 10, 64])(
      'with concurrency %i, at most that many requests are open, and that many are reached',
      async (n) => {
        // A new endpoint gets at most ten concurrent requests, and its full concurrency after the first response.
        const unknownMax = Math.min(n, 10);
        const count = unknownMax + n * 2 + 5;
        const held: ServerResponse[] = [];
        let openMax = 0;
        let isFull = false;
        const release = (ms: number) => setTimeout(() => held.shift()?.writeHead(204).end(), ms);
        const receiver = await testReceiver((_received, response, received) => {
          held.push(response);
          openMax = Math.max(openMax, held.length);
          const wanted = received <= unknownMax ? unknownMax : n;
          // Fills all slots before releasing the first one, one at a time, so that exceeding the limit would be
          // visible.
          if (isFull) release(2);
          else if (held.length === wanted) for (let i = 0; i < wanted; i += 1) release(5 + i);
          isFull ||= received > unknownMax && held.length === n;
        });
        const { id } = await shop.createWebhook(receiver, { maxConcurrency: n });
        await shop.webhookAction(id, 'disable');
        await Promise.all(Array.from({ length: count }, () => shop.emitEvent()));
        await shop.webhookAction(id, 'enable');
        await shop.sendDue();
        expect(receiver.received).toHaveLength(count);
        expect(openMax).toBe(n);
      },
    );

    test('a hanging endpoint does not delay other endpoints', async () => {
      const held: ServerResponse[] = [];
      const hanging = await testReceiver((_received, response) => held.push(response));
      const good = await testReceiver();
      const stuck = await shop.createWebhook(hanging, { maxConcurrency: 2 });
      const open = await shop.createWebhook(good, { maxConcurrency: 2 });
      for (let i = 0; i < 20; i += 1) await shop.emitEvent();
      await good.waitFor(20);
      expect(hanging.received.length).toBeLessThanOrEqual(2);
      await readUntil(
        () => shop.deliveries(`webhookId=${open.id}&status=succeeded`),
        ({ length }) => length === 20,
      );
      hanging.answer(withStatus(204));
      for (const response of held) response.writeHead(204).end();
      await shop.sendDue();
      expect(await shop.deliveries(`webhookId=${stuck.id}&status=succeeded`)).toHaveLength(20);
    });
  });

  describe('400', () => {
    test.each<[query: string, param: string]>([
      ['status=held', 'status'],
      ['webhookId=x', 'webhookId'],
      [`webhookId=${unknownEvent}`, 'webhookId'],
      [`eventId=${unknownWebhook}`, 'eventId'],
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['trigger=test', 'trigger'],
      ['createdAfter=yesterday', 'createdAfter'],
    ])('the list rejects %s, and param names it', async (query, param) => {
      expectRefused(await shop.client.get(deliveries, query), 'invalid_request', param);
    });

    test('rejects a cursor of another list', async () => {
      expectRefused(await shop.client.get(deliveries, 'cursor=x'), 'invalid_cursor', 'cursor');
    });
  });

  describe('401, 403 and 404', () => {
    let webhook: WebhookBody;
    let id: string;

    beforeEach(async () => {
      webhook = await shop.createWebhook(await testReceiver());
      await shop.emitEvent();
      await shop.sendDue();
      id = (await shop.onlyDelivery(`webhookId=${webhook.id}`)).id;
    });

    test('rejects reads without a key or without the scope', async () => {
      const writeOnly = await shop.addKey({ scopes: ['webhooks:write'] });
      for (const path of [deliveries, `${deliveries}/${id}`]) {
        expect((await new ApiClient(server.app, null).get(path)).code).toBe('api_key_missing');
        expect((await writeOnly.client.get(path)).code).toBe('scope_missing');
      }
    });

    test('deliveries of another organization and unknown deliveries are not found', async () => {
      expect((await other.client.get(`${deliveries}/${id}`)).code).toBe('resource_not_found');
      for (const unknown of [unknownDelivery, 'nonsense', webhook.id])
        expect((await shop.client.get(`${deliveries}/${unknown}`)).code).toBe('resource_not_found');
      const query = `webhookId=${webhook.id}`;
      expect((await other.client.get(deliveries, query)).body.data).toEqual([]);
    });

    test('a key of another application in the organization does not find it', async () => {
      const otherApp = await shop.addKey({ application: 'second' });
      expect((await otherApp.client.get(`${deliveries}/${id}`)).code).toBe('resource_not_found');
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.deliveries);
});
