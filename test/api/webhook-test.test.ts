import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { eventCatalogue } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, expectOk, expectRefused, expectReplay, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { withStatus } from '../support/receiver.ts';
import { databaseKinds, openApp, queryRows, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import {
  closedReceiver,
  type DeliveryBody,
  eventPayload,
  events,
  expectSigned,
  readUntil,
  receivedTypes,
  testReceiver,
  unknownWebhook,
  webhooks,
} from '../support/webhooks.ts';

describe.each(databaseKinds)('endpoint tests on %s', (kind) => {
  let server: Server;
  let other: Tenant;
  let shop: Merchant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    other = await tenant(server);
  });
  beforeEach(async () => {
    shop = await openMerchant(server, { isFrozen: true });
  });

  const sendTest = (id: string, body?: unknown, idempotencyKey: string = randomUUID()) =>
    shop.client.post(`${webhooks}/${id}/test`, body, { idempotencyKey });
  const testEndpoint = async (id: string, body?: unknown) =>
    expectOk(await sendTest(id, body)) as DeliveryBody;

  describe('200', () => {
    test("sends one real signed event, and the response has the receiver's response", async () => {
      const receiver = await testReceiver((_received, response) => {
        response.writeHead(202, { 'X-Seen': 'yes', 'content-type': 'text/plain' }).end('Danke');
      });
      const { secret, ...webhook } = await shop.createWebhook(receiver);
      const answer = await sendTest(webhook.id);
      expect(answer.status).toBe(200);
      const [received] = receiver.received;
      if (!received) throw new Error('no request was received');
      expectSigned(received, [secret], []);
      const { now } = await shop.clock.read();
      const { requestId: _webhookRequestId, ...shown } = webhook;
      expect(eventPayload(received)).toEqual({
        object: 'event',
        id: received.headers['webhook-id'],
        sandbox: true,
        requestId: answer.headers['request-id'],
        status: 'ok',
        type: 'webhook.tested',
        apiVersion,
        timestamp: now,
        sequence: 1,
        data: shown,
      });
      expect(answer.body).toEqual({
        object: 'delivery',
        sandbox: true,
        requestId: answer.headers['request-id'],
        status: 'succeeded',
        id: expect.stringMatching(/^dlv_[0-9a-z]{26}$/),
        webhookId: webhook.id,
        eventId: received.headers['webhook-id'],
        eventType: 'webhook.tested',
        trigger: 'test',
        replayId: null,
        attemptCount: 1,
        nextAttemptAt: null,
        held: false,
        lastResponseStatus: 202,
        lastError: null,
        faultPlanId: null,
        createdAt: now,
        updatedAt: now,
        url: receiver.url,
        requestBody: received.body,
        attempts: [
          {
            number: 1,
            at: now,
            sentAt: expect.stringMatching(/Z$/),
            status: 'succeeded',
            requestHeaders: expect.objectContaining({
              'webhook-id': received.headers['webhook-id'],
              'webhook-timestamp': received.headers['webhook-timestamp'],
              'webhook-signature': received.headers['webhook-signature'],
            }),
            responseStatus: 202,
            responseHeaders: expect.objectContaining({ 'x-seen': 'yes', 'content-type': 'text/plain' }),
            responseBody: 'Danke',
            durationMs: expect.any(Number),
            error: null,
            faultPlanId: null,
            bodiesCleared: false,
          },
        ],
      });
      // It is an event and a delivery like any other, and can be retrieved later.
      const { requestId: _requestId, ...delivery } = answer.body;
      expect(await shop.delivery(delivery.id)).toMatchObject(delivery);
      expect(expectOk(await shop.client.get(`${events}/${String(delivery.eventId)}`))).toMatchObject({
        type: 'webhook.tested',
        resourceId: webhook.id,
      });
    });

    test.each(['payment.captured', 'dispute.created', 'webhook.disabled'])(
      'sends the example of the requested type %s, regardless of the filter',
      async (type) => {
        const receiver = await testReceiver();
        const { id } = await shop.createWebhook(receiver, { eventTypes: ['customer.created'] });
        expect(await testEndpoint(id, { type })).toMatchObject({ status: 'succeeded', eventType: type });
        const example = eventCatalogue.find((one) => one.type === type)?.example;
        expect(eventPayload(receiver.received[0] ?? { body: '' })).toMatchObject({ type, data: example });
        expect(receiver.received).toHaveLength(1);
      },
    );

    test.each([400, 404, 500, 503, 301])(
      'a receiver that responds with %i makes the test fail, without a retry',
      async (status) => {
        const receiver = await testReceiver(
          withStatus(status, { 'retry-after': '1', location: 'http://127.0.0.1:1/' }),
        );
        const { id } = await shop.createWebhook(receiver);
        const delivery = await testEndpoint(id);
        expect(delivery).toMatchObject({
          status: 'failed',
          attemptCount: 1,
          nextAttemptAt: null,
          lastResponseStatus: status,
          lastError: expect.stringMatching(new RegExp(`^Status ${status}: `)),
        });
        expect(delivery.attempts).toMatchObject([{ number: 1, status: 'failed', responseStatus: status }]);
        expect((await shop.clock.advance({ seconds: 2 * 86_400 })).happened).toEqual([]);
        expect(receiver.received).toHaveLength(1);
      },
    );

    test('a refused connection has a readable error', async () => {
      const receiver = await closedReceiver();
      const { id } = await shop.createWebhook(receiver);
      const delivery = await testEndpoint(id);
      const error = `Connection refused: nothing listens at 127.0.0.1:${receiver.port}.`;
      expect(delivery).toMatchObject({ status: 'failed', lastResponseStatus: null, lastError: error });
      expect(delivery.attempts).toMatchObject([{ responseStatus: null, responseBody: null, error }]);
    });

    test('a closed connection has a readable error', async () => {
      const receiver = await testReceiver((_received, response) => response.destroy());
      const { id } = await shop.createWebhook(receiver);
      expect(await testEndpoint(id)).toMatchObject({
        status: 'failed',
        lastError: 'Connection closed: the receiver sent no response.',
      });
    });

    test('a disabled endpoint can be tested, and its held deliveries stay held', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      await shop.webhookAction(id, 'disable');
      await shop.emitEvent();
      expect(await testEndpoint(id)).toMatchObject({ status: 'succeeded', held: false });
      expect(receivedTypes(receiver)).toEqual(['webhook.tested']);
      expect(await shop.readWebhook(id)).toMatchObject({ status: 'disabled', version: 2 });
      expect(await shop.deliveries('status=pending')).toMatchObject([{ held: true }]);
    });

    test('sends only to the tested endpoint, although others match every event', async () => {
      const [receiver, otherReceiver, otherAppReceiver] = [
        await testReceiver(),
        await testReceiver(),
        await testReceiver(),
      ];
      const { id } = await shop.createWebhook(receiver);
      await shop.createWebhook(otherReceiver);
      const otherApp = await shop.addKey({ application: 'second' });
      expectOk(await otherApp.client.post(webhooks, { url: otherAppReceiver.url }));
      await testEndpoint(id);
      await testEndpoint(id, { type: 'payment.created' });
      await shop.sendDue();
      expect(receivedTypes(receiver)).toEqual(['webhook.tested', 'payment.created']);
      expect([...otherReceiver.received, ...otherAppReceiver.received]).toEqual([]);
      expect(await shop.deliveries()).toHaveLength(2);
    });

    test('both secrets sign during their overlap', async () => {
      const receiver = await testReceiver();
      const { id, secret: old } = await shop.createWebhook(receiver);
      const { secret } = await shop.webhookAction(id, 'rotate_secret', { overlapSeconds: 60 });
      await testEndpoint(id);
      const aMinuteAgo = shop.clientOn(openApp(server, { wallClock: () => Date.now() - 60_000 }));
      const again = expectOk(
        await aMinuteAgo.post(`${webhooks}/${id}/rotate_secret`, { overlapSeconds: 59 }),
      );
      await testEndpoint(id);
      const [first, second] = receiver.received;
      if (!first || !second) throw new Error('two tests should have been sent');
      expectSigned(first, [secret, old], []);
      expectSigned(second, [String(again.secret)], [secret, old]);
    });

    test('a key of another application in the organization cannot test it', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      const otherApp = await shop.addKey({ application: 'second' });
      expect((await otherApp.client.post(`${webhooks}/${id}/test`)).code).toBe('resource_not_found');
      expect(receiver.received).toEqual([]);
    });

    test('tests an endpoint that is at its concurrency limit', async () => {
      const held: ServerResponse[] = [];
      const receiver = await testReceiver((received, response) => {
        if (eventPayload(received).type === 'webhook.tested') response.writeHead(204).end();
        else held.push(response);
      });
      const { id } = await shop.createWebhook(receiver, { maxConcurrency: 1 });
      await shop.emitEvent();
      await receiver.waitFor(1);
      expect(await testEndpoint(id)).toMatchObject({ status: 'succeeded' });
      for (const response of held) response.writeHead(204).end();
      await shop.sendDue();
      expect(await shop.deliveries('status=succeeded')).toHaveLength(2);
    });

    test('a 410 response to a test disables the endpoint', async () => {
      const receiver = await testReceiver(withStatus(410));
      const { id } = await shop.createWebhook(receiver);
      expect(await testEndpoint(id)).toMatchObject({ status: 'failed', lastResponseStatus: 410 });
      await readUntil(
        () => shop.readWebhook(id),
        ({ status }) => status === 'disabled',
      );
    });

    test('the audit log of a test has two commands of one request, both accepted', async () => {
      const { id } = await shop.createWebhook(await testReceiver());
      const answer = await sendTest(id);
      const rows = await queryRows<{ action: string; outcome: string }>(
        server,
        'select action, outcome from audit where org_id = $1 and request_id = $2 order by id',
        [shop.orgId, answer.headers['request-id']],
      );
      expect(rows).toEqual([
        { action: 'webhooks.test', outcome: 'accepted' },
        { action: 'webhooks.conclude_test', outcome: 'accepted' },
      ]);
    });

    describe('the same idempotency key', () => {
      test('sends nothing again and returns the same response byte for byte, also for a failure', async () => {
        for (const reply of [withStatus(204), withStatus(500)]) {
          const receiver = await testReceiver(reply);
          const { id } = await shop.createWebhook(receiver);
          const key = randomUUID();
          const first = await sendTest(id, undefined, key);
          expectReplay(await sendTest(id, undefined, key), first);
          expectReplay(await sendTest(id, {}, key), first);
          expect(receiver.received).toHaveLength(1);
        }
      });

      test('used twice concurrently sends once: the other request waits or gets 409', async () => {
        const held: ServerResponse[] = [];
        const receiver = await testReceiver((_received, response) => held.push(response));
        const { id } = await shop.createWebhook(receiver);
        const key = randomUUID();
        const first = sendTest(id, undefined, key);
        await receiver.waitFor(1);
        // While the receiver has not responded, the request is in progress.
        const second = await sendTest(id, undefined, key);
        expect(second.code).toBe('idempotency_in_progress');
        expect(Number(second.headers['retry-after'])).toBeGreaterThanOrEqual(1);
        for (const response of held) response.writeHead(204).end();
        const answered = await first;
        expect(answered.body).toMatchObject({ status: 'succeeded' });
        expectReplay(await sendTest(id, undefined, key), answered);
        expect(receiver.received).toHaveLength(1);
      });

      test('used ten times concurrently sends once', async () => {
        const receiver = await testReceiver();
        const { id } = await shop.createWebhook(receiver);
        const key = randomUUID();
        const answers = await Promise.all(Array.from({ length: 10 }, () => sendTest(id, undefined, key)));
        const ended = answers.filter(({ status }) => status === 200);
        expect(ended.length).toBeGreaterThanOrEqual(1);
        expect(new Set(ended.map(({ text }) => text)).size).toBe(1);
        for (const { code, status } of answers)
          if (status !== 200) expect(code).toBe('idempotency_in_progress');
        expect(receiver.received).toHaveLength(1);
      });
    });

    test('ten tests with different idempotency keys send ten events', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver, { maxConcurrency: 1 });
      const tests = await Promise.all(Array.from({ length: 10 }, () => testEndpoint(id)));
      expect(new Set(tests.map(({ eventId }) => eventId)).size).toBe(10);
      expect(receiver.received).toHaveLength(10);
    });
  });

  describe('400', () => {
    test.each<[name: string, body: unknown, param: string]>([
      ['an unknown type', { type: 'payment.exploded' }, '/type'],
      ['a wildcard', { type: '*' }, '/type'],
      ['a type that is not sent to webhooks', { type: 'webhook.created' }, '/type'],
      ['a null type', { type: null }, '/type'],
      ['custom data', { type: 'payment.created', data: {} }, '/data'],
      ['an unknown field', { url: 'http://127.0.0.1/' }, '/url'],
    ])('rejects %s, and sends nothing', async (_name, body, param) => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      expectRefused(await sendTest(id, body), 'invalid_request', param);
      expect(receiver.received).toEqual([]);
    });

    test('requires an idempotency key that was not used for another request', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      const path = `${webhooks}/${id}/test`;
      const withoutKey = await shop.client.post(path, undefined, { idempotencyKey: null });
      expect(withoutKey.code).toBe('idempotency_key_missing');
      const key = randomUUID();
      await testEndpoint(id);
      expectOk(await sendTest(id, {}, key));
      expect((await sendTest(id, { type: 'payment.created' }, key)).code).toBe('idempotency_key_reused');
      expect(receiver.received).toHaveLength(2);
    });
  });

  describe('401, 403 and 404', () => {
    test('rejects callers without permission, and sends nothing', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      const path = `${webhooks}/${id}/test`;
      const reader = await shop.addKey({ scopes: ['webhooks:read'] });
      expect((await new ApiClient(server.app, null).post(path)).code).toBe('api_key_missing');
      expect((await reader.client.post(path)).code).toBe('scope_missing');
      expect((await other.client.post(path)).code).toBe('resource_not_found');
      expect((await sendTest(unknownWebhook)).code).toBe('resource_not_found');
      expect((await sendTest('nonsense')).code).toBe('resource_not_found');
      expect(receiver.received).toEqual([]);
      expect(await shop.deliveries()).toEqual([]);
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.webhookTest);
});
