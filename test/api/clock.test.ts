import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { createReader } from '../../src/db/reader.ts';
import { claim } from '../../src/http/idempotency.ts';
import { limits } from '../../src/kernel/limits.ts';
import { type Scope, scopes } from '../../src/kernel/permissions.ts';
import { finishAdvance } from '../../src/resources/clocks/machine.ts';
import { ClockRunner } from '../../src/runs/advance-run.ts';
import type { Server } from '../../src/server.ts';
import { observed } from '../engine/submitting.ts';
import { type Answer, ApiClient, expectOk, expectReplay, seenCodes } from '../support/api-client.ts';
import {
  type AdvanceBody,
  clock,
  clockApi,
  dayMs,
  hourMs,
  isoTime,
  secondMs,
  startTime,
} from '../support/clock.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { paymentApi, payments } from '../support/payments.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openApp, openServer, queryRows } from '../support/server.ts';
import { submission } from '../support/submission.ts';
import { interruptAdvance } from './interrupted-advance.ts';

const secondsMax = limits.clockAheadDaysMax * 86_400;

/** Every clock position and transition is tested next to the machine, in src/resources/clocks. */
describe.each(databaseKinds)('the clock on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let databaseUrl: string | undefined;
  let second: Database;
  let wall = startTime;
  let shop: Merchant;

  beforeAll(async () => {
    databaseUrl = kind === 'postgres' ? await migratedDatabase(inject('postgresUrl')) : undefined;
    // Without the timer worker: it follows real time, and these tests use their own clock.
    server = await openServer(kind, { databaseUrl, role: 'api' });
    app = openApp(server, { wallClock: () => wall });
    // A separate pool, as another node has. PGlite has only one connection.
    second = databaseUrl === undefined ? server.database : openPostgres(databaseUrl, () => undefined);
  });
  beforeEach(async () => {
    wall = startTime;
    shop = await openMerchant(server, { app });
  });
  afterAll(async () => {
    if (second !== server.database) await second?.close();
    await server?.close();
  });

  const clockState = async (one: Merchant) => {
    const { status, now, offsetSeconds } = await one.clock.read();
    return { status, now, offsetSeconds };
  };

  describe('200', () => {
    test('a clock that was never changed shows real time and runs with it', async () => {
      expect(await shop.clock.read()).toEqual({
        object: 'clock',
        sandbox: true,
        requestId: expect.any(String),
        status: 'running',
        now: '2031-03-04T10:00:00.000Z',
        offsetSeconds: 0,
      });
      wall += 1_500;
      expect(await clockState(shop)).toEqual({
        status: 'running',
        now: '2031-03-04T10:00:01.500Z',
        offsetSeconds: 0,
      });
    });

    test("real time is the machine's time", async () => {
      const before = Date.now();
      const { now } = await clockApi(new ApiClient(server.app, shop.key)).read();
      expect(Date.parse(now)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(now)).toBeLessThanOrEqual(Date.now());
    });

    test('a frozen clock keeps its time, however often it is frozen and however much time passes', async () => {
      const frozen = await shop.clock.freeze();
      expect(frozen).toEqual({
        object: 'clock',
        sandbox: true,
        requestId: expect.any(String),
        status: 'frozen',
        now: isoTime(startTime),
        offsetSeconds: 0,
      });
      wall += 90_000;
      expect(await clockState(shop)).toEqual({
        status: 'frozen',
        now: isoTime(startTime),
        offsetSeconds: -90,
      });
      expect(await shop.clock.freeze()).toMatchObject({
        status: 'frozen',
        now: isoTime(startTime),
        offsetSeconds: -90,
      });
      expect((await shop.payments.create()).createdAt).toBe(isoTime(startTime));
    });

    test('each change is stored: later requests see the clock where the change left it', async () => {
      const to = '2031-03-05T12:00:00.250+02:00';
      expect(await shop.clock.advance({ to })).toEqual({
        object: 'clock',
        sandbox: true,
        requestId: expect.any(String),
        status: 'running',
        now: isoTime(startTime + dayMs + 250),
        offsetSeconds: 86_400,
        complete: true,
        next: null,
        happened: [],
      });
      wall += 2_000;
      const ahead = { now: isoTime(startTime + dayMs + 2_250), offsetSeconds: 86_400 };
      expect(await clockState(shop)).toEqual({ status: 'running', ...ahead });
      await shop.clock.freeze();
      expect(await clockState(shop)).toEqual({ status: 'frozen', ...ahead });
      await shop.clock.advance({ seconds: 60 });
      const later = { now: isoTime(startTime + dayMs + 62_250), offsetSeconds: 86_460 };
      expect(await clockState(shop)).toEqual({ status: 'frozen', ...later });
      const real = { status: 'running', now: isoTime(startTime + 2_000), offsetSeconds: 0 };
      expect(await shop.clock.reset()).toMatchObject(real);
      expect(await clockState(shop)).toEqual(real);
      expect((await shop.payments.create()).createdAt).toBe(isoTime(startTime + 2_000));
    });

    test('the API status shows the clock', async () => {
      const clockInStatus = async () => expectOk(await shop.client.get('developer_api_status')).clock;
      expect(await clockInStatus()).toEqual({ status: 'running', now: isoTime(startTime), offsetSeconds: 0 });
      await shop.clock.advance({ seconds: 86_400 });
      await shop.clock.freeze();
      wall += 3_000;
      expect(await clockInStatus()).toEqual({
        status: 'frozen',
        now: isoTime(startTime + dayMs),
        offsetSeconds: 86_400 - 3,
      });
    });

    test('any key can read the clock', async () => {
      const scopeless = (await shop.addKey({ scopes: [] })).clientOn(app);
      expect((await scopeless.get(clock)).body.now).toBe(isoTime(startTime));
    });
  });

  describe('400', () => {
    test.each<[name: string, body: unknown, param: string]>([
      ['nothing', undefined, ''],
      ['a fraction of a second', { seconds: 1.5 }, '/seconds'],
      ['the 30th of February', { to: '2031-02-30T10:00:00Z' }, '/to'],
    ])('rejects %s, points param at it and leaves the clock unchanged', async (_name, body, param) => {
      const answer = await shop.clock.post('advance', body);
      expect(answer.code, answer.text).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
      expect(await clockState(shop)).toEqual({
        status: 'running',
        now: isoTime(startTime),
        offsetSeconds: 0,
      });
    });

    test.each(['freeze', 'resume', 'reset'] as const)('%s rejects a non-empty body', async (what) => {
      await shop.clock.freeze();
      const refused = await shop.clock.post(what, { seconds: 1 });
      expect([refused.code, refused.body.error.param]).toEqual(['invalid_request', '/seconds']);
      expect((await shop.clock.post(what, {})).status).toBe(200);
    });

    test.each(['advance', 'freeze', 'resume', 'reset'] as const)(
      '%s requires an idempotency key',
      async (what) => {
        const body = what === 'advance' ? { seconds: 1 } : undefined;
        expect((await shop.clock.post(what, body, { idempotencyKey: null })).code).toBe(
          'idempotency_key_missing',
        );
        expect((await shop.clock.read()).offsetSeconds).toBe(0);
      },
    );
  });

  describe('401 and 403', () => {
    const moves = [
      ['advance', { seconds: 60 }] as const,
      ['freeze'] as const,
      ['resume'] as const,
      ['reset'] as const,
    ];

    test('rejects reads and changes without a key', async () => {
      const anonymous = new ApiClient(app, null);
      expect((await anonymous.get(clock)).code).toBe('api_key_missing');
      for (const [what, body] of moves)
        expect((await anonymous.post(`${clock}/${what}`, body)).code).toBe('api_key_missing');
    });

    test.each<[missing: Scope, has: readonly Scope[]]>([
      ['payments:write', scopes.filter((scope) => scope !== 'payments:write')],
      ['transfers:write', scopes.filter((scope) => scope !== 'transfers:write')],
      ['payments:write', []],
    ])('rejects a change without %s, and names the missing scope', async (missing, has) => {
      const limited = (await shop.addKey({ scopes: has })).clientOn(app);
      for (const [what, body] of moves) {
        const answer = await limited.post(`${clock}/${what}`, body);
        expect(answer.code).toBe('scope_missing');
        expect(answer.body.error.details).toEqual({ scope: missing });
      }
      expect(await clockState(shop)).toEqual({
        status: 'running',
        now: isoTime(startTime),
        offsetSeconds: 0,
      });
    });

    test('the two scopes are sufficient', async () => {
      const both = (await shop.addKey({ scopes: ['payments:write', 'transfers:write'] })).clientOn(app);
      expect((await clockApi(both).advance({ seconds: 60 })).offsetSeconds).toBe(60);
    });
  });

  describe('422', () => {
    test('rejects a time in the past, or more than a hundred years ahead', async () => {
      await shop.clock.advance({ seconds: 60 });
      const before = await clockState(shop);
      const back = await shop.clock.post('advance', { to: isoTime(startTime + 59_999) });
      expect(back.body.error).toMatchObject({
        code: 'clock_moves_back',
        param: '/to',
        details: { now: isoTime(startTime + 60_000) },
      });
      const tooFar = await shop.clock.post('advance', { seconds: secondsMax });
      expect([tooFar.code, tooFar.body.error.param]).toEqual(['clock_too_far', '/seconds']);
      expect(await clockState(shop)).toEqual(before);
    });
  });

  describe('idempotency', () => {
    test.each([
      ['advance', { seconds: 3_600 }],
      ['freeze', undefined],
      ['reset', undefined],
    ] as const)(
      'a repeated %s returns the same response byte for byte, and changes the clock once',
      async (what, body) => {
        if (what === 'reset') await shop.clock.freeze();
        const idempotencyKey = randomUUID();
        const first = await shop.clock.post(what, body, { idempotencyKey });
        expectOk(first);
        wall += 7_000;
        const before = await clockState(shop);
        for (let i = 0; i < 3; i += 1)
          expectReplay(await shop.clock.post(what, body, { idempotencyKey }), first);
        expect(await clockState(shop)).toEqual(before);
      },
    );

    test('a repeated advance returns the recorded effects without causing them again', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const idempotencyKey = randomUUID();
      const first = await shop.clock.post('advance', { seconds: 604_800 }, { idempotencyKey });
      expect((first.body as AdvanceBody).happened).toMatchObject([{ id, action: 'expire' }]);
      const { version } = await shop.payments.read(id);
      expectReplay(await shop.clock.post('advance', { seconds: 604_800 }, { idempotencyKey }), first);
      expect((await shop.payments.read(id)).version).toBe(version);
    });

    test('stores rejections too', async () => {
      const idempotencyKey = randomUUID();
      const body = { to: isoTime(startTime + secondMs) };
      await shop.clock.advance({ seconds: 60 });
      const first = await shop.clock.post('advance', body, { idempotencyKey });
      expect(first.code).toBe('clock_moves_back');
      await shop.clock.reset();
      expectReplay(await shop.clock.post('advance', body, { idempotencyKey }), first);
      expect((await shop.clock.read()).offsetSeconds).toBe(0);
    });

    test('rejects an idempotency key used for two different requests', async () => {
      const idempotencyKey = randomUUID();
      await shop.clock.post('advance', { seconds: 60 }, { idempotencyKey });
      const others: Answer[] = [
        await shop.clock.post('advance', { seconds: 61 }, { idempotencyKey }),
        await shop.clock.post('freeze', undefined, { idempotencyKey }),
        await shop.client.post(payments, { amount: 1, currency: 'EUR' }, { idempotencyKey }),
      ];
      for (const { code } of others) expect(code).toBe('idempotency_key_reused');
      expect(await clockState(shop)).toMatchObject({ status: 'running', offsetSeconds: 60 });
    });

    test('many identical concurrent advances move the clock once', async () => {
      const idempotencyKey = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => shop.clock.post('advance', { seconds: 60 }, { idempotencyKey })),
      );
      const met = new Set(answers.filter(({ status }) => status === 200).map(({ text: body }) => body));
      expect(met.size).toBe(1);
      expectOneExecution(answers);
      expect((await shop.clock.read()).offsetSeconds).toBe(60);
    });
  });

  /**
   * For concurrent requests with one idempotency key: one response, its replays, and rejections while it is in
   * progress.
   */
  function expectOneExecution(answers: readonly Answer[]): void {
    const first = answers.filter((one) => one.status === 200 && !one.headers['idempotent-replayed']);
    expect(first).toHaveLength(1);
    for (const answer of answers.filter((one) => one.status !== 200)) {
      expect(answer.code).toBe('idempotency_in_progress');
      expect(answer.headers['retry-after']).toBe('1');
    }
  }

  describe('ownership', () => {
    test('every application has a separate clock, also in another organization', async () => {
      const otherApp = await shop.addKey({ application: 'second' });
      const otherOrg = await openMerchant(server, { app });
      await shop.clock.advance({ seconds: 604_800 });
      const otherAppClock = clockApi(otherApp.clientOn(app));
      expect(await otherAppClock.read()).toMatchObject({ status: 'running', offsetSeconds: 0 });
      expect(await clockState(otherOrg)).toEqual({
        status: 'running',
        now: isoTime(startTime),
        offsetSeconds: 0,
      });
      await otherAppClock.freeze();
      expect((await shop.clock.read()).status).toBe('running');
      expect((await otherOrg.payments.create()).createdAt).toBe(isoTime(startTime));
    });

    test('a second key of the application reads and changes the same clock', async () => {
      const again = clockApi((await shop.addKey()).clientOn(app));
      await again.advance({ seconds: 60 });
      expect((await shop.clock.read()).offsetSeconds).toBe(60);
    });

    test("an advance affects the application's records, and none of another application", async () => {
      const otherAppPayments = paymentApi((await shop.addKey({ application: 'second' })).clientOn(app));
      const [ownPayment, otherPayment] = [
        await shop.payments.createAndAdvance(['authorize']),
        await otherAppPayments.createAndAdvance(['authorize']),
      ];
      const { happened } = await shop.clock.advance({ seconds: 604_800 });
      expect(happened.map(({ id }) => id)).toEqual([ownPayment.id]);
      expect((await otherAppPayments.read(otherPayment.id)).status).toBe('authorized');
    });

    test('record timestamps follow the clock of the application that created it, whichever application advances it', async () => {
      const otherApp = await shop.addKey({ application: 'second' });
      const otherAppPayments = paymentApi(otherApp.clientOn(app));
      await shop.clock.advanceTo(startTime + 10 * dayMs);
      await shop.clock.freeze();
      await clockApi(otherApp.clientOn(app)).advanceTo(startTime + 400 * dayMs);
      const { id } = await shop.payments.create();
      const ownTime = isoTime(startTime + 10 * dayMs);
      expect(expectOk(await otherAppPayments.advance(id, { action: 'authorize' }))).toMatchObject({
        createdAt: ownTime,
        authorizedAt: ownTime,
        authorizationExpiresAt: isoTime(startTime + 17 * dayMs),
        updatedAt: ownTime,
      });
      expectOk(await otherAppPayments.advance(id, { action: 'capture' }));
      const refund = expectOk(await otherAppPayments.refund(id, { amount: 100 }));
      expect(refund.createdAt).toBe(ownTime);
      const { disputeId } = expectOk(await otherAppPayments.advance(id, { action: 'dispute' }));
      const dispute = expectOk(await otherAppPayments.advanceDispute(String(disputeId)));
      expect(dispute).toMatchObject({
        createdAt: ownTime,
        respondBy: isoTime(startTime + 17 * dayMs),
        updatedAt: ownTime,
      });
      for (const what of ['history', 'ledger_entries', 'provider_events'] as const) {
        const { body } = await shop.payments.list(id, what);
        const times = body.data.map((one) => one.at ?? one.receivedAt ?? one.createdAt);
        expect(new Set(times), what).toEqual(new Set([ownTime]));
      }
      // And the reverse: the other application's record follows the other application's clock.
      const otherPayment = await otherAppPayments.create();
      expect(expectOk(await shop.payments.advance(otherPayment.id)).capturedAt).toBe(
        isoTime(startTime + 400 * dayMs),
      );
    });

    test('concurrent changes to records of two applications each follow the right clock', async () => {
      const otherAppPayments = paymentApi((await shop.addKey({ application: 'second' })).clientOn(app));
      await shop.clock.advanceTo(startTime + dayMs);
      const created = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? shop.payments : otherAppPayments).create()),
      );
      const moved = await Promise.all(
        created.map(({ id }, i) =>
          (i % 3 === 0 ? shop.payments : otherAppPayments).advance(id, { action: 'capture' }),
        ),
      );
      expect(moved.map(({ body }) => body.capturedAt)).toEqual(
        created.map((_, i) => isoTime(i % 2 === 0 ? startTime + dayMs : startTime)),
      );
    });
  });

  describe('follows real time:', () => {
    test('key expiry', async () => {
      const expiresAt = isoTime(startTime + hourMs);
      const shortLived = clockApi((await shop.addKey({ expiresAt })).clientOn(app));
      expect((await shortLived.advance({ seconds: 365 * 86_400 })).offsetSeconds).toBe(365 * 86_400);
      expect((await shortLived.read()).offsetSeconds).toBe(365 * 86_400);
      wall = startTime + hourMs;
      expect((await shortLived.post('reset')).code).toBe('api_key_expired');
    });

    test('retention of stored responses', async () => {
      await shop.clock.advance({ seconds: 365 * 86_400 });
      await shop.payments.create();
      const stored = await queryRows(
        server,
        'select distinct created_at as "createdAt" from idempotency where org_id = $1',
        [shop.orgId],
      );
      expect(stored).toEqual([{ createdAt: startTime }]);
    });
  });

  describe('the audit log', () => {
    const auditOf = ({ headers }: Answer) =>
      queryRows(
        server,
        `select action, outcome, code, resource, resource_id as "resourceId", actor_kind as "actorKind",
          actor_id as "actorId", app_id as "appId", at from audit where org_id = $1 and request_id = $2 order by id`,
        [shop.orgId, headers['request-id']],
      );

    test('records every command of an advance, in wall-clock time and with the key as actor', async () => {
      const resourceId = `clk${shop.appId.slice(3)}`;
      const actor = { actorKind: 'api_key', actorId: shop.keyId, appId: shop.appId, at: startTime };
      const accepted = { outcome: 'accepted', code: null, resource: 'clock', resourceId, ...actor };
      for (const what of ['freeze', 'reset'] as const)
        expect(await auditOf(await shop.clock.post(what))).toEqual([
          { ...accepted, action: `clocks.${what}` },
        ]);
      await shop.payments.createAndAdvance(['authorize']);
      const answer = await shop.clock.post('advance', { seconds: 604_800 });
      expect(await auditOf(answer)).toEqual(
        ['clocks.advance', 'timers.fire', 'clocks.finish'].map((action) => ({ ...accepted, action })),
      );
    });

    test('records rejections', async () => {
      const refused = { outcome: 'refused', action: 'clocks.advance', resource: 'clock' };
      const back = await shop.clock.post('advance', { to: isoTime(startTime - 1) });
      expect(await auditOf(back)).toMatchObject([{ ...refused, code: 'clock_moves_back' }]);
      const invalid = await shop.clock.post('advance', { seconds: 0 });
      expect(await auditOf(invalid)).toMatchObject([{ ...refused, code: 'invalid_request' }]);
    });
  });

  describe('during an advance', () => {
    test('rejects other changes with 409, Retry-After, the request id and the target time, and changes nothing', async () => {
      const interrupted = await interruptAdvance(server, shop, 3_600, wall);
      const before = await interrupted.clock();
      wall += 2_000;
      for (const [what, body] of [['advance', { seconds: 60 }], ['freeze'], ['reset']] as const) {
        const answer = await shop.clock.post(what, body);
        expect(answer.code, answer.text).toBe('clock_advancing');
        expect(answer.headers['retry-after']).toBe('1');
        expect(answer.body.error.details).toEqual({
          to: isoTime(startTime + hourMs),
          requestId: interrupted.requestId,
        });
      }
      expect(await interrupted.clock()).toEqual(before);
      // During an advance the clock does not run, and reads show the time reached so far.
      expect(await clockState(shop)).toEqual({
        status: 'running',
        now: isoTime(startTime),
        offsetSeconds: -2,
      });
    });

    test('the same request is in progress, and its idempotency key with another body is rejected as reused', async () => {
      const { idempotencyKey, body } = await interruptAdvance(server, shop, 3_600, wall);
      const same = await shop.clock.post('advance', body, { idempotencyKey });
      expect([same.code, same.headers['retry-after']]).toEqual(['idempotency_in_progress', '1']);
      const other = await shop.clock.post('advance', { seconds: 1 }, { idempotencyKey });
      expect(other.code).toBe('idempotency_key_reused');
    });

    test('that rejection is not stored: the same request succeeds later', async () => {
      const interrupted = await interruptAdvance(server, shop, 3_600, wall);
      const idempotencyKey = randomUUID();
      const early = await shop.clock.post('advance', { seconds: 60 }, { idempotencyKey });
      expect(early.code).toBe('clock_advancing');
      const runner = new ClockRunner({
        ...server,
        wallClock: () => wall,
        uptime: () => wall,
        onError: () => undefined,
      });
      await runner.resume(await interrupted.clock(), Number.MAX_SAFE_INTEGER);
      const late = await shop.clock.post('advance', { seconds: 60 }, { idempotencyKey });
      expect(late.body.now).toBe(isoTime(startTime + hourMs + 60_000));
    });

    test('an idempotency key that another request has used meanwhile does not block the clock', async () => {
      const interrupted = await interruptAdvance(server, shop, 3_600, wall);
      const { idempotencyKey } = interrupted;
      await shop.client.post(payments, { amount: 100, currency: 'EUR' }, { idempotencyKey });
      const runner = new ClockRunner({
        ...server,
        wallClock: () => wall,
        uptime: () => wall,
        onError: () => undefined,
      });
      await runner.resume(await interrupted.clock(), Number.MAX_SAFE_INTEGER);
      expect((await shop.clock.post('freeze')).code).toBeNull();
    });
  });

  describe('with a second node', () => {
    const openNode = () => {
      const node = observed(second);
      const nodeApp = openApp(server, {
        engine: node.engine,
        reader: createReader(second),
        wallClock: () => wall,
      });
      const client = shop.clientOn(nodeApp);
      return { ...node, client, payments: paymentApi(client), clock: clockApi(client) };
    };

    test('a clock change on one node applies at once to records created on the other', async () => {
      const node = openNode();
      expect((await node.payments.create()).createdAt).toBe(isoTime(startTime));
      await shop.clock.advance({ seconds: 86_400 });
      expect(node.retries).toEqual([]);
      expect((await node.payments.create()).createdAt).toBe(isoTime(startTime + dayMs));
      // The database rejected the node's cached clock, and the engine ran the batch again.
      expect(node.retries).toEqual(['conflict']);
      await shop.clock.freeze();
      wall += 60_000;
      expect((await node.payments.create()).createdAt).toBe(isoTime(startTime + dayMs));
      expect((await node.clock.read()).status).toBe('frozen');
      await shop.clock.reset();
      expect((await node.payments.create()).createdAt).toBe(isoTime(startTime + 60_000));
      expect(node.bugs).toEqual([]);
    });

    test('a batch rejected for a stale clock is retried as a whole, each payment once', async () => {
      const node = openNode();
      await node.payments.create();
      await shop.clock.advance({ seconds: 86_400 });
      const created = await Promise.all(Array.from({ length: 20 }, () => node.payments.create()));
      expect(new Set(created.map(({ createdAt }) => createdAt))).toEqual(
        new Set([isoTime(startTime + dayMs)]),
      );
      expect((await shop.client.get(payments, 'limit=100')).body.data).toHaveLength(21);
    });

    test('a clock change on one node applies at once when another application advances a record on the other', async () => {
      const node = openNode();
      const otherApp = await shop.addKey({ application: 'second' });
      const { id } = await paymentApi(otherApp.clientOn(app)).create();
      expectOk(await node.payments.advance(id, { action: 'authorize' }));
      await clockApi(otherApp.clientOn(app)).advance({ seconds: 86_400 });
      expect(expectOk(await node.payments.advance(id, { action: 'capture' })).capturedAt).toBe(
        isoTime(startTime + dayMs),
      );
    });

    test('of two concurrent advances, one waits or gets 409; no effect happens twice or partially', async () => {
      const node = openNode();
      let moved = 0;
      for (let i = 0; i < 10; i += 1) {
        const created = await Promise.all(
          Array.from({ length: 5 }, () => shop.payments.createAndAdvance(['authorize'])),
        );
        const answers = await Promise.all(
          [shop.clock, node.clock].map((time) => time.post('advance', { seconds: 8 * 86_400 })),
        );
        const ended = answers.filter(({ status }) => status === 200);
        expect(ended.length).toBeGreaterThanOrEqual(1);
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          expect(answer.code, answer.text).toBe('clock_advancing');
          expect(answer.headers['retry-after']).toBe('1');
        }
        moved += ended.length;
        const happened = ended.flatMap(({ body }) => (body as AdvanceBody).happened);
        expect(happened.map(({ id, action }) => [id, action]).toSorted()).toEqual(
          created.map(({ id }) => [id, 'expire']).toSorted(),
        );
        expect(await clockState(shop)).toEqual({
          status: 'running',
          now: isoTime(startTime + moved * 8 * dayMs),
          offsetSeconds: moved * 8 * 86_400,
        });
      }
      expect(node.bugs).toEqual([]);
    });

    test('concurrent first changes on both nodes create one clock', async () => {
      const node = openNode();
      const answers = await Promise.all([
        ...Array.from({ length: 3 }, () => shop.clock.post('freeze')),
        ...Array.from({ length: 3 }, () => node.clock.post('freeze')),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
      const [found] = await queryRows<{ version: number }>(
        server,
        'select version from clocks where org_id = $1',
        [shop.orgId],
      );
      expect(found?.version).toBe(1);
      expect(node.bugs).toEqual([]);
    });

    test.runIf(kind === 'postgres')(
      'a retry that races with the end of its advance has no second effect, and leaves the clock unlocked',
      async () => {
        const node = openNode();
        const interrupted = await interruptAdvance(server, shop, 3_600, wall);
        const { idempotencyKey, body, requestId } = interrupted;
        const retry = () => node.clock.post('advance', body, { idempotencyKey });
        expect((await retry()).code).toBe('idempotency_in_progress');
        const holder = new pg.Client({ connectionString: databaseUrl });
        await holder.connect();
        await holder.query('begin');
        await holder.query('select 1 from clocks where org_id = $1 for update', [shop.orgId]);
        // The process that ends the advance waits for the clock row first, the retry behind it.
        const idempotency = claim(idempotencyKey, 'POST', `/_api/${clock}/advance`, body);
        const end = { turn: 1, happened: [], left: null, next: null, hasArrived: true };
        const ending = server.engine.submit(
          submission(shop, finishAdvance, end, { wallNow: wall, requestId, idempotency }),
        );
        await waitForLockWaiters(holder, 1);
        const retried = retry();
        await waitForLockWaiters(holder, 2);
        await holder.query('commit');
        await holder.end();
        expect((await ending).status).toBe(200);
        const answer = await retried;
        if (answer.status === 200) expect(answer.headers['idempotent-replayed']).toBe('true');
        else expect(answer.code).toBe('idempotency_in_progress');
        expect(await interrupted.clock()).toMatchObject({ advance: null, frozenAt: null });
        expect((await shop.clock.read()).offsetSeconds).toBe(3_600);
      },
    );

    /** Waits until this many sessions wait for a lock. */
    async function waitForLockWaiters(holder: pg.Client, count: number): Promise<void> {
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      for (let polls = 0; polls < 2_000; polls += 1) {
        await holder.query('select pg_stat_clear_snapshot()');
        if (((await holder.query(waiting)).rowCount ?? 0) >= count) return;
      }
      throw new Error('no session waits for a lock');
    }

    test('the same advance sent to both nodes runs once', async () => {
      const node = openNode();
      for (let i = 1; i <= 5; i += 1) {
        const idempotencyKey = randomUUID();
        const answers = await Promise.all(
          [shop.clock, node.clock].map((time) => time.post('advance', { seconds: 60 }, { idempotencyKey })),
        );
        expectOneExecution(answers);
        expect((await shop.clock.read()).offsetSeconds).toBe(60 * i);
      }
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.clock);
});
