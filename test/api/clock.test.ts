import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import { createReader } from '../../src/db/reader.ts';
import { claim } from '../../src/http/idempotency.ts';
import { limits } from '../../src/kernel/limits.ts';
import { type Scope, scopes } from '../../src/kernel/scopes.ts';
import { finishAdvance } from '../../src/resources/clocks/machine.ts';
import type { Server } from '../../src/server.ts';
import { ClockRunner } from '../../src/workers/clock-runner.ts';
import { observed } from '../engine/submitting.ts';
import { type Answer, ApiClient, seenCodes } from '../support/api-client.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { databaseKinds, openApp, openServer } from '../support/server.ts';
import {
  type Advanced,
  abandonAdvance,
  clock,
  clockwork,
  dayMs,
  hourMs,
  openShop,
  rowsOf,
  type Shop,
  secondMs,
  start,
  submissionOf,
  text,
} from './clockwork.ts';
import { provokedBy } from './codes.ts';
import { done, expectReplay, lifecycle } from './lifecycle.ts';
import { payments } from './trails.ts';

const secondsMax = limits.clockAheadDaysMax * 86_400;

describe.each(databaseKinds)('the clock on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let databaseUrl: string | undefined;
  let second: Database;
  let wall = start;
  let shop: Shop;

  beforeAll(async () => {
    databaseUrl = kind === 'postgres' ? await migratedDatabase(inject('postgresUrl')) : undefined;
    // Without the worker that looks for what is due: it goes by real time, and these tests by their own.
    server = await openServer(kind, { databaseUrl, role: 'api' });
    app = openApp(server, { wallClock: () => wall });
    // A pool of its own, as another node has. PGlite has one connection for everybody.
    second = databaseUrl === undefined ? server.database : openPostgres(databaseUrl, () => undefined);
  });
  beforeEach(async () => {
    wall = start;
    shop = await openShop(server, app);
  });
  afterAll(async () => {
    if (second !== server.database) await second?.close();
    await server?.close();
  });

  const faceOf = async (one: Shop) => {
    const { status, now, offsetSeconds } = await one.time.read();
    return { status, now, offsetSeconds };
  };

  describe('200', () => {
    test('a clock that nobody moved shows real time and runs with it', async () => {
      expect(await shop.time.read()).toEqual({
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
      const { now } = await clockwork(new ApiClient(server.app, shop.key)).read();
      expect(Date.parse(now)).toBeGreaterThanOrEqual(before);
      expect(Date.parse(now)).toBeLessThanOrEqual(Date.now());
    });

    test('a frozen clock stands where it was, however often it is frozen and however long', async () => {
      const frozen = await shop.time.freeze();
      expect(frozen).toEqual({
        object: 'clock',
        sandbox: true,
        requestId: expect.any(String),
        status: 'frozen',
        now: text(start),
        offsetSeconds: 0,
      });
      wall += 90_000;
      expect(await faceOf(shop)).toEqual({ status: 'frozen', now: text(start), offsetSeconds: -90 });
      expect(await shop.time.freeze()).toMatchObject({
        status: 'frozen',
        now: text(start),
        offsetSeconds: -90,
      });
      expect((await shop.life.create()).createdAt).toBe(text(start));
    });

    test('a clock that was sent ahead is frozen there', async () => {
      await shop.time.advance({ seconds: 3_600 });
      wall += 5_000;
      const now = text(start + hourMs + 5_000);
      expect(await shop.time.freeze()).toMatchObject({ status: 'frozen', now, offsetSeconds: 3_600 });
      wall += 5_000;
      expect(await faceOf(shop)).toEqual({ status: 'frozen', now, offsetSeconds: 3_595 });
    });

    test.each<[what: string, isFrozen: boolean, by: { seconds: number } | { to: string }, aheadMs: number]>([
      ['by one second', false, { seconds: 1 }, secondMs],
      ['by seven days', false, { seconds: 604_800 }, 7 * dayMs],
      ['to a time', false, { to: '2031-03-04T10:00:00.250Z' }, 250],
      ['to a time without milliseconds', false, { to: '2031-03-05T10:00:00Z' }, dayMs],
      ['to a time of another zone', false, { to: '2031-03-05T12:00:00+02:00' }, dayMs],
      ['to where it is', false, { to: text(start) }, 0],
      ['a hundred years', false, { seconds: secondsMax }, secondsMax * secondMs],
      ['frozen, by an hour', true, { seconds: 3_600 }, hourMs],
      ['frozen, to a time', true, { to: '2031-03-04T11:00:00.001Z' }, hourMs + 1],
      ['frozen, to where it is', true, { to: text(start) }, 0],
    ])('advances %s: exactly there, and goes on as it was', async (_what, isFrozen, by, aheadMs) => {
      if (isFrozen) await shop.time.freeze();
      const status = isFrozen ? 'frozen' : 'running';
      const offsetSeconds = Math.round(aheadMs / secondMs);
      expect(await shop.time.advance(by)).toEqual({
        object: 'clock',
        sandbox: true,
        requestId: expect.any(String),
        status,
        now: text(start + aheadMs),
        offsetSeconds,
        complete: true,
        happened: [],
      });
      wall += 2_000;
      expect(await faceOf(shop)).toEqual({
        status,
        now: text(start + aheadMs + (isFrozen ? 0 : 2_000)),
        offsetSeconds: isFrozen ? offsetSeconds - 2 : offsetSeconds,
      });
    });

    test('advances add up, also of a frozen clock that real time has passed', async () => {
      await shop.time.advance({ seconds: 10 });
      wall += 1_000;
      await shop.time.advance({ seconds: 20 });
      expect((await shop.time.freeze()).now).toBe(text(start + 31_000));
      wall += dayMs;
      expect(await shop.time.advance({ seconds: 5 })).toMatchObject({
        status: 'frozen',
        now: text(start + 36_000),
        offsetSeconds: 35 - 86_400,
      });
    });

    test.each<[what: string, before: (one: Shop) => Promise<unknown>]>([
      ['frozen', (one) => one.time.freeze()],
      ['ahead', (one) => one.time.advance({ seconds: 604_800 })],
      [
        'frozen ahead',
        async (one) => {
          await one.time.advance({ seconds: 604_800 });
          await one.time.freeze();
        },
      ],
      ['never moved', async () => undefined],
    ])('reset returns a clock that is %s to real time, back if need be', async (_what, before) => {
      await before(shop);
      wall += 60_000;
      const real = { status: 'running', now: text(start + 60_000), offsetSeconds: 0 };
      expect(await shop.time.reset()).toMatchObject(real);
      expect(await faceOf(shop)).toEqual(real);
      wall += 1_000;
      expect((await shop.time.read()).now).toBe(text(start + 61_000));
      expect((await shop.life.create()).createdAt).toBe(text(start + 61_000));
    });

    test('a reset leaves what is on the records as it is', async () => {
      await shop.time.advance({ seconds: 3_600 });
      const { id } = await shop.life.paid(['authorize']);
      await shop.time.reset();
      expect(await shop.life.read(id)).toMatchObject({
        createdAt: text(start + hourMs),
        authorizationExpiresAt: text(start + hourMs + 7 * dayMs),
      });
    });

    test('the status of the API shows the clock', async () => {
      const face = async () => done(await shop.client.get('developer_api_status')).clock;
      expect(await face()).toEqual({ status: 'running', now: text(start), offsetSeconds: 0 });
      await shop.time.advance({ seconds: 86_400 });
      await shop.time.freeze();
      wall += 3_000;
      expect(await face()).toEqual({
        status: 'frozen',
        now: text(start + dayMs),
        offsetSeconds: 86_400 - 3,
      });
    });

    test('any key may read the clock', async () => {
      const bare = (await shop.addKey({ scopes: [] })).clientOn(app);
      expect((await bare.get(clock)).body.now).toBe(text(start));
    });
  });

  describe('400', () => {
    test.each<[what: string, body: unknown, param: string]>([
      ['nothing', undefined, ''],
      ['neither', {}, '/seconds'],
      ['both', { seconds: 1, to: text(start + dayMs) }, '/seconds'],
      ['zero seconds', { seconds: 0 }, '/seconds'],
      ['negative seconds', { seconds: -1 }, '/seconds'],
      ['a fraction of a second', { seconds: 1.5 }, '/seconds'],
      ['seconds as text', { seconds: '60' }, '/seconds'],
      ['seconds of null', { seconds: null }, '/seconds'],
      ['a second more than a hundred years', { seconds: secondsMax + 1 }, '/seconds'],
      ['1e15 seconds', { seconds: 1e15 }, '/seconds'],
      ['a time that is none', { to: 'tomorrow' }, '/to'],
      ['a day without a time', { to: '2031-03-05' }, '/to'],
      ['a time without a zone', { to: '2031-03-05T10:00:00' }, '/to'],
      ['the 30th of February', { to: '2031-02-30T10:00:00Z' }, '/to'],
      ['a leap second', { to: '2031-03-05T23:59:60Z' }, '/to'],
      ['a time as a number', { to: start + dayMs }, '/to'],
      ['an unknown field', { seconds: 1, second: 1 }, '/second'],
    ])('%s is refused, param points at it, and the clock stays', async (_what, body, param) => {
      const answer = await shop.time.ask('advance', body);
      expect(answer.code, answer.text).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
      expect(await faceOf(shop)).toEqual({ status: 'running', now: text(start), offsetSeconds: 0 });
    });

    test.each(['freeze', 'reset'] as const)('%s takes no body but an empty one', async (what) => {
      await shop.time.freeze();
      const refused = await shop.time.ask(what, { seconds: 1 });
      expect([refused.code, refused.body.error.param]).toEqual(['invalid_request', '/seconds']);
      expect((await shop.time.ask(what, {})).status).toBe(200);
    });

    test.each(['advance', 'freeze', 'reset'] as const)('%s needs an idempotency key', async (what) => {
      const body = what === 'advance' ? { seconds: 1 } : undefined;
      expect((await shop.time.ask(what, body, { idempotencyKey: null })).code).toBe(
        'idempotency_key_missing',
      );
      expect((await shop.time.read()).offsetSeconds).toBe(0);
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
      expect(await faceOf(shop)).toEqual({ status: 'running', now: text(start), offsetSeconds: 0 });
    });

    test('the two scopes are enough', async () => {
      const both = (await shop.addKey({ scopes: ['payments:write', 'transfers:write'] })).clientOn(app);
      expect((await clockwork(both).advance({ seconds: 60 })).offsetSeconds).toBe(60);
    });
  });

  describe('422', () => {
    test('back is refused and says where the clock is; a millisecond is back', async () => {
      await shop.time.advance({ seconds: 60 });
      const before = await faceOf(shop);
      for (const to of [text(start + 59_999), text(start), '0001-01-01T00:00:00Z']) {
        const answer = await shop.time.ask('advance', { to });
        expect(answer.code, answer.text).toBe('clock_moves_back');
        expect(answer.body.error).toMatchObject({ param: '/to', details: { now: text(start + 60_000) } });
      }
      expect(await faceOf(shop)).toEqual(before);
    });

    test('a frozen clock that real time has passed goes forward by its own time', async () => {
      await shop.time.freeze();
      wall += dayMs;
      expect((await shop.time.ask('advance', { to: text(start - 1) })).code).toBe('clock_moves_back');
      expect((await shop.time.to(start + 1)).now).toBe(text(start + 1));
    });

    test('more than a hundred years ahead of real time is refused, however it is come by', async () => {
      const farthest = start + secondsMax * secondMs;
      const far = await shop.time.ask('advance', { to: text(farthest + 1) });
      expect([far.code, far.body.error.param]).toEqual(['clock_too_far', '/to']);
      expect((await shop.time.ask('advance', { to: '9999-12-31T23:59:59Z' })).code).toBe('clock_too_far');
      expect((await shop.time.to(farthest)).now).toBe(text(farthest));
      const more = await shop.time.ask('advance', { seconds: 1 });
      expect([more.code, more.body.error.param]).toEqual(['clock_too_far', '/seconds']);
      expect((await shop.time.read()).now).toBe(text(farthest));
    });

    test('a refused advance brings nothing about', async () => {
      const { id } = await shop.life.paid(['authorize']);
      await shop.time.ask('advance', { to: '9999-12-31T23:59:59Z' });
      expect(await shop.life.read(id)).toMatchObject({ status: 'authorized', version: 2 });
    });
  });

  describe('idempotency', () => {
    test.each([
      ['advance', { seconds: 3_600 }],
      ['freeze', undefined],
      ['reset', undefined],
    ] as const)('%s sent again is answered byte for byte, and moves once', async (what, body) => {
      if (what === 'reset') await shop.time.freeze();
      const idempotencyKey = randomUUID();
      const first = await shop.time.ask(what, body, { idempotencyKey });
      done(first);
      wall += 7_000;
      const before = await faceOf(shop);
      for (let i = 0; i < 3; i += 1) expectReplay(await shop.time.ask(what, body, { idempotencyKey }), first);
      expect(await faceOf(shop)).toEqual(before);
    });

    test('an advance replays what has happened, and it does not happen again', async () => {
      const { id } = await shop.life.paid(['authorize']);
      const idempotencyKey = randomUUID();
      const first = await shop.time.ask('advance', { seconds: 604_800 }, { idempotencyKey });
      expect((first.body as Advanced).happened).toMatchObject([{ id, action: 'expire' }]);
      const { version } = await shop.life.read(id);
      expectReplay(await shop.time.ask('advance', { seconds: 604_800 }, { idempotencyKey }), first);
      expect((await shop.life.read(id)).version).toBe(version);
    });

    test('a refusal is kept too', async () => {
      const idempotencyKey = randomUUID();
      const body = { to: text(start + secondMs) };
      await shop.time.advance({ seconds: 60 });
      const first = await shop.time.ask('advance', body, { idempotencyKey });
      expect(first.code).toBe('clock_moves_back');
      await shop.time.reset();
      expectReplay(await shop.time.ask('advance', body, { idempotencyKey }), first);
      expect((await shop.time.read()).offsetSeconds).toBe(0);
    });

    test('a key is not for two requests', async () => {
      const idempotencyKey = randomUUID();
      await shop.time.ask('advance', { seconds: 60 }, { idempotencyKey });
      const others: Answer[] = [
        await shop.time.ask('advance', { seconds: 61 }, { idempotencyKey }),
        await shop.time.ask('freeze', undefined, { idempotencyKey }),
        await shop.client.post(payments, { amount: 1, currency: 'EUR' }, { idempotencyKey }),
      ];
      for (const { code } of others) expect(code).toBe('idempotency_key_reused');
      expect(await faceOf(shop)).toMatchObject({ status: 'running', offsetSeconds: 60 });
    });

    test('the same advance many times at once moves the clock once', async () => {
      const idempotencyKey = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => shop.time.ask('advance', { seconds: 60 }, { idempotencyKey })),
      );
      const met = new Set(answers.filter(({ status }) => status === 200).map(({ text: body }) => body));
      expect(met.size).toBe(1);
      expectEither(answers);
      expect((await shop.time.read()).offsetSeconds).toBe(60);
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
      const stranger = await openShop(server, app);
      await shop.time.advance({ seconds: 604_800 });
      const sisterTime = clockwork(sister.clientOn(app));
      expect(await sisterTime.read()).toMatchObject({ status: 'running', offsetSeconds: 0 });
      expect(await faceOf(stranger)).toEqual({ status: 'running', now: text(start), offsetSeconds: 0 });
      await sisterTime.freeze();
      expect((await shop.time.read()).status).toBe('running');
      expect((await stranger.life.create()).createdAt).toBe(text(start));
    });

    test('a second key of the application reads and moves the same clock', async () => {
      const again = clockwork((await shop.addKey()).clientOn(app));
      await again.advance({ seconds: 60 });
      expect((await shop.time.read()).offsetSeconds).toBe(60);
    });

    test('an advance brings about what the application made, and nothing of its sister', async () => {
      const sister = lifecycle((await shop.addKey({ application: 'second' })).clientOn(app));
      const [own, hers] = [await shop.life.paid(['authorize']), await sister.paid(['authorize'])];
      const { happened } = await shop.time.advance({ seconds: 604_800 });
      expect(happened.map(({ id }) => id)).toEqual([own.id]);
      expect((await sister.read(hers.id)).status).toBe('authorized');
    });

    test('times on a record are of the application that made it, whoever moves it', async () => {
      const sister = await shop.addKey({ application: 'second' });
      const sisterLife = lifecycle(sister.clientOn(app));
      await shop.time.to(start + 10 * dayMs);
      await shop.time.freeze();
      await clockwork(sister.clientOn(app)).to(start + 400 * dayMs);
      const { id } = await shop.life.create();
      const own = text(start + 10 * dayMs);
      expect(done(await sisterLife.advance(id, { action: 'authorize' }))).toMatchObject({
        createdAt: own,
        authorizedAt: own,
        authorizationExpiresAt: text(start + 17 * dayMs),
        updatedAt: own,
      });
      done(await sisterLife.advance(id, { action: 'capture' }));
      const refund = done(await sisterLife.refund(id, { amount: 100 }));
      expect(refund.createdAt).toBe(own);
      const { disputeId } = done(await sisterLife.advance(id, { action: 'dispute' }));
      const dispute = done(await sisterLife.advanceDispute(String(disputeId)));
      expect(dispute).toMatchObject({ createdAt: own, respondBy: text(start + 17 * dayMs), updatedAt: own });
      for (const what of ['history', 'ledger_entries', 'provider_events'] as const) {
        const { body } = await shop.life.list(id, what);
        const times = body.data.map((one) => one.at ?? one.receivedAt ?? one.createdAt);
        expect(new Set(times), what).toEqual(new Set([own]));
      }
      // And the other way round: her record goes by her clock.
      const hers = await sisterLife.create();
      expect(done(await shop.life.advance(hers.id)).capturedAt).toBe(text(start + 400 * dayMs));
    });

    test('many moves at once, of records of two applications, each go by the right clock', async () => {
      const sister = lifecycle((await shop.addKey({ application: 'second' })).clientOn(app));
      await shop.time.to(start + dayMs);
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? shop.life : sister).create()),
      );
      const moved = await Promise.all(
        made.map(({ id }, i) => (i % 3 === 0 ? shop.life : sister).advance(id, { action: 'capture' })),
      );
      expect(moved.map(({ body }) => body.capturedAt)).toEqual(
        made.map((_, i) => text(i % 2 === 0 ? start + dayMs : start)),
      );
    });
  });

  describe('stays with real time', () => {
    test('the end of a key', async () => {
      const expiresAt = text(start + hourMs);
      const brief = clockwork((await shop.addKey({ expiresAt })).clientOn(app));
      expect((await brief.advance({ seconds: 365 * 86_400 })).offsetSeconds).toBe(365 * 86_400);
      expect((await brief.read()).offsetSeconds).toBe(365 * 86_400);
      wall = start + hourMs;
      expect((await brief.ask('reset')).code).toBe('api_key_expired');
    });

    test('how long an answer is kept', async () => {
      await shop.time.advance({ seconds: 365 * 86_400 });
      await shop.life.create();
      const kept = await rowsOf(
        server,
        'select distinct created_at as "createdAt" from idempotency where org_id = $1',
        [shop.orgId],
      );
      expect(kept).toEqual([{ createdAt: start }]);
    });
  });

  describe('the audit trail', () => {
    const auditOf = ({ headers }: Answer) =>
      rowsOf(
        server,
        `select action, outcome, code, resource, resource_id as "resourceId", actor_kind as "actorKind",
          actor_id as "actorId", app_id as "appId", at from audit where org_id = $1 and request_id = $2 order by id`,
        [shop.orgId, headers['request-id']],
      );

    test('tells every command of an advance, by the wall clock and in the name of the key', async () => {
      const resourceId = `clk${shop.appId.slice(3)}`;
      const by = { actorKind: 'api_key', actorId: shop.keyId, appId: shop.appId, at: start };
      const accepted = { outcome: 'accepted', code: null, resource: 'clock', resourceId, ...by };
      for (const what of ['freeze', 'reset'] as const)
        expect(await auditOf(await shop.time.ask(what))).toEqual([{ ...accepted, action: `clocks.${what}` }]);
      await shop.life.paid(['authorize']);
      const answer = await shop.time.ask('advance', { seconds: 604_800 });
      expect(await auditOf(answer)).toEqual(
        ['clocks.advance', 'timers.fire', 'clocks.finish'].map((action) => ({ ...accepted, action })),
      );
    });

    test('tells what was refused', async () => {
      const refused = { outcome: 'refused', action: 'clocks.advance', resource: 'clock' };
      const back = await shop.time.ask('advance', { to: text(start - 1) });
      expect(await auditOf(back)).toMatchObject([{ ...refused, code: 'clock_moves_back' }]);
      const invalid = await shop.time.ask('advance', { seconds: 0 });
      expect(await auditOf(invalid)).toMatchObject([{ ...refused, code: 'invalid_request' }]);
    });
  });

  describe('while it is advanced', () => {
    test('nobody else moves it: 409 with Retry-After, who and where to, and nothing changed', async () => {
      const abandoned = await abandonAdvance(server, shop, 3_600, wall);
      const before = await abandoned.clock();
      wall += 2_000;
      for (const [what, body] of [['advance', { seconds: 60 }], ['freeze'], ['reset']] as const) {
        const answer = await shop.time.ask(what, body);
        expect(answer.code, answer.text).toBe('clock_advancing');
        expect(answer.headers['retry-after']).toBe('1');
        expect(answer.body.error.details).toEqual({
          to: text(start + hourMs),
          requestId: abandoned.requestId,
        });
      }
      expect(await abandoned.clock()).toEqual(before);
      // On its way it stands, and is shown where it has come to.
      expect(await faceOf(shop)).toEqual({ status: 'running', now: text(start), offsetSeconds: -2 });
    });

    test('the same request is in progress, and its key with another body is reused', async () => {
      const { idempotencyKey, body } = await abandonAdvance(server, shop, 3_600, wall);
      const same = await shop.time.ask('advance', body, { idempotencyKey });
      expect([same.code, same.headers['retry-after']]).toEqual(['idempotency_in_progress', '1']);
      const other = await shop.time.ask('advance', { seconds: 1 }, { idempotencyKey });
      expect(other.code).toBe('idempotency_key_reused');
    });

    test('a refusal for that reason is not kept: the same request is done later', async () => {
      const abandoned = await abandonAdvance(server, shop, 3_600, wall);
      const idempotencyKey = randomUUID();
      const early = await shop.time.ask('advance', { seconds: 60 }, { idempotencyKey });
      expect(early.code).toBe('clock_advancing');
      const runner = new ClockRunner({
        ...server,
        wallClock: () => wall,
        uptime: () => wall,
        onError: () => undefined,
      });
      await runner.resume(await abandoned.clock(), Number.MAX_SAFE_INTEGER);
      const late = await shop.time.ask('advance', { seconds: 60 }, { idempotencyKey });
      expect(late.body.now).toBe(text(start + hourMs + 60_000));
    });

    test('a key that another request took meanwhile does not hold the clock for ever', async () => {
      const abandoned = await abandonAdvance(server, shop, 3_600, wall);
      const { idempotencyKey } = abandoned;
      await shop.client.post(payments, { amount: 100, currency: 'EUR' }, { idempotencyKey });
      const runner = new ClockRunner({
        ...server,
        wallClock: () => wall,
        uptime: () => wall,
        onError: () => undefined,
      });
      await runner.resume(await abandoned.clock(), Number.MAX_SAFE_INTEGER);
      expect((await shop.time.ask('freeze')).code).toBeNull();
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
      return { ...node, client, life: lifecycle(client), time: clockwork(client) };
    };

    test('a clock moved on one counts at once for what is made on the other', async () => {
      const node = openNode();
      expect((await node.life.create()).createdAt).toBe(text(start));
      await shop.time.advance({ seconds: 86_400 });
      expect(node.retries).toEqual([]);
      expect((await node.life.create()).createdAt).toBe(text(start + dayMs));
      // What the node knew was refused by the database, and the batch was run again.
      expect(node.retries).toEqual(['conflict']);
      await shop.time.freeze();
      wall += 60_000;
      expect((await node.life.create()).createdAt).toBe(text(start + dayMs));
      expect((await node.time.read()).status).toBe('frozen');
      await shop.time.reset();
      expect((await node.life.create()).createdAt).toBe(text(start + 60_000));
      expect(node.bugs).toEqual([]);
    });

    test('a batch that was refused for an old clock is done in whole, each payment once', async () => {
      const node = openNode();
      await node.life.create();
      await shop.time.advance({ seconds: 86_400 });
      const made = await Promise.all(Array.from({ length: 20 }, () => node.life.create()));
      expect(new Set(made.map(({ createdAt }) => createdAt))).toEqual(new Set([text(start + dayMs)]));
      expect((await shop.client.get(payments, 'limit=100')).body.data).toHaveLength(21);
    });

    test('a clock moved on one counts at once for a record that another application moves on the other', async () => {
      const node = openNode();
      const sister = await shop.addKey({ application: 'second' });
      const { id } = await lifecycle(sister.clientOn(app)).create();
      done(await node.life.advance(id, { action: 'authorize' }));
      await clockwork(sister.clientOn(app)).advance({ seconds: 86_400 });
      expect(done(await node.life.advance(id, { action: 'capture' })).capturedAt).toBe(text(start + dayMs));
    });

    test('two advances at once take turns or one is told to wait; nothing happens twice or by half', async () => {
      const node = openNode();
      let moved = 0;
      for (let i = 0; i < 10; i += 1) {
        const made = await Promise.all(Array.from({ length: 5 }, () => shop.life.paid(['authorize'])));
        const answers = await Promise.all(
          [shop.time, node.time].map((time) => time.ask('advance', { seconds: 8 * 86_400 })),
        );
        const ended = answers.filter(({ status }) => status === 200);
        expect(ended.length).toBeGreaterThanOrEqual(1);
        for (const answer of answers.filter(({ status }) => status !== 200)) {
          expect(answer.code, answer.text).toBe('clock_advancing');
          expect(answer.headers['retry-after']).toBe('1');
        }
        moved += ended.length;
        const happened = ended.flatMap(({ body }) => (body as Advanced).happened);
        expect(happened.map(({ id, action }) => [id, action]).toSorted()).toEqual(
          made.map(({ id }) => [id, 'expire']).toSorted(),
        );
        expect(await faceOf(shop)).toEqual({
          status: 'running',
          now: text(start + moved * 8 * dayMs),
          offsetSeconds: moved * 8 * 86_400,
        });
      }
      expect(node.bugs).toEqual([]);
    });

    test('the first move of a clock from both at once makes one clock', async () => {
      const node = openNode();
      const answers = await Promise.all([
        ...Array.from({ length: 3 }, () => shop.time.ask('freeze')),
        ...Array.from({ length: 3 }, () => node.time.ask('freeze')),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
      const [found] = await rowsOf<{ version: number }>(
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
        const abandoned = await abandonAdvance(server, shop, 3_600, wall);
        const { idempotencyKey, body, requestId } = abandoned;
        const retry = () => node.time.ask('advance', body, { idempotencyKey });
        expect((await retry()).code).toBe('idempotency_in_progress');
        const holder = new pg.Client({ connectionString: databaseUrl });
        await holder.connect();
        await holder.query('begin');
        await holder.query('select 1 from clocks where org_id = $1 for update', [shop.orgId]);
        // First the process that ends the advance waits for the clock, and behind it the retry.
        const idempotency = claim(idempotencyKey, 'POST', `/_api/${clock}/advance`, body);
        const end = { turn: 1, happened: [], left: null, isThere: true };
        const ending = server.engine.submit(
          submissionOf(shop, finishAdvance, end, { wallNow: wall, requestId, idempotency }),
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
        expect(await abandoned.clock()).toMatchObject({ advance: null, standsAt: null });
        expect((await shop.time.read()).offsetSeconds).toBe(3_600);
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
          [shop.time, node.time].map((time) => time.ask('advance', { seconds: 60 }, { idempotencyKey })),
        );
        expectEither(answers);
        expect((await shop.time.read()).offsetSeconds).toBe(60 * i);
      }
    });
  });
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(provokedBy.clock);
});
