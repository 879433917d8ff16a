import type { FastifyInstance } from 'fastify';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { paymentScenarios } from '../../src/kernel/scenario.ts';
import { stepDelaysMs } from '../../src/resources/payment-scenario/machine.ts';
import type { Server } from '../../src/server.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { movedBy, openShop, type Shop, secondMs, start, text, timersOf } from './clockwork.ts';
import { done } from './lifecycle.ts';

/** A step of the payment: seconds after it was made, action, and the state that it leads to. */
type Step = readonly [seconds: number, action: string, to: string];
type Scenario = string | readonly string[];

const day = 86_400;
const hour = 3_600;
/** Made at 10:00, paid out at 06:00 of the next day. */
const payout: Step = [20 * hour, 'settle', 'settled'];
const paid: readonly Step[] = [[1, 'capture', 'captured'], payout];
const soft = 'decline:insufficient_funds';
const hard = 'decline:lost_card';

const threeAttempts: readonly Step[] = [
  [1, 'fail', 'failed'],
  [61, 'retry', 'pending'],
  [62, 'fail', 'failed'],
  [122, 'retry', 'pending'],
  [123, 'fail', 'failed'],
];

const walks: readonly (readonly [scenario: Scenario, steps: readonly Step[], end: string])[] = [
  ['approve', paid, 'settled'],
  [
    'require_action',
    [[1, 'require_action', 'requires_action'], [11, 'capture', 'captured'], payout],
    'settled',
  ],
  ['async', [[1, 'process', 'processing'], [61, 'capture', 'captured'], payout], 'settled'],
  [hard, [[1, 'fail', 'failed']], 'failed'],
  [soft, threeAttempts, 'failed'],
  [
    'capture_fails',
    [
      [1, 'authorize', 'authorized'],
      [2, 'fail', 'failed'],
      [62, 'retry', 'pending'],
      [63, 'authorize', 'authorized'],
      [64, 'fail', 'failed'],
      [124, 'retry', 'pending'],
      [125, 'authorize', 'authorized'],
      [126, 'fail', 'failed'],
    ],
    'failed',
  ],
  ['refund_fails', paid, 'settled'],
  ['refund_pending', paid, 'settled'],
  ['settle_short', paid, 'settled'],
  ['settle_missing', paid, 'settled'],
  ['settle_duplicate', paid, 'settled'],
  ['settle_unknown', paid, 'settled'],
  [
    'dispute',
    [
      [1, 'capture', 'captured'],
      [1 + hour, 'dispute', 'disputed'],
      [1 + hour + 7 * day, 'dispute_lost', 'charged_back'],
    ],
    'charged_back',
  ],
];

const lists: typeof walks = [
  [
    [soft, 'approve'],
    [[1, 'fail', 'failed'], [61, 'retry', 'pending'], [62, 'capture', 'captured'], payout],
    'settled',
  ],
  [
    [soft, 'require_action'],
    [
      [1, 'fail', 'failed'],
      [61, 'retry', 'pending'],
      [62, 'require_action', 'requires_action'],
      [72, 'capture', 'captured'],
      payout,
    ],
    'settled',
  ],
  [
    [soft, soft, 'async'],
    [
      [1, 'fail', 'failed'],
      [61, 'retry', 'pending'],
      [62, 'fail', 'failed'],
      [122, 'retry', 'pending'],
      [123, 'process', 'processing'],
      [183, 'capture', 'captured'],
      payout,
    ],
    'settled',
  ],
  [
    [soft, hard, 'approve'],
    [
      [1, 'fail', 'failed'],
      [61, 'retry', 'pending'],
      [62, 'fail', 'failed'],
    ],
    'failed',
  ],
  [[soft, soft, soft, 'approve'], threeAttempts, 'failed'],
  [['approve', hard], paid, 'settled'],
];

