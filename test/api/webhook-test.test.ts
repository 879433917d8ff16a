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

describe.each(databaseKinds)('testing an endpoint on %s', (kind) => {
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

  const ask = (id: string, body?: unknown, idempotencyKey: string = randomUUID()) =>
    shop.client.post(`${webhooks}/${id}/test`, body, { idempotencyKey });
  const tried = async (id: string, body?: unknown) => expectOk(await ask(id, body)) as DeliveryBody;

  describe('200', () => {
    test('one real signed event is sent, and the answer is what the receiver said', async () => {
      const receiver = await testReceiver((_received, response) => {
        response.writeHead(202, { 'X-Seen': 'yes', 'content-type': 'text/plain' }).end('Danke');
      });
      const { secret, ...hook } = await shop.createWebhook(receiver);
      const answer = await ask(hook.id);
      expect(answer.status).toBe(200);
      const [received] = receiver.received;
      if (!received) throw new Error('nothing was received');
      expectSigned(received, [secret], []);
      const { now } = await shop.clock.read();
      const { requestId: _made, ...shown } = hook;
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
        webhookId: hook.id,
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
      // It is an event and a delivery like the others, and can be looked at later.
      const { requestId: _asked, ...delivery } = answer.body;
      expect(await shop.delivery(delivery.id)).toMatchObject(delivery);
      expect(expectOk(await shop.client.get(`${events}/${String(delivery.eventId)}`))).toMatchObject({
        type: 'webhook.tested',
        resourceId: hook.id,
      });
    });

    test.each(['payment.captured', 'dispute.created', 'webhook.disabled'])(
      'the example of %s is sent where it is asked for, whatever the filter',
      async (type) => {
        const receiver = await testReceiver();
        const { id } = await shop.createWebhook(receiver, { eventTypes: ['customer.created'] });
        expect(await tried(id, { type })).toMatchObject({ status: 'succeeded', eventType: type });
        const example = eventCatalogue.find((one) => one.type === type)?.example;
        expect(eventPayload(receiver.received[0] ?? { body: '' })).toMatchObject({ type, data: example });
        expect(receiver.received).toHaveLength(1);
      },
    );

    test.each([400, 404, 500, 503, 301])(
      'a receiver that answers %i makes it failed, and is not asked again',
      async (status) => {
        const receiver = await testReceiver(
          withStatus(status, { 'retry-after': '1', location: 'http://127.0.0.1:1/' }),
        );
        const { id } = await shop.createWebhook(receiver);
        const delivery = await tried(id);
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

    test('where nothing listens it is said in words', async () => {
      const receiver = await closedReceiver();
      const { id } = await shop.createWebhook(receiver);
      const delivery = await tried(id);
      const error = `Connection refused: nothing listens at 127.0.0.1:${receiver.port}.`;
      expect(delivery).toMatchObject({ status: 'failed', lastResponseStatus: null, lastError: error });
      expect(delivery.attempts).toMatchObject([{ responseStatus: null, responseBody: null, error }]);
    });

    test('where the connection is cut it is said in words', async () => {
      const receiver = await testReceiver((_received, response) => response.destroy());
      const { id } = await shop.createWebhook(receiver);
      expect(await tried(id)).toMatchObject({
        status: 'failed',
        lastError: 'Connection closed: it ended before an answer came.',
      });
    });

    test('a disabled endpoint can be tested, and what it waits for stays where it is', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      await shop.webhookAction(id, 'disable');
      await shop.emitEvent();
      expect(await tried(id)).toMatchObject({ status: 'succeeded', held: false });
      expect(receivedTypes(receiver)).toEqual(['webhook.tested']);
      expect(await shop.readWebhook(id)).toMatchObject({ status: 'disabled', version: 2 });
      expect(await shop.deliveries('status=pending')).toMatchObject([{ held: true }]);
    });

    test('only the endpoint that is tested gets it, although others want everything', async () => {
      const [receiver, beside, sisters] = [await testReceiver(), await testReceiver(), await testReceiver()];
      const { id } = await shop.createWebhook(receiver);
      await shop.createWebhook(beside);
      const sister = await shop.addKey({ application: 'second' });
      expectOk(await sister.client.post(webhooks, { url: sisters.url }));
      await tried(id);
      await tried(id, { type: 'payment.created' });
      await shop.sendDue();
      expect(receivedTypes(receiver)).toEqual(['webhook.tested', 'payment.created']);
      expect([...beside.received, ...sisters.received]).toEqual([]);
      expect(await shop.deliveries()).toHaveLength(2);
    });

    test('both secrets sign while they overlap', async () => {
      const receiver = await testReceiver();
      const { id, secret: old } = await shop.createWebhook(receiver);
      const { secret } = await shop.webhookAction(id, 'rotate_secret', { overlapSeconds: 60 });
      await tried(id);
      const aMinuteAgo = shop.clientOn(openApp(server, { wallClock: () => Date.now() - 60_000 }));
      const again = expectOk(
        await aMinuteAgo.post(`${webhooks}/${id}/rotate_secret`, { overlapSeconds: 59 }),
      );
      await tried(id);
      const [first, second] = receiver.received;
      if (!first || !second) throw new Error('two tests were to be sent');
      expectSigned(first, [secret, old], []);
      expectSigned(second, [String(again.secret)], [secret, old]);
    });

    test('a key of another application of the organization cannot test it', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      const sister = await shop.addKey({ application: 'second' });
      expect((await sister.client.post(`${webhooks}/${id}/test`)).code).toBe('resource_not_found');
      expect(receiver.received).toEqual([]);
    });

    test('one that is full of other requests is tested all the same', async () => {
      const held: ServerResponse[] = [];
      const receiver = await testReceiver((received, response) => {
        if (eventPayload(received).type === 'webhook.tested') response.writeHead(204).end();
        else held.push(response);
      });
      const { id } = await shop.createWebhook(receiver, { maxConcurrency: 1 });
      await shop.emitEvent();
      await receiver.waitFor(1);
      expect(await tried(id)).toMatchObject({ status: 'succeeded' });
      for (const response of held) response.writeHead(204).end();
      await shop.sendDue();
      expect(await shop.deliveries('status=succeeded')).toHaveLength(2);
    });

    test('a test of 410 disables the endpoint as any 410 does', async () => {
      const receiver = await testReceiver(withStatus(410));
      const { id } = await shop.createWebhook(receiver);
      expect(await tried(id)).toMatchObject({ status: 'failed', lastResponseStatus: 410 });
      await readUntil(
        () => shop.readWebhook(id),
        ({ status }) => status === 'disabled',
      );
    });

    test('the trail of a test is two commands of one request, both accepted', async () => {
      const { id } = await shop.createWebhook(await testReceiver());
      const answer = await ask(id);
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

    describe('the same key', () => {
      test('again sends nothing and answers byte for byte, also what failed', async () => {
        for (const reply of [withStatus(204), withStatus(500)]) {
          const receiver = await testReceiver(reply);
          const { id } = await shop.createWebhook(receiver);
          const key = randomUUID();
          const first = await ask(id, undefined, key);
          expectReplay(await ask(id, undefined, key), first);
          expectReplay(await ask(id, {}, key), first);
          expect(receiver.received).toHaveLength(1);
        }
      });

      test('twice at once sends once: the other waits or is told to', async () => {
        const held: ServerResponse[] = [];
        const receiver = await testReceiver((_received, response) => held.push(response));
        const { id } = await shop.createWebhook(receiver);
        const key = randomUUID();
        const first = ask(id, undefined, key);
        await receiver.waitFor(1);
        // While the receiver thinks, the key is that of a request in progress.
        const second = await ask(id, undefined, key);
        expect(second.code).toBe('idempotency_in_progress');
        expect(Number(second.headers['retry-after'])).toBeGreaterThanOrEqual(1);
        for (const response of held) response.writeHead(204).end();
        const answered = await first;
        expect(answered.body).toMatchObject({ status: 'succeeded' });
        expectReplay(await ask(id, undefined, key), answered);
        expect(receiver.received).toHaveLength(1);
      });

      test('ten times at once sends once', async () => {
        const receiver = await testReceiver();
        const { id } = await shop.createWebhook(receiver);
        const key = randomUUID();
        const answers = await Promise.all(Array.from({ length: 10 }, () => ask(id, undefined, key)));
        const ended = answers.filter(({ status }) => status === 200);
        expect(ended.length).toBeGreaterThanOrEqual(1);
        expect(new Set(ended.map(({ text }) => text)).size).toBe(1);
        for (const { code, status } of answers)
          if (status !== 200) expect(code).toBe('idempotency_in_progress');
        expect(receiver.received).toHaveLength(1);
      });
    });

    test('ten tests with keys of their own are ten events', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver, { maxConcurrency: 1 });
      const made = await Promise.all(Array.from({ length: 10 }, () => tried(id)));
      expect(new Set(made.map(({ eventId }) => eventId)).size).toBe(10);
      expect(receiver.received).toHaveLength(10);
    });
  });

  describe('400', () => {
    test.each<[what: string, body: unknown, param: string]>([
      ['an unknown type', { type: 'payment.exploded' }, '/type'],
      ['a wildcard', { type: '*' }, '/type'],
      ['a type that is told to nobody', { type: 'webhook.created' }, '/type'],
      ['a type of null', { type: null }, '/type'],
      ['data of its own', { type: 'payment.created', data: {} }, '/data'],
      ['an unknown field', { url: 'http://127.0.0.1/' }, '/url'],
    ])('%s is refused, and nothing is sent', async (_what, body, param) => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      expectRefused(await ask(id, body), 'invalid_request', param);
      expect(receiver.received).toEqual([]);
    });

    test('it needs a key, and one that was not used for something else', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      const path = `${webhooks}/${id}/test`;
      const bare = await shop.client.post(path, undefined, { idempotencyKey: null });
      expect(bare.code).toBe('idempotency_key_missing');
      const key = randomUUID();
      await tried(id);
      expectOk(await ask(id, {}, key));
      expect((await ask(id, { type: 'payment.created' }, key)).code).toBe('idempotency_key_reused');
      expect(receiver.received).toHaveLength(2);
    });
  });

  describe('401, 403 and 404', () => {
    test('nobody sends a test who may not, and nothing is sent', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      const path = `${webhooks}/${id}/test`;
      const reader = await shop.addKey({ scopes: ['webhooks:read'] });
      expect((await new ApiClient(server.app, null).post(path)).code).toBe('api_key_missing');
      expect((await reader.client.post(path)).code).toBe('scope_missing');
      expect((await other.client.post(path)).code).toBe('resource_not_found');
      expect((await ask(unknownWebhook)).code).toBe('resource_not_found');
      expect((await ask('nonsense')).code).toBe('resource_not_found');
      expect(receiver.received).toEqual([]);
      expect(await shop.deliveries()).toEqual([]);
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.webhookTest);
});
