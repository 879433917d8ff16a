import type { FastifyInstance } from 'fastify';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { newSuffix } from '../../src/engine/ids.ts';
import { type Answer as EngineAnswer, refusalAnswer, type Submission } from '../../src/engine/submission.ts';
import { refuse } from '../../src/kernel/errors.ts';
import { limits } from '../../src/kernel/limits.ts';
import { beginAdvance, finishAdvance } from '../../src/resources/clocks/machine.ts';
import { type ApplicationKey, findDueApplications } from '../../src/resources/clocks/store.ts';
import { fireTimers } from '../../src/resources/timers/machine.ts';
import type { Server } from '../../src/server.ts';
import { ClockRunner } from '../../src/workers/clock-runner.ts';
import { startTimers } from '../../src/workers/timers.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import {
  type Abandoned,
  type Advanced,
  abandonAdvance,
  clockwork,
  dayMs,
  expectSorted,
  hourMs,
  movedBy,
  openShop,
  rowsOf,
  type Shop,
  secondMs,
  start,
  submissionOf,
  text,
  timersOf,
} from './clockwork.ts';
import { done, lifecycle } from './lifecycle.ts';
import { payments, together } from './trails.ts';

const week = 7 * dayMs;
const weekSeconds = week / secondMs;

describe.each(databaseKinds)('timers on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let wall = start;
  /** How far the wall clock goes with every look at it. */
  let tick = 0;
  let shop: Shop;
  let runner: ClockRunner;
  const errors: string[] = [];

  const wallClock = () => {
    wall += tick;
    return wall;
  };

  beforeAll(async () => {
    // Without the worker that looks for what is due: it goes by real time, and these tests by their own.
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
    [wall, tick] = [start, 0];
    errors.length = 0;
    shop = await openShop(server, app);
  });

  const statusOf = async (id: string) => (await shop.life.read(id)).status;
  const dispute = async (id: string) => done(await shop.client.get(`developer_api_disputes/${id}`));
  const disputed = async (steps: readonly (string | object)[] = ['capture', 'dispute']) => {
    const payment = await shop.life.paid(steps);
    return { payment, disputeId: String(payment.disputeId) };
  };

  describe('an authorization', () => {
    test('lapses after seven days: the payment is expired, the hold released, and an event tells', async () => {
      const { id } = await shop.life.paid(['authorize'], { captureMethod: 'manual' });
      expect(await shop.life.balances(id)).toEqual({ provider_holds: 10_000, hold_obligations: -10_000 });
      const advanced = await shop.time.advance({ seconds: weekSeconds });
      const at = text(start + week);
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
      const payment = await shop.life.read(id);
      expect(payment).toMatchObject({
        status: 'expired',
        amountCapturable: 0,
        expiredAt: at,
        updatedAt: at,
        version: 3,
        allowedActions: [],
      });
      expect(payment).not.toHaveProperty('authorizationExpiresAt');
      const entries = (await shop.life.list(id, 'ledger_entries')).body.data;
      expect(entries.map(({ reason, createdAt }) => [reason, createdAt])).toEqual([
        ['release', at],
        ['authorize', text(start)],
      ]);
      expect(await shop.life.balances(id)).toEqual({});
      const events = await rowsOf(
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
          createdAt: start + week,
          requestId: advanced.requestId,
          status: 'expired',
        },
      ]);
      const [told] = (await shop.life.list(id, 'provider_events')).body.data;
      expect(told).toMatchObject({ type: 'charge.authorization_expired', receivedAt: at });
    });

    test('does not lapse a millisecond earlier', async () => {
      await shop.time.freeze();
      const { id } = await shop.life.paid(['authorize']);
      expect((await shop.time.to(start + week - 1)).happened).toEqual([]);
      expect(await statusOf(id)).toBe('authorized');
      expect((await shop.time.to(start + week)).happened).toHaveLength(1);
      expect(await statusOf(id)).toBe('expired');
    });

    test('lapses at its own instant, however far the clock is moved', async () => {
      const { id } = await shop.life.paid(['authorize']);
      await shop.time.advance({ seconds: 365 * 86_400 });
      expect((await shop.life.read(id)).expiredAt).toBe(text(start + week));
    });

    test('of a payment captured in part lapses to captured, and that is paid out the next morning', async () => {
      const { id } = await shop.life.paid(['authorize', { action: 'capture', amount: 4_000 }]);
      wall += 2 * dayMs;
      expect((await shop.life.advance(id, { action: 'capture', amount: 1_000 })).body.status).toBe(
        'partially_captured',
      );
      const { happened } = await shop.time.to(start + 9 * dayMs);
      expect(happened.map(({ at, action, from, to, event }) => [at, action, from, to, event])).toEqual([
        [text(start + week), 'expire', 'partially_captured', 'captured', 'payment.captured'],
        ['2031-03-12T06:00:00.000Z', 'settle', 'captured', 'settled', 'payment.settled'],
      ]);
      const payment = await shop.life.read(id);
      expect(payment).toMatchObject({ status: 'settled', amountCaptured: 5_000, amountCapturable: 0 });
      expect(payment).not.toHaveProperty('expiredAt');
      expect(await shop.life.balances(id)).not.toHaveProperty('provider_holds');
    });

    test('that has lapsed cannot be captured or canceled, timer fired or not', async () => {
      const { id } = await shop.life.paid(['authorize'], { captureMethod: 'manual' });
      const sister = await shop.life.paid(['authorize'], { captureMethod: 'manual' });
      wall = start + week - 1;
      expect((await shop.life.advance(sister.id, { action: 'capture' })).body.status).toBe('captured');
      wall = start + week;
      for (const body of [{ action: 'capture' }, { action: 'cancel' }, { to: 'captured' }, {}]) {
        const answer = await shop.life.advance(id, body);
        expect(answer.code, answer.text).toBe('invalid_state_transition');
        expect(answer.body.error.details).toMatchObject({ status: 'expired' });
      }
      // A refusal changes nothing: the timer has still to come.
      expect(await shop.life.read(id)).toMatchObject({ status: 'authorized', version: 2 });
      await runner.runDue(shop);
      expect(await shop.life.read(id)).toMatchObject({ status: 'expired', expiredAt: text(start + week) });
    });
  });

  describe('a dispute', () => {
    test('that nobody answers is lost at its deadline, and the payment is charged back', async () => {
      const { payment, disputeId } = await disputed();
      const at = text(start + week);
      const { happened } = await shop.time.advance({ seconds: weekSeconds });
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
      expect(await shop.life.read(payment.id)).toMatchObject({ status: 'charged_back', chargedBackAt: at });
      expect(await shop.life.balances(payment.id)).toEqual({ fees: -320, merchant_pending: 320 });
    });

    test('is open a millisecond before its deadline', async () => {
      await shop.time.freeze();
      const { disputeId } = await disputed();
      expect((await shop.time.to(start + week - 1)).happened).toEqual([]);
      expect((await shop.life.advanceDispute(disputeId, { action: 'submit_evidence' })).body.status).toBe(
        'under_review',
      );
    });

    test('takes no evidence after its deadline, timer fired or not', async () => {
      const { disputeId } = await disputed();
      wall = start + week;
      for (const body of [{ action: 'submit_evidence', evidence: { a: 'b' } }, { to: 'won' }, {}]) {
        const answer = await shop.life.advanceDispute(disputeId, body);
        expect(answer.code, answer.text).toBe('invalid_state_transition');
        expect(answer.body.error.details).toMatchObject({ status: 'lost' });
      }
      expect(await dispute(disputeId)).toMatchObject({
        status: 'needs_response',
        version: 1,
        evidence: null,
      });
    });

    test('that was answered does not lapse; its next stage has a deadline of its own', async () => {
      const { payment, disputeId } = await disputed();
      wall += dayMs;
      await shop.life.advanceDispute(disputeId, { action: 'submit_evidence' });
      expect((await shop.time.advance({ seconds: 30 * 86_400 })).happened).toEqual([]);
      const { body } = await shop.life.advanceDispute(disputeId, { action: 'escalate' });
      const respondBy = start + 31 * dayMs + week;
      expect(body.respondBy).toBe(text(respondBy));
      const { happened } = await shop.time.to(respondBy);
      expect(happened.map(({ type, to }) => [type, to])).toEqual([
        ['dispute', 'lost'],
        ['payment', 'charged_back'],
      ]);
      expect(await statusOf(payment.id)).toBe('charged_back');
    });

    test('of a part that lapses leaves the payment to be paid out, without that part', async () => {
      const { payment } = await disputed(['capture', { action: 'dispute', amount: 2_500 }]);
      const { happened } = await shop.time.advance({ seconds: 30 * 86_400 });
      expect(happened.map(({ at, type, action, to }) => [at, type, action, to])).toEqual([
        [text(start + week), 'dispute', 'expire', 'lost'],
        [text(start + week), 'payment', 'dispute_lost', 'captured'],
        ['2031-03-12T06:00:00.000Z', 'payment', 'settle', 'settled'],
      ]);
      expect((await shop.life.balances(payment.id)).bank).toBe(7_500);
    });
  });

  describe('what is overdue', () => {
    test('happens first, at its own instant, when something else is asked of the payment', async () => {
      const { id } = await shop.life.paid(['capture']);
      wall = start + 3 * dayMs;
      const refunded = done(await shop.life.advance(id, { action: 'refund', amount: 1_000 }));
      expect(refunded).toMatchObject({ status: 'partially_refunded', settledAt: '2031-03-05T06:00:00.000Z' });
      const moves = (await shop.life.list(id, 'history')).body.data;
      expect(moves.map(({ action, at }) => [action, at])).toEqual([
        ['refund', text(wall)],
        ['settle', '2031-03-05T06:00:00.000Z'],
        ['capture', text(start)],
        ['create', text(start)],
      ]);
    });

    test('happens first, too, when the refund is asked for at its own endpoint', async () => {
      const { id } = await shop.life.paid(['capture']);
      wall = start + 3 * dayMs;
      done(await shop.life.refund(id, { amount: 1_000 }));
      expect((await shop.life.read(id)).settledAt).toBe('2031-03-05T06:00:00.000Z');
      expect((await shop.life.balances(id)).bank).toBe(9_000);
    });

    test('happens first, too, when a pending refund is ended', async () => {
      const { id } = await shop.life.paid(['capture'], { scenario: 'refund_pending' });
      const refund = done(await shop.life.refund(id, { amount: 1_000 }));
      wall = start + 3 * dayMs;
      done(await shop.life.advanceRefund(refund.id, { action: 'succeed' }));
      expect((await shop.life.read(id)).settledAt).toBe('2031-03-05T06:00:00.000Z');
    });
  });

  describe('a timer', () => {
    type Way = readonly (string | object)[];
    const settles = '2031-03-05T06:00:00.000Z';

    test.each<[what: string, steps: Way, body: Readonly<Record<string, unknown>>, due: string | null]>([
      ['that is new', [], {}, null],
      ['that is new and advances by itself', [], { autoAdvance: true }, text(start + 1_000)],
      ['that waits for its customer', ['require_action'], {}, null],
      [
        'that waits for its customer by itself',
        ['require_action'],
        { autoAdvance: true },
        text(start + 10_000),
      ],
      ['that is processed', ['process'], {}, null],
      ['that is processed by itself', ['process'], { autoAdvance: true }, text(start + 60_000)],
      ['that is authorized', ['authorize'], {}, text(start + week)],
      ['that is authorized by itself', ['authorize'], { autoAdvance: true }, text(start + 1_000)],
      ['that is captured in part', ['authorize', { action: 'capture', amount: 1 }], {}, text(start + week)],
      ['that is captured', ['capture'], {}, settles],
      ['that is captured at a bank', ['capture'], bank(), '2031-03-06T06:00:00.000Z'],
      ['that is captured after its authorization', ['authorize', 'capture'], {}, settles],
      ['that is canceled', ['authorize', 'cancel'], {}, null],
      ['that is expired by hand', ['authorize', 'expire'], {}, null],
      ['that failed', ['fail'], {}, null],
      ['that failed by itself', ['fail'], { autoAdvance: true }, text(start + 60_000)],
      [
        'that failed for good by itself',
        [{ action: 'fail', failureCode: 'lost_card' }],
        { autoAdvance: true },
        null,
      ],
      ['that is settled', ['capture', 'settle'], {}, null],
      ['that is refunded in part', ['capture', { action: 'refund', amount: 1 }], {}, settles],
      [
        'that is settled after a refund of a part',
        ['capture', { action: 'refund', amount: 1 }, 'settle'],
        {},
        null,
      ],
      ['that is refunded', ['capture', 'refund'], {}, null],
      ['that is charged back', [{ to: 'charged_back' }], {}, null],
      [
        'that will be disputed by itself',
        ['capture'],
        { autoAdvance: true, scenario: 'dispute' },
        text(start + hourMs),
      ],
    ])('of a payment %s is there only if it waits, and says when', async (_what, steps, body, due) => {
      const { id } = await shop.life.paid(steps, body);
      expect(await timersOf(server, shop.orgId)).toEqual(due === null ? {} : { [id]: due });
    });

    test('follows each move of a dispute and its payment', async () => {
      const { payment, disputeId } = await disputed();
      const seen = async () => timersOf(server, shop.orgId);
      expect(await seen()).toEqual({ [disputeId]: text(start + week) });
      await shop.life.advanceDispute(disputeId, { action: 'submit_evidence' });
      expect(await seen()).toEqual({});
      wall += dayMs;
      await shop.life.advanceDispute(disputeId, { action: 'escalate' });
      expect(await seen()).toEqual({ [disputeId]: text(start + dayMs + week) });
      await shop.life.advanceDispute(disputeId, { action: 'submit_evidence' });
      await shop.life.advanceDispute(disputeId, { action: 'win' });
      expect(await seen()).toEqual({ [payment.id]: '2031-03-06T06:00:00.000Z' });
    });

    test.each<[what: string, action: string, end: string]>([
      ['captured', 'capture', 'captured'],
      ['canceled', 'cancel', 'canceled'],
    ])('of an authorization never fires for a payment that was %s in time', async (_what, action, end) => {
      const { id } = await shop.life.paid(['authorize']);
      done(await shop.life.advance(id, { action }));
      const { happened } = await shop.time.advance({ seconds: 30 * 86_400 });
      expect(happened.filter((one) => one.action === 'expire')).toEqual([]);
      expect(await statusOf(id)).toBe(end === 'captured' ? 'settled' : end);
    });

    test('that comes too early is written anew and fires nothing', async () => {
      const { id } = await shop.life.paid(['authorize']);
      const early = 'update timers set due_at = $3 where org_id = $1 and id = $2';
      await rowsOf(server, early, [shop.orgId, id, text(start + hourMs)]);
      expect(await shop.time.advance({ seconds: 86_400 })).toMatchObject({ complete: true, happened: [] });
      expect(await timersOf(server, shop.orgId)).toEqual({ [id]: text(start + week) });
      await rowsOf(server, early, [shop.orgId, id, text(start + hourMs)]);
      await runner.runDue(shop);
      expect(await timersOf(server, shop.orgId)).toEqual({ [id]: text(start + week) });
      expect(await shop.life.read(id)).toMatchObject({ status: 'authorized', version: 2 });
    });

    test('of a record that waits for nothing is taken away, and fires nothing', async () => {
      const { id } = await shop.life.paid(['authorize', 'cancel']);
      const stray = 'insert into timers (org_id, id, app_id, resource, due_at) values ($1, $2, $3, $4, $5)';
      await rowsOf(server, stray, [shop.orgId, id, shop.appId, 'payment', text(start)]);
      expect(await shop.time.advance({ seconds: 1 })).toMatchObject({ complete: true, happened: [] });
      expect(await timersOf(server, shop.orgId)).toEqual({});
    });

    test('whose record cannot be moved does not hold up the others, and is left', async () => {
      const bad = await shop.life.paid(['authorize']);
      const good = await Promise.all(Array.from({ length: 5 }, () => shop.life.paid(['authorize'])));
      await rowsOf(server, `update payments set provider = 'nobody' where org_id = $1 and id = $2`, [
        shop.orgId,
        bad.id,
      ]);
      const advanced = await shop.time.advance({ seconds: 8 * 86_400 });
      expect(advanced.complete).toBe(false);
      expect(advanced.left).toMatchObject({ timers: 1, nextAt: text(start + week) });
      expect(advanced.happened.map(({ id }) => id).toSorted()).toEqual(good.map(({ id }) => id).toSorted());
      expect(await statusOf(bad.id)).toBe('authorized');
    });
  });

  describe('in order', () => {
    test('what becomes due on the way takes its place among the others, and is all that happened', async () => {
      await shop.time.freeze();
      const lapsing = [];
      for (const seconds of [0, 5, 30, 70]) {
        await shop.time.to(start + seconds * secondMs);
        lapsing.push(await shop.life.paid(['authorize']));
      }
      await shop.time.to(start + week - 10 * secondMs);
      const walking = await shop.life.create({
        autoAdvance: true,
        scenario: ['decline:insufficient_funds', 'require_action'],
      });
      const advanced = await shop.time.to(start + week + 2 * dayMs);
      const zero = start + week;
      const ids = lapsing.map(({ id }) => id);
      const at = (seconds: number) => text(zero + seconds * secondMs);
      expect(advanced.happened.map((one) => [one.at, one.id, one.action])).toEqual([
        [at(-9), walking.id, 'fail'],
        [at(0), ids[0], 'expire'],
        [at(5), ids[1], 'expire'],
        [at(30), ids[2], 'expire'],
        [at(51), walking.id, 'retry'],
        [at(52), walking.id, 'require_action'],
        [at(62), walking.id, 'capture'],
        [at(70), ids[3], 'expire'],
        ['2031-03-12T06:00:00.000Z', walking.id, 'settle'],
      ]);
      expect(await movedBy(server, shop.orgId, advanced.requestId)).toEqual(advanced.happened);
    });

    test('six hundred timers and forty chains come as an independent reckoning has them', async () => {
      tick = 250;
      const held = await together(Array.from({ length: 600 }), () => shop.life.paid(['authorize']));
      tick = 0;
      const expiries = held.map(({ authorizationExpiresAt }) => Date.parse(String(authorizationExpiresAt)));
      expect(new Set(expiries).size).toBe(600);
      const first = Math.min(...expiries);
      const last = Math.max(...expiries);
      // The chains are spread over the same minutes.
      expect(last - first).toBeGreaterThan(120_000);
      await shop.time.to(first - 60_000);
      await shop.time.freeze();
      const chains: readonly (readonly [scenario: unknown, steps: readonly (readonly [number, string])[]])[] =
        [
          ['approve', [[1, 'capture']]],
          [
            'require_action',
            [
              [1, 'require_action'],
              [11, 'capture'],
            ],
          ],
          [
            'async',
            [
              [1, 'process'],
              [61, 'capture'],
            ],
          ],
          ['decline:lost_card', [[1, 'fail']]],
          [
            ['decline:do_not_honor', 'async'],
            [
              [1, 'fail'],
              [61, 'retry'],
              [62, 'process'],
              [122, 'capture'],
            ],
          ],
        ];
      const made = await together(
        Array.from({ length: 40 }, (_, i) => i),
        async (i) => {
          const [scenario = 'approve', steps = []] = chains[i % chains.length] ?? [];
          const { id } = await shop.life.create({ autoAdvance: true, scenario });
          return { id, steps };
        },
      );
      const expected: [at: string, id: string, action: string][] = [
        ...held.map(({ id }, i): [string, string, string] => [text(expiries[i] ?? 0), id, 'expire']),
        ...made.flatMap(({ id, steps }) =>
          steps.map(([seconds, action]): [string, string, string] => [
            text(first - 60_000 + seconds * secondMs),
            id,
            action,
          ]),
        ),
        ...made
          .filter(({ steps }) => steps.at(-1)?.[1] === 'capture')
          .map(({ id }): [string, string, string] => ['2031-03-12T06:00:00.000Z', id, 'settle']),
      ];
      const advanced = await shop.time.to(last + 2 * dayMs);
      expect(advanced.complete).toBe(true);
      expectSorted(advanced.happened);
      expect(advanced.happened.map(({ at, id, action }) => `${at} ${id} ${action}`)).toEqual(
        expected.map((one) => one.join(' ')).toSorted(),
      );
      expect(await movedBy(server, shop.orgId, advanced.requestId)).toEqual(advanced.happened);
      const statuses = await rowsOf(
        server,
        'select status, count(*)::integer as found from payments where org_id = $1 group by 1 order by 1',
        [shop.orgId],
      );
      expect(statuses).toEqual([
        { status: 'expired', found: 600 },
        { status: 'failed', found: 8 },
        { status: 'settled', found: 32 },
      ]);
      expect(await timersOf(server, shop.orgId)).toEqual({});
    });
  });

  describe('a bound', () => {
    /** As many payments like the one given, whose timers come a second after the other. */
    async function cloned(id: string, count: number): Promise<void> {
      const [found] = await rowsOf<{ columns: string }>(
        server,
        `select string_agg(column_name, ', ') as columns from information_schema.columns
          where table_schema = 'public' and table_name = 'payments' and column_name not in ('org_id', 'id', 'updated_at')`,
        [],
      );
      const named = `'pay_0' || lpad(n::text, 25, '0')`;
      const columns = found?.columns ?? '';
      const at = `p.updated_at + n * interval '1 second'`;
      await rowsOf(
        server,
        `insert into payments (org_id, id, updated_at, ${columns})
          select p.org_id, ${named}, ${at}, ${columns} from payments p, generate_series(1, $3::integer) n
          where p.org_id = $1 and p.id = $2`,
        [shop.orgId, id, count],
      );
      await rowsOf(
        server,
        `insert into timers (org_id, id, app_id, resource, due_at)
          select org_id, id, app_id, 'payment', updated_at + interval '1 second' from payments where org_id = $1 and id <> $2`,
        [shop.orgId, id],
      );
    }

    test('of ten thousand steps is kept, and what is left is done by the next call', async () => {
      await shop.time.freeze();
      const { id } = await shop.life.create({ autoAdvance: true });
      // Each is captured within hours, all of them on the same day, and paid out the next morning.
      await cloned(id, 5_099);
      const to = start + 2 * dayMs;
      const part = await shop.time.to(to);
      const stepsMax = limits.clockAdvanceStepsMax;
      expect(part.complete).toBe(false);
      expect(part.happened).toHaveLength(stepsMax);
      const morning = '2031-03-05T06:00:00.000Z';
      expect(part).toMatchObject({
        status: 'frozen',
        now: morning,
        left: { timers: 10_200 - stepsMax, nextAt: morning, to: text(to) },
      });
      const rest = await shop.time.to(to);
      expect(rest).toMatchObject({ complete: true, now: text(to) });
      expect(rest).not.toHaveProperty('left');
      expect(rest.happened).toHaveLength(10_200 - stepsMax);
      const all = [...part.happened, ...rest.happened];
      expectSorted(all);
      expect(new Set(all.map((one) => `${one.id} ${one.action}`)).size).toBe(10_200);
      const [settled] = await rowsOf(
        server,
        'select count(*)::integer as found from payments where org_id = $1 and status = $2',
        [shop.orgId, 'settled'],
      );
      expect(settled).toEqual({ found: 5_100 });
    });

    test('of thirty seconds of wall time is kept: the clock stands where it has come to', async () => {
      const { id } = await shop.life.create({ autoAdvance: true, scenario: 'decline:lost_card' });
      await shop.time.freeze();
      await cloned(id, 299);
      tick = 16_000;
      const part = await shop.time.to(start + hourMs);
      tick = 0;
      expect(part.complete).toBe(false);
      const done = part.happened.length;
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(300);
      expect(part.now).toBe(part.happened.at(-1)?.at);
      const next = start + (done + 1) * secondMs;
      expect(part.left).toEqual({
        timers: 300 - done,
        deliveries: 0,
        passedOver: 0,
        nextAt: text(next),
        to: text(start + hourMs),
      });
      expect((await shop.time.read()).now).toBe(part.now);
      const rest = await shop.time.to(start + hourMs);
      expect(rest).toMatchObject({ complete: true, now: text(start + hourMs) });
      expect(rest.happened[0]?.at).toBe(text(next));
      expect(rest.happened).toHaveLength(300 - done);
    });

    test('of a server that closes is where it has come to: the advance ends there, and says so', async () => {
      const { id } = await shop.life.paid(['authorize']);
      const closing = new ClockRunner({
        ...server,
        wallClock,
        uptime: wallClock,
        onError: (_error, what) => errors.push(what),
      });
      const errands = new Map([[beginAdvance.name, (asked: Submission) => closing.advance(asked)]]);
      const time = clockwork(shop.clientOn(openApp(server, { wallClock, errands })));
      closing.stop();
      expect(await time.advance({ seconds: weekSeconds })).toMatchObject({
        complete: false,
        now: text(start),
        happened: [],
        left: { timers: 1, nextAt: text(start + week), to: text(start + week) },
      });
      expect(await statusOf(id)).toBe('authorized');
      expect(await shop.time.advance({ seconds: weekSeconds })).toMatchObject({
        complete: true,
        happened: [{ id, action: 'expire' }],
      });
    });

    test('is none for one record that cannot be moved: the others are, and the clock arrives', async () => {
      const [first, broken, last] = [
        await shop.life.paid(['authorize']),
        await shop.life.paid(['authorize']),
        await shop.life.paid(['authorize']),
      ];
      // A provider that nobody knows is a fault of ours, wherever it comes from.
      await rowsOf(server, 'update payments set provider = $3 where org_id = $1 and id = $2 returning 1', [
        shop.orgId,
        broken.id,
        'nobody',
      ]);
      const to = start + week + hourMs;
      const advanced = await shop.time.to(to);
      expect(advanced.happened.map(({ id }) => id)).toEqual([first.id, last.id]);
      expect(advanced).toMatchObject({ complete: false, now: text(to), left: { timers: 1, to: text(to) } });
      expect(await statusOf(broken.id)).toBe('authorized');
    });

    test('that is reached is told again to the same request', async () => {
      const { id } = await shop.life.create({ autoAdvance: true, scenario: 'decline:lost_card' });
      await shop.time.freeze();
      await cloned(id, 299);
      tick = 16_000;
      const call = { idempotencyKey: newSuffix() };
      const body = { to: text(start + hourMs) };
      const part = await shop.time.ask('advance', body, call);
      tick = 0;
      expect((part.body as Advanced).complete).toBe(false);
      expect((await shop.time.ask('advance', body, call)).text).toBe(part.text);
    });
  });

  /** One round of the worker, without its second of waiting. What is done meanwhile comes before the round. */
  async function workOnce(
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
    test('a clock that runs brings about what fell due, at its own instant and in its own name', async () => {
      const { id } = await shop.life.paid(['authorize']);
      const walking = await shop.life.create({ autoAdvance: true, scenario: 'require_action' });
      await runner.runDue(shop);
      expect([await statusOf(id), await statusOf(walking.id)]).toEqual(['authorized', 'pending']);
      wall = start + 10_999;
      await runner.runDue(shop);
      expect(await statusOf(walking.id)).toBe('requires_action');
      wall = start + 30 * dayMs;
      await runner.runDue(shop);
      expect(await shop.life.read(id)).toMatchObject({ status: 'expired', expiredAt: text(start + week) });
      const moves = (await shop.life.list(walking.id, 'history')).body.data;
      expect(moves.map(({ action, at, actor }) => [action, at, (actor as { id: string }).id])).toEqual([
        ['settle', '2031-03-05T06:00:00.000Z', 'clock'],
        ['capture', text(start + 11_000), 'clock'],
        ['require_action', text(start + 1_000), 'clock'],
        ['create', text(start), shop.keyId],
      ]);
      expect(errors).toEqual([]);
    });

    test('a clock that is ahead brings about what fell due by its own time', async () => {
      await shop.time.advance({ seconds: 86_400 });
      const { id } = await shop.life.paid(['authorize']);
      wall = start + week - 1;
      await runner.runDue(shop);
      expect(await statusOf(id)).toBe('authorized');
      wall = start + week;
      await runner.runDue(shop);
      expect((await shop.life.read(id)).expiredAt).toBe(text(start + dayMs + week));
    });

    test('nothing happens by a frozen clock, however late it is', async () => {
      const { id } = await shop.life.paid(['authorize']);
      await shop.time.freeze();
      wall = start + 365 * dayMs;
      await runner.runDue(shop);
      expect(await shop.life.read(id)).toMatchObject({ status: 'authorized', version: 2 });
      await shop.time.reset();
      await runner.runDue(shop);
      expect(await shop.life.read(id)).toMatchObject({ status: 'expired', expiredAt: text(start + week) });
    });

    test('nothing happens while a request advances the clock', async () => {
      const { id } = await shop.life.paid(['authorize']);
      await shop.time.to(start + week - 1);
      wall = start + 1;
      // By now it is due, and the clock was taken at the very instant.
      await abandonAdvance(server, shop, 3_600, wall);
      await runner.runDue(shop);
      expect(await shop.life.read(id)).toMatchObject({ status: 'authorized', version: 2 });
      expect(errors).toEqual([]);
    });

    test('applications are found when something is due by their own clocks, and not before', async () => {
      const found = async () => {
        const { due } = await findDueApplications(server.reader, wall, undefined, 10_000);
        return due.some(({ appId }) => appId === shop.appId);
      };
      await shop.life.paid(['authorize']);
      wall = start + week - 1;
      expect(await found()).toBe(false);
      wall = start + week;
      expect(await found()).toBe(true);
      wall = start;
      await shop.time.freeze();
      wall = start + week;
      expect(await found()).toBe(false);
      await shop.time.reset();
      expect(await found()).toBe(true);
      await abandonAdvance(server, shop, 60, wall);
      expect(await found()).toBe(false);
    });

    test('however few applications are looked at in one go, each has its turn', async () => {
      const sisters = ['second', 'third', 'fourth'].map(async (application) => {
        const holder = await shop.addKey({ application });
        await lifecycle(holder.clientOn(app)).paid(['authorize']);
        return holder.appId;
      });
      const apps = await Promise.all(sisters);
      wall = start + week;
      const whole = await findDueApplications(server.reader, wall, undefined, 10_000);
      expect(whole.next).toBeUndefined();
      const ids = whole.due.map(({ appId }) => appId);
      expect(ids).toEqual(expect.arrayContaining(apps));
      for (const lookedMax of [1, 2]) {
        const seen: string[] = [];
        let after: ApplicationKey | undefined;
        for (let looks = 0; looks < 1_000; looks += 1) {
          const { due, next } = await findDueApplications(server.reader, wall, after, lookedMax);
          seen.push(...due.map(({ appId }) => appId));
          after = next;
          if (after === undefined) break;
        }
        expect(seen).toEqual(ids);
      }
    });

    test('more than a round holds is done in one go', async () => {
      tick = 1;
      const made = await together(Array.from({ length: 300 }), () => shop.life.paid(['authorize']));
      tick = 0;
      wall = start + 8 * dayMs;
      await runner.runDue(shop);
      const [found] = await rowsOf(
        server,
        `select count(*)::integer as moves from state_history where org_id = $1 and action = 'expire'`,
        [shop.orgId],
      );
      expect(found).toEqual({ moves: made.length });
    });

    test('every node may look at once: each thing happens once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => shop.life.paid(['authorize'])));
      wall = start + 8 * dayMs;
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
      const moves = await rowsOf<{ moves: number }>(
        server,
        `select count(*)::integer as moves from state_history where org_id = $1 and action = 'expire' group by resource_id`,
        [shop.orgId],
      );
      expect(moves).toHaveLength(20);
      expect(new Set(moves.map((one) => one.moves))).toEqual(new Set([1]));
      expect(errors).toEqual([]);
    });

    test('the worker looks for what is due and brings it about', async () => {
      const { id } = await shop.life.paid(['authorize']);
      wall = start + week;
      await workOnce(false, async () => (await statusOf(id)) === 'expired');
      expect((await shop.life.read(id)).expiredAt).toBe(text(start + week));
      expect(errors).toEqual([]);
    });

    test.each([
      { node: 'that is alone takes up an advance at once', isAlone: true, waitedMs: 1 },
      { node: 'among others takes it up when its lease has ended', isAlone: false, waitedMs: 10_000 },
    ])('a worker $node', async ({ isAlone, waitedMs }) => {
      const { id } = await shop.life.paid(['authorize']);
      const abandoned = await abandonAdvance(server, shop, weekSeconds, wall);
      wall += waitedMs;
      await workOnce(isAlone, async () => (await abandoned.clock()).advance === null);
      expect(await statusOf(id)).toBe('expired');
      expect(await shop.time.read()).toMatchObject({ status: 'running', now: text(start + week) });
    });
  });

  test('a worker that is alone takes up no advance that was begun after its start', async () => {
    const other = await openShop(server, app);
    const { id } = await other.life.paid(['authorize']);
    let living: Abandoned | undefined;
    wall = start + week;
    await workOnce(
      true,
      async () => (await other.life.read(id)).status === 'expired',
      async () => {
        living = await abandonAdvance(server, shop, 3_600, wall);
      },
    );
    expect((await living?.clock())?.advance).toMatchObject({ turn: 1 });
  });

  describe('an advance whose process died', () => {
    test('ends with the answer that its request is given, with all that happened, each once', async () => {
      await shop.time.freeze();
      const made = [];
      for (let i = 0; i < 4; i += 1) {
        made.push(await shop.life.paid(['authorize']));
        await shop.time.advance({ seconds: 60 });
      }
      const walking = await shop.life.create({ autoAdvance: true, scenario: 'require_action' });
      const from = start + 240 * secondMs;
      const abandoned = await abandonAdvance(server, shop, 8 * 86_400, from);
      const round = await abandoned.fire([walking.id], { stepsMax: 2 });
      expect(round.code, round.body).toBeNull();
      expect(await statusOf(walking.id)).toBe('captured');
      expect((await abandoned.clock()).standsAt).toBe(from + 11 * secondMs);

      await runner.resume(await abandoned.clock(), Number.MAX_SAFE_INTEGER);
      const { idempotencyKey, body, requestId } = abandoned;
      const answer = await shop.time.ask('advance', body, { idempotencyKey });
      expect(answer.headers['idempotent-replayed']).toBe('true');
      const advanced = answer.body as Advanced;
      expect(advanced).toMatchObject({
        requestId,
        status: 'frozen',
        now: text(from + 8 * dayMs),
        complete: true,
      });
      expect(advanced.happened.map(({ id, action }) => [id, action])).toEqual([
        ...['require_action', 'capture', 'settle'].map((action) => [walking.id, action]),
        ...made.map(({ id }) => [id, 'expire']),
      ]);
      expect(await movedBy(server, shop.orgId, requestId)).toEqual(advanced.happened);
      for (const one of advanced.happened)
        expect(Object.keys(one)).toEqual(['at', 'type', 'id', 'action', 'from', 'to', 'event']);
      expect(await shop.time.read()).toMatchObject({ status: 'frozen', now: text(from + 8 * dayMs) });
    });

    test('before it did anything is done as if nothing had been', async () => {
      const { id } = await shop.life.paid(['authorize']);
      const abandoned = await abandonAdvance(server, shop, weekSeconds, wall);
      await runner.resume(await abandoned.clock(), Number.MAX_SAFE_INTEGER);
      const { idempotencyKey, body } = abandoned;
      const { text: kept, body: answer } = await shop.time.ask('advance', body, { idempotencyKey });
      expect((answer as Advanced).happened).toMatchObject([{ id, action: 'expire', at: text(start + week) }]);
      expect((await shop.time.ask('advance', body, { idempotencyKey })).text).toBe(kept);
      expect(await shop.time.read()).toMatchObject({ status: 'running', now: text(start + week) });
    });

    test('is not taken up while its lease lasts, unless it is known to be dead', async () => {
      const abandoned = await abandonAdvance(server, shop, 3_600, wall);
      wall += 9_999;
      await runner.resume(await abandoned.clock(), wall);
      expect((await abandoned.clock()).advance).toMatchObject({ turn: 1 });
      wall += 1;
      await runner.resume(await abandoned.clock(), wall);
      expect((await abandoned.clock()).advance).toBeNull();
      expect((await shop.time.read()).now).toBe(text(start + hourMs));
    });

    test('and was taken up can neither fire nor finish any more', async () => {
      const { id } = await shop.life.paid(['authorize']);
      const abandoned = await abandonAdvance(server, shop, weekSeconds, wall);
      const clock = await abandoned.clock();
      const late = await abandoned.fire([id], { turn: 2 });
      expect(late.code).toBe('clock_advancing');
      const finish = (turn: number, requestId: string) =>
        server.engine.submit(
          submissionOf(
            shop,
            finishAdvance,
            { turn, happened: [], left: null, isThere: true },
            { wallNow: wall, requestId },
          ),
        );
      expect((await finish(2, abandoned.requestId)).code).toBe('idempotency_in_progress');
      expect((await finish(1, 'req_01m7epxwjmf7za77rhky2f93cc')).code).toBe('idempotency_in_progress');
      expect(await abandoned.clock()).toEqual(clock);
      expect(await shop.life.read(id)).toMatchObject({ status: 'authorized', version: 2 });
      // Carried out by another, it is over for the first one.
      await runner.resume(clock, Number.MAX_SAFE_INTEGER);
      expect((await abandoned.fire([id])).code).toBe('clock_advancing');
      expect((await finish(1, abandoned.requestId)).code).toBe('idempotency_in_progress');
      expect(await shop.life.read(id)).toMatchObject({ status: 'expired', version: 3 });
    });

    test('tells what happened, too, when the answer to a round was lost', async () => {
      const { id } = await shop.life.paid(['authorize']);
      let isLost = false;
      const losing = {
        mint: server.engine.mint,
        submit: async (asked: Submission): Promise<EngineAnswer> => {
          const answer = await server.engine.submit(asked);
          if (asked.kind !== fireTimers || isLost) return answer;
          isLost = true;
          return refusalAnswer(refuse('service_unavailable'), asked.context.requestId, '');
        },
      } as unknown as Engine;
      const unlucky = new ClockRunner({
        ...server,
        engine: losing,
        wallClock,
        uptime: wallClock,
        onError: () => undefined,
      });
      const errands = new Map([[beginAdvance.name, (asked: Submission) => unlucky.advance(asked)]]);
      const time = clockwork(shop.clientOn(openApp(server, { wallClock, errands })));
      const advanced = await time.advance({ seconds: weekSeconds });
      expect(isLost).toBe(true);
      expect(advanced).toMatchObject({
        complete: true,
        happened: [{ id, action: 'expire', event: 'payment.expired' }],
      });
      expect((await shop.life.read(id)).version).toBe(3);
    });

    test('is taken up by one of many', async () => {
      const { id } = await shop.life.paid(['authorize']);
      const abandoned = await abandonAdvance(server, shop, weekSeconds, wall);
      wall += 10_000;
      const clock = await abandoned.clock();
      await Promise.all([1, 2, 3].map(() => runner.resume(clock, wall)));
      const { idempotencyKey, body } = abandoned;
      const answer = await shop.time.ask('advance', body, { idempotencyKey });
      expect((answer.body as Advanced).happened).toMatchObject([{ id, action: 'expire' }]);
      expect((await shop.life.read(id)).version).toBe(3);
    });
  });

  test('what is made while the clock is on its way has the time that it has come to', async () => {
    const { id } = await shop.life.paid(['authorize']);
    const abandoned = await abandonAdvance(server, shop, 8 * 86_400, wall);
    await abandoned.fire([id]);
    wall += 5_000;
    expect((await shop.life.create()).createdAt).toBe(text(start + week));
    expect((await shop.client.get(payments, 'status=expired')).body.data).toHaveLength(1);
  });
});

function bank(): Readonly<Record<string, unknown>> {
  return { paymentMethod: { type: 'bank_debit' } };
}
