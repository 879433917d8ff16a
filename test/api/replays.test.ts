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
  /** Where the clock of the shop stood at the beginning. */
  let since: number;

  beforeAll(async () => {
    server = await sharedServer(kind);
    other = await tenant(server);
  });
  beforeEach(async () => {
    shop = await openMerchant(server, { isFrozen: true });
    since = Date.parse((await shop.clock.read()).now);
  });

  /** All that was told in this test. */
  const everything = () => ({ from: isoTime(since - secondMs), to: isoTime(since + 40 * 86_400 * secondMs) });
  const ask = (body: object, idempotencyKey: string = randomUUID()) =>
    shop.client.post(path, body, { idempotencyKey });
  const replay = async (select: string, more: object = {}) =>
    expectOk(await ask({ ...everything(), select, ...more })) as Replay;
  const progress = async (id: string) => expectOk(await shop.client.get(`${replays}/${id}`)) as Replay;
  const told = async (count: number, type?: string) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) ids.push((await shop.emitEvent(type)).id);
    return ids;
  };

  describe('200', () => {
    test('a replay shows what it was asked and what it did, and its deliveries how they fare', async () => {
      const receiver = await testReceiver(withStatus(500));
      const hook = await shop.createWebhook(receiver, { retryProfile: 'none' });
      const ids = await told(3);
      await shop.sendDue();
      const window = everything();
      const answer = await ask({ ...window, select: 'failed', webhookId: hook.id });
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
        webhookId: hook.id,
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
      const made = (await shop.deliveries()).filter(({ replayId }) => replayId === id);
      expect(made.map(({ eventId }) => eventId).toSorted()).toEqual(ids.toSorted());
      for (const one of made) expect(one).toMatchObject({ trigger: 'replay', webhookId: hook.id });
      expect(
        eventPayloads(receiver)
          .map((one) => one.id)
          .toSorted(),
      ).toEqual([...ids, ...ids].toSorted());
    });

    test('failed: where nothing has succeeded and nothing is under way, and only there', async () => {
      const answers = [204, 500, 500, 204, 500];
      const receiver = await testReceiver((_received, response, count) =>
        response.writeHead(answers[count - 1] ?? 204).end(),
      );
      await shop.createWebhook(receiver, { retryProfile: 'none', maxConcurrency: 1 });
      const ids = await told(5);
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
      // By now one delivery of each has succeeded.
      expect(await replay('failed')).toMatchObject({ matched: 0, replayed: 0 });
    });

    test('failed twice does not double what is under way', async () => {
      const receiver = await testReceiver(withStatus(500));
      const { id } = await shop.createWebhook(receiver, { retryProfile: 'none' });
      const ids = await told(3);
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

    test('failed leaves alone what is still being tried', async () => {
      const receiver = await testReceiver(withStatus(500));
      await shop.createWebhook(receiver, { retryProfile: 'standard' });
      await told(2);
      await shop.sendDue();
      expect(await replay('failed')).toMatchObject({ matched: 0 });
      await shop.clock.advance({ seconds: 2 * 86_400 });
      expect(await replay('failed')).toMatchObject({ matched: 2 });
    });

    test('missing: what an endpoint was never sent, such as what was told before it was there', async () => {
      const early = await told(3);
      const receiver = await testReceiver(withStatus(500));
      await shop.createWebhook(receiver, { retryProfile: 'none' });
      const late = await told(2);
      await shop.sendDue();
      expect(await replay('missing')).toMatchObject({ matched: 3, replayed: 3 });
      await shop.sendDue();
      expect(eventPayloads(receiver).map(({ id }) => id)).toEqual([...late, ...early]);
      expect(await replay('missing')).toMatchObject({ matched: 0 });
    });

    test('all: whatever came of it before, as often as asked', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      const ids = await told(3);
      await shop.sendDue();
      for (let times = 2; times <= 3; times += 1) {
        expect(await replay('all')).toMatchObject({ matched: 3, replayed: 3 });
        await shop.sendDue();
        expect(receiver.received).toHaveLength(3 * times);
      }
      expect(new Set(eventPayloads(receiver).map(({ id }) => id))).toEqual(new Set(ids));
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(3);
    });

    test.each(['failed', 'missing', 'all'])('%s goes by the filter of each endpoint', async (select) => {
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
      const paid = await told(2, 'payment.created');
      const [joined] = await told(1, 'customer.created');
      await told(1, 'refund.created');
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

    test('one endpoint alone, where it is named', async () => {
      const [one, two] = [await testReceiver(), await testReceiver()];
      const { id: webhookId } = await shop.createWebhook(one);
      await shop.createWebhook(two);
      await told(2);
      await shop.sendDue();
      expect(await replay('all', { webhookId })).toMatchObject({ matched: 2, webhookId });
      await shop.sendDue();
      expect([one.received.length, two.received.length]).toEqual([4, 2]);
    });

    test('the window is by the clock of the application: from the first instant, up to the last and without it', async () => {
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
        const got = eventPayloads(receiver).slice(before);
        expect(got.map(({ id }) => id).toSorted()).toEqual(days.map((day) => ids[day]));
      }
    });

    test('a time of another zone is the same time', async () => {
      await shop.createWebhook(await testReceiver());
      await told(1);
      const zoned = (instant: number) => isoTime(instant + 2 * 3_600 * secondMs).replace('Z', '+02:00');
      const window = { from: zoned(since), to: zoned(since + 1) };
      expect(await replay('all', { ...window, dryRun: true })).toMatchObject({
        matched: 1,
        from: isoTime(since),
      });
    });

    test('a dry run counts, sends nothing and leaves nothing behind', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      await told(3);
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

    test('the same key is one replay', async () => {
      const receiver = await testReceiver();
      await shop.createWebhook(receiver);
      await told(2);
      const key = randomUUID();
      const body = { ...everything(), select: 'all' };
      const first = await ask(body, key);
      expectReplay(await ask(body, key), first);
      await shop.sendDue();
      expect(receiver.received).toHaveLength(4);
      expect((await ask({ ...body, select: 'failed' }, key)).code).toBe('idempotency_key_reused');
    });

    test('what is replayed to a disabled endpoint waits there', async () => {
      const receiver = await testReceiver();
      const { id } = await shop.createWebhook(receiver);
      await told(2);
      await shop.sendDue();
      await shop.webhookAction(id, 'disable');
      const made = await replay('all', { webhookId: id });
      await shop.sendDue();
      expect((await progress(made.id)).deliveries).toEqual({ pending: 2, succeeded: 0, failed: 0 });
      await shop.webhookAction(id, 'enable');
      await shop.sendDue();
      expect((await progress(made.id)).deliveries).toEqual({ pending: 0, succeeded: 2, failed: 0 });
    });

    test('what was sent as a test is no part of a replay, neither for the tested nor for the others', async () => {
      const [tested, beside] = [await testReceiver(), await testReceiver()];
      const { id } = await shop.createWebhook(tested);
      await shop.createWebhook(beside);
      await shop.webhookAction(id, 'test');
      await shop.webhookAction(id, 'test', { type: 'payment.created' });
      for (const select of ['failed', 'missing', 'all'])
        expect(await replay(select, { dryRun: true }), select).toMatchObject({ matched: 0 });
    });

    test('more than fit into one request are done in the background, each once, and progress tells', async () => {
      const count = limits.replayStepMax * 2 + 50;
      const made: string[] = [];
      for (let i = 0; i < count; i += 250) {
        const some = Array.from({ length: Math.min(250, count - i) }, () => shop.emitEvent());
        made.push(...(await Promise.all(some)).map(({ id }) => id));
      }
      const receiver = await testReceiver();
      const hook = await shop.createWebhook(receiver, { maxConcurrency: 64 });
      expect(await replay('missing', { dryRun: true })).toMatchObject({ matched: count, replayed: 0 });
      const begun = await replay('missing');
      expect(begun).toMatchObject({ status: 'running', matched: limits.replayStepMax });
      // What is told from now on is no part of it.
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
      const got = eventPayloads(receiver).map(({ id }) => id);
      expect(got).toHaveLength(count + 1);
      expect(got.toSorted()).toEqual([...made, late.id].toSorted());
      expect((await shop.readWebhook(hook.id)).health.pendingDeliveries).toBe(0);
      expect(await replay('missing')).toMatchObject({ status: 'completed', matched: 0 });
    });

    test('a step creates a bounded number of deliveries, however many endpoints there are', async () => {
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

    test('lists walk newest first over all pages and filter by status', async () => {
      const made: string[] = [];
      for (let i = 0; i < 5; i += 1) made.unshift((await replay('all')).id);
      const list = (query: string) => shop.client.get(replays, query);
      expect((await listAll(list, 2)).map(({ id }) => id)).toEqual(made);
      expect((await list('status=completed')).body.data).toHaveLength(5);
      expect((await list('status=running')).body.data).toEqual([]);
      expect((await other.client.get(replays)).body.data).toEqual([]);
    });
  });

  describe('tenancy', () => {
    test('events of another organization never go out, nor does anything to its endpoints', async () => {
      const [own, foreign] = [await testReceiver(), await testReceiver()];
      await shop.createWebhook(own);
      const stranger = await openMerchant(server, { isFrozen: true });
      await stranger.createWebhook(foreign);
      await stranger.emitEvent();
      await told(2);
      await Promise.all([shop.sendDue(), stranger.sendDue()]);
      for (const select of ['all', 'missing', 'failed']) {
        await replay(select);
        await Promise.all([shop.sendDue(), stranger.sendDue()]);
      }
      expect([own.received.length, foreign.received.length]).toEqual([4, 1]);
    });

    test('those of the application of the key, and no endpoint of another application', async () => {
      const [own, hers] = [await testReceiver(), await testReceiver()];
      await shop.createWebhook(own);
      const sister = await shop.addKey({ application: 'second' });
      const { id: webhookId } = expectOk(await sister.client.post(webhooks, { url: hers.url }));
      await told(2);
      expectOk(await sister.client.post('developer_api_customers', { name: 'Ada' }));
      await hers.waitFor(1);
      await shop.sendDue();
      expect(await replay('all')).toMatchObject({ matched: 2 });
      const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all', webhookId };
      expect((await shop.client.post(`${deliveries}/replay`, window)).code).toBe('webhook_not_found');
      await shop.sendDue();
      expect([own.received.length, hers.received.length]).toEqual([4, 1]);
    });
  });

  describe('409', () => {
    test('an application has one replay at a time, until each of its deliveries was attempted', async () => {
      const open: (() => void)[] = [];
      const receiver = await testReceiver((_received, response) => {
        open.push(() => response.writeHead(500).end());
      });
      const sister = await openMerchant(server, { isFrozen: true });
      const early = await told(3);
      await shop.createWebhook(receiver);
      const body = { ...everything(), select: 'all' };
      const answers = await Promise.all([ask(body), ask(body), ask(body)]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
      const id = answers.find(({ status }) => status === 200)?.body.id ?? '';
      await receiver.waitFor(early.length);
      const key = randomUUID();
      const refused = await ask(body, key);
      expect(refused.code).toBe('replay_running');
      expect(refused.headers['retry-after']).toBe('2');
      expect(refused.body.error).toMatchObject({ retryable: true, details: { replayId: id } });
      // Counting is allowed, and so are replays of other applications.
      expect(await replay('all', { dryRun: true })).toMatchObject({ matched: early.length });
      const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
      expect((await sister.client.post(path, window)).status).toBe(200);
      for (const answer of open.splice(0)) answer();
      // The deliveries wait for their retries now, which may take hours; another replay need not wait that long.
      const accepted = await readUntil(
        () => ask(body, key),
        ({ status }) => status === 200,
      );
      expect(accepted.body).toMatchObject({ matched: early.length });
      for (const answer of open.splice(0)) answer();
    });
  });

  describe('400', () => {
    const right = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', select: 'all' };

    test.each<[what: string, change: Record<string, unknown>, param: string]>([
      ['no beginning', { from: undefined }, '/from'],
      ['no end', { to: undefined }, '/to'],
      ['no selection', { select: undefined }, '/select'],
      ['a day for a time', { from: '2026-01-01' }, '/from'],
      ['a day that is none', { to: '2026-02-30T00:00:00Z' }, '/to'],
      ['a time of null', { from: null }, '/from'],
      ['an unknown selection', { select: 'lost' }, '/select'],
      ['an endpoint of null', { webhookId: null }, '/webhookId'],
      ['a dry run that is a text', { dryRun: 'true' }, '/dryRun'],
      ['an unknown field', { eventTypes: ['*'] }, '/eventTypes'],
      ['an end before the beginning', { to: '2025-12-31T00:00:00Z' }, '/to'],
      ['an end at the beginning', { to: right.from }, '/to'],
      [
        'an end before the beginning, of an endpoint that is not there',
        { to: right.from, webhookId: 'x' },
        '/to',
      ],
    ])('%s is refused, and param points at it', async (_what, change, param) => {
      expectRefused(await ask({ ...right, ...change }), 'invalid_request', param);
      expect((await shop.client.get(replays)).body.data).toEqual([]);
    });

    test('the years 0 and 9999 are answered, and never as our fault', async () => {
      const body = { from: '0000-01-01T00:00:00Z', to: '9999-12-31T23:59:59.999999999Z', select: 'all' };
      for (const dryRun of [true, false])
        expect([200, 400]).toContain((await ask({ ...body, dryRun })).status);
    });

    test.each([
      ['from', '0001-01-01T00:00:00+14:00'],
      ['to', '9999-12-31T23:59:59-12:00'],
    ])('a %s of %s is answered, and never as our fault', async (field, time) => {
      const { status } = await ask({ ...right, [field]: time });
      expect([200, 400]).toContain(status);
    });

    test('a key is needed, and the list takes only its own parameters', async () => {
      const bare = await shop.client.post(path, right, { idempotencyKey: null });
      expect(bare.code).toBe('idempotency_key_missing');
      expectRefused(await shop.client.get(replays, 'status=failed'), 'invalid_request', 'status');
      expectRefused(await shop.client.get(replays, 'cursor=x'), 'invalid_cursor', 'cursor');
    });
  });

  describe('401, 403, 404 and 422', () => {
    test('reading needs webhooks:read, asking webhooks:write', async () => {
      const { id } = await replay('all');
      const reader = await shop.addKey({ scopes: ['webhooks:read'] });
      const writer = await shop.addKey({ scopes: ['webhooks:write'] });
      const nameless = new ApiClient(server.app, null);
      for (const one of [replays, `${replays}/${id}`]) {
        expect((await nameless.get(one)).code).toBe('api_key_missing');
        expect((await writer.client.get(one)).code).toBe('scope_missing');
        expect((await reader.client.get(one)).status).toBe(200);
      }
      const body = { ...everything(), select: 'all' };
      expect((await nameless.post(path, body)).code).toBe('api_key_missing');
      expect((await reader.client.post(path, body)).code).toBe('scope_missing');
      expect((await writer.client.post(path, body)).status).toBe(200);
    });

    test('a replay of another organization is not there, nor is an unknown one', async () => {
      const { id } = await replay('all');
      expect((await other.client.get(`${replays}/${id}`)).code).toBe('resource_not_found');
      for (const unknown of [unknownReplay, 'nonsense'])
        expect((await shop.client.get(`${replays}/${unknown}`)).code).toBe('resource_not_found');
    });

    test('an endpoint that is not there is told as such, and nothing goes out', async () => {
      const foreign = await testReceiver();
      const { id } = expectOk(await other.client.post(webhooks, { url: foreign.url }));
      await told(1);
      for (const webhookId of [unknownWebhook, 'nonsense', id])
        for (const dryRun of [true, false]) {
          const key = randomUUID();
          const body = { ...everything(), select: 'all', webhookId, dryRun };
          const refused = await ask(body, key);
          expectRefused(refused, 'webhook_not_found', '/webhookId');
          expectReplay(await ask(body, key), refused);
        }
      await shop.sendDue();
      expect(foreign.received).toEqual([]);
      expect((await shop.client.get(replays)).body.data).toEqual([]);
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.replays);
});
