import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { eventCatalogue } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import {
  ApiClient,
  expectOk,
  expectRefused,
  expectReplay,
  listAll,
  seenCodes,
} from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { customers, payments } from '../support/payments.ts';
import { withStatus } from '../support/receiver.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type KeyHolder, type Tenant, tenant } from '../support/tenant.ts';
import {
  eventPayload,
  eventPayloads,
  events,
  expectSigned,
  receivedTypes,
  testReceiver,
  unknownEvent,
  unknownWebhook,
  webhooks,
} from '../support/webhooks.ts';

interface Replayed {
  readonly matched: number;
  readonly replayed: number;
  readonly deliveryIds: readonly string[];
}

describe.each(databaseKinds)('events on %s', (kind) => {
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

  const list = (query: string) => shop.client.get(events, query);
  const idsOf = async (query: string) => expectOk(await list(query)).data.map(({ id }) => id);
  const replay = (id: string, body?: object, idempotencyKey: string = randomUUID()) =>
    shop.client.post(`${events}/${id}/replay`, body, { idempotencyKey });
  const replayed = async (id: string, body?: object) =>
    expectOk(await replay(id, body)) as unknown as Replayed;

  describe('201', () => {
    test('an event created through the API has every field and can be retrieved', async () => {
      const data = { invoice: 'A-1', lines: [{ cents: 5 }, null, true], 'Ä "\\ 🎉\u2028': { deep: [[]] } };
      const answer = await shop.client.post(events, { type: 'payment.captured', data });
      expect(answer.status).toBe(201);
      const { now } = await shop.clock.read();
      expect(answer.body).toEqual({
        object: 'event',
        sandbox: true,
        requestId: answer.headers['request-id'],
        status: 'ok',
        id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
        type: 'payment.captured',
        apiVersion,
        timestamp: now,
        sequence: 1,
        applicationId: shop.appId,
        resource: 'payment',
        resourceId: answer.body.id,
        originRequestId: answer.headers['request-id'],
        data,
        createdAt: now,
      });
      const { requestId: _createRequestId, ...created } = answer.body;
      const { requestId: _read, ...read } = expectOk(await shop.client.get(`${events}/${created.id}`));
      expect(read).toEqual(created);
    });

    test.each<[name: string, data: Record<string, unknown>]>([
      ['nothing', {}],
      ['any script', { a: 'Ä "quoted" \\ 🎉 \u2028 \u007f', '': 'empty key' }],
      ['numbers of all kinds', { a: 0.1, b: -5, c: 1e-7, d: 9_007_199_254_740_991, e: [-0.5e-3] }],
      [
        'fields named like the envelope',
        { object: 'event', id: 'evt_x', data: {}, sandbox: false, requestId: 'x' },
      ],
      ['250,000 characters', { text: 'x'.repeat(250_000) }],
    ])('sends custom data exactly as given: %s', async (_name, data) => {
      const receiver = await testReceiver();
      const { secret } = await shop.createWebhook(receiver);
      const { id } = await shop.emitEvent('customer.updated', data);
      const [received] = await receiver.waitFor(1);
      if (!received) throw new Error('no request was received');
      expect(received.body.endsWith(`,"data":${JSON.stringify(data)}}`)).toBe(true);
      expect(eventPayload(received)).toMatchObject({ id, type: 'customer.updated' });
      expectSigned(received, [secret], []);
    });

    test('without data, sends the example of the type, for every type', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver, { maxConcurrency: 64 });
      await Promise.all(eventCatalogue.map(({ type }) => shop.client.post(events, { type }).then(expectOk)));
      await shop.sendDue();
      const received = eventPayloads(receiver).map(({ type, data }) => [type, data] as const);
      const sorted = (pairs: readonly (readonly [string, unknown])[]) =>
        pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));
      expect(sorted(received)).toEqual(
        sorted(eventCatalogue.map(({ type, example }) => [type, example] as const)),
      );
    });

    test("an event whose data has a record's id is listed with the events of that record", async () => {
      const { id: recordId } = await shop.payments.create();
      const { id } = await shop.emitEvent('payment.failed', { id: recordId, status: 'failed' });
      expect(await idsOf(`resourceId=${recordId}&type=payment.failed`)).toEqual([id]);
      expect(await idsOf(`resourceId=${recordId}`)).toHaveLength(2);
    });

    test('goes to the endpoints that match its type, and one idempotency key creates one event', async () => {
      const [matching, unmatched] = [await testReceiver(), await testReceiver()];
      await shop.createWebhook(matching, { eventTypes: ['refund.*'] });
      await shop.createWebhook(unmatched, { eventTypes: ['payment.*'] });
      const idempotencyKey = randomUUID();
      const body = { type: 'refund.succeeded', data: {} };
      const first = await shop.client.post(events, body, { idempotencyKey });
      expectReplay(await shop.client.post(events, body, { idempotencyKey }), first);
      await shop.sendDue();
      expect(eventPayloads(matching).map(({ id }) => id)).toEqual([first.body.id]);
      expect(unmatched.received).toEqual([]);
      expect(await idsOf('')).toEqual([first.body.id]);
    });
  });

  describe('a webhook payload', () => {
    test("has exactly the contract's fields, in order, with the record as in the response", async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver, { eventTypes: ['customer.created'] });
      const answer = await shop.client.post(customers, { name: 'Ada', metadata: { b: '1', a: '2' } });
      const [received] = await receiver.waitFor(1);
      const payload = JSON.parse(received?.body ?? '') as Record<string, unknown>;
      const { requestId, ...record } = answer.body;
      expect(payload).toEqual({
        object: 'event',
        id: expect.stringMatching(/^evt_/),
        sandbox: true,
        requestId,
        status: 'ok',
        type: 'customer.created',
        apiVersion,
        timestamp: record.createdAt,
        sequence: 1,
        data: record,
      });
      expect(Object.keys(payload)).toEqual(
        'object id sandbox requestId status type apiVersion timestamp sequence data'.split(' '),
      );
      // Compares text: an event and a response never differ.
      const shown = answer.text.replace(`,"requestId":"${requestId}"`, '');
      expect(received?.body).toContain(`"data":${shown}}`);
      expect(expectOk(await shop.client.get(`${events}/${payload.id}`))).toMatchObject({
        originRequestId: requestId,
        data: record,
      });
    });

    test('is the same byte for byte at every endpoint, at every attempt and when it is replayed', async () => {
      const [failing, fine] = [await testReceiver(withStatus(500)), await testReceiver()];
      await shop.createWebhook(failing, { retryProfile: 'fast' });
      await shop.createWebhook(fine);
      const { id } = expectOk(await shop.client.post(customers, { name: 'Ada' }));
      await shop.clock.advance({ seconds: 60 });
      expectOk(await shop.client.post(`${customers}/${id}/update`, { name: 'Ada King' }));
      const [event] = await idsOf(`resourceId=${id}&type=customer.created`);
      await replayed(String(event), {});
      await shop.clock.advance({ seconds: 60 });
      const bodies = [...failing.received, ...fine.received]
        .filter(({ headers }) => headers['webhook-id'] === event)
        .map(({ body }) => body);
      expect(bodies).toHaveLength(12);
      expect(new Set(bodies).size).toBe(1);
      expect(eventPayload({ body: bodies[0] ?? '' }).data).toMatchObject({ name: 'Ada', version: 1 });
    });

    test('has a separate sequence for each record', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver, { maxConcurrency: 1 });
      const one = await shop.payments.createAndAdvance(['authorize', 'capture']);
      const two = await shop.payments.createAndAdvance(['authorize']);
      expectOk(await shop.payments.advance(one.id, { to: 'settled' }));
      const customer = expectOk(await shop.client.post(customers, { name: 'Ada' }));
      expectOk(await shop.client.post(`${customers}/${customer.id}/archive`));
      await shop.sendDue();
      const counted = (id: string) =>
        eventPayloads(receiver)
          .filter(({ data }) => data.id === id)
          .map(({ sequence, type }) => `${sequence} ${type}`);
      expect(counted(one.id)).toEqual([
        '1 payment.created',
        '2 payment.authorized',
        '3 payment.captured',
        '4 payment.settled',
      ]);
      expect(counted(two.id)).toEqual(['1 payment.created', '2 payment.authorized']);
      expect(counted(customer.id)).toEqual(['1 customer.created', '2 customer.archived']);
    });

    test('has the time of the application clock', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      await shop.clock.advance({ seconds: 400 * 86_400 });
      const { createdAt } = await shop.payments.create();
      await receiver.waitFor(1);
      expect(eventPayloads(receiver)[0]?.timestamp).toBe(createdAt);
      expect(Date.parse(createdAt)).toBeGreaterThan(Date.now() + 399 * 86_400_000);
    });
  });

  describe('200', () => {
    test('lists all pages newest first, and filters by type, resource, record and time', async () => {
      const ada = expectOk(await shop.client.post(customers, { name: 'Ada' }));
      await shop.clock.advance({ seconds: 60 });
      const payment = await shop.payments.createAndAdvance(['authorize']);
      await shop.clock.advance({ seconds: 60 });
      expectOk(await shop.client.post(`${customers}/${ada.id}/archive`));
      const all = await listAll(list, 2);
      const summary = all.map(({ type, resource, resourceId }) => `${type} ${resource} ${resourceId}`);
      expect(summary).toEqual([
        `customer.archived customer ${ada.id}`,
        `payment.authorized payment ${payment.id}`,
        `payment.created payment ${payment.id}`,
        `customer.created customer ${ada.id}`,
      ]);
      const ids = all.map(({ id }) => id);
      const at = (...indexes: number[]) => indexes.map((index) => ids[index]);
      expect(await idsOf('type=payment.created')).toEqual(at(2));
      expect(await idsOf('type=transfer.sent')).toEqual([]);
      expect(await idsOf('resource=customer')).toEqual(at(0, 3));
      expect(await idsOf(`resourceId=${payment.id}`)).toEqual(at(1, 2));
      expect(await idsOf(`resourceId=${ada.id}&type=customer.archived&resource=customer`)).toEqual(at(0));
      expect(await idsOf(`resourceId=${ada.id}&resource=payment`)).toEqual([]);
      expect(await idsOf('resourceId=nonsense')).toEqual([]);
      const { createdAt } = payment;
      expect(await idsOf(`createdAfter=${createdAt}`)).toEqual(at(0));
      expect(await idsOf(`createdBefore=${createdAt}`)).toEqual(at(3));
      expect(await idsOf(`createdAfter=${ada.createdAt}&resource=payment&limit=1`)).toEqual(at(1));
      expect(all[0]).toEqual({
        ...(({ requestId: _requestId, ...event }) => event)(
          expectOk(await shop.client.get(`${events}/${ids[0]}`)),
        ),
      });
      expect((await other.client.get(events)).body.data).toEqual([]);
    });

    test('a replayed event retains its id and creates new deliveries with their own attempts', async () => {
      const receiver = await testReceiver();
      const webhook = await shop.createWebhook(receiver);
      const { id } = await shop.emitEvent();
      await shop.sendDue();
      const first = await shop.onlyDelivery(`eventId=${id}`);
      const answer = await replay(id);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        object: 'replay',
        sandbox: true,
        requestId: expect.stringMatching(/^req_/),
        status: 'completed',
        eventId: id,
        matched: 1,
        replayed: 1,
        deliveryIds: [expect.stringMatching(/^dlv_[0-9a-z]{26}$/)],
      });
      await shop.sendDue();
      const [again] = (answer.body as unknown as Replayed).deliveryIds;
      expect(again).not.toBe(first.id);
      expect(await shop.delivery(String(again))).toMatchObject({
        trigger: 'replay',
        eventId: id,
        webhookId: webhook.id,
        replayId: null,
        status: 'succeeded',
        attemptCount: 1,
      });
      expect(await shop.delivery(first.id)).toMatchObject({ trigger: 'event', attemptCount: 1 });
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
      expect(await idsOf('')).toEqual([id]);
    });

    test('a replayed event goes to all endpoints that match it now', async () => {
      const [before, after, unmatched] = [await testReceiver(), await testReceiver(), await testReceiver()];
      const one = await shop.createWebhook(before, { eventTypes: ['customer.*'] });
      const { id } = await shop.emitEvent('customer.created');
      await shop.sendDue();
      await shop.webhookAction(one.id, 'update', { eventTypes: ['payment.*'] });
      await shop.createWebhook(after);
      await shop.createWebhook(unmatched, { eventTypes: ['customer.archived'] });
      expect(await replayed(id)).toMatchObject({ matched: 1, replayed: 1 });
      await shop.sendDue();
      expect([before, after, unmatched].map(({ received }) => received.length)).toEqual([1, 1, 0]);
    });

    test('a replayed event goes only to the named endpoint, regardless of its filter', async () => {
      const [named, matching] = [await testReceiver(), await testReceiver()];
      const { id: webhookId } = await shop.createWebhook(named, { eventTypes: ['transfer.completed'] });
      await shop.createWebhook(matching);
      const { id } = await shop.emitEvent('customer.created');
      await shop.sendDue();
      expect(await replayed(id, { webhookId })).toMatchObject({ matched: 1, replayed: 1 });
      await shop.sendDue();
      expect(receivedTypes(named)).toEqual(['customer.created']);
      expect(matching.received).toHaveLength(1);
    });

    test('a replayed event without a matching endpoint creates no delivery, and the response says so', async () => {
      const { id } = await shop.emitEvent();
      expect(await replayed(id)).toMatchObject({ matched: 0, replayed: 0, deliveryIds: [] });
    });

    test('a replayed event is held at a disabled endpoint', async () => {
      const receiver = await testReceiver();
      const { id: webhookId } = await shop.createWebhook(receiver);
      await shop.webhookAction(webhookId, 'disable');
      const { id } = await shop.emitEvent();
      const { deliveryIds } = await replayed(id, { webhookId });
      expect(await shop.delivery(String(deliveryIds[0]))).toMatchObject({ held: true, attemptCount: 0 });
      await shop.webhookAction(webhookId, 'enable');
      await shop.sendDue();
      expect(eventPayloads(receiver).map((one) => one.id)).toEqual([id, id]);
    });

    test('a replayed event has the complete retry schedule', async () => {
      const receiver = await testReceiver(withStatus(500));
      await shop.createWebhook(receiver, { retryProfile: 'fast' });
      const { id } = await shop.emitEvent();
      await shop.clock.advance({ seconds: 60 });
      const { deliveryIds } = await replayed(id);
      await shop.clock.advance({ seconds: 60 });
      expect(await shop.delivery(String(deliveryIds[0]))).toMatchObject({
        status: 'failed',
        attemptCount: 5,
      });
      expect(receiver.received).toHaveLength(10);
    });

    test('one idempotency key replays an event once', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      const { id } = await shop.emitEvent();
      const key = randomUUID();
      const first = await replay(id, {}, key);
      expectReplay(await replay(id, {}, key), first);
      // No body and an empty body are the same request.
      expectReplay(await replay(id, undefined, key), first);
      await shop.sendDue();
      expect(receiver.received).toHaveLength(2);
    });

    describe('between applications of one organization', () => {
      let otherApp: KeyHolder;

      beforeEach(async () => {
        otherApp = await shop.addKey({ application: 'second' });
      });

      test("each application reads the other's events, but replays only its own, to its own endpoints", async () => {
        const [ownReceiver, otherReceiver] = [await testReceiver(), await testReceiver()];
        await shop.createWebhook(ownReceiver);
        const { id: webhookId } = expectOk(await otherApp.client.post(webhooks, { url: otherReceiver.url }));
        const { id } = await shop.emitEvent();
        expect(expectOk(await otherApp.client.get(`${events}/${id}`)).applicationId).toBe(shop.appId);
        for (const body of [{}, { webhookId }])
          expect((await otherApp.client.post(`${events}/${id}/replay`, body)).code).toBe(
            'resource_not_found',
          );
        expect((await replay(id, { webhookId })).code).toBe('webhook_not_found');
        await shop.sendDue();
        expect(ownReceiver.received).toHaveLength(1);
        expect(otherReceiver.received).toEqual([]);
      });
    });
  });

  describe('400', () => {
    test.each<[name: string, body: unknown, param: string]>([
      ['no type', { data: {} }, '/type'],
      ['an unknown type', { type: 'payment.exploded' }, '/type'],
      ['a wildcard', { type: 'payment.*' }, '/type'],
      ['a type that is not sent to webhooks', { type: 'webhook.created' }, '/type'],
      ['a type of API key events', { type: 'api_key.created' }, '/type'],
      ['data that is a list', { type: 'payment.created', data: [] }, '/data'],
      ['data that is a string', { type: 'payment.created', data: 'x' }, '/data'],
      ['null data', { type: 'payment.created', data: null }, '/data'],
      ['an id', { type: 'payment.created', id: unknownEvent }, '/id'],
      ['an unknown field', { type: 'payment.created', webhookId: unknownWebhook }, '/webhookId'],
    ])('rejects an event with %s, and param points at it', async (_name, body, param) => {
      expectRefused(await shop.client.post(events, body), 'invalid_request', param);
      expect(await idsOf('')).toEqual([]);
    });

    test('rejects data that JSON parsers interpret differently', async () => {
      const refusals: [raw: string, code: string][] = [
        ['{"type":"payment.created","data":{"a":1,"a":2}}', 'invalid_request'],
        ['{"type":"payment.created","data":{"__proto__":{}}}', 'invalid_request'],
        ['{"type":"payment.created","data":{"a":9007199254740993}}', 'invalid_request'],
        [`{"type":"payment.created","data":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`, 'invalid_request'],
        ['{"type":"payment.created","data":{', 'malformed_json'],
      ];
      for (const [raw] of refusals)
        expect((await shop.client.post(events, undefined, { raw })).status, raw.slice(0, 60)).toBe(400);
      expect(await idsOf('')).toEqual([]);
    });

    test('an unpaired surrogate is rejected or sent unchanged, and never causes a 5xx', async () => {
      const raw = '{"type":"payment.created","data":{"a":"\\ud800","\\udfff":1}}';
      const answer = await shop.client.post(events, undefined, { raw });
      expect([201, 400]).toContain(answer.status);
    });

    test.each<[name: string, body: unknown, param: string]>([
      ['a numeric webhookId', { webhookId: 5 }, '/webhookId'],
      ['a null webhookId', { webhookId: null }, '/webhookId'],
      ['an empty webhookId', { webhookId: '' }, '/webhookId'],
      ['an unknown field', { to: 'x' }, '/to'],
    ])('rejects a replay with %s', async (_name, body, param) => {
      expectRefused(await replay(unknownEvent, body as object), 'invalid_request', param);
    });

    test.each<[query: string, param: string]>([
      ['type=payment.exploded', 'type'],
      ['type=payment.*', 'type'],
      ['resource=invoice', 'resource'],
      ['resource=api_key', 'resource'],
      ['resourceId=', 'resourceId'],
      ['status=ok', 'status'],
      ['limit=0', 'limit'],
      ['createdAfter=x', 'createdAfter'],
      ['resourceId=a%00b', 'resourceId'],
    ])('the list rejects %s, and param names it', async (query, param) => {
      expectRefused(await list(query), 'invalid_request', param);
    });

    test('rejects a cursor of another list, and writes without an idempotency key', async () => {
      expectRefused(await list('cursor=x'), 'invalid_cursor', 'cursor');
      const withoutKey = await shop.client.post(
        events,
        { type: 'payment.created' },
        { idempotencyKey: null },
      );
      expect(withoutKey.code).toBe('idempotency_key_missing');
    });
  });

  describe('401 and 403', () => {
    test('reads require webhooks:read, creating and replaying require webhooks:write', async () => {
      const { id } = await shop.emitEvent();
      const reader = await shop.addKey({ scopes: ['webhooks:read'] });
      const writer = await shop.addKey({ scopes: ['webhooks:write'] });
      const anonymous = new ApiClient(server.app, null);
      for (const path of [events, `${events}/${id}`]) {
        expect((await anonymous.get(path)).code).toBe('api_key_missing');
        expect((await writer.client.get(path)).code).toBe('scope_missing');
        expect((await reader.client.get(path)).status).toBe(200);
      }
      for (const [path, body] of [
        [events, { type: 'payment.created' }],
        [`${events}/${id}/replay`, undefined],
      ] as const) {
        expect((await anonymous.post(path, body)).code).toBe('api_key_missing');
        expect((await reader.client.post(path, body)).code).toBe('scope_missing');
        expect((await writer.client.post(path, body)).status).toBeLessThan(300);
      }
    });
  });

  describe('404', () => {
    test('events of another organization and unknown events are not found, and nothing is sent', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      const foreign = await testReceiver();
      const { id: webhookId } = expectOk(await other.client.post(webhooks, { url: foreign.url }));
      const { id } = await shop.emitEvent();
      await shop.sendDue();
      expect((await other.client.get(`${events}/${id}`)).code).toBe('resource_not_found');
      for (const body of [undefined, { webhookId }])
        expect((await other.client.post(`${events}/${id}/replay`, body)).code).toBe('resource_not_found');
      for (const unknown of [unknownEvent, 'nonsense', webhookId]) {
        expect((await shop.client.get(`${events}/${unknown}`)).code).toBe('resource_not_found');
        expect((await replay(unknown)).code).toBe('resource_not_found');
      }
      await shop.sendDue();
      expect([receiver.received.length, foreign.received.length]).toEqual([1, 0]);
    });

    test('checks that the event exists before the endpoint', async () => {
      expect((await replay(unknownEvent, { webhookId: unknownWebhook })).code).toBe('resource_not_found');
    });
  });

  describe('413 and 422', () => {
    test('rejects data above the maximum request size', async () => {
      const data = { text: 'x'.repeat(256 * 1_024) };
      expect((await shop.client.post(events, { type: 'payment.created', data })).code).toBe(
        'payload_too_large',
      );
    });

    test('rejects an unknown endpoint, and stores the rejection for its idempotency key', async () => {
      const { id } = await shop.emitEvent();
      const { id: foreign } = expectOk(
        await other.client.post(webhooks, { url: 'https://hooks.example.test/' }),
      );
      for (const webhookId of [unknownWebhook, 'nonsense', foreign]) {
        const key = randomUUID();
        const refused = await replay(id, { webhookId }, key);
        expectRefused(refused, 'webhook_not_found', '/webhookId');
        expectReplay(await replay(id, { webhookId }, key), refused);
      }
      expect(await shop.deliveries()).toEqual([]);
    });

    test('rejects an idempotency key used for another request', async () => {
      const key = randomUUID();
      const { id } = await shop.emitEvent();
      const { id: second } = await shop.emitEvent();
      expectOk(await replay(id, {}, key));
      expect((await replay(second, {}, key)).code).toBe('idempotency_key_reused');
      expect((await shop.client.post(payments, {}, { idempotencyKey: key })).status).toBe(400);
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.events);
});
