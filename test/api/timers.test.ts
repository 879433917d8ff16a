import type { FastifyInstance } from 'fastify';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { refusalAnswer } from '../../src/engine/submission.ts';
import { claim } from '../../src/http/idempotency.ts';
import type { Answer as EngineAnswer, Submission } from '../../src/kernel/command.ts';
import { refuse } from '../../src/kernel/errors.ts';
import { formatId, type Id } from '../../src/kernel/ids.ts';
import { limits } from '../../src/kernel/limits.ts';
import { finishAdvance } from '../../src/resources/clocks/machine.ts';
import { type ApplicationKey, findDueApplications } from '../../src/resources/clocks/store.ts';
import { fireTimers } from '../../src/resources/clocks/timer-commands.ts';
import { ClockRunner } from '../../src/runs/advance-run.ts';
import type { Server } from '../../src/server.ts';
import { startTimers } from '../../src/workers/timers.ts';
import { autoAdvanceChains } from '../model/auto-advance-chains.ts';
import { expectOk, runConcurrently } from '../support/api-client.ts';
import {
  type AdvanceBody,
  clock,
  clockApi,
  dayMs,
  effectsOf,
  expectTimeOrder,
  hourMs,
  isoTime,
  secondMs,
  startTime,
  timersOf,
} from '../support/clock.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { paymentApi, payments } from '../support/payments.ts';
import { databaseKinds, openApp, queryRows, sharedServer } from '../support/server.ts';
import { submission } from '../support/submission.ts';
import { type InterruptedAdvance, interruptAdvance } from './interrupted-advance.ts';

const week = 7 * dayMs;
const weekSeconds = week / secondMs;

/**
 * Due times are tested in test/model/timers.test.ts; deadlines and step order in
 * src/resources/{payment-moves,clocks,timers}.
 */
