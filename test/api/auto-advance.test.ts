import type { FastifyInstance } from 'fastify';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { effectsOf, isoTime, secondMs, startTime, timersOf } from '../support/clock.ts';
import { type Merchant, openMerchant } from '../support/merchant.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';

const day = 86_400;

/**
 * Each scenario's steps and delays are tested next to the machine, in src/resources/payment-scenario and test/model.
 */
describe.each(databaseKinds)('autoAdvance on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let wall = startTime;
  let shop: Merchant;

  beforeAll(async () => {
    // Without the timer worker: it follows real time, and these tests use their own clock.
    server = await sharedServer(kind, 'api');
    app = openApp(server, { wallClock: () => wall });
  });
  beforeEach(async () => {
    wall = startTime;
    shop = await openMerchant(server, { app });
  });

  test('a payment advances automatically, and every effect reported by the clock is in the database', async () => {
    const { id } = await shop.payments.create({ autoAdvance: true });
    const advanced = await shop.clock.advance({ seconds: 365 * day });
    expect(advanced.complete).toBe(true);
    expect(advanced.happened.map(({ at, action, to }) => [at, action, to])).toEqual([
      [isoTime(startTime + secondMs), 'capture', 'captured'],
      [isoTime(startTime + 20 * 3_600 * secondMs), 'settle', 'settled'],
    ]);
    expect(await effectsOf(server, shop.orgId, advanced.requestId)).toEqual(advanced.happened);
    expect((await shop.payments.read(id)).status).toBe('settled');
    expect(await timersOf(server, shop.orgId)).toEqual({});
    expect((await shop.clock.advance({ seconds: 365 * day })).happened).toEqual([]);
  });
});
