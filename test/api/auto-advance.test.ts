import type { FastifyInstance } from 'fastify';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { movedBy, openShop, type Shop, secondMs, start, text, timersOf } from './clockwork.ts';
import { done } from './lifecycle.ts';

const day = 86_400;

/** Each scenario's steps and delays are tested beside the machine, in src/resources/payment-scenario and test/model. */
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

  test('a payment walks by itself, and what the clock reports is in the database', async () => {
    const { id } = await shop.life.create({ autoAdvance: true });
    const advanced = await shop.time.advance({ seconds: 365 * day });
    expect(advanced.complete).toBe(true);
    expect(advanced.happened.map(({ at, action, to }) => [at, action, to])).toEqual([
      [text(start + secondMs), 'capture', 'captured'],
      [text(start + 20 * 3_600 * secondMs), 'settle', 'settled'],
    ]);
    expect(await movedBy(server, shop.orgId, advanced.requestId)).toEqual(advanced.happened);
    expect((await shop.life.read(id)).status).toBe('settled');
    expect(await timersOf(server, shop.orgId)).toEqual({});
    expect((await shop.time.advance({ seconds: 365 * day })).happened).toEqual([]);
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

  test('a refusal names no dispute that is not there', async () => {
    const { id } = await shop.life.create({ autoAdvance: true, scenario: 'dispute' });
    wall = start + 2 * 3_600 * secondMs;
    const refused = await shop.life.advance(id, { action: 'refund' });
    expect(refused.code).toBe('invalid_state_transition');
    const named = refused.body.error.details?.disputeId ?? (await shop.life.read(id)).disputeId;
    if (named !== null) done(await shop.client.get(`developer_api_disputes/${named}`));
  });

  test('what is overdue is walked before what is asked for', async () => {
    const { id } = await shop.life.create({
      autoAdvance: true,
      scenario: ['decline:insufficient_funds', 'async'],
    });
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
