import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { call, createPayment } from './client.ts';
import { auditDeliveries } from './delivery-audit.ts';
import { allSent, endpoint, type Home, openHome, ROUNDS } from './delivery-endpoints.ts';
import { chanceOf, type Inbox, openInbox } from './delivery-inbox.ts';
import { startLoad } from './load.ts';
import { queryPostgres } from './records.ts';

const PAYMENTS = 40;
const CLIENTS = 4;
const RECOVERY = { timeout: 60_000, interval: 50 };
const ALL_SENT_MS_MAX = 60_000;
const endpoints = [endpoint('slow'), endpoint('quick')];

let postgres: Postgres;
let inbox: Inbox | undefined;
let home: Home | undefined;

// A PostgreSQL of this file's own: the one of the run belongs to everybody.
beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await home?.remove();
  await inbox?.close();
});
afterAll(() => postgres?.stop());

/** Deliveries are in flight when PostgreSQL goes, and answered while it is away, for so long as `untilBack` says. */
async function outage(mode: 'fast' | 'immediate', untilBack: (logs: string) => boolean): Promise<void> {
  const box = await openInbox({
    slow: (id) => ({ status: 204, afterMs: 200 + Math.round(chanceOf(id) * 600) }),
    quick: () => ({ status: 204, afterMs: 0 }),
  });
  inbox = box;
  const nodes = openHome(box, endpoints);
  home = nodes;
  const databaseUrl = await postgres.createDatabase();
  const server = await nodes.start({ databaseUrl });
  const load = startLoad(server.url, 'load', CLIENTS);
  await load.acknowledged(PAYMENTS);
  await vi.waitUntil(() => box.open().length > 0, { interval: 1 });
  await postgres.stopServer(mode);
  const inFlight = box.open().length;
  try {
    await load.ended;
    await vi.waitUntil(() => box.open().length === 0 && untilBack(server.logs()), RECOVERY);
  } finally {
    await postgres.startServer();
  }
  await vi.waitUntil(async () => (await call(`${server.url}/readyz`)).status === 200, RECOVERY);
  const { status } = await vi.waitUntil(() => createPayment(server.url, 'after', 'after'), RECOVERY);
  expect(status).toBe(201);
  const waitedMs = await allSent(server.url, ALL_SENT_MS_MAX);
  expect(await server.stop()).toBe(0);
  const acknowledged = load.claims.flatMap(({ id }) => id ?? []);
  const { complaints, ...found } = await queryPostgres(databaseUrl, (query) =>
    // The outage counts as one end of the sender: what it could not record it sends once more.
    auditDeliveries(query, { endpoints, arrivals: box.arrivals, acknowledged, refused: new Set(), kills: 1 }),
  );
  console.log(
    `stopped (${mode}): ${inFlight} in flight, ${acknowledged.length} acknowledged, ${JSON.stringify(found)}, ` +
      `all sent after ${waitedMs} ms`,
  );
  expect(inFlight).toBeGreaterThan(0);
  expect(complaints.slice(0, 10)).toEqual([]);
}

it.each(['fast', 'immediate'] as const)(
  'nothing is lost when PostgreSQL stops (%s) while deliveries are in flight',
  (mode) => outage(mode, () => true),
);

it.runIf(ROUNDS > 10)('nor when it is away for longer than an outcome is held for it', () =>
  outage('immediate', (logs) => logs.split('deliveries were not marked').length > 20),
);
