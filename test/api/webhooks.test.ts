import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AddressGuard } from '../../src/delivery/address-guard.ts';
import { limits } from '../../src/kernel/limits.ts';
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
import { secondMs } from '../support/clock.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { customers } from '../support/payments.ts';
import { databaseKinds, openApp, queryRows, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import {
  eventPayloads,
  events,
  expectSigned,
  receivedTypes,
  testReceiver,
  unknownWebhook,
  type WebhookBody,
  webhooks,
} from '../support/webhooks.ts';

const url = 'https://hooks.example.test/sandbank';
const full = {
  url,
  description: 'Orders',
  eventTypes: ['payment.*', 'customer.created'],
  retryProfile: 'fast',
  maxConcurrency: 3,
};
const secretOf = (bytes: number) => `whsec_${randomBytes(bytes).toString('base64')}`;
const actions = ['update', 'rotate_secret', 'disable', 'enable', 'test', 'delete'] as const;
const bodyFor = (action: string) => (action === 'update' ? { description: 'x' } : undefined);

describe.each(databaseKinds)('webhooks on %s', (kind) => {
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

  const create = async (body: object = full) =>
    expectOk(await shop.client.post(webhooks, body)) as WebhookBody;
  const post = (id: string, action: string, body?: unknown, idempotencyKey: string = randomUUID()) =>
    shop.client.post(`${webhooks}/${id}/${action}`, body, { idempotencyKey });

  describe('201', () => {
    test('a new endpoint is enabled, has every field, and shows its secret only once', async () => {
      const answer = await shop.client.post(webhooks, full);
      expect(answer.status).toBe(201);
      const { now } = await shop.clock.read();
      expect(answer.body).toEqual({
        object: 'webhook',
        sandbox: true,
        requestId: expect.stringMatching(/^req_/),
        status: 'enabled',
        id: expect.stringMatching(/^whk_[0-9a-z]{26}$/),
        applicationId: shop.appId,
        ...full,
        secretHint: expect.stringMatching(/^[A-Za-z0-9+/]{4}$/),
        previousSecretExpiresAt: null,
        headerNames: [],
        disabledReason: null,
        inbox: null,
        allowedActions: ['update', 'rotate_secret', 'disable', 'test', 'delete'],
        version: 1,
        createdAt: now,
        updatedAt: now,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      });
      const { secret, secretHint } = answer.body as WebhookBody;
      expect(secret.replace(/=+$/, '').endsWith(String(secretHint))).toBe(true);
    });

    test('a URL alone is sufficient: all events, standard retries', async () => {
      expect(await create({ url })).toMatchObject({
        description: null,
        eventTypes: ['*'],
        retryProfile: 'standard',
        maxConcurrency: limits.webhookConcurrencyDefault,
      });
    });

    test('every endpoint gets a different secret', async () => {
      const created = await Promise.all(Array.from({ length: 20 }, () => create()));
      expect(new Set(created.map(({ secret }) => secret)).size).toBe(20);
    });

    test.each([24, 25, 26, 32, 63, 64])(
      'accepts a custom secret of %i bytes, and signs with it',
      async (bytes) => {
        const secret = secretOf(bytes);
        const receiver = await testReceiver();
        const webhook = await shop.createWebhook(receiver, { secret });
        expect(webhook.secret).toBe(secret);
        expect(webhook.secretHint).toBe(secret.replace(/=+$/, '').slice(-4));
        await shop.emitEvent();
        const [received] = await receiver.waitFor(1);
        if (received) expectSigned(received, [secret], [secretOf(32)]);
      },
    );

    test('every setting accepts its maximum', async () => {
      const types = eventCatalogue.map(({ type }) => type).slice(0, limits.webhookEventTypesMax);
      const large = {
        url: `https://a.test/${'x'.repeat(limits.webhookUrlLengthMax - 15)}`,
        description: '🎉'.repeat(limits.descriptionLengthMax),
        eventTypes: types,
        maxConcurrency: limits.webhookConcurrencyMax,
      };
      expect(await create(large)).toMatchObject(large);
    });

    test('the same request again returns the same response byte for byte, including the secret', async () => {
      const idempotencyKey = randomUUID();
      const first = await shop.client.post(webhooks, full, { idempotencyKey });
      const replay = await shop.client.post(webhooks, full, { idempotencyKey });
      expectReplay(replay, first);
      expect((replay.body as WebhookBody).secret).toMatch(/^whsec_/);
      expect((await shop.client.get(webhooks)).body.data).toHaveLength(1);
    });
  });

  describe('200', () => {
    test('an endpoint can be retrieved and listed, with its health', async () => {
      const { secret: _secret, requestId: _requestId, ...created } = await create();
      const { requestId: _read, ...read } = await shop.readWebhook(created.id);
      expect(read).toEqual({
        ...created,
        health: {
          failingSince: null,
          lastSuccessAt: null,
          lastFailureAt: null,
          pendingDeliveries: 0,
          recentAttempts: { succeeded: 0, failed: 0 },
        },
      });
      expect((await shop.client.get(webhooks)).body.data).toEqual([created]);
    });

    test('health timestamps follow the application clock', async () => {
      const receiver = await testReceiver((_received, response, count) =>
        response.writeHead(count === 1 ? 500 : 204).end(),
      );
      const { id } = await shop.createWebhook(receiver, { retryProfile: 'fast' });
      const failedAt = (await shop.clock.read()).now;
      await shop.emitEvent();
      await shop.sendDue();
      expect((await shop.readWebhook(id)).health).toEqual({
        failingSince: failedAt,
        lastSuccessAt: null,
        lastFailureAt: failedAt,
        pendingDeliveries: 1,
        recentAttempts: { succeeded: 0, failed: 1 },
      });
      const retryAt = (await shop.onlyDelivery(`webhookId=${id}`)).nextAttemptAt;
      await shop.clock.advance({ seconds: 60 });
      expect((await shop.readWebhook(id)).health).toEqual({
        failingSince: null,
        lastSuccessAt: retryAt,
        lastFailureAt: failedAt,
        pendingDeliveries: 0,
        recentAttempts: { succeeded: 1, failed: 1 },
      });
    });

    test('lists all pages newest first, and filters by status', async () => {
      const createdIds: string[] = [];
      for (let i = 0; i < 5; i += 1) {
        createdIds.unshift((await create()).id);
        await shop.clock.advance({ seconds: 60 });
      }
      await post(String(createdIds[1]), 'disable');
      const list = (query: string) => shop.client.get(webhooks, query);
      const idsOf = async (query: string) => (await list(query)).body.data.map(({ id }) => id);
      expect((await listAll(list, 2)).map(({ id }) => id)).toEqual(createdIds);
      expect(await idsOf('status=disabled')).toEqual([createdIds[1]]);
      expect(await idsOf('status=enabled')).toEqual(createdIds.filter((_, i) => i !== 1));
      const { createdAt } = (await shop.readWebhook(String(createdIds[2]))) as WebhookBody;
      expect(await idsOf(`createdAfter=${createdAt}`)).toEqual(createdIds.slice(0, 2));
      expect(await idsOf(`createdBefore=${createdAt}`)).toEqual(createdIds.slice(3));
    });

    test('only keys of its application see an endpoint', async () => {
      const { id } = await create();
      const [second, otherApp] = [await shop.addKey(), await shop.addKey({ application: 'second' })];
      expect((await second.client.get(`${webhooks}/${id}`)).body.applicationId).toBe(shop.appId);
      expect((await second.client.get(webhooks)).body.data).toMatchObject([{ id }]);
      for (const { client } of [otherApp, other]) {
        expect((await client.get(`${webhooks}/${id}`)).code).toBe('resource_not_found');
        expect((await client.get(webhooks)).body.data).toEqual([]);
      }
    });

    test.each<[name: string, change: Record<string, unknown>]>([
      ['the URL', { url: 'http://example.test/other?a=b' }],
      ['the description', { description: 'New' }],
      ['the description to null', { description: null }],
      ['the event types', { eventTypes: ['*'] }],
      ['the retry profile', { retryProfile: 'none' }],
      ['the concurrency', { maxConcurrency: 64 }],
      [
        'all at once',
        { url, description: null, eventTypes: ['refund.*'], retryProfile: 'standard', maxConcurrency: 1 },
      ],
    ])('an update changes %s, leaves the other fields and increments the version', async (_name, change) => {
      const { secret: _secret, requestId: _createRequestId, ...before } = await create();
      await shop.clock.advance({ seconds: 1 });
      const answer = await post(before.id, 'update', change);
      expect(answer.status).toBe(200);
      const { requestId: _requestId, ...after } = answer.body;
      expect(after).toEqual({ ...before, ...change, version: 2, updatedAt: (await shop.clock.read()).now });
      expect(await shop.readWebhook(before.id)).toMatchObject(after);
    });

    test('a disabled endpoint can be updated and stays disabled', async () => {
      const { id } = await create();
      await post(id, 'disable');
      expect((await post(id, 'update', { description: 'x' })).body).toMatchObject({
        status: 'disabled',
        disabledReason: 'requested',
      });
    });

    test('an endpoint can be disabled and enabled repeatedly', async () => {
      const { id } = await create();
      for (let i = 0; i < 2; i += 1) {
        const disabled = await post(id, 'disable');
        expect(disabled.status).toBe(200);
        expect(disabled.body).toMatchObject({
          status: 'disabled',
          disabledReason: 'requested',
          allowedActions: ['update', 'rotate_secret', 'enable', 'test', 'delete'],
          version: 2 * i + 2,
        });
        const enabled = await post(id, 'enable');
        expect(enabled.status).toBe(200);
        expect(enabled.body).toMatchObject({
          status: 'enabled',
          disabledReason: null,
          allowedActions: ['update', 'rotate_secret', 'disable', 'test', 'delete'],
          version: 2 * i + 3,
        });
      }
    });

    test.each(actions)(
      '%s again with its idempotency key is one change, with the same response byte for byte',
      async (action) => {
        const receiver = await testReceiver();
        const { id } = await create({ url: receiver.url });
        if (action === 'enable') await post(id, 'disable');
        const { version } = await shop.readWebhook(id);
        const key = randomUUID();
        const first = await post(id, action, bodyFor(action), key);
        expect(first.status, first.text).toBe(200);
        expectReplay(await post(id, action, bodyFor(action), key), first);
        expect((await shop.readWebhook(id)).version).toBe(Number(version) + (action === 'test' ? 0 : 1));
      },
    );

    test('a new secret is shown once, and its expiry is shown without it', async () => {
      const before = await create();
      await post(before.id, 'disable');
      const rotated = await post(before.id, 'rotate_secret');
      expect(rotated.status).toBe(200);
      const { secret, secretHint } = rotated.body as WebhookBody;
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(secret).not.toBe(before.secret);
      const { previousSecretExpiresAt: expiresAt } = rotated.body;
      const aheadMs = Date.parse(String(expiresAt)) - Date.now();
      expect(aheadMs, 'a day of real time').toBeGreaterThan(86_400 * secondMs - 60_000);
      expect(aheadMs).toBeLessThanOrEqual(86_400 * secondMs);
      expect(rotated.body).toMatchObject({ version: 3, status: 'disabled' });
      const read = await shop.readWebhook(before.id);
      expect(read).toMatchObject({ secretHint, previousSecretExpiresAt: expiresAt });
      expect(read).not.toHaveProperty('secret');
    });
  });

  describe('the secret is only in the response that shows it:', () => {
    test('not in other responses, events, audit rows or any database column', async () => {
      const receiver = await testReceiver();
      const customSecret = secretOf(32);
      const key = randomUUID();
      const created = expectOk(
        await shop.client.post(
          webhooks,
          { url: receiver.url, secret: customSecret },
          { idempotencyKey: key },
        ),
      ) as WebhookBody;
      const rotated = await shop.webhookAction(created.id, 'rotate_secret');
      const watcher = await testReceiver();
      const second = await shop.createWebhook(watcher);
      await shop.emitEvent();
      await shop.webhookAction(created.id, 'disable');
      await shop.sendDue();
      await shop.webhookAction(created.id, 'test');
      await shop.webhookAction(created.id, 'enable');
      expect(receivedTypes(watcher).toSorted()).toEqual(['customer.created', 'webhook.disabled']);
      const shown = [
        ...(await Promise.all(
          [webhooks, `${webhooks}/${created.id}`, events, 'developer_api_webhook_deliveries'].map((path) =>
            shop.client.get(path, path.includes('/') ? '' : 'limit=100'),
          ),
        )),
        ...(await Promise.all(
          (
            await shop.deliveries()
          ).map(({ id }) => shop.client.get(`developer_api_webhook_deliveries/${id}`)),
        )),
      ].map((answer) => JSON.stringify(expectOk(answer)));
      const sent = [...receiver.received, ...watcher.received].map((one) => JSON.stringify(one));
      for (const secret of [customSecret, rotated.secret, second.secret]) {
        const secretValue = secret.slice('whsec_'.length);
        for (const text of [...shown, ...sent]) expect(text).not.toContain(secretValue);
        expect(await rowsHolding(server, shop.orgId, secretValue)).toEqual([]);
      }
      // Checks the search itself with a value that is stored in plain text.
      expect(await rowsHolding(server, shop.orgId, receiver.url)).toContain('webhooks');
    });

    test('the columns that store it are encrypted, and so is the stored response', async () => {
      const key = randomUUID();
      const created = expectOk(
        await shop.client.post(webhooks, full, { idempotencyKey: key }),
      ) as WebhookBody;
      const [row] = await queryRows<{ secrets: string; body: string }>(
        server,
        `select w.secrets::text as secrets, s.sealed_body as body from webhooks w
          join idempotency_secrets s on s.org_id = w.org_id and s.key = $3 where w.org_id = $1 and w.id = $2`,
        [shop.orgId, created.id, key],
      );
      expect(row?.secrets).toMatch(/"sealed": ?"sealed\.v1\./);
      expect(row?.body).toMatch(/^sealed\.v1\.[\w-]+$/);
    });

    test('the history has every change of an endpoint, and its creation emits no event', async () => {
      const watcher = await testReceiver();
      await shop.createWebhook(watcher);
      const { id } = await create();
      for (const action of ['update', 'rotate_secret', 'disable', 'enable'])
        expect((await post(id, action, bodyFor(action))).status).toBe(200);
      const rows = await queryRows<{ action: string; version: number }>(
        server,
        'select action, version from state_history where org_id = $1 and resource_id = $2 order by version',
        [shop.orgId, id],
      );
      expect(rows).toEqual(
        ['create', 'update', 'rotate_secret', 'disable', 'enable'].map((action, i) => ({
          action,
          version: i + 1,
        })),
      );
      await shop.sendDue();
      expect(receivedTypes(watcher)).toEqual(['webhook.disabled']);
    });
  });

  describe('filters', () => {
    /** The events of each of these tests: two resources, one of them in two steps. */
    async function live(): Promise<void> {
      const { id } = expectOk(await shop.client.post(customers, { name: 'Ada' }));
      await shop.payments.createAndAdvance(['authorize', 'capture']);
      expectOk(await shop.client.post(`${customers}/${id}/update`, { name: 'Ada King' }));
      await shop.sendDue();
    }
    const all = [
      'customer.created',
      'payment.created',
      'payment.authorized',
      'payment.captured',
      'customer.updated',
    ];

    test.each<[filter: readonly string[], got: readonly string[]]>([
      [['*'], all],
      [['payment.*'], all.filter((type) => type.startsWith('payment.'))],
      [['customer.*'], all.filter((type) => type.startsWith('customer.'))],
      [['payment.captured'], ['payment.captured']],
      [
        ['payment.captured', 'customer.updated'],
        ['payment.captured', 'customer.updated'],
      ],
      [['*', 'payment.captured', 'payment.*'], all],
      [['transfer.*', 'payment.failed'], []],
    ])('%s: exactly the matching events, each once', async (eventTypes, expectedTypes) => {
      const [receiver, otherReceiver] = [await testReceiver(), await testReceiver()];
      await shop.createWebhook(receiver, { eventTypes });
      await shop.createWebhook(otherReceiver);
      await live();
      expect(receivedTypes(receiver).toSorted()).toEqual(expectedTypes.toSorted());
      expect(receivedTypes(otherReceiver).toSorted()).toEqual(all.toSorted());
      const ids = eventPayloads(otherReceiver).map(({ id }) => id);
      expect(new Set(ids).size).toBe(all.length);
      for (const { id } of eventPayloads(receiver)) expect(ids).toContain(id);
    });

    test('events go to the application whose key created the record, and to no other of the organization', async () => {
      const otherApp = await shop.addKey({ application: 'second' });
      const [ownReceiver, otherReceiver, foreign] = [
        await testReceiver(),
        await testReceiver(),
        await testReceiver(),
      ];
      await shop.createWebhook(ownReceiver);
      expectOk(await otherApp.client.post(webhooks, { url: otherReceiver.url }));
      expectOk(await other.client.post(webhooks, { url: foreign.url }));
      const { id } = await shop.payments.create();
      const otherCustomer = expectOk(await otherApp.client.post(customers, { name: 'Ada' }));
      // Advanced by the other application, but still a record of the application that created it.
      expectOk(await otherApp.client.post(`developer_api_payments/${id}/advance`, { action: 'authorize' }));
      await otherReceiver.waitFor(1);
      await shop.sendDue();
      expect(receivedTypes(ownReceiver).toSorted()).toEqual(['payment.authorized', 'payment.created']);
      expect(eventPayloads(otherReceiver).map(({ data }) => data.id)).toEqual([otherCustomer.id]);
      expect(foreign.received).toEqual([]);
    });

    test('an endpoint gets events after its creation, by its filter at that time', async () => {
      await shop.emitEvent('customer.created');
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver, { eventTypes: ['payment.created'] });
      await shop.emitEvent('customer.updated');
      await shop.webhookAction(id, 'update', { eventTypes: ['customer.archived'] });
      await shop.emitEvent('customer.archived');
      await shop.emitEvent('payment.created');
      await shop.sendDue();
      expect(receivedTypes(receiver)).toEqual(['customer.archived']);
    });

    test('a changed URL applies from the next attempt', async () => {
      const [before, after] = [
        await testReceiver((_r, response) => response.writeHead(500).end()),
        await testReceiver(),
      ];
      const { id } = await shop.createWebhook(before, { retryProfile: 'fast' });
      await shop.emitEvent();
      await shop.sendDue();
      await shop.webhookAction(id, 'update', { url: after.url });
      await shop.clock.advance({ seconds: 60 });
      expect([before.received.length, after.received.length]).toEqual([1, 1]);
      expect(after.received[0]?.body).toBe(before.received[0]?.body);
    });
  });

  describe('rotation', () => {
    test('both secrets sign during the overlap, by the wall clock, and only the new one afterwards', async () => {
      const receiver = await testReceiver();
      const { id, secret: first } = await shop.createWebhook(receiver);
      const { secret: second } = await shop.webhookAction(id, 'rotate_secret', { overlapSeconds: 3_600 });
      const next = async () => {
        await shop.emitEvent();
        await shop.sendDue();
        const received = receiver.received.at(-1);
        if (!received) throw new Error('no request was received');
        return received;
      };
      expectSigned(await next(), [second, first], [secretOf(32)]);
      // The application clock is frozen, and advancing it changes nothing.
      await shop.clock.advance({ seconds: 86_400 });
      expectSigned(await next(), [second, first], []);
      const anHourAgo = shop.clientOn(openApp(server, { wallClock: () => Date.now() - 3_600_000 }));
      const rotated = await anHourAgo.post(`${webhooks}/${id}/rotate_secret`, { overlapSeconds: 3_599 });
      expectSigned(await next(), [(expectOk(rotated) as WebhookBody).secret], [second, first]);
      expect(receiver.received).toHaveLength(3);
    });

    test('an overlap that the previous release wrote by a clock far ahead does not sign for years', async () => {
      const receiver = await testReceiver();
      const { id, secret: old } = await shop.createWebhook(receiver);
      const { secret: fresh } = await shop.webhookAction(id, 'rotate_secret', { overlapSeconds: 60 });
      await queryRows(
        server,
        `update webhooks set secrets = jsonb_set(secrets, '{1,expiresAt}', $3::text::jsonb) where org_id = $1 and id = $2`,
        [shop.orgId, id, String(Date.now() + 8 * 86_400_000)],
      );
      await shop.emitEvent();
      const [received] = await receiver.waitFor(1);
      if (!received) throw new Error('no request was received');
      expectSigned(received, [fresh], [old]);
    });

    test('an overlap of 0 ends the old secret at once', async () => {
      const receiver = await testReceiver();
      const { id, secret: old } = await shop.createWebhook(receiver);
      const rotated = await shop.webhookAction(id, 'rotate_secret', { overlapSeconds: 0 });
      expect(rotated.previousSecretExpiresAt).toBeNull();
      await shop.emitEvent();
      const [received] = await receiver.waitFor(1);
      if (received) expectSigned(received, [rotated.secret], [old]);
    });

    test('after two rotations, the last two secrets sign; and a custom secret is accepted', async () => {
      const receiver = await testReceiver();
      const { id, secret: first } = await shop.createWebhook(receiver);
      const { secret: second } = await shop.webhookAction(id, 'rotate_secret');
      const customSecret = secretOf(40);
      expect((await shop.webhookAction(id, 'rotate_secret', { secret: customSecret })).secret).toBe(
        customSecret,
      );
      await shop.emitEvent();
      const [received] = await receiver.waitFor(1);
      if (received) expectSigned(received, [customSecret, second], [first]);
    });

    test('a retry is signed with the secrets valid at its time', async () => {
      const receiver = await testReceiver((_received, response, count) =>
        response.writeHead(count === 1 ? 500 : 204).end(),
      );
      const { id, secret: old } = await shop.createWebhook(receiver, { retryProfile: 'fast' });
      await shop.emitEvent();
      await shop.sendDue();
      const { secret: fresh } = await shop.webhookAction(id, 'rotate_secret', { overlapSeconds: 0 });
      await shop.clock.advance({ seconds: 60 });
      const [first, second] = receiver.received;
      if (!first || !second) throw new Error('two attempts should have been sent');
      expectSigned(first, [old], [fresh]);
      expectSigned(second, [fresh], [old]);
    });
  });

  describe('400', () => {
    const shared: readonly [name: string, change: Record<string, unknown>, param: string][] = [
      ['an empty URL', { url: '' }, '/url'],
      ['a numeric URL', { url: 5 }, '/url'],
      ['a null URL', { url: null }, '/url'],
      ['a URL of 2001 characters', { url: `https://a.test/${'x'.repeat(1_986)}` }, '/url'],
      ['a description of 501 characters', { description: 'd'.repeat(501) }, '/description'],
      ['an empty description', { description: '' }, '/description'],
      ['an empty list of event types', { eventTypes: [] }, '/eventTypes'],
      ['event types that are not a list', { eventTypes: '*' }, '/eventTypes'],
      ['an unknown event type', { eventTypes: ['payment.exploded'] }, '/eventTypes/0'],
      ['an unknown resource', { eventTypes: ['*', 'invoice.*'] }, '/eventTypes/1'],
      ['a two-level wildcard', { eventTypes: ['payment.captured.*'] }, '/eventTypes/0'],
      ['an event that is not sent to webhooks', { eventTypes: ['webhook.created'] }, '/eventTypes/0'],
      ['the same event type twice', { eventTypes: ['*', '*'] }, '/eventTypes'],
      ['an unknown retry profile', { retryProfile: 'slow' }, '/retryProfile'],
      ['a concurrency of 0', { maxConcurrency: 0 }, '/maxConcurrency'],
      ['a concurrency of 65', { maxConcurrency: 65 }, '/maxConcurrency'],
      ['a fractional concurrency', { maxConcurrency: 1.5 }, '/maxConcurrency'],
      ['an unknown field', { events: ['*'] }, '/events'],
      ['a status', { status: 'disabled' }, '/status'],
    ];

    test.each(shared)('create rejects %s, and param points at it', async (_name, change, param) => {
      expectRefused(await shop.client.post(webhooks, { ...full, ...change }), 'invalid_request', param);
    });

    test.each(shared)('update rejects %s, and param points at it', async (_name, change, param) => {
      expectRefused(await post(unknownWebhook, 'update', change), 'invalid_request', param);
    });

    const secrets: readonly [name: string, secret: unknown][] = [
      ['of 23 bytes', secretOf(23)],
      ['of 65 bytes', secretOf(65)],
      ['without its prefix', secretOf(32).slice(6)],
      ['with another prefix', secretOf(32).replace('whsec_', 'whpk_')],
      ['without its padding', secretOf(32).replace(/=$/, '')],
      ['in base64url', `whsec_${'-_'.repeat(16)}`],
      ['with a trailing line break', `${secretOf(32)}\n`],
      ['that is empty', ''],
      ['that is null', null],
    ];

    test.each(secrets)('create and rotate reject a secret %s', async (_name, secret) => {
      expectRefused(await shop.client.post(webhooks, { url, secret }), 'invalid_request', '/secret');
      expectRefused(await post(unknownWebhook, 'rotate_secret', { secret }), 'invalid_request', '/secret');
    });

    test('an update requires a field, and cannot set the secret', async () => {
      const { id } = await create();
      expect((await post(id, 'update')).code).toBe('invalid_request');
      expect((await post(id, 'update', {})).code).toBe('invalid_request');
      expectRefused(await post(id, 'update', { secret: secretOf(32) }), 'invalid_request', '/secret');
      expect((await shop.readWebhook(id)).version).toBe(1);
    });

    test.each([-1, limits.webhookOverlapSecondsMax + 1, 0.5, '60', null])(
      'rejects an overlap of %j seconds',
      async (overlapSeconds) => {
        const answer = await post(unknownWebhook, 'rotate_secret', { overlapSeconds });
        expectRefused(answer, 'invalid_request', '/overlapSeconds');
      },
    );

    test('actions without a body reject one', async () => {
      for (const action of ['disable', 'enable'])
        expectRefused(await post(unknownWebhook, action, { reason: 'x' }), 'invalid_request', '/reason');
    });

    test('writes require an idempotency key, and the list rejects unknown parameters', async () => {
      const withoutKey = await shop.client.post(webhooks, full, { idempotencyKey: null });
      expect(withoutKey.code).toBe('idempotency_key_missing');
      expectRefused(await shop.client.get(webhooks, 'status=gone'), 'invalid_request', 'status');
      expectRefused(await shop.client.get(webhooks, `url=${url}`), 'invalid_request', 'url');
      expectRefused(await shop.client.get(webhooks, 'cursor=x'), 'invalid_cursor', 'cursor');
    });
  });

  describe('401 and 403', () => {
    test('rejects requests without a key', async () => {
      const anonymous = new ApiClient(server.app, null);
      expect((await anonymous.get(webhooks)).code).toBe('api_key_missing');
      expect((await anonymous.post(webhooks, full)).code).toBe('api_key_missing');
    });

    test('reads require webhooks:read, and every change requires webhooks:write', async () => {
      const { id } = await create();
      const reader = await shop.addKey({ scopes: ['webhooks:read', 'payments:write'] });
      const writer = await shop.addKey({ scopes: ['webhooks:write', 'payments:read'] });
      for (const path of [webhooks, `${webhooks}/${id}`]) {
        expect((await reader.client.get(path)).status).toBe(200);
        const refused = await writer.client.get(path);
        expect(refused.code).toBe('scope_missing');
        expect(refused.body.error.details).toEqual({ scope: 'webhooks:read' });
      }
      expect((await reader.client.post(webhooks, full)).code).toBe('scope_missing');
      for (const action of actions) {
        const refused = await reader.client.post(`${webhooks}/${id}/${action}`, bodyFor(action));
        expect(refused.code).toBe('scope_missing');
        expect(refused.body.error.details).toEqual({ scope: 'webhooks:write' });
      }
      expect((await writer.client.post(`${webhooks}/${id}/disable`)).status).toBe(200);
    });
  });

  describe('404', () => {
    test.each(actions)(
      '%s: endpoints of another organization and unknown endpoints are not found',
      async (action) => {
        const receiver = await testReceiver();
        const { id } = await shop.createWebhook(receiver);
        if (action === 'enable') await shop.webhookAction(id, 'disable');
        const before = await shop.readWebhook(id);
        const foreign = await other.client.post(`${webhooks}/${id}/${action}`, bodyFor(action));
        expect(foreign.code).toBe('resource_not_found');
        for (const unknown of [unknownWebhook, 'nonsense', 'cus_01m7epxwjmf7za77rhky2f93cc'])
          expect((await post(unknown, action, bodyFor(action))).code).toBe('resource_not_found');
        const { requestId: _before, ...expected } = before;
        const { requestId: _after, ...actual } = await shop.readWebhook(id);
        expect(actual).toEqual(expected);
        expect(receiver.received).toEqual([]);
      },
    );

    test('retrieve: endpoints of another organization and unknown endpoints are not found', async () => {
      const { id } = await create();
      for (const [client, webhookId] of [
        [other.client, id],
        [shop.client, unknownWebhook],
        [shop.client, 'x'],
      ] as const)
        expect((await client.get(`${webhooks}/${webhookId}`)).code).toBe('resource_not_found');
    });

    test('checks existence before semantics', async () => {
      expect((await post(unknownWebhook, 'update', { url: 'ftp://example.test' })).code).toBe(
        'resource_not_found',
      );
    });
  });

  describe('409', () => {
    test.each([
      ['enable', 'enabled', ['update', 'rotate_secret', 'disable', 'test', 'delete']],
      ['disable', 'disabled', ['update', 'rotate_secret', 'enable', 'test', 'delete']],
    ])('%s on an %s endpoint is rejected with the allowed actions', async (action, status, possible) => {
      const { id } = await create();
      if (status === 'disabled') await post(id, 'disable');
      const key = randomUUID();
      const refused = await post(id, action, undefined, key);
      expect(refused.code).toBe('invalid_state_transition');
      expect(refused.body.error).toMatchObject({ details: { status }, allowedActions: possible });
      expectReplay(await post(id, action, undefined, key), refused);
    });

    test('of twenty concurrent disable requests, one succeeds', async () => {
      const { id } = await create();
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(id, 'disable')));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ code }) => code === 'invalid_state_transition')).toHaveLength(19);
    });
  });

  describe('422', () => {
    const unsendable: readonly [name: string, url: string][] = [
      ['that is malformed', 'hooks'],
      ['without a host', 'https://'],
      ['with another scheme', 'ftp://example.test/'],
      ['of a file', 'file:///etc/passwd'],
      ['with a javascript scheme', 'javascript:alert(1)'],
      ['with a user name and a password', 'https://me:secret@example.test/'],
      ['with a user name', 'https://me@example.test/'],
    ];

    test.each(unsendable)('rejects a URL %s, and changes nothing', async (_name, wrong) => {
      expectRefused(await shop.client.post(webhooks, { url: wrong }), 'webhook_url_not_allowed', '/url');
      expect((await shop.client.get(webhooks)).body.data).toEqual([]);
      const { id } = await create();
      expectRefused(await post(id, 'update', { url: wrong }), 'webhook_url_not_allowed', '/url');
      expect(await shop.readWebhook(id)).toMatchObject({ url, version: 1 });
    });

    test.each([
      'http://127.0.0.1:4000/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://10.0.0.8/hook',
      'http://192.168.1.1/hook',
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://localhost/',
    ])('rejects %s where only public addresses are allowed', async (inside) => {
      const guard = new AddressGuard({ allowsPrivate: false });
      const client = shop.clientOn(openApp({ ...server, guard }));
      const refused = await client.post(webhooks, { url: inside });
      expectRefused(refused, 'webhook_url_not_allowed', '/url');
      expect(refused.body.error.message).toMatch(/(is not|does not resolve to) a public address/);
      const { id } = expectOk(await client.post(webhooks, { url: 'https://93.184.215.14/' }));
      expectRefused(
        await client.post(`${webhooks}/${id}/update`, { url: inside }),
        'webhook_url_not_allowed',
        '/url',
      );
    });

    // On loopback, where one host may have all of them.
    const near = { ...full, url: 'http://127.0.0.1:9/' };

    test('an application has at most a hundred endpoints, and another application has its own hundred', async () => {
      const created = await Promise.all(
        Array.from({ length: limits.webhooksPerApplicationMax }, () => shop.client.post(webhooks, near)),
      );
      expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
      const idempotencyKey = randomUUID();
      const refused = await shop.client.post(webhooks, near, { idempotencyKey });
      expect(refused.code).toBe('webhook_limit_reached');
      expectReplay(await shop.client.post(webhooks, near, { idempotencyKey }), refused);
      const otherApp = await shop.addKey({ application: 'second' });
      expect((await otherApp.client.post(webhooks, near)).status).toBe(201);
    });

    test('the limit also holds for concurrent requests', async () => {
      const count = limits.webhooksPerApplicationMax + 10;
      const answers = await Promise.all(
        Array.from({ length: count }, () => shop.client.post(webhooks, near)),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(limits.webhooksPerApplicationMax);
      expect(answers.filter(({ code }) => code === 'webhook_limit_reached')).toHaveLength(10);
    });

    test('at most twenty endpoints of an application share a host, however its URL is written', async () => {
      const at = (url: string) => shop.client.post(webhooks, { url });
      const urls = Array.from({ length: limits.webhooksPerHostMax }, (_, i) =>
        i % 2 === 0 ? `https://hooks.example.com/${i}` : `http://HOOKS.example.com.:8080/?${i}`,
      );
      const created = await Promise.all(urls.map(at));
      expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
      expectRefused(await at('https://hooks.example.com:8443/more'), 'webhook_host_limit_reached', '/url');
      // Another host, another application and loopback are not affected.
      const elsewhere = expectOk(await at('https://other.example.com/'));
      const otherApp = await shop.addKey({ application: 'second' });
      expect((await otherApp.client.post(webhooks, { url: urls[0] })).status).toBe(201);
      // An endpoint cannot change to a full host either, but endpoints on it can change their path.
      const move = (id: string | undefined, url: string) =>
        shop.client.post(`${webhooks}/${id}/update`, { url });
      expectRefused(
        await move(elsewhere.id, 'https://hooks.example.com/x'),
        'webhook_host_limit_reached',
        '/url',
      );
      expect((await move(created[0]?.body.id, 'https://hooks.example.com/x')).status).toBe(200);
    });

    test('rejects an unknown webhookId', async () => {
      const { id } = await shop.emitEvent();
      const foreign = expectOk(await other.client.post(webhooks, full));
      for (const webhookId of [unknownWebhook, 'nonsense', foreign.id])
        expectRefused(
          await shop.client.post(`${events}/${id}/replay`, { webhookId }),
          'webhook_not_found',
          '/webhookId',
        );
    });

    test('rejects an idempotency key used for another request', async () => {
      const idempotencyKey = randomUUID();
      expectOk(await shop.client.post(webhooks, full, { idempotencyKey }));
      const reused = await shop.client.post(webhooks, { url }, { idempotencyKey });
      expect(reused.code).toBe('idempotency_key_reused');
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.webhooks);
});

/** The tables with a row of the organization that contains a text. */
async function rowsHolding(server: Server, orgId: string, text: string): Promise<readonly string[]> {
  const tables = await server.database.query<{ name: string }>(
    {
      name: '',
      text: `select table_name::text as name from information_schema.columns
        where table_schema = 'public' and column_name = 'org_id' order by 1`,
    },
    [],
  );
  const parts = tables.map(
    ({ name }) => `select '${name}' as name from ${name} t where org_id = $1 and position($2 in t::text) > 0`,
  );
  const found = await server.database.query<{ name: string }>({ name: '', text: parts.join(' union all ') }, [
    orgId,
    text,
  ]);
  return found.map(({ name }) => name);
}