describe.each(databaseKinds)('timers on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let wall = startTime;
  /** How far the wall clock advances with every read. */
  let tickMs = 0;
  let shop: Merchant;
  let runner: ClockRunner;
  const errors: string[] = [];

  const wallClock = () => {
    wall += tickMs;
    return wall;
  };

  beforeAll(async () => {
    // Without the timer worker: it follows real time, and these tests use their own clock.
    server = await sharedServer(kind, 'api');
    app = openApp(server, { wallClock });
    runner = new ClockRunner({
      ...server,
      wallClock,
      uptime: wallClock,
      onError: (_error, what) => errors.push(what),
    });
  });
  beforeEach(async () => {
    [wall, tickMs] = [startTime, 0];
    errors.length = 0;
    shop = await openMerchant(server, { app });
  });

  const statusOf = async (id: string) => (await shop.payments.read(id)).status;
  const dispute = async (id: string) => expectOk(await shop.client.get(`developer_api_disputes/${id}`));
  const disputed = async (steps: readonly (string | object)[] = ['capture', 'dispute']) => {
    const payment = await shop.payments.createAndAdvance(steps);
    return { payment, disputeId: String(payment.disputeId) };
  };

  describe('an authorization', () => {
    test('expires after seven days: the payment is expired, the hold is released, and an event is emitted', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize'], { captureMethod: 'manual' });
      expect(await shop.payments.balances(id)).toEqual({ provider_holds: 10_000, hold_obligations: -10_000 });
      const advanced = await shop.clock.advance({ seconds: weekSeconds });
      const at = isoTime(startTime + week);
      expect(advanced).toMatchObject({
        complete: true,
        now: at,
        happened: [
          {
            at,
            type: 'payment',
            id,
            action: 'expire',
            from: 'authorized',
            to: 'expired',
            event: 'payment.expired',
          },
        ],
      });
      expect(Object.keys(advanced.happened[0] ?? {})).toEqual([
        'at',
        'type',
        'id',
        'action',
        'from',
        'to',
        'event',
      ]);
      const payment = await shop.payments.read(id);
      expect(payment).toMatchObject({
        status: 'expired',
        amountCapturable: 0,
        expiredAt: at,
        updatedAt: at,
        version: 3,
        allowedActions: [],
      });
      expect(payment).not.toHaveProperty('authorizationExpiresAt');
      const entries = (await shop.payments.list(id, 'ledger_entries')).body.data;
      expect(entries.map(({ reason, createdAt }) => [reason, createdAt])).toEqual([
        ['release', at],
        ['authorize', isoTime(startTime)],
      ]);
      expect(await shop.payments.balances(id)).toEqual({});
      const events = await queryRows(
        server,
        `select type, sequence, app_id as "appId", created_at as "createdAt", request_id as "requestId",
          data->>'status' as status from events where org_id = $1 and resource_id = $2 and sequence > 2`,
        [shop.orgId, id],
      );
      expect(events).toEqual([
        {
          type: 'payment.expired',
          sequence: 3,
          appId: shop.appId,
          createdAt: startTime + week,
          requestId: advanced.requestId,
          status: 'expired',
        },
      ]);
      const [providerEvent] = (await shop.payments.list(id, 'provider_events')).body.data;
      expect(providerEvent).toMatchObject({ type: 'charge.authorization_expired', receivedAt: at });
    });
  });

  describe('a dispute', () => {
    test('without a response is lost at its deadline, and the payment is charged back', async () => {
      const { payment, disputeId } = await disputed();
      const at = isoTime(startTime + week);
      const { happened } = await shop.clock.advance({ seconds: weekSeconds });
      expect(happened).toEqual([
        {
          at,
          type: 'dispute',
          id: disputeId,
          action: 'expire',
          from: 'needs_response',
          to: 'lost',
          event: 'dispute.lost',
        },
        {
          at,
          type: 'payment',
          id: payment.id,
          action: 'dispute_lost',
          from: 'disputed',
          to: 'charged_back',
          event: 'payment.charged_back',
        },
      ]);
      expect(await dispute(disputeId)).toMatchObject({ status: 'lost', closedAt: at });
      expect(await shop.payments.read(payment.id)).toMatchObject({
        status: 'charged_back',
        chargedBackAt: at,
      });
      expect(await shop.payments.balances(payment.id)).toEqual({ fees: -320, merchant_pending: 320 });
    });
  });

  describe('an overdue step', () => {
    test('runs first, with its own due time, when another action on the payment is requested', async () => {
      const { id } = await shop.payments.createAndAdvance(['capture']);
      wall = startTime + 3 * dayMs;
      const refunded = expectOk(await shop.payments.advance(id, { action: 'refund', amount: 1_000 }));
      expect(refunded).toMatchObject({ status: 'partially_refunded', settledAt: '2031-03-05T06:00:00.000Z' });
      const moves = (await shop.payments.list(id, 'history')).body.data;
      expect(moves.map(({ action, at }) => [action, at])).toEqual([
        ['refund', isoTime(wall)],
        ['settle', '2031-03-05T06:00:00.000Z'],
        ['capture', isoTime(startTime)],
        ['create', isoTime(startTime)],
      ]);
    });
  });

  describe('a timer', () => {
    test('follows each transition of a dispute and its payment', async () => {
      const { payment, disputeId } = await disputed();
      const seen = async () => timersOf(server, shop.orgId);
      expect(await seen()).toEqual({ [disputeId]: isoTime(startTime + week) });
      await shop.payments.advanceDispute(disputeId, { action: 'submit_evidence' });
      expect(await seen()).toEqual({});
      wall += dayMs;
      await shop.payments.advanceDispute(disputeId, { action: 'escalate' });
      expect(await seen()).toEqual({ [disputeId]: isoTime(startTime + dayMs + week) });
      await shop.payments.advanceDispute(disputeId, { action: 'submit_evidence' });
      await shop.payments.advanceDispute(disputeId, { action: 'win' });
      expect(await seen()).toEqual({ [payment.id]: '2031-03-06T06:00:00.000Z' });
    });

    test('that fires too early is rescheduled, without any effect', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const moveTimer = 'update timers set due_at = $3 where org_id = $1 and id = $2';
      await queryRows(server, moveTimer, [shop.orgId, id, isoTime(startTime + hourMs)]);
      expect(await shop.clock.advance({ seconds: 86_400 })).toMatchObject({ complete: true, happened: [] });
      expect(await timersOf(server, shop.orgId)).toEqual({ [id]: isoTime(startTime + week) });
      await queryRows(server, moveTimer, [shop.orgId, id, isoTime(startTime + hourMs)]);
      await runner.runDue(shop);
      expect(await timersOf(server, shop.orgId)).toEqual({ [id]: isoTime(startTime + week) });
      expect(await shop.payments.read(id)).toMatchObject({ status: 'authorized', version: 2 });
    });

    test('of a record without a pending step is removed, without any effect', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize', 'cancel']);
      const insertTimer =
        'insert into timers (org_id, id, app_id, resource, due_at) values ($1, $2, $3, $4, $5)';
      await queryRows(server, insertTimer, [shop.orgId, id, shop.appId, 'payment', isoTime(startTime)]);
      expect(await shop.clock.advance({ seconds: 1 })).toMatchObject({ complete: true, happened: [] });
      expect(await timersOf(server, shop.orgId)).toEqual({});
    });
  });

  describe('in order', () => {
    test('fires more timers than one round holds, and chains, in independently calculated order', async () => {
      tickMs = 600;
      const held = await runConcurrently(Array.from({ length: 270 }), () =>
        shop.payments.createAndAdvance(['authorize']),
      );
      tickMs = 0;
      const expiries = held.map(({ authorizationExpiresAt }) => Date.parse(String(authorizationExpiresAt)));
      expect(new Set(expiries).size).toBe(270);
      const first = Math.min(...expiries);
      const last = Math.max(...expiries);
      // The chains are spread over the same minutes.
      expect(last - first).toBeGreaterThan(120_000);
      await shop.clock.advanceTo(first - 60_000);
      await shop.clock.freeze();
      const created = await runConcurrently(
        Array.from({ length: 10 }, (_, i) => i),
        async (i) => {
          const [scenario = 'approve', steps = []] = autoAdvanceChains[i % autoAdvanceChains.length] ?? [];
          const { id } = await shop.payments.create({ autoAdvance: true, scenario });
          return { id, steps };
        },
      );
      const expected: [at: string, id: string, action: string][] = [
        ...held.map(({ id }, i): [string, string, string] => [isoTime(expiries[i] ?? 0), id, 'expire']),
        ...created.flatMap(({ id, steps }) =>
          steps.map(([seconds, action]): [string, string, string] => [
            isoTime(first - 60_000 + seconds * secondMs),
            id,
            action,
          ]),
        ),
        ...created
          .filter(({ steps }) => steps.at(-1)?.[1] === 'capture')
          .map(({ id }): [string, string, string] => ['2031-03-12T06:00:00.000Z', id, 'settle']),
      ];
      const advanced = await shop.clock.advanceTo(last + 2 * dayMs);
      expect(advanced.complete).toBe(true);
      expectTimeOrder(advanced.happened);
      expect(advanced.happened.map(({ at, id, action }) => `${at} ${id} ${action}`)).toEqual(
        expected.map((one) => one.join(' ')).toSorted(),
      );
      expect(await effectsOf(server, shop.orgId, advanced.requestId)).toEqual(advanced.happened);
      const statuses = await queryRows(
        server,
        'select status, count(*)::integer as found from payments where org_id = $1 group by 1 order by 1',
        [shop.orgId],
      );
      expect(statuses).toEqual([
        { status: 'expired', found: 270 },
        { status: 'failed', found: 2 },
        { status: 'settled', found: 8 },
      ]);
      expect(await timersOf(server, shop.orgId)).toEqual({});
    });
  });

  describe('a limit', () => {
    /** Inserts copies of the given payment whose timers are one second apart. */
    async function clonePayment(id: string, count: number): Promise<void> {
      const [found] = await queryRows<{ columns: string }>(
        server,
        `select string_agg(column_name, ', ') as columns from information_schema.columns
          where table_schema = 'public' and table_name = 'payments' and column_name not in ('org_id', 'id', 'updated_at')`,
        [],
      );
      const named = `'pay_0' || lpad(n::text, 25, '0')`;
      const columns = found?.columns ?? '';
      const at = `p.updated_at + n * interval '1 second'`;
      await queryRows(
        server,
        `insert into payments (org_id, id, updated_at, ${columns})
          select p.org_id, ${named}, ${at}, ${columns} from payments p, generate_series(1, $3::integer) n
          where p.org_id = $1 and p.id = $2`,
        [shop.orgId, id, count],
      );
      await queryRows(
        server,
        `insert into timers (org_id, id, app_id, resource, due_at)
          select org_id, id, app_id, 'payment', updated_at + interval '1 second' from payments where org_id = $1 and id <> $2`,
        [shop.orgId, id],
      );
    }

    async function withStepsMax<T>(stepsMax: number, run: () => Promise<T>): Promise<T> {
      const bounds: { clockAdvanceStepsMax: number } = limits;
      const { clockAdvanceStepsMax } = bounds;
      bounds.clockAdvanceStepsMax = stepsMax;
      return run().finally(() => {
        bounds.clockAdvanceStepsMax = clockAdvanceStepsMax;
      });
    }

    test('on the number of steps is respected, and the next call does the rest', async () => {
      await shop.clock.freeze();
      const { id } = await shop.payments.create({ autoAdvance: true });
      // Each is captured within minutes, all of them on the same day, and settled the next morning.
      await clonePayment(id, 329);
      const to = startTime + 2 * dayMs;
      // The documented limit takes a minute. This one still exceeds a round of 256 timers.
      const stepsMax = 600;
      const part = await withStepsMax(stepsMax, () => shop.clock.advanceTo(to));
      expect(part.complete).toBe(false);
      expect(part.happened).toHaveLength(stepsMax);
      const morning = '2031-03-05T06:00:00.000Z';
      expect(part).toMatchObject({
        status: 'frozen',
        now: morning,
        left: { timers: 660 - stepsMax, nextAt: morning, to: isoTime(to) },
      });
      const rest = await shop.clock.advanceTo(to);
      expect(rest).toMatchObject({ complete: true, now: isoTime(to) });
      expect(rest).not.toHaveProperty('left');
      expect(rest.happened).toHaveLength(660 - stepsMax);
      const all = [...part.happened, ...rest.happened];
      expectTimeOrder(all);
      expect(new Set(all.map((one) => `${one.id} ${one.action}`)).size).toBe(660);
      const [settled] = await queryRows(
        server,
        'select count(*)::integer as found from payments where org_id = $1 and status = $2',
        [shop.orgId, 'settled'],
      );
      expect(settled).toEqual({ found: 330 });
    });

    test('of ten thousand steps is documented, and a response with all of them is stored and replayed', async () => {
      expect(limits.clockAdvanceStepsMax).toBe(10_000);
      const { id } = await shop.payments.create();
      const interrupted = await interruptAdvance(server, shop, 3_600, wall);
      const { idempotencyKey, body, requestId } = interrupted;
      const step = { type: 'payment', id, action: 'expire', from: 'authorized', to: 'expired' };
      const happened = Array.from({ length: limits.clockAdvanceStepsMax }, (_, i) => ({
        at: isoTime(startTime + i),
        ...step,
        event: 'payment.expired',
      }));
      const idempotency = claim(idempotencyKey, 'POST', `/_api/${clock}/advance`, body);
      const finished = await server.engine.submit(
        submission(
          shop,
          finishAdvance,
          { turn: 1, happened, left: null, next: null, hasArrived: true },
          { wallNow: wall, requestId, idempotency },
        ),
      );
      expect(finished.code).toBeNull();
      const replay = await shop.clock.post('advance', body, { idempotencyKey });
      expect(replay.headers['idempotent-replayed']).toBe('true');
      expect((replay.body as AdvanceBody).happened).toEqual(happened);
    });

    test('of thirty seconds of wall time is respected: the clock stops at the time reached', async () => {
      const { id } = await shop.payments.create({ autoAdvance: true, scenario: 'decline:lost_card' });
      await shop.clock.freeze();
      await clonePayment(id, 299);
      tickMs = 16_000;
      const part = await shop.clock.advanceTo(startTime + hourMs);
      tickMs = 0;
      expect(part.complete).toBe(false);
      const done = part.happened.length;
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(300);
      expect(part.now).toBe(part.happened.at(-1)?.at);
      const next = startTime + (done + 1) * secondMs;
      expect(part.left).toEqual({
        timers: 300 - done,
        deliveries: 0,
        passedOver: 0,
        nextAt: isoTime(next),
        to: isoTime(startTime + hourMs),
      });
      expect((await shop.clock.read()).now).toBe(part.now);
      const rest = await shop.clock.advanceTo(startTime + hourMs);
      expect(rest).toMatchObject({ complete: true, now: isoTime(startTime + hourMs) });
      expect(rest.happened[0]?.at).toBe(isoTime(next));
      expect(rest.happened).toHaveLength(300 - done);
    });

    test('is a closing server: the advance ends at the time reached, and reports the remaining work', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const closing = new ClockRunner({
        ...server,
        wallClock,
        uptime: wallClock,
        onError: (_error, what) => errors.push(what),
      });
      const time = clockApi(shop.clientOn(openApp(server, { wallClock, runner: closing })));
      closing.stop();
      expect(await time.advance({ seconds: weekSeconds })).toMatchObject({
        complete: false,
        now: isoTime(startTime),
        happened: [],
        left: { timers: 1, nextAt: isoTime(startTime + week), to: isoTime(startTime + week) },
      });
      expect(await statusOf(id)).toBe('authorized');
      expect(await shop.clock.advance({ seconds: weekSeconds })).toMatchObject({
        complete: true,
        next: null,
        happened: [{ id, action: 'expire' }],
      });
    });

    test('is not one record that fails: the others advance, and the clock arrives', async () => {
      const [first, broken, last] = [
        await shop.payments.createAndAdvance(['authorize']),
        await shop.payments.createAndAdvance(['authorize']),
        await shop.payments.createAndAdvance(['authorize']),
      ];
      // An unknown provider is an internal error, whatever caused it.
      await queryRows(server, 'update payments set provider = $3 where org_id = $1 and id = $2 returning 1', [
        shop.orgId,
        broken.id,
        'nobody',
      ]);
      const to = startTime + week + hourMs;
      const advanced = await shop.clock.advanceTo(to);
      expect(advanced.happened.map(({ id }) => id)).toEqual([first.id, last.id]);
      expect(advanced).toMatchObject({
        complete: false,
        now: isoTime(to),
        left: { timers: 1, nextAt: isoTime(startTime + week), to: isoTime(to) },
      });
      expect(await statusOf(broken.id)).toBe('authorized');
    });

    test('is replayed to the same request', async () => {
      const { id } = await shop.payments.create({ autoAdvance: true, scenario: 'decline:lost_card' });
      await shop.clock.freeze();
      await clonePayment(id, 299);
      tickMs = 16_000;
      const call = { idempotencyKey: newSuffix() };
      const body = { to: isoTime(startTime + hourMs) };
      const part = await shop.clock.post('advance', body, call);
      tickMs = 0;
      expect((part.body as AdvanceBody).complete).toBe(false);
      expect((await shop.clock.post('advance', body, call)).text).toBe(part.text);
    });
  });

  /** One worker round, without its one-second wait. `meanwhile` runs before the round. */
  async function runWorkerOnce(
    isAlone: boolean,
    until: () => Promise<boolean>,
    meanwhile: () => Promise<void> = async () => undefined,
  ): Promise<void> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const timers = startTimers({
      runner,
      reader: server.reader,
      wallClock,
      isAlone,
      onError: (_error, what) => errors.push(what),
    });
    await meanwhile();
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    await vi.waitUntil(until, { interval: 1 });
    await timers.stop();
  }

  describe('in the background', () => {
    test('a running clock fires due timers at their due time, as the system', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const autoAdvancing = await shop.payments.create({ autoAdvance: true, scenario: 'require_action' });
      await runner.runDue(shop);
      expect([await statusOf(id), await statusOf(autoAdvancing.id)]).toEqual(['authorized', 'pending']);
      wall = startTime + 10_999;
      await runner.runDue(shop);
      expect(await statusOf(autoAdvancing.id)).toBe('requires_action');
      wall = startTime + 30 * dayMs;
      await runner.runDue(shop);
      expect(await shop.payments.read(id)).toMatchObject({
        status: 'expired',
        expiredAt: isoTime(startTime + week),
      });
      const moves = (await shop.payments.list(autoAdvancing.id, 'history')).body.data;
      expect(moves.map(({ action, at, actor }) => [action, at, (actor as { id: string }).id])).toEqual([
        ['settle', '2031-03-05T06:00:00.000Z', 'clock'],
        ['capture', isoTime(startTime + 11_000), 'clock'],
        ['require_action', isoTime(startTime + 1_000), 'clock'],
        ['create', isoTime(startTime), shop.keyId],
      ]);
      expect(errors).toEqual([]);
    });

    test('a clock that is ahead fires timers due by its own time', async () => {
      await shop.clock.advance({ seconds: 86_400 });
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      wall = startTime + week - 1;
      await runner.runDue(shop);
      expect(await statusOf(id)).toBe('authorized');
      wall = startTime + week;
      await runner.runDue(shop);
      expect((await shop.payments.read(id)).expiredAt).toBe(isoTime(startTime + dayMs + week));
    });

    test('a frozen clock fires no timer, however overdue', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      await shop.clock.freeze();
      wall = startTime + 365 * dayMs;
      await runner.runDue(shop);
      expect(await shop.payments.read(id)).toMatchObject({ status: 'authorized', version: 2 });
      await shop.clock.reset();
      await runner.runDue(shop);
      expect(await shop.payments.read(id)).toMatchObject({
        status: 'expired',
        expiredAt: isoTime(startTime + week),
      });
    });

    test('no timer fires while a request advances the clock', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      await shop.clock.advanceTo(startTime + week - 1);
      wall = startTime + 1;
      // The timer is due now, and the advance locked the clock at the same time.
      await interruptAdvance(server, shop, 3_600, wall);
      await runner.runDue(shop);
      expect(await shop.payments.read(id)).toMatchObject({ status: 'authorized', version: 2 });
      expect(errors).toEqual([]);
    });

    test('finds an application when a timer is due by its own clock, and not before', async () => {
      const found = async () => {
        const { due } = await findDueApplications(server.reader, wall, undefined, 10_000);
        return due.some(({ appId }) => appId === shop.appId);
      };
      await shop.payments.createAndAdvance(['authorize']);
      wall = startTime + week - 1;
      expect(await found()).toBe(false);
      wall = startTime + week;
      expect(await found()).toBe(true);
      wall = startTime;
      await shop.clock.freeze();
      wall = startTime + week;
      expect(await found()).toBe(false);
      await shop.clock.reset();
      expect(await found()).toBe(true);
      await interruptAdvance(server, shop, 60, wall);
      expect(await found()).toBe(false);
    });

    test('with any page size, every due application is found', async () => {
      const otherApps = ['second', 'third', 'fourth'].map(async (application) => {
        const holder = await shop.addKey({ application });
        await paymentApi(holder.clientOn(app)).createAndAdvance(['authorize']);
        return holder.appId;
      });
      const apps = await Promise.all(otherApps);
      wall = startTime + week;
      const whole = await findDueApplications(server.reader, wall, undefined, 10_000);
      expect(whole.next).toBeUndefined();
      const ids = whole.due.map(({ appId }) => appId);
      expect(ids).toEqual(expect.arrayContaining(apps));
      for (const pageSize of [1, 2]) {
        const seen: string[] = [];
        let after: ApplicationKey | undefined;
        for (let pages = 0; pages < 1_000; pages += 1) {
          const { due, next } = await findDueApplications(server.reader, wall, after, pageSize);
          seen.push(...due.map(({ appId }) => appId));
          after = next;
          if (after === undefined) break;
        }
        expect(seen).toEqual(ids);
      }
    });

    test('more timers than one round holds fire in one run', async () => {
      tickMs = 1;
      const created = await runConcurrently(Array.from({ length: 270 }), () =>
        shop.payments.createAndAdvance(['authorize']),
      );
      tickMs = 0;
      wall = startTime + 8 * dayMs;
      await runner.runDue(shop);
      const [found] = await queryRows(
        server,
        `select count(*)::integer as moves from state_history where org_id = $1 and action = 'expire'`,
        [shop.orgId],
      );
      expect(found).toEqual({ moves: created.length });
    });

    test('concurrent nodes fire each timer once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => shop.payments.createAndAdvance(['authorize'])));
      wall = startTime + 8 * dayMs;
      const others = Array.from(
        { length: 3 },
        () =>
          new ClockRunner({
            ...server,
            wallClock,
            uptime: wallClock,
            onError: (_error, what) => errors.push(what),
          }),
      );
      await Promise.all([runner, ...others].map((one) => one.runDue(shop)));
      const moves = await queryRows<{ moves: number }>(
        server,
        `select count(*)::integer as moves from state_history where org_id = $1 and action = 'expire' group by resource_id`,
        [shop.orgId],
      );
      expect(moves).toHaveLength(20);
      expect(new Set(moves.map((one) => one.moves))).toEqual(new Set([1]));
      expect(errors).toEqual([]);
    });

    test('the worker finds due timers and fires them', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      wall = startTime + week;
      await runWorkerOnce(false, async () => (await statusOf(id)) === 'expired');
      expect((await shop.payments.read(id)).expiredAt).toBe(isoTime(startTime + week));
      expect(errors).toEqual([]);
    });

    test.each([
      { node: 'that is the only node resumes an interrupted advance at once', isAlone: true, waitedMs: 1 },
      { node: 'among others resumes it when its lease has expired', isAlone: false, waitedMs: 10_000 },
    ])('a worker $node', async ({ isAlone, waitedMs }) => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const interrupted = await interruptAdvance(server, shop, weekSeconds, wall);
      wall += waitedMs;
      await runWorkerOnce(isAlone, async () => (await interrupted.clock()).advance === null);
      expect(await statusOf(id)).toBe('expired');
      expect(await shop.clock.read()).toMatchObject({ status: 'running', now: isoTime(startTime + week) });
    });
  });

  test('the only worker does not resume an advance that began after the worker started', async () => {
    const other = await openMerchant(server, { app });
    const { id } = await other.payments.createAndAdvance(['authorize']);
    let runningAdvance: InterruptedAdvance | undefined;
    wall = startTime + week;
    await runWorkerOnce(
      true,
      async () => (await other.payments.read(id)).status === 'expired',
      async () => {
        runningAdvance = await interruptAdvance(server, shop, 3_600, wall);
      },
    );
    expect((await runningAdvance?.clock())?.advance).toMatchObject({ turn: 1 });
  });

  describe('an advance whose process crashed', () => {
    test('completes with the response for its request, with every effect once', async () => {
      await shop.clock.freeze();
      const created = [];
      for (let i = 0; i < 4; i += 1) {
        created.push(await shop.payments.createAndAdvance(['authorize']));
        await shop.clock.advance({ seconds: 60 });
      }
      const autoAdvancing = await shop.payments.create({ autoAdvance: true, scenario: 'require_action' });
      const from = startTime + 240 * secondMs;
      const interrupted = await interruptAdvance(server, shop, 8 * 86_400, from);
      const round = await interrupted.fire([autoAdvancing.id], { stepsMax: 2 });
      expect(round.code, round.body).toBeNull();
      expect(await statusOf(autoAdvancing.id)).toBe('captured');
      expect((await interrupted.clock()).frozenAt).toBe(from + 11 * secondMs);

      await runner.resume(await interrupted.clock(), Number.MAX_SAFE_INTEGER);
      const { idempotencyKey, body, requestId } = interrupted;
      const answer = await shop.clock.post('advance', body, { idempotencyKey });
      expect(answer.headers['idempotent-replayed']).toBe('true');
      const advanced = answer.body as AdvanceBody;
      expect(advanced).toMatchObject({
        requestId,
        status: 'frozen',
        now: isoTime(from + 8 * dayMs),
        complete: true,
      });
      expect(advanced.happened.map(({ id, action }) => [id, action])).toEqual([
        ...['require_action', 'capture', 'settle'].map((action) => [autoAdvancing.id, action]),
        ...created.map(({ id }) => [id, 'expire']),
      ]);
      expect(await effectsOf(server, shop.orgId, requestId)).toEqual(advanced.happened);
      for (const one of advanced.happened)
        expect(Object.keys(one)).toEqual(['at', 'type', 'id', 'action', 'from', 'to', 'event']);
      expect(await shop.clock.read()).toMatchObject({ status: 'frozen', now: isoTime(from + 8 * dayMs) });
    });

    test('before its first effect completes as if it had not been interrupted', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const interrupted = await interruptAdvance(server, shop, weekSeconds, wall);
      await runner.resume(await interrupted.clock(), Number.MAX_SAFE_INTEGER);
      const { idempotencyKey, body } = interrupted;
      const { text: responseText, body: answer } = await shop.clock.post('advance', body, { idempotencyKey });
      expect((answer as AdvanceBody).happened).toMatchObject([
        { id, action: 'expire', at: isoTime(startTime + week) },
      ]);
      expect((await shop.clock.post('advance', body, { idempotencyKey })).text).toBe(responseText);
      expect(await shop.clock.read()).toMatchObject({ status: 'running', now: isoTime(startTime + week) });
    });

    test('is not resumed while its lease is valid, unless its process is known to be dead', async () => {
      const interrupted = await interruptAdvance(server, shop, 3_600, wall);
      wall += 9_999;
      await runner.resume(await interrupted.clock(), wall);
      expect((await interrupted.clock()).advance).toMatchObject({ turn: 1 });
      wall += 1;
      await runner.resume(await interrupted.clock(), wall);
      expect((await interrupted.clock()).advance).toBeNull();
      expect((await shop.clock.read()).now).toBe(isoTime(startTime + hourMs));
    });

    test('and was resumed elsewhere can no longer fire timers or finish', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const interrupted = await interruptAdvance(server, shop, weekSeconds, wall);
      const clock = await interrupted.clock();
      const late = await interrupted.fire([id], { turn: 2 });
      expect(late.code).toBe('clock_advancing');
      const finish = (turn: number, requestId: Id<'request'>) =>
        server.engine.submit(
          submission(
            shop,
            finishAdvance,
            { turn, happened: [], left: null, next: null, hasArrived: true },
            { wallNow: wall, requestId },
          ),
        );
      expect((await finish(2, interrupted.requestId)).code).toBe('idempotency_in_progress');
      expect((await finish(1, formatId('request', '01m7epxwjmf7za77rhky2f93cc'))).code).toBe(
        'idempotency_in_progress',
      );
      expect(await interrupted.clock()).toEqual(clock);
      expect(await shop.payments.read(id)).toMatchObject({ status: 'authorized', version: 2 });
      // Another process completed it, so it is over for the first one.
      await runner.resume(clock, Number.MAX_SAFE_INTEGER);
      expect((await interrupted.fire([id])).code).toBe('clock_advancing');
      expect((await finish(1, interrupted.requestId)).code).toBe('idempotency_in_progress');
      expect(await shop.payments.read(id)).toMatchObject({ status: 'expired', version: 3 });
    });

    test('reports all effects, even if the response of a round was lost', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      let isLost = false;
      const lossyEngine = {
        idGenerator: server.engine.idGenerator,
        submit: async (submitted: Submission): Promise<EngineAnswer> => {
          const answer = await server.engine.submit(submitted);
          if (submitted.kind.name !== fireTimers.name || isLost) return answer;
          isLost = true;
          return refusalAnswer(refuse('service_unavailable'), submitted.context.requestId, '');
        },
      } as unknown as Engine;
      const lossyRunner = new ClockRunner({
        ...server,
        engine: lossyEngine,
        wallClock,
        uptime: wallClock,
        onError: () => undefined,
      });
      const time = clockApi(shop.clientOn(openApp(server, { wallClock, runner: lossyRunner })));
      const advanced = await time.advance({ seconds: weekSeconds });
      expect(isLost).toBe(true);
      expect(advanced).toMatchObject({
        complete: true,
        happened: [{ id, action: 'expire', event: 'payment.expired' }],
      });
      expect((await shop.payments.read(id)).version).toBe(3);
    });

    test('is resumed by one of many nodes', async () => {
      const { id } = await shop.payments.createAndAdvance(['authorize']);
      const interrupted = await interruptAdvance(server, shop, weekSeconds, wall);
      wall += 10_000;
      const clock = await interrupted.clock();
      await Promise.all([1, 2, 3].map(() => runner.resume(clock, wall)));
      const { idempotencyKey, body } = interrupted;
      const answer = await shop.clock.post('advance', body, { idempotencyKey });
      expect((answer.body as AdvanceBody).happened).toMatchObject([{ id, action: 'expire' }]);
      expect((await shop.payments.read(id)).version).toBe(3);
    });
  });

  test('records created during an advance have the clock time reached so far', async () => {
    const { id } = await shop.payments.createAndAdvance(['authorize']);
    const interrupted = await interruptAdvance(server, shop, 8 * 86_400, wall);
    await interrupted.fire([id]);
    wall += 5_000;
    expect((await shop.payments.create()).createdAt).toBe(isoTime(startTime + week));
    expect((await shop.client.get(payments, 'status=expired')).body.data).toHaveLength(1);
  });
});
