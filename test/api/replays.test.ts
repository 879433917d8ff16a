import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import type { Server } from '../../src/server.ts';
import {
  ApiClient,
  type Body,
  expectOk,
  expectRefused,
  expectReplay,
  listAll,
  seenCodes,
} from '../support/api-client.ts';
import { isoTime, secondMs } from '../support/clock.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { withStatus } from '../support/receiver.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import {
  deliveries,
  eventPayloads,
  readUntil,
  replays,
  testReceiver,
  unknownWebhook,
  webhooks,
} from '../support/webhooks.ts';

const path = `${deliveries}/replay`;
const unknownReplay = 'rpl_01m7epxwjmf7za77rhky2f93cc';

interface Replay extends Body {
  readonly matched: number;
  readonly replayed: number;
  readonly deliveries: { readonly pending: number; readonly succeeded: number; readonly failed: number };
}

describe.each(databaseKinds)('replays on %s', (kind) => {
  let server: Server;
  let other: Tenant;
  let shop: Merchant;
  /** The merchant's clock time at the start of the test. */
  let since: number;

  beforeAll(async () => {
    server = await sharedServer(kind);
    other = await tenant(server);
  });
  beforeEach(async () => {
    shop = await openMerchant(server, { isFrozen: true });
    since = Date.parse((await shop.clock.read()).now);
  });

  /** The time range of all events of this test. */
  const wholeRange = () => ({ from: isoTime(since - secondMs), to: isoTime(since + 40 * 86_400 * secondMs) });
  const createReplay = (body: object, idempotencyKey: string = randomUUID()) =>
    shop.client.post(path, body, { idempotencyKey });
  const replay = async (select: string, more: object = {}) =>
    expectOk(await createReplay({ ...wholeRange(), select, ...more })) as Replay;
  const progress = async (id: string) => expectOk(await shop.client.get(`${replays}/${id}`)) as Replay;
  const emit = async (count: number, type?: string) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) ids.push((await shop.emitEvent(type)).id);
    return ids;
  };

  describe('200', () => {
    test('a replay shows its request, its counts and the status of its deliveries', async () => {
      const receiver = await testReceiver(withStatus(500));
      const webhook = await shop.createWebhook(receiver, { retryProfile: 'none' });
      const ids = await emit(3);
      await shop.sendDue();
      const window = wholeRange();
      const answer = await createReplay({ ...window, select: 'failed', webhookId: webhook.id });
      expect(answer.status).toBe(200);
      const { now } = await shop.clock.read();
      const shown = {
        object: 'replay',
        sandbox: true,
        requestId: expect.stringMatching(/^req_/),
        status: 'completed',
        id: expect.stringMatching(/^rpl_[0-9a-z]{26}$/),
        ...window,
        select: 'failed',
        webhookId: webhook.id,
        dryRun: false,
        matched: 3,
        replayed: 3,
        createdAt: now,
        updatedAt: now,
      };
      expect(answer.body).toEqual(shown);
      await shop.sendDue();
      const { id } = answer.body;
      expect(await progress(id)).toEqual({ ...shown, deliveries: { pending: 0, succeeded: 0, failed: 3 } });
      const { requestId: _requestId, ...item } = answer.body;
      expect((await shop.client.get(replays)).body.data).toEqual([item]);
      const created = (await shop.deliveries()).filter(({ replayId }) => replayId === id);
      expect(created.map(({ eventId }) => eventId).toSorted()).toEqual(ids.toSorted());
      for (const one of created) expect(one).toMatchObject({ trigger: 'replay', webhookId: webhook.id });
      expect(
        eventPayloads(receiver)
          .map((one) => one.id)
          .toSorted(),
      ).toEqual([...ids, ...ids].toSorted());
    });

    test('failed: selects events with neither a successful nor a pending delivery, and no others', async () => {
      const answers = [204, 500, 500, 204, 500];
      const receiver = await testReceiver((_received, response, count) =>
        response.writeHead(answers[count - 1] ?? 204).end(),
      );
      await shop.createWebhook(receiver, { retryProfile: 'none', maxConcurrency: 1 });
      const ids = await emit(5);
      await shop.sendDue();
      const failed = [ids[1], ids[2], ids[4]];
      expect(await replay('failed')).toMatchObject({ matched: 3, replayed: 3 });
      await shop.sendDue();
      expect(
        eventPayloads(receiver)
          .slice(5)
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(failed.toSorted());
      // By now one delivery of each event has succeeded.
      expect(await replay('failed')).toMatchObject({ matched: 0, replayed: 0 });
    });

    test('failed twice does not duplicate pending deliveries', async () => {
      const receiver = await testReceiver(withStatus(500));
      const { id } = await shop.createWebhook(receiver, { retryProfile: 'none' });
      const ids = await emit(3);
      await shop.sendDue();
      await shop.webhookAction(id, 'disable');
      expect(await replay('failed')).toMatchObject({ matched: 3 });
      expect(await replay('failed')).toMatchObject({ matched: 0 });
      receiver.answer(withStatus(204));
      await shop.webhookAction(id, 'enable');
      await shop.sendDue();
      expect(
        eventPayloads(receiver)
          .slice(3)
          .map((one) => one.id)
          .toSorted(),
      ).toEqual(ids.toSorted());
    });

    test('failed skips deliveries that are still being retried', async () => {
      const receiver = await testReceiver(withStatus(500));
      await shop.createWebhook(receiver, { retryProfile: 'standard' });
      await emit(2);
      await shop.sendDue();
      expect(await replay('failed')).toMatchObject({ matched: 0 });
      await shop.clock.advance({ seconds: 2 * 86_400 });
      expect(await replay('failed')).toMatchObject({ matched: 2 });
    });

    test('missing: selects events never sent to an endpoint, such as those before its creation', async () => {
      const early = await emit(3);
      const receiver = await testReceiver(withStatus(500));
      await shop.createWebhook(receiver, { retryProfile: 'none' });
      const late = await emit(2);
      await shop.sendDue();
      expect(await replay('missing')).toMatchObject({ matched: 3, replayed: 3 });
      await shop.sendDue();
      expect(eventPayloads(receiver).map(({ id }) => id)).toEqual([...late, ...early]);
      expect(await replay('missing')).toMatchObject({ matched: 0 });
    });

    test('all: selects every event regardless of earlier deliveries, any number of times', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      const ids = await emit(3);
      await shop.sendDue();
      for (let times = 2; times <= 3; times += 1) {
        expect(await replay('all')).toMatchObject({ matched: 3, replayed: 3 });
        await shop.sendDue();
        expect(receiver.received).toHaveLength(3 * times);
      }
      expect(new Set(eventPayloads(receiver).map(({ id }) => id))).toEqual(new Set(ids));
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(3);
    });

    test.each(['failed', 'missing', 'all'])("%s follows each endpoint's filter", async (select) => {
      const [payments, customers] = [
        await testReceiver(withStatus(500)),
        await testReceiver(withStatus(500)),
      ];
      const make = () =>
        Promise.all([
          shop.createWebhook(payments, { eventTypes: ['payment.*'], retryProfile: 'none' }),
          shop.createWebhook(customers, { eventTypes: ['customer.created'], retryProfile: 'none' }),
        ]);
      if (select !== 'missing') await make();
      const paid = await emit(2, 'payment.created');
      const [joined] = await emit(1, 'customer.created');
      await emit(1, 'refund.created');
      if (select === 'missing') await make();
      await shop.sendDue();
      const before = [payments.received.length, customers.received.length];
      expect(await replay(select)).toMatchObject({ matched: 3, replayed: 3 });
      await shop.sendDue();
      expect(
        eventPayloads(payments)
          .slice(before[0])
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(paid.toSorted());
      expect(
        eventPayloads(customers)
          .slice(before[1])
          .map(({ id }) => id),
      ).toEqual([joined]);
    });

    test('goes only to the named endpoint', async () => {
      const [one, two] = [await testReceiver(), await testReceiver()];
      const { id: webhookId } = await shop.createWebhook(one);
      await shop.createWebhook(two);
      await emit(2);
      await shop.sendDue();
      expect(await replay('all', { webhookId })).toMatchObject({ matched: 2, webhookId });
      await shop.sendDue();
      expect([one.received.length, two.received.length]).toEqual([4, 2]);
    });

    test('the time range follows the application clock: from inclusive, to exclusive', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      const ids: string[] = [];
      for (const day of [0, 1, 2, 3]) {
        await shop.clock.advanceTo(since + day * 86_400 * secondMs);
        ids.push((await shop.emitEvent()).id);
      }
      await shop.sendDue();
      const at = (day: number, ms = 0) => isoTime(since + day * 86_400 * secondMs + ms);
      const windows: [from: string, to: string, days: number[]][] = [
        [at(1), at(3), [1, 2]],
        [at(1, 1), at(3, 1), [2, 3]],
        [at(0), at(0, 1), [0]],
        [at(3, 1), at(9), []],
        [at(-9), at(0), []],
      ];
      for (const [from, to, days] of windows) {
        const before = receiver.received.length;
        expect(await replay('all', { from, to })).toMatchObject({ matched: days.length });
        await shop.sendDue();
        const received = eventPayloads(receiver).slice(before);
        expect(received.map(({ id }) => id).toSorted()).toEqual(days.map((day) => ids[day]));
      }
    });

    test('a time in another time zone is the same time', async () => {
      await shop.createWebhook(await testReceiver());
      await emit(1);
      const inOtherZone = (instant: number) => isoTime(instant + 2 * 3_600 * secondMs).replace('Z', '+02:00');
      const window = { from: inOtherZone(since), to: inOtherZone(since + 1) };
      expect(await replay('all', { ...window, dryRun: true })).toMatchObject({
        matched: 1,
        from: isoTime(since),
      });
    });

    test('a dry run counts, sends nothing and stores nothing', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      await emit(3);
      await shop.sendDue();
      const dry = await replay('all', { dryRun: true });
      expect(dry).toMatchObject({
        object: 'replay',
        status: 'completed',
        id: null,
        dryRun: true,
        matched: 3,
        replayed: 0,
      });
      await shop.sendDue();
      expect(receiver.received).toHaveLength(3);
      expect((await shop.client.get(replays)).body.data).toEqual([]);
      expect(await shop.deliveries()).toHaveLength(3);
    });

    test('one idempotency key is one replay', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      await emit(2);
      const key = randomUUID();
      const body = { ...wholeRange(), select: 'all' };
      const first = await createReplay(body, key);
      expectReplay(await createReplay(body, key), first);
      await shop.sendDue();
      expect(receiver.received).toHaveLength(4);
      expect((await createReplay({ ...body, select: 'failed' }, key)).code).toBe('idempotency_key_reused');
    });

    test('deliveries to a disabled endpoint are held', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      await emit(2);
      await shop.sendDue();
      await shop.webhookAction(id, 'disable');
      const started = await replay('all', { webhookId: id });
      await shop.sendDue();
      expect((await progress(started.id)).deliveries).toEqual({ pending: 2, succeeded: 0, failed: 0 });
      await shop.webhookAction(id, 'enable');
      await shop.sendDue();
      expect((await progress(started.id)).deliveries).toEqual({ pending: 0, succeeded: 2, failed: 0 });
    });

    test('endpoint tests are not replayed, to the tested endpoint or to others', async () => {
      const [tested, otherReceiver] = [await testReceiver(), await testReceiver()];
      const { id } = await shop.createWebhook(tested);
      await shop.createWebhook(otherReceiver);
      await shop.webhookAction(id, 'test');
      await shop.webhookAction(id, 'test', { type: 'payment.created' });
      for (const select of ['failed', 'missing', 'all'])
        expect(await replay(select, { dryRun: true }), select).toMatchObject({ matched: 0 });
    });

    test('a large replay continues in the background, sends each event once and reports progress', async () => {
      const count = limits.replayStepMax * 2 + 50;
      const emittedIds: string[] = [];
      for (let i = 0; i < count; i += 250) {
        const some = Array.from({ length: Math.min(250, count - i) }, () => shop.emitEvent());
        emittedIds.push(...(await Promise.all(some)).map(({ id }) => id));
      }
      const receiver = await testReceiver();
      const webhook = await shop.createWebhook(receiver, { maxConcurrency: 64 });
      expect(await replay('missing', { dryRun: true })).toMatchObject({ matched: count, replayed: 0 });
      const begun = await replay('missing');
      expect(begun).toMatchObject({ status: 'running', matched: limits.replayStepMax });
      // Events emitted from now on are not part of it.
      const late = await shop.emitEvent();
      const ended = await readUntil(
        () => progress(begun.id),
        ({ status, deliveries: { pending } }) => status === 'completed' && pending === 0,
      );
      expect(ended).toMatchObject({
        matched: count,
        replayed: count,
        deliveries: { pending: 0, succeeded: count, failed: 0 },
      });
      await shop.sendDue();
      const received = eventPayloads(receiver).map(({ id }) => id);
      expect(received).toHaveLength(count + 1);
      expect(received.toSorted()).toEqual([...emittedIds, late.id].toSorted());
      expect((await shop.readWebhook(webhook.id)).health.pendingDeliveries).toBe(0);
      expect(await replay('missing')).toMatchObject({ status: 'completed', matched: 0 });
    });

    test('one step creates a limited number of deliveries, regardless of the number of endpoints', async () => {
      const endpoints = 6;
      const perStep = Math.floor(limits.replayStepMax / endpoints);
      const ids = await Promise.all(Array.from({ length: perStep + 5 }, () => shop.emitEvent()));
      const receivers = await Promise.all(Array.from({ length: endpoints }, () => testReceiver()));
      for (const receiver of receivers) await shop.createWebhook(receiver, { maxConcurrency: 64 });
      const begun = await replay('all');
      expect(begun).toMatchObject({ status: 'running', matched: perStep * endpoints });
      await readUntil(
        () => progress(begun.id),
        ({ status, deliveries: { pending } }) => status === 'completed' && pending === 0,
      );
      for (const receiver of receivers)
        expect(
          eventPayloads(receiver)
            .map(({ id }) => id)
            .toSorted(),
        ).toEqual(ids.map(({ id }) => id).toSorted());
    });

    test('lists all pages newest first, and filters by status', async () => {
      const createdIds: string[] = [];
      for (let i = 0; i < 5; i += 1) createdIds.unshift((await replay('all')).id);
      const list = (query: string) => shop.client.get(replays, query);
      expect((await listAll(list, 2)).map(({ id }) => id)).toEqual(createdIds);
      expect((await list('status=completed')).body.data).toHaveLength(5);
      expect((await list('status=running')).body.data).toEqual([]);
      expect((await other.client.get(replays)).body.data).toEqual([]);
    });
  });

  describe('tenancy', () => {
    test('never sends events of another organization, nor to its endpoints', async () => {
      const [ownReceiver, foreign] = [await testReceiver(), await testReceiver()];
      await shop.createWebhook(ownReceiver);
      const otherOrg = await openMerchant(server, { isFrozen: true });
      await otherOrg.createWebhook(foreign);
      await otherOrg.emitEvent();
      await emit(2);
      await Promise.all([shop.sendDue(), otherOrg.sendDue()]);
      for (const select of ['all', 'missing', 'failed']) {
        await replay(select);
        await Promise.all([shop.sendDue(), otherOrg.sendDue()]);
      }
      expect([ownReceiver.received.length, foreign.received.length]).toEqual([4, 1]);
    });

    test("replays events of the key's application, and to no endpoint of another application", async () => {
      const [ownReceiver, otherReceiver] = [await testReceiver(), await testReceiver()];
      await shop.createWebhook(ownReceiver);
      const otherApp = await shop.addKey({ application: 'second' });
      const { id: webhookId } = expectOk(await otherApp.client.post(webhooks, { url: otherReceiver.url }));
      await emit(2);
      expectOk(await otherApp.client.post('developer_api_customers', { name: 'Ada' }));
      await otherReceiver.waitFor(1);
      await shop.sendDue();
      expect(await replay('all')).toMatchObject({ matched: 2 });
      const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all', webhookId };
      expect((await shop.client.post(`${deliveries}/replay`, window)).code).toBe('webhook_not_found');
      await shop.sendDue();
      expect([ownReceiver.received.length, otherReceiver.received.length]).toEqual([4, 1]);
    });
  });

  describe('409', () => {
    test('an application has one replay at a time, until each of its deliveries was attempted', async () => {
      const open: (() => void)[] = [];
      const receiver = await testReceiver((_received, response) => {
        open.push(() => response.writeHead(500).end());
      });
      const otherMerchant = await openMerchant(server, { isFrozen: true });
      const early = await emit(3);
      await shop.createWebhook(receiver);
      const body = { ...wholeRange(), select: 'all' };
      const answers = await Promise.all([createReplay(body), createReplay(body), createReplay(body)]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
      const id = answers.find(({ status }) => status === 200)?.body.id ?? '';
      await receiver.waitFor(early.length);
      const key = randomUUID();
      const refused = await createReplay(body, key);
      expect(refused.code).toBe('replay_running');
      expect(refused.headers['retry-after']).toBe('2');
      expect(refused.body.error).toMatchObject({ retryable: true, details: { replayId: id } });
      // A dry run is allowed, and so are replays of other applications.
      expect(await replay('all', { dryRun: true })).toMatchObject({ matched: early.length });
      const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
      expect((await otherMerchant.client.post(path, window)).status).toBe(200);
      for (const answer of open.splice(0)) answer();
      // The deliveries now wait for their retries, which may take hours; another replay need not wait that long.
      const accepted = await readUntil(
        () => createReplay(body, key),
        ({ status }) => status === 200,
      );
      expect(accepted.body).toMatchObject({ matched: early.length });
      for (const answer of open.splice(0)) answer();
    });
  });

  describe('400', () => {
    const validBody = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', select: 'all' };

    test.each<[name: string, change: Record<string, unknown>, param: string]>([
      ['no from', { from: undefined }, '/from'],
      ['no to', { to: undefined }, '/to'],
      ['no select', { select: undefined }, '/select'],
      ['a date without a time', { from: '2026-01-01' }, '/from'],
      ['an invalid date', { to: '2026-02-30T00:00:00Z' }, '/to'],
      ['a null time', { from: null }, '/from'],
      ['an unknown select value', { select: 'lost' }, '/select'],
      ['a null webhookId', { webhookId: null }, '/webhookId'],
      ['a dryRun that is a string', { dryRun: 'true' }, '/dryRun'],
      ['an unknown field', { eventTypes: ['*'] }, '/eventTypes'],
      ['to before from', { to: '2025-12-31T00:00:00Z' }, '/to'],
      ['to equal to from', { to: validBody.from }, '/to'],
      ['to before from, with an unknown endpoint', { to: validBody.from, webhookId: 'x' }, '/to'],
    ])('rejects %s, and param points at it', async (_name, change, param) => {
      expectRefused(await createReplay({ ...validBody, ...change }), 'invalid_request', param);
      expect((await shop.client.get(replays)).body.data).toEqual([]);
    });

    test('the years 0 and 9999 never cause a 5xx', async () => {
      const body = { from: '0000-01-01T00:00:00Z', to: '9999-12-31T23:59:59.999999999Z', select: 'all' };
      for (const dryRun of [true, false])
        expect([200, 400]).toContain((await createReplay({ ...body, dryRun })).status);
    });

    test.each([
      ['from', '0001-01-01T00:00:00+14:00'],
      ['to', '9999-12-31T23:59:59-12:00'],
    ])('a %s of %s never causes a 5xx', async (field, time) => {
      const { status } = await createReplay({ ...validBody, [field]: time });
      expect([200, 400]).toContain(status);
    });

    test('requires an idempotency key, and the list rejects unknown parameters', async () => {
      const withoutKey = await shop.client.post(path, validBody, { idempotencyKey: null });
      expect(withoutKey.code).toBe('idempotency_key_missing');
      expectRefused(await shop.client.get(replays, 'status=failed'), 'invalid_request', 'status');
      expectRefused(await shop.client.get(replays, 'cursor=x'), 'invalid_cursor', 'cursor');
    });
  });

  describe('401, 403, 404 and 422', () => {
    test('reads require webhooks:read, and creating requires webhooks:write', async () => {
      const { id } = await replay('all');
      const reader = await shop.addKey({ scopes: ['webhooks:read'] });
      const writer = await shop.addKey({ scopes: ['webhooks:write'] });
      const anonymous = new ApiClient(server.app, null);
      for (const one of [replays, `${replays}/${id}`]) {
        expect((await anonymous.get(one)).code).toBe('api_key_missing');
        expect((await writer.client.get(one)).code).toBe('scope_missing');
        expect((await reader.client.get(one)).status).toBe(200);
      }
      const body = { ...wholeRange(), select: 'all' };
      expect((await anonymous.post(path, body)).code).toBe('api_key_missing');
      expect((await reader.client.post(path, body)).code).toBe('scope_missing');
      expect((await writer.client.post(path, body)).status).toBe(200);
    });

    test('replays of another organization and unknown replays are not found', async () => {
      const { id } = await replay('all');
      expect((await other.client.get(`${replays}/${id}`)).code).toBe('resource_not_found');
      for (const unknown of [unknownReplay, 'nonsense'])
        expect((await shop.client.get(`${replays}/${unknown}`)).code).toBe('resource_not_found');
    });

    test('rejects an unknown endpoint, and sends nothing', async () => {
      const foreign = await testReceiver();
      const { id } = expectOk(await other.client.post(webhooks, { url: foreign.url }));
      await emit(1);
      for (const webhookId of [unknownWebhook, 'nonsense', id])
        for (const dryRun of [true, false]) {
          const key = randomUUID();
          const body = { ...wholeRange(), select: 'all', webhookId, dryRun };
          const refused = await createReplay(body, key);
          expectRefused(refused, 'webhook_not_found', '/webhookId');
          expectReplay(await createReplay(body, key), refused);
        }
      await shop.sendDue();
      expect(foreign.received).toEqual([]);
      expect((await shop.client.get(replays)).body.data).toEqual([]);
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.replays);
});
