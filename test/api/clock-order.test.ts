import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Submission } from '../../src/engine/submission.ts';
import { beginAdvance } from '../../src/resources/clocks/machine.ts';
import type { Server } from '../../src/server.ts';
import { ClockRunner } from '../../src/workers/clock-runner.ts';
import type { Body } from '../support/api-client.ts';
import { withStatus } from '../support/receiver.ts';
import { decidedOn, openApp, openServer } from '../support/server.ts';
import { clockwork } from './clockwork.ts';
import { openHookShop, receiving } from './hooks.ts';
import { done } from './lifecycle.ts';

const transfers = 'developer_api_transfers';
const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 10_000 };
/** An advance is over after 1.5 seconds instead of 30. */
const haste = 20;

describe.each(decidedOn('pglite'))('an advance beside a receiver that hangs, on %s', (kind) => {
  let server: Server;

  beforeAll(async () => {
    server = await openServer(kind);
  });
  afterAll(() => server?.close());

  test('keeps timers behind the deliveries that are due before them, and reports what is left', async () => {
    const runner = new ClockRunner({
      ...server,
      wallClock: Date.now,
      uptime: () => performance.now() * haste,
      onError: () => undefined,
    });
    const errands = new Map([[beginAdvance.name, (asked: Submission) => runner.advance(asked)]]);
    const shop = await openHookShop(server);
    const time = clockwork(shop.clientOn(openApp(server, { errands })));
    const open: (() => void)[] = [];
    const receiver = await receiving((_received, response) => {
      open.push(() => response.writeHead(204).end());
    });
    await shop.hook(receiver);
    const { now: start } = await time.read();
    const { id, expiresAt } = done(await shop.client.post(transfers, quote)) as Body & { expiresAt: string };
    await receiver.waitFor(1);

    // There is no timer on the way: the clock arrives, and the delivery of the start is still open.
    const minute = await time.advance({ seconds: 60 });
    expect(minute).toMatchObject({ complete: false, happened: [] });
    expect(minute.left).toMatchObject({ timers: 0, deliveries: 1, passedOver: 1, nextAt: start });

    // The quote expires after half an hour, and not before the delivery was attempted.
    const hour = await time.advance({ seconds: 3_600 });
    expect(hour).toMatchObject({ complete: false, happened: [] });
    expect(hour.left).toMatchObject({ timers: 1, deliveries: 1, passedOver: 1, nextAt: start });
    expect(Date.parse(hour.now)).toBeLessThan(Date.parse(expiresAt));
    expect(done(await shop.client.get(`${transfers}/${id}`)).status).toBe('quoted');

    receiver.answer(withStatus(204));
    for (const answer of open) answer();
    const rest = await shop.time.advance({ seconds: 3_600 });
    expect(rest).toMatchObject({ complete: true });
    expect(rest).not.toHaveProperty('left');
    expect(rest.happened.map(({ type, event }) => `${type} ${event}`)).toContain('transfer transfer.expired');
    expect(done(await shop.client.get(`${transfers}/${id}`)).status).toBe('expired');
  });
});