const manual: typeof walks = [
  ['approve', [[1, 'authorize', 'authorized'], [2, 'capture', 'captured'], payout], 'settled'],
  [
    'require_action',
    [
      [1, 'require_action', 'requires_action'],
      [11, 'authorize', 'authorized'],
      [12, 'capture', 'captured'],
      payout,
    ],
    'settled',
  ],
  [
    'async',
    [[1, 'process', 'processing'], [61, 'authorize', 'authorized'], [62, 'capture', 'captured'], payout],
    'settled',
  ],
  [hard, [[1, 'fail', 'failed']], 'failed'],
];

describe('the delays of steps', () => {
  test('are those of the documents', () => {
    expect(stepDelaysMs).toEqual({
      require_action: 1_000,
      process: 1_000,
      authorize: 1_000,
      fail: 1_000,
      capture: 1_000,
      confirm: 10_000,
      clear: 60_000,
      retry: 60_000,
      dispute: 3_600_000,
    });
  });

  test('are walked below for every scenario that there is', () => {
    const met = new Set(walks.map(([scenario]) => scenario));
    expect(paymentScenarios.filter((name) => !name.startsWith('decline:') && !met.has(name))).toEqual([]);
  });
});

describe.each(databaseKinds)('autoAdvance on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let wall = start;
  let shop: Shop;

  beforeAll(async () => {
    // Without the worker that looks for what is due: it goes by real time, and these tests by their own.
    server = await sharedServer(kind, 'api');
    app = openApp(server, { wallClock: () => wall });
  });
  beforeEach(async () => {
    wall = start;
    shop = await openShop(server, app);
  });

  async function expectWalk(body: object, steps: readonly Step[], end: string): Promise<void> {
    const payment = await shop.life.create({ autoAdvance: true, ...body });
    expect(payment).toMatchObject({ status: 'pending', autoAdvance: true });
    const advanced = await shop.time.advance({ seconds: 365 * day });
    expect(advanced.complete).toBe(true);
    const own = advanced.happened.filter(({ id }) => id === payment.id);
    expect(own.map(({ at, action, to }) => [at, action, to])).toEqual(
      steps.map(([seconds, action, to]) => [text(start + seconds * secondMs), action, to]),
    );
    expect(await movedBy(server, shop.orgId, advanced.requestId)).toEqual(advanced.happened);
    expect((await shop.life.read(payment.id)).status).toBe(end);
    // It is at its end: nothing is left to wait for.
    expect(await timersOf(server, shop.orgId)).toEqual({});
    expect((await shop.time.advance({ seconds: 365 * day })).happened).toEqual([]);
  }

  describe.each([
    ['automatic', walks],
    ['automatic', lists],
    ['manual', manual],
  ] as const)('with %s capture', (captureMethod, table) => {
    test.each(table.map(([scenario, steps, end]) => ({ scenario, steps, end })))(
      '$scenario walks by itself to $end, each step after its delay',
      async ({ scenario, steps, end }) => {
        await expectWalk({ captureMethod, scenario }, steps, end);
      },
    );
  });

  test('a test card and a magic amount walk as the scenario that they stand for', async () => {
    const number = '4000002500003155';
    const required = walks.find(([scenario]) => scenario === 'require_action')?.[1] ?? [];
    await expectWalk({ paymentMethod: { type: 'card', number } }, required, 'settled');
    shop = await openShop(server, app);
    wall = start;
    await expectWalk({ amount: 999_000_041 }, [[1, 'fail', 'failed']], 'failed');
  });

  test('a bank takes a day longer to pay out', async () => {
    const late: Step = [20 * hour + day, 'settle', 'settled'];
    await expectWalk(
      { paymentMethod: { type: 'bank_debit' } },
      [[1, 'capture', 'captured'], late],
      'settled',
    );
  });

  test.each(['approve', soft, 'require_action', 'async', 'dispute', 'capture_fails'])(
    'without it %s waits for its caller',
    async (scenario) => {
      const { id } = await shop.life.create({ scenario });
      expect((await shop.time.advance({ seconds: 365 * day })).happened).toEqual([]);
      expect(await shop.life.read(id)).toMatchObject({ status: 'pending', version: 1, autoAdvance: false });
    },
  );

  test.each<[scenario: string, action: string, status: string]>([
    [soft, 'fail', 'failed'],
    ['async', 'process', 'processing'],
    ['require_action', 'require_action', 'requires_action'],
  ])('without it %s stays where its caller left it', async (scenario, action, status) => {
    const { id } = await shop.life.paid([action], { scenario });
    expect((await shop.time.advance({ seconds: 365 * day })).happened).toEqual([]);
    expect(await shop.life.read(id)).toMatchObject({ status, version: 2 });
  });

  test('each step is told as if it had been asked for: history, event, entries and provider', async () => {
    const { id } = await shop.life.create({ autoAdvance: true, captureMethod: 'manual' });
    await shop.time.advance({ seconds: 2 });
    const entries = (await shop.life.list(id, 'ledger_entries')).body.data;
    expect(entries.map(({ reason, createdAt }) => [reason, createdAt])).toEqual([
      ['capture', text(start + 2_000)],
      ['authorize', text(start + 1_000)],
    ]);
    const told = (await shop.life.list(id, 'provider_events')).body.data;
    expect(told.map(({ type, receivedAt }) => [type, receivedAt])).toEqual([
      ['charge.captured', text(start + 2_000)],
      ['charge.authorized', text(start + 1_000)],
    ]);
    expect(await shop.life.read(id)).toMatchObject({
      authorizedAt: text(start + 1_000),
      capturedAt: text(start + 2_000),
      amountCaptured: 10_000,
      feeAmount: 320,
    });
  });

  test('a step by hand does not wait, and the next one counts its delay from there', async () => {
    const { id } = await shop.life.create({ autoAdvance: true, scenario: 'require_action' });
    wall += 500;
    done(await shop.life.advance(id));
    wall += 4_500;
    expect((await shop.time.to(start + 10_499)).happened).toEqual([]);
    expect((await shop.time.to(start + 10_500)).happened).toMatchObject([{ id, action: 'capture' }]);
  });

  test('a payment that its caller ended walks no further', async () => {
    const { id } = await shop.life.paid(['cancel'], { autoAdvance: true });
    expect((await shop.time.advance({ seconds: 30 * day })).happened).toEqual([]);
    expect((await shop.life.read(id)).status).toBe('canceled');
  });

  test('a dispute that is won ends with the payout, and does not come again', async () => {
    const { id } = await shop.life.create({ autoAdvance: true, scenario: 'dispute' });
    await shop.time.advance({ seconds: 2 * hour });
    const { disputeId } = await shop.life.read(id);
    expect(done(await shop.life.advanceDispute(String(disputeId), { to: 'won' })).status).toBe('won');
    const { happened } = await shop.time.advance({ seconds: 30 * day });
    expect(happened).toMatchObject([{ id, action: 'settle', to: 'settled', at: '2031-03-05T06:00:00.000Z' }]);
  });

  test('a refusal names no dispute that is not there', async () => {
    const { id } = await shop.life.create({ autoAdvance: true, scenario: 'dispute' });
    wall = start + 2 * hour * secondMs;
    const refused = await shop.life.advance(id, { action: 'refund' });
    expect(refused.code).toBe('invalid_state_transition');
    const named = refused.body.error.details?.disputeId ?? (await shop.life.read(id)).disputeId;
    if (named !== null) done(await shop.client.get(`developer_api_disputes/${named}`));
  });

  test('what is overdue is walked before what is asked for', async () => {
    const { id } = await shop.life.create({ autoAdvance: true, scenario: [soft, 'async'] });
    wall = start + 200 * secondMs;
    const refunded = done(await shop.life.advance(id, { action: 'refund', amount: 1_000 }));
    expect(refunded).toMatchObject({ status: 'partially_refunded', version: 6 });
    const moves = (await shop.life.list(id, 'history')).body.data;
    expect(moves.map(({ action, at }) => [action, at]).toReversed()).toEqual([
      ['create', text(start)],
      ['fail', text(start + 1_000)],
      ['retry', text(start + 61_000)],
      ['process', text(start + 62_000)],
      ['capture', text(start + 122_000)],
      ['refund', text(start + 200_000)],
    ]);
  });
});
