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

/** Every position and move of a clock is tested beside the machine, in src/resources/clocks. */
describe.each(databaseKinds)('the clock on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let databaseUrl: string | undefined;
  let second: Database;
  let wall = startTime;
  let shop: Merchant;

  beforeAll(async () => {
    databaseUrl = kind === 'postgres' ? await migratedDatabase(inject('postgresUrl')) : undefined;
    // Without the worker that looks for what is due: it goes by real time, and these tests by their own.
    server = await openServer(kind, { databaseUrl, role: 'api' });
    app = openApp(server, { wallClock: () => wall });
    // A pool of its own, as another node has. PGlite has one connection for everybody.
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

  const faceOf = async (one: Merchant) => {
    const { status, now, offsetSeconds } = await one.clock.read();
    return { status, now, offsetSeconds };
  };

  describe('200', () => {
    test('a clock that nobody moved shows real time and runs with it', async () => {
      expect(await shop.clock.read()).toEqual({
        object: 'clock',
        sandbox: true,
        requestId: expect.any(String),
        status: 'running',
        now: '2031-03-04T10:00:00.000Z',
        offsetSeconds: 0,
      });
      wall += 1_500;
      expect(await faceOf(shop)).toEqual({
        status: 'running',
        now: '2031-03-04T10:00:01.500Z',
        offsetSeconds: 0,
      });
    });

    test('real time is that of the machine', async () => {
      const before = Date.now();
      const { now } = await clockApi(new ApiClient(server.app, shop.key)).read();
      expect(Date.parse(now)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(now)).toBeLessThanOrEqual(Date.now());
    });

    test('a frozen clock stands where it was, however often it is frozen and however long', async () => {
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
      expect(await faceOf(shop)).toEqual({ status: 'frozen', now: isoTime(startTime), offsetSeconds: -90 });
      expect(await shop.clock.freeze()).toMatchObject({
        status: 'frozen',
        now: isoTime(startTime),
        offsetSeconds: -90,
      });
      expect((await shop.payments.create()).createdAt).toBe(isoTime(startTime));
    });

    test('each move is stored: later requests see the clock where the move left it', async () => {
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
      expect(await faceOf(shop)).toEqual({ status: 'running', ...ahead });
      await shop.clock.freeze();
      expect(await faceOf(shop)).toEqual({ status: 'frozen', ...ahead });
      await shop.clock.advance({ seconds: 60 });
      const later = { now: isoTime(startTime + dayMs + 62_250), offsetSeconds: 86_460 };
      expect(await faceOf(shop)).toEqual({ status: 'frozen', ...later });
      const real = { status: 'running', now: isoTime(startTime + 2_000), offsetSeconds: 0 };
      expect(await shop.clock.reset()).toMatchObject(real);
      expect(await faceOf(shop)).toEqual(real);
      expect((await shop.payments.create()).createdAt).toBe(isoTime(startTime + 2_000));
    });

    test('the status of the API shows the clock', async () => {
      const face = async () => expectOk(await shop.client.get('developer_api_status')).clock;
      expect(await face()).toEqual({ status: 'running', now: isoTime(startTime), offsetSeconds: 0 });
      await shop.clock.advance({ seconds: 86_400 });
      await shop.clock.freeze();
      wall += 3_000;
      expect(await face()).toEqual({
        status: 'frozen',
        now: isoTime(startTime + dayMs),
        offsetSeconds: 86_400 - 3,
      });
    });

    test('any key may read the clock', async () => {
      const bare = (await shop.addKey({ scopes: [] })).clientOn(app);
      expect((await bare.get(clock)).body.now).toBe(isoTime(startTime));
    });
  });

  describe('400', () => {
    test.each<[what: string, body: unknown, param: string]>([
      ['nothing', undefined, ''],
      ['a fraction of a second', { seconds: 1.5 }, '/seconds'],
      ['the 30th of February', { to: '2031-02-30T10:00:00Z' }, '/to'],
    ])('%s is refused, param points at it, and the clock stays', async (_what, body, param) => {
      const answer = await shop.clock.post('advance', body);
      expect(answer.code, answer.text).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
      expect(await faceOf(shop)).toEqual({ status: 'running', now: isoTime(startTime), offsetSeconds: 0 });
    });

    test.each(['freeze', 'reset'] as const)('%s takes no body but an empty one', async (what) => {
      await shop.clock.freeze();
      const refused = await shop.clock.post(what, { seconds: 1 });
      expect([refused.code, refused.body.error.param]).toEqual(['invalid_request', '/seconds']);
      expect((await shop.clock.post(what, {})).status).toBe(200);
    });

    test.each(['advance', 'freeze', 'reset'] as const)('%s needs an idempotency key', async (what) => {
      const body = what === 'advance' ? { seconds: 1 } : undefined;
      expect((await shop.clock.post(what, body, { idempotencyKey: null })).code).toBe(
        'idempotency_key_missing',
      );
      expect((await shop.clock.read()).offsetSeconds).toBe(0);
    });
  });

  describe('401 and 403', () => {
    const moves = [['advance', { seconds: 60 }] as const, ['freeze'] as const, ['reset'] as const];

    test('without a key nothing is shown or moved', async () => {
      const nobody = new ApiClient(app, null);
      expect((await nobody.get(clock)).code).toBe('api_key_missing');
      for (const [what, body] of moves)
        expect((await nobody.post(`${clock}/${what}`, body)).code).toBe('api_key_missing');
    });

    test.each<[missing: Scope, has: readonly Scope[]]>([
      ['payments:write', scopes.filter((scope) => scope !== 'payments:write')],
      ['transfers:write', scopes.filter((scope) => scope !== 'transfers:write')],
      ['payments:write', []],
    ])('without %s it cannot be moved, and the refusal names it', async (missing, has) => {
      const lesser = (await shop.addKey({ scopes: has })).clientOn(app);
      for (const [what, body] of moves) {
        const answer = await lesser.post(`${clock}/${what}`, body);
        expect(answer.code).toBe('scope_missing');
        expect(answer.body.error.details).toEqual({ scope: missing });
      }
      expect(await faceOf(shop)).toEqual({ status: 'running', now: isoTime(startTime), offsetSeconds: 0 });
    });

    test('the two scopes are enough', async () => {
      const both = (await shop.addKey({ scopes: ['payments:write', 'transfers:write'] })).clientOn(app);
      expect((await clockApi(both).advance({ seconds: 60 })).offsetSeconds).toBe(60);
    });
  });

  describe('422', () => {
    test('a time in the past, or more than a hundred years ahead, is refused', async () => {
      await shop.clock.advance({ seconds: 60 });
      const before = await faceOf(shop);
      const back = await shop.clock.post('advance', { to: isoTime(startTime + 59_999) });
      expect(back.body.error).toMatchObject({
        code: 'clock_moves_back',
        param: '/to',
        details: { now: isoTime(startTime + 60_000) },
      });
      const far = await shop.clock.post('advance', { seconds: secondsMax });
      expect([far.code, far.body.error.param]).toEqual(['clock_too_far', '/seconds']);
      expect(await faceOf(shop)).toEqual(before);
    });
  });

  describe('idempotency', () => {
    test.each([
      ['advance', { seconds: 3_600 }],
      ['freeze', undefined],
      ['reset', undefined],
    ] as const)('%s sent again is answered byte for byte, and moves once', async (what, body) => {
      if (what === 'reset') await shop.clock.freeze();
      const idempotencyKey = randomUUID();
      const first = await shop.clock.post(what, body, { idempotencyKey });
      expectOk(first);
      wall += 7_000;
      const before = await faceOf(shop);
      for (let i = 0; i < 3; i += 1)
        expectReplay(await shop.clock.post(what, body, { idempotencyKey }), first);
      expect(await faceOf(shop)).toEqual(before);
    });

    test('an advance replays what has happened, and it does not happen again', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const idempotencyKey = randomUUID();
      const first = await shop.clock.post('advance', { seconds: 604_800 }, { idempotencyKey });
      expect((first.body as AdvanceBody).happened).toMatchObject([{ id, action: 'expire' }]);
      const { version } = await shop.payments.read(id);
      expectReplay(await shop.clock.post('advance', { seconds: 604_800 }, { idempotencyKey }), first);
      expect((await shop.payments.read(id)).version).toBe(version);
    });

    test('a refusal is kept too', async () => {
      const idempotencyKey = randomUUID();
      const body = { to: isoTime(startTime + secondMs) };
      await shop.clock.advance({ seconds: 60 });
      const first = await shop.clock.post('advance', body, { idempotencyKey });
      expect(first.code).toBe('clock_moves_back');
      await shop.clock.reset();
      expectReplay(await shop.clock.post('advance', body, { idempotencyKey }), first);
      expect((await shop.clock.read()).offsetSeconds).toBe(0);
    });

    test('a key is not for two requests', async () => {
      const idempotencyKey = randomUUID();
      await shop.clock.post('advance', { seconds: 60 }, { idempotencyKey });
      const others: Answer[] = [
        await shop.clock.post('advance', { seconds: 61 }, { idempotencyKey }),
        await shop.clock.post('freeze', undefined, { idempotencyKey }),
        await shop.client.post(payments, { amount: 1, currency: 'EUR' }, { idempotencyKey }),
      ];
      for (const { code } of others) expect(code).toBe('idempotency_key_reused');
      expect(await faceOf(shop)).toMatchObject({ status: 'running', offsetSeconds: 60 });
    });

    test('the same advance many times at once moves the clock once', async () => {
      const idempotencyKey = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => shop.clock.post('advance', { seconds: 60 }, { idempotencyKey })),
      );
      const met = new Set(answers.filter(({ status }) => status === 200).map(({ text: body }) => body));
      expect(met.size).toBe(1);
      expectEither(answers);
      expect((await shop.clock.read()).offsetSeconds).toBe(60);
    });
  });

  /** Of requests with one key at once: the answer, its replays, and those who were too early to have it. */
  function expectEither(answers: readonly Answer[]): void {
    const first = answers.filter((one) => one.status === 200 && !one.headers['idempotent-replayed']);
    expect(first).toHaveLength(1);
    for (const answer of answers.filter((one) => one.status !== 200)) {
      expect(answer.code).toBe('idempotency_in_progress');
      expect(answer.headers['retry-after']).toBe('1');
    }
  }

  describe('whose it is', () => {
    test('an application has a clock of its own, and so has another organization', async () => {
      const sister = await shop.addKey({ application: 'second' });
      const stranger = await openMerchant(server, { app });
      await shop.clock.advance({ seconds: 604_800 });
      const sisterTime = clockApi(sister.clientOn(app));
      expect(await sisterTime.read()).toMatchObject({ status: 'running', offsetSeconds: 0 });
      expect(await faceOf(stranger)).toEqual({
        status: 'running',
        now: isoTime(startTime),
        offsetSeconds: 0,
      });
      await sisterTime.freeze();
      expect((await shop.clock.read()).status).toBe('running');
      expect((await stranger.payments.create()).createdAt).toBe(isoTime(startTime));
    });

    test('a second key of the application reads and moves the same clock', async () => {
      const again = clockApi((await shop.addKey()).clientOn(app));
      await again.advance({ seconds: 60 });
      expect((await shop.clock.read()).offsetSeconds).toBe(60);
    });

    test('an advance brings about what the application made, and nothing of its sister', async () => {
      const sister = paymentApi((await shop.addKey({ application: 'second' })).clientOn(app));
      const [own, hers] = [
        await shop.payments.createAndAdvance(['authorize']),
        await sister.createAndAdvance(['authorize']),
      ];
      const { happened } = await shop.clock.advance({ seconds: 604_800 });
      expect(happened.map(({ id }) => id)).toEqual([own.id]);
      expect((await sister.read(hers.id)).status).toBe('authorized');
    });

    test('times on a record are of the application that made it, whoever moves it', async () => {
      const sister = await shop.addKey({ application: 'second' });
      const sisterLife = paymentApi(sister.clientOn(app));
      await shop.clock.advanceTo(startTime + 10 * dayMs);
      await shop.clock.freeze();
      await clockApi(sister.clientOn(app)).advanceTo(startTime + 400 * dayMs);
      const { id } = await shop.payments.create();
      const own = isoTime(startTime + 10 * dayMs);
      expect(expectOk(await sisterLife.advance(id, { action: 'authorize' }))).toMatchObject({
        createdAt: own,
        authorizedAt: own,
        authorizationExpiresAt: isoTime(startTime + 17 * dayMs),
        updatedAt: own,
      });
      expectOk(await sisterLife.advance(id, { action: 'capture' }));
      const refund = expectOk(await sisterLife.refund(id, { amount: 100 }));
      expect(refund.createdAt).toBe(own);
      const { disputeId } = expectOk(await sisterLife.advance(id, { action: 'dispute' }));
      const dispute = expectOk(await sisterLife.advanceDispute(String(disputeId)));
      expect(dispute).toMatchObject({
        createdAt: own,
        respondBy: isoTime(startTime + 17 * dayMs),
        updatedAt: own,
      });
      for (const what of ['history', 'ledger_entries', 'provider_events'] as const) {
        const { body } = await shop.payments.list(id, what);
        const times = body.data.map((one) => one.at ?? one.receivedAt ?? one.createdAt);
        expect(new Set(times), what).toEqual(new Set([own]));
      }
      // And the other way round: her record goes by her clock.
      const hers = await sisterLife.create();
      expect(expectOk(await shop.payments.advance(hers.id)).capturedAt).toBe(
        isoTime(startTime + 400 * dayMs),
      );
    });

    test('many moves at once, of records of two applications, each go by the right clock', async () => {
      const sister = paymentApi((await shop.addKey({ application: 'second' })).clientOn(app));
      await shop.clock.advanceTo(startTime + dayMs);
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? shop.payments : sister).create()),
      );
      const moved = await Promise.all(
        made.map(({ id }, i) => (i % 3 === 0 ? shop.payments : sister).advance(id, { action: 'capture' })),
      );
      expect(moved.map(({ body }) => body.capturedAt)).toEqual(
        made.map((_, i) => isoTime(i % 2 === 0 ? startTime + dayMs : startTime)),
      );
    });
  });

  describe('stays with real time', () => {
    test('the end of a key', async () => {
      const expiresAt = isoTime(startTime + hourMs);
      const brief = clockApi((await shop.addKey({ expiresAt })).clientOn(app));
      expect((await brief.advance({ seconds: 365 * 86_400 })).offsetSeconds).toBe(365 * 86_400);
      expect((await brief.read()).offsetSeconds).toBe(365 * 86_400);
      wall = startTime + hourMs;
      expect((await brief.post('reset')).code).toBe('api_key_expired');
    });

    test('how long an answer is kept', async () => {
      await shop.clock.advance({ seconds: 365 * 86_400 });
      await shop.payments.create();
      const kept = await queryRows(
        server,
        'select distinct created_at as "createdAt" from idempotency where org_id = $1',
        [shop.orgId],
      );
      expect(kept).toEqual([{ createdAt: startTime }]);
    });
  });

  describe('the audit trail', () => {
    const auditOf = ({ headers }: Answer) =>
      queryRows(
        server,
        `select action, outcome, code, resource, resource_id as "resourceId", actor_kind as "actorKind",
          actor_id as "actorId", app_id as "appId", at from audit where org_id = $1 and request_id = $2 order by id`,
        [shop.orgId, headers['request-id']],
      );

    test('tells every command of an advance, by the wall clock and in the name of the key', async () => {
      const resourceId = `clk${shop.appId.slice(3)}`;
      const by = { actorKind: 'api_key', actorId: shop.keyId, appId: shop.appId, at: startTime };
      const accepted = { outcome: 'accepted', code: null, resource: 'clock', resourceId, ...by };
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

    test('tells what was refused', async () => {
      const refused = { outcome: 'refused', action: 'clocks.advance', resource: 'clock' };
      const back = await shop.clock.post('advance', { to: isoTime(startTime - 1) });
      expect(await auditOf(back)).toMatchObject([{ ...refused, code: 'clock_moves_back' }]);
      const invalid = await shop.clock.post('advance', { seconds: 0 });
      expect(await auditOf(invalid)).toMatchObject([{ ...refused, code: 'invalid_request' }]);
    });
  });

  describe('while it is advanced', () => {
    test('nobody else moves it: 409 with Retry-After, who and where to, and nothing changed', async () => {
      const abandoned = await interruptAdvance(server, shop, 3_600, wall);
      const before = await abandoned.clock();
      wall += 2_000;
      for (const [what, body] of [['advance', { seconds: 60 }], ['freeze'], ['reset']] as const) {
        const answer = await shop.clock.post(what, body);
        expect(answer.code, answer.text).toBe('clock_advancing');
        expect(answer.headers['retry-after']).toBe('1');
        expect(answer.body.error.details).toEqual({
          to: isoTime(startTime + hourMs),
          requestId: abandoned.requestId,
        });
      }
      expect(await abandoned.clock()).toEqual(before);
      // On its way it stands, and is shown where it has come to.
      expect(await faceOf(shop)).toEqual({ status: 'running', now: isoTime(startTime), offsetSeconds: -2 });
    });

    test('the same request is in progress, and its key with another body is reused', async () => {
      const { idempotencyKey, body } = await interruptAdvance(server, shop, 3_600, wall);
      const same = await shop.clock.post('advance', body, { idempotencyKey });
      expect([same.code, same.headers['retry-after']]).toEqual(['idempotency_in_progress', '1']);
      const other = await shop.clock.post('advance', { seconds: 1 }, { idempotencyKey });
      expect(other.code).toBe('idempotency_key_reused');
    });

    test('a refusal for that reason is not kept: the same request is done later', async () => {
      const abandoned = await interruptAdvance(server, shop, 3_600, wall);
      const idempotencyKey = randomUUID();
      const early = await shop.clock.post('advance', { seconds: 60 }, { idempotencyKey });
      expect(early.code).toBe('clock_advancing');
      const runner = new ClockRunner({
        ...server,
        wallClock: () => wall,
        uptime: () => wall,
        onError: () => undefined,
      });
      await runner.resume(await abandoned.clock(), Number.MAX_SAFE_INTEGER);
      const late = await shop.clock.post('advance', { seconds: 60 }, { idempotencyKey });
      expect(late.body.now).toBe(isoTime(startTime + hourMs + 60_000));
    });

    test('a key that another request took meanwhile does not hold the clock for ever', async () => {
      const abandoned = await interruptAdvance(server, shop, 3_600, wall);
      const { idempotencyKey } = abandoned;
      await shop.client.post(payments, { amount: 100, currency: 'EUR' }, { idempotencyKey });
      const runner = new ClockRunner({
        ...server,
        wallClock: () => wall,
        uptime: () => wall,
        onError: () => undefined,
      });
      await runner.resume(await abandoned.clock(), Number.MAX_SAFE_INTEGER);
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
      return { ...node, client, life: paymentApi(client), time: clockApi(client) };
    };

    test('a clock moved on one counts at once for what is made on the other', async () => {
      const node = openNode();
      expect((await node.life.create()).createdAt).toBe(isoTime(startTime));
      await shop.clock.advance({ seconds: 86_400 });
      expect(node.retries).toEqual([]);
      expect((await node.life.create()).createdAt).toBe(isoTime(startTime + dayMs));
      // What the node knew was refused by the database, and the batch was run again.
      expect(node.retries).toEqual(['conflict']);
      await shop.clock.freeze();
      wall += 60_000;
      expect((await node.life.create()).createdAt).toBe(isoTime(startTime + dayMs));
      expect((await node.time.read()).status).toBe('frozen');
      await shop.clock.reset();
      expect((await node.life.create()).createdAt).toBe(isoTime(startTime + 60_000));
      expect(node.bugs).toEqual([]);
    });

    test('a batch that was refused for an old clock is done in whole, each payment once', async () => {
      const node = openNode();
      await node.life.create();
      await shop.clock.advance({ seconds: 86_400 });
      const made = await Promise.all(Array.from({ length: 20 }, () => node.life.create()));
      expect(new Set(made.map(({ createdAt }) => createdAt))).toEqual(new Set([isoTime(startTime + dayMs)]));
      expect((await shop.client.get(payments, 'limit=100')).body.data).toHaveLength(21);
    });

    test('a clock moved on one counts at once for a record that another application moves on the other', async () => {
      const node = openNode();
      const sister = await shop.addKey({ application: 'second' });
      const { id } = await paymentApi(sister.clientOn(app)).create();
      expectOk(await node.life.advance(id, { action: 'authorize' }));
      await clockApi(sister.clientOn(app)).advance({ seconds: 86_400 });
      expect(expectOk(await node.life.advance(id, { action: 'capture' })).capturedAt).toBe(
        isoTime(startTime + dayMs),
      );
    });

    test('two advances at once take turns or one is told to wait; nothing happens twice or by half', async () => {
      const node = openNode();
      let moved = 0;
      for (let i = 0; i < 10; i += 1) {
        const made = await Promise.all(
          Array.from({ length: 5 }, () => shop.payments.createAndAdvance(['authorize'])),
        );
        const answers = await Promise.all(
          [shop.clock, node.time].map((time) => time.post('advance', { seconds: 8 * 86_400 })),
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
          made.map(({ id }) => [id, 'expire']).toSorted(),
        );
        expect(await faceOf(shop)).toEqual({
          status: 'running',
          now: isoTime(startTime + moved * 8 * dayMs),
          offsetSeconds: moved * 8 * 86_400,
        });
      }
      expect(node.bugs).toEqual([]);
    });

    test('the first move of a clock from both at once makes one clock', async () => {
      const node = openNode();
      const answers = await Promise.all([
        ...Array.from({ length: 3 }, () => shop.clock.post('freeze')),
        ...Array.from({ length: 3 }, () => node.time.post('freeze')),
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
      'a retry that meets the end of its advance moves nothing a second time, and leaves the clock free',
      async () => {
        const node = openNode();
        const abandoned = await interruptAdvance(server, shop, 3_600, wall);
        const { idempotencyKey, body, requestId } = abandoned;
        const retry = () => node.time.post('advance', body, { idempotencyKey });
        expect((await retry()).code).toBe('idempotency_in_progress');
        const holder = new pg.Client({ connectionString: databaseUrl });
        await holder.connect();
        await holder.query('begin');
        await holder.query('select 1 from clocks where org_id = $1 for update', [shop.orgId]);
        // First the process that ends the advance waits for the clock, and behind it the retry.
        const idempotency = claim(idempotencyKey, 'POST', `/_api/${clock}/advance`, body);
        const end = { turn: 1, happened: [], left: null, next: null, isThere: true };
        const ending = server.engine.submit(
          submission(shop, finishAdvance, end, { wallNow: wall, requestId, idempotency }),
        );
        await waitersOf(holder, 1);
        const retried = retry();
        await waitersOf(holder, 2);
        await holder.query('commit');
        await holder.end();
        expect((await ending).status).toBe(200);
        const answer = await retried;
        if (answer.status === 200) expect(answer.headers['idempotent-replayed']).toBe('true');
        else expect(answer.code).toBe('idempotency_in_progress');
        expect(await abandoned.clock()).toMatchObject({ advance: null, frozenAt: null });
        expect((await shop.clock.read()).offsetSeconds).toBe(3_600);
      },
    );

    /** Until as many wait for a lock. */
    async function waitersOf(holder: pg.Client, count: number): Promise<void> {
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      for (let polls = 0; polls < 2_000; polls += 1) {
        await holder.query('select pg_stat_clear_snapshot()');
        if (((await holder.query(waiting)).rowCount ?? 0) >= count) return;
      }
      throw new Error('nobody waits');
    }

    test('one advance sent to both at once is one advance', async () => {
      const node = openNode();
      for (let i = 1; i <= 5; i += 1) {
        const idempotencyKey = randomUUID();
        const answers = await Promise.all(
          [shop.clock, node.time].map((time) => time.post('advance', { seconds: 60 }, { idempotencyKey })),
        );
        expectEither(answers);
        expect((await shop.clock.read()).offsetSeconds).toBe(60 * i);
      }
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.clock);
});
