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
    test('an event by hand shows every field and is there', async () => {
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
      const { requestId: _made, ...made } = answer.body;
      const { requestId: _read, ...read } = expectOk(await shop.client.get(`${events}/${made.id}`));
      expect(read).toEqual(made);
    });

    test.each<[what: string, data: Record<string, unknown>]>([
      ['nothing', {}],
      ['any writing', { a: 'Ä "quoted" \\ 🎉 \u2028 \u007f', '': 'no name' }],
      ['numbers of all kinds', { a: 0.1, b: -5, c: 1e-7, d: 9_007_199_254_740_991, e: [-0.5e-3] }],
      [
        'what looks like the envelope',
        { object: 'event', id: 'evt_x', data: {}, sandbox: false, requestId: 'x' },
      ],
      ['much of it', { text: 'x'.repeat(250_000) }],
    ])('own data goes out exactly as given: %s', async (_what, data) => {
      const receiver = await testReceiver();
      const { secret } = await shop.createWebhook(receiver);
      const { id } = await shop.emitEvent('customer.updated', data);
      const [received] = await receiver.waitFor(1);
      if (!received) throw new Error('nothing was received');
      expect(received.body.endsWith(`,"data":${JSON.stringify(data)}}`)).toBe(true);
      expect(eventPayload(received)).toMatchObject({ id, type: 'customer.updated' });
      expectSigned(received, [secret], []);
    });

    test('without data the example of the type goes out, of every type that there is', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver, { maxConcurrency: 64 });
      await Promise.all(eventCatalogue.map(({ type }) => shop.client.post(events, { type }).then(expectOk)));
      await shop.sendDue();
      const got = eventPayloads(receiver).map(({ type, data }) => [type, data] as const);
      const sorted = (pairs: readonly (readonly [string, unknown])[]) =>
        pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));
      expect(sorted(got)).toEqual(
        sorted(eventCatalogue.map(({ type, example }) => [type, example] as const)),
      );
    });

    test('an event whose data names a record is found with the events of that record', async () => {
      const { id: recordId } = await shop.payments.create();
      const { id } = await shop.emitEvent('payment.failed', { id: recordId, status: 'failed' });
      expect(await idsOf(`resourceId=${recordId}&type=payment.failed`)).toEqual([id]);
      expect(await idsOf(`resourceId=${recordId}`)).toHaveLength(2);
    });

    test('it goes to those that want its type, and the same key makes it once', async () => {
      const [wanting, beside] = [await testReceiver(), await testReceiver()];
      await shop.createWebhook(wanting, { eventTypes: ['refund.*'] });
      await shop.createWebhook(beside, { eventTypes: ['payment.*'] });
      const idempotencyKey = randomUUID();
      const body = { type: 'refund.succeeded', data: {} };
      const first = await shop.client.post(events, body, { idempotencyKey });
      expectReplay(await shop.client.post(events, body, { idempotencyKey }), first);
      await shop.sendDue();
      expect(eventPayloads(wanting).map(({ id }) => id)).toEqual([first.body.id]);
      expect(beside.received).toEqual([]);
      expect(await idsOf('')).toEqual([first.body.id]);
    });
  });

  describe('what a receiver gets', () => {
    test('is exactly the fields of the contract, in their order, with the record as the answer showed it', async () => {
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
      // The very text: an event and an answer never say different things.
      const shown = answer.text.replace(`,"requestId":"${requestId}"`, '');
      expect(received?.body).toContain(`"data":${shown}}`);
      expect(expectOk(await shop.client.get(`${events}/${payload.id}`))).toMatchObject({
        originRequestId: requestId,
        data: record,
      });
    });

    test('is the same, byte for byte, at every endpoint, at every attempt and when it is sent again', async () => {
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

    test('is counted for each record on its own', async () => {
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

    test('says when it was by the clock of the application', async () => {
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
    test('lists walk newest first over all pages and filter by type, resource, record and time', async () => {
      const ada = expectOk(await shop.client.post(customers, { name: 'Ada' }));
      await shop.clock.advance({ seconds: 60 });
      const payment = await shop.payments.createAndAdvance(['authorize']);
      await shop.clock.advance({ seconds: 60 });
      expectOk(await shop.client.post(`${customers}/${ada.id}/archive`));
      const all = await listAll(list, 2);
      const told = all.map(({ type, resource, resourceId }) => `${type} ${resource} ${resourceId}`);
      expect(told).toEqual([
        `customer.archived customer ${ada.id}`,
        `payment.authorized payment ${payment.id}`,
        `payment.created payment ${payment.id}`,
        `customer.created customer ${ada.id}`,
      ]);
      const ids = all.map(({ id }) => id);
      const at = (...places: number[]) => places.map((place) => ids[place]);
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

    test('an event again keeps its id and makes new deliveries, with attempts of their own', async () => {
      const receiver = await testReceiver();
      const hook = await shop.createWebhook(receiver);
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
        webhookId: hook.id,
        replayId: null,
        status: 'succeeded',
        attemptCount: 1,
      });
      expect(await shop.delivery(first.id)).toMatchObject({ trigger: 'event', attemptCount: 1 });
      expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
      expect(await idsOf('')).toEqual([id]);
    });

    test('an event again goes to all endpoints that want it now', async () => {
      const [before, after, beside] = [await testReceiver(), await testReceiver(), await testReceiver()];
      const one = await shop.createWebhook(before, { eventTypes: ['customer.*'] });
      const { id } = await shop.emitEvent('customer.created');
      await shop.sendDue();
      await shop.webhookAction(one.id, 'update', { eventTypes: ['payment.*'] });
      await shop.createWebhook(after);
      await shop.createWebhook(beside, { eventTypes: ['customer.archived'] });
      expect(await replayed(id)).toMatchObject({ matched: 1, replayed: 1 });
      await shop.sendDue();
      expect([before, after, beside].map(({ received }) => received.length)).toEqual([1, 1, 0]);
    });

    test('an event again goes to the endpoint that is named, whatever its filter, and to it alone', async () => {
      const [named, wanting] = [await testReceiver(), await testReceiver()];
      const { id: webhookId } = await shop.createWebhook(named, { eventTypes: ['transfer.completed'] });
      await shop.createWebhook(wanting);
      const { id } = await shop.emitEvent('customer.created');
      await shop.sendDue();
      expect(await replayed(id, { webhookId })).toMatchObject({ matched: 1, replayed: 1 });
      await shop.sendDue();
      expect(receivedTypes(named)).toEqual(['customer.created']);
      expect(wanting.received).toHaveLength(1);
    });

    test('an event again that nobody wants goes nowhere, and says so', async () => {
      const { id } = await shop.emitEvent();
      expect(await replayed(id)).toMatchObject({ matched: 0, replayed: 0, deliveryIds: [] });
    });

    test('an event again to a disabled endpoint waits there', async () => {
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

    test('an event again has all retries again', async () => {
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

    test('the same key sends it once more, and not twice', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      const { id } = await shop.emitEvent();
      const key = randomUUID();
      const first = await replay(id, {}, key);
      expectReplay(await replay(id, {}, key), first);
      // No body and an empty one are the same request.
      expectReplay(await replay(id, undefined, key), first);
      await shop.sendDue();
      expect(receiver.received).toHaveLength(2);
    });

    describe('between applications of one organization', () => {
      let sister: KeyHolder;

      beforeEach(async () => {
        sister = await shop.addKey({ application: 'second' });
      });

      test('each reads the events of the other and replays only its own, to its own endpoints', async () => {
        const [own, hers] = [await testReceiver(), await testReceiver()];
        await shop.createWebhook(own);
        const { id: webhookId } = expectOk(await sister.client.post(webhooks, { url: hers.url }));
        const { id } = await shop.emitEvent();
        expect(expectOk(await sister.client.get(`${events}/${id}`)).applicationId).toBe(shop.appId);
        for (const body of [{}, { webhookId }])
          expect((await sister.client.post(`${events}/${id}/replay`, body)).code).toBe('resource_not_found');
        expect((await replay(id, { webhookId })).code).toBe('webhook_not_found');
        await shop.sendDue();
        expect(own.received).toHaveLength(1);
        expect(hers.received).toEqual([]);
      });
    });
  });

  describe('400', () => {
    test.each<[what: string, body: unknown, param: string]>([
      ['no type', { data: {} }, '/type'],
      ['an unknown type', { type: 'payment.exploded' }, '/type'],
      ['a wildcard', { type: 'payment.*' }, '/type'],
      ['a type that is told to nobody', { type: 'webhook.created' }, '/type'],
      ['a type of keys', { type: 'api_key.created' }, '/type'],
      ['data that is a list', { type: 'payment.created', data: [] }, '/data'],
      ['data that is a text', { type: 'payment.created', data: 'x' }, '/data'],
      ['data of null', { type: 'payment.created', data: null }, '/data'],
      ['an id of its own', { type: 'payment.created', id: unknownEvent }, '/id'],
      ['an unknown field', { type: 'payment.created', webhookId: unknownWebhook }, '/webhookId'],
    ])('an event by hand with %s is refused, and param points at it', async (_what, body, param) => {
      expectRefused(await shop.client.post(events, body), 'invalid_request', param);
      expect(await idsOf('')).toEqual([]);
    });

    test('data that no JSON reader agrees about is refused', async () => {
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

    test('half of a character is refused or goes out whole, and is never our fault', async () => {
      const raw = '{"type":"payment.created","data":{"a":"\\ud800","\\udfff":1}}';
      const answer = await shop.client.post(events, undefined, { raw });
      expect([201, 400]).toContain(answer.status);
    });

    test.each<[what: string, body: unknown, param: string]>([
      ['an endpoint that is a number', { webhookId: 5 }, '/webhookId'],
      ['an endpoint of null', { webhookId: null }, '/webhookId'],
      ['an empty endpoint', { webhookId: '' }, '/webhookId'],
      ['an unknown field', { to: 'x' }, '/to'],
    ])('a replay with %s is refused', async (_what, body, param) => {
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
    ])('the list refuses %s, and param names it', async (query, param) => {
      expectRefused(await list(query), 'invalid_request', param);
    });

    test('a cursor of something else is refused, and a key is needed to write', async () => {
      expectRefused(await list('cursor=x'), 'invalid_cursor', 'cursor');
      const bare = await shop.client.post(events, { type: 'payment.created' }, { idempotencyKey: null });
      expect(bare.code).toBe('idempotency_key_missing');
    });
  });

  describe('401 and 403', () => {
    test('reading needs webhooks:read, making and sending again webhooks:write', async () => {
      const { id } = await shop.emitEvent();
      const reader = await shop.addKey({ scopes: ['webhooks:read'] });
      const writer = await shop.addKey({ scopes: ['webhooks:write'] });
      const nameless = new ApiClient(server.app, null);
      for (const path of [events, `${events}/${id}`]) {
        expect((await nameless.get(path)).code).toBe('api_key_missing');
        expect((await writer.client.get(path)).code).toBe('scope_missing');
        expect((await reader.client.get(path)).status).toBe(200);
      }
      for (const [path, body] of [
        [events, { type: 'payment.created' }],
        [`${events}/${id}/replay`, undefined],
      ] as const) {
        expect((await nameless.post(path, body)).code).toBe('api_key_missing');
        expect((await reader.client.post(path, body)).code).toBe('scope_missing');
        expect((await writer.client.post(path, body)).status).toBeLessThan(300);
      }
    });
  });

  describe('404', () => {
    test('an event of another organization is not there, nor is an unknown one, and nothing goes out', async () => {
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

    test('existence of the event comes before that of the endpoint', async () => {
      expect((await replay(unknownEvent, { webhookId: unknownWebhook })).code).toBe('resource_not_found');
    });
  });

  describe('413 and 422', () => {
    test('data larger than a request may be is refused', async () => {
      const data = { text: 'x'.repeat(256 * 1_024) };
      expect((await shop.client.post(events, { type: 'payment.created', data })).code).toBe(
        'payload_too_large',
      );
    });

    test('an endpoint that is not there is told as such, and stays so for its key', async () => {
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

    test('a key that was used for something else is told as such', async () => {
      const key = randomUUID();
      const { id } = await shop.emitEvent();
      const { id: second } = await shop.emitEvent();
      expectOk(await replay(id, {}, key));
      expect((await replay(second, {}, key)).code).toBe('idempotency_key_reused');
      expect((await shop.client.post(payments, {}, { idempotencyKey: key })).status).toBe(400);
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.events);
});
