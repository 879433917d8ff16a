import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { openPostgres } from '../../src/db/postgres.ts';
import { DeliveryQueue, type EndpointKey } from '../../src/delivery/queue.ts';
import { idFrom } from '../../src/kernel/ids.ts';
import type { Server } from '../../src/server.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { queryPostgres } from './support/database-rows.ts';
import { expireLeases } from './support/webhook-servers.ts';

/** Fewer than are due, so that each node could claim deliveries that the other one has not. */
const ROOM = 2;
const PAYMENTS = 10;
const CLAIMS = 400;
const LEASE_MS = 25_000;
const BYTES_MAX = 1_000_000;
/** The second claim begins while the first is about to commit: after this share of its usual duration. */
const LATER_MIN = 0.4;
const LATER_STEPS = 40;

let server: Server;
let databaseUrl = '';

// An API node sends nothing: due deliveries stay due until a test claims them.
beforeAll(async () => {
  databaseUrl = await migratedDatabase(inject('postgresUrl'));
  server = await openServer('postgres', { databaseUrl, secret: 's'.repeat(32), role: 'api' });
});
afterAll(() => server?.close());

/** An organization with due deliveries, and the keys of its endpoints. */
async function openEndpoints(count: number, fields: object): Promise<{ orgId: string; keys: EndpointKey[] }> {
  const { client, orgId } = await tenant(server);
  const keys: EndpointKey[] = [];
  for (let i = 0; i < count; i += 1) {
    const { status, body, text } = await client.post('developer_api_webhooks', {
      url: `https://example.com/${i}`,
      ...fields,
    });
    expect(status, text).toBe(201);
    keys.push({ orgId, webhookId: idFrom('webhook', body.id) });
  }
  for (let i = 0; i < PAYMENTS; i += 1)
    expect((await client.post('developer_api_payments', { amount: 5, currency: 'EUR' })).status).toBe(201);
  return { orgId, keys };
}

it('one of two nodes that claim for one endpoint concurrently gets it: together they would exceed its limit', async () => {
  const { keys } = await openEndpoints(1, { maxConcurrency: ROOM });
  const wanted = keys.map((key) => ({ ...key, room: ROOM }));
  const databases = [0, 1].map(() => openPostgres(databaseUrl, () => undefined));
  const queues = databases.map((database, i) => new DeliveryQueue(database, `node ${i}`));
  let tookMs = 4;
  const claimers = { 0: 0, 1: 0, 2: 0 };
  await queryPostgres(databaseUrl, async (query) => {
    for (let n = 0; n < CLAIMS; n += 1) {
      const now = Date.now();
      const begun = performance.now();
      const later = begun + tookMs * (LATER_MIN + ((1 - LATER_MIN) * (n % LATER_STEPS)) / LATER_STEPS);
      const claim = async (queue: DeliveryQueue, i: number) => {
        while (i === 1 && performance.now() < later) await new Promise((resolve) => setImmediate(resolve));
        const terms = { wallNow: now, leaseUntil: now + LEASE_MS, bytesMax: BYTES_MAX };
        const { claims: claimed } = await queue.claim(wanted, terms);
        if (i === 0) tookMs += (performance.now() - begun - tookMs) / 4;
        return claimed;
      };
      const [first, second] = await Promise.all(queues.map(claim));
      const claims = [...(first ?? []), ...(second ?? [])];
      expect(new Set(claims.map(({ id }) => id)).size, 'no delivery is claimed twice').toBe(claims.length);
      claimers[((first?.length ? 1 : 0) + (second?.length ? 1 : 0)) as 0 | 1 | 2] += 1;
      await expireLeases(query);
    }
  });
  await Promise.all(databases.map((database) => database.close()));
  expect(claimers, 'pairs of claims, by the number of claims that returned deliveries').toEqual({
    0: 0,
    1: CLAIMS,
    2: 0,
  });
});

it('a claim records no lost attempt of a delivery that its sender releases at the same time', async () => {
  const { orgId, keys } = await openEndpoints(1, {});
  const databases = [0, 1].map(() => openPostgres(databaseUrl, () => undefined));
  const [first, second] = databases.map((database, i) => new DeliveryQueue(database, `releasing ${i}`));
  const wanted = keys.map((key) => ({ ...key, room: PAYMENTS }));
  const now = Date.now();
  const claim = (queue: DeliveryQueue | undefined, wallNow: number) =>
    queue?.claim(wanted, { wallNow, leaseUntil: wallNow + LEASE_MS, bytesMax: BYTES_MAX });
  expect((await claim(first, now))?.claims).toHaveLength(PAYMENTS);
  const releasing = new pg.Client({ connectionString: databaseUrl });
  await releasing.connect();
  await releasing.query('begin');
  await releasing.query(`update deliveries set lease_until = null where org_id = '${orgId}'`);
  const takenOver = claim(second, now + 2 * LEASE_MS);
  await queryPostgres(databaseUrl, async (query) => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await vi.waitUntil(async () => (await query(waiting)).length > 0, { interval: 10 });
    await releasing.query('commit');
    await takenOver;
    const rows = await query(`select d.id, d.attempts, count(a.number)::integer as recorded from deliveries d
      left join delivery_attempts a on a.org_id = d.org_id and a.delivery_id = d.id
      where d.org_id = '${orgId}' group by d.id, d.attempts having count(a.number) <> d.attempts`);
    expect(rows).toEqual([]);
  });
  await releasing.end();
  await Promise.all(databases.map((database) => database.close()));
});

it('a claim respects its byte limit, returns an event once, and alternates between endpoints', async () => {
  const { orgId, keys } = await openEndpoints(3, {});
  const database = openPostgres(databaseUrl, () => undefined);
  const queue = new DeliveryQueue(database, 'node');
  const wanted = keys.map((key) => ({ ...key, room: PAYMENTS }));
  const [size] = await queryPostgres(databaseUrl, (query) =>
    query(`select max(octet_length(data::text))::integer as bytes from events where org_id = '${orgId}'`),
  );
  const claim = (bytesMax: number) => {
    const wallNow = Date.now();
    return queue.claim(wanted, { wallNow, leaseUntil: wallNow + LEASE_MS, bytesMax });
  };
  const eventBytes = Number(size?.bytes);
  const first = await claim(eventBytes * 2);
  // Two events, each for every endpoint.
  expect(new Set(first.claims.map(({ eventId }) => eventId)).size).toBe(2);
  expect(first.claims).toHaveLength(6);
  expect(first.hasMore).toBe(true);
  for (const { data } of first.claims) expect(JSON.parse(data)).toMatchObject({ object: 'payment' });
  // Less than one event: one delivery, and the next claims take the others.
  const second = await claim(1);
  expect(second.claims).toHaveLength(1);
  const rest = await claim(BYTES_MAX);
  expect(rest.hasMore).toBe(false);
  const all = [first, second, rest].flatMap(({ claims }) => claims.map(({ id }) => id));
  expect(new Set(all).size).toBe(3 * PAYMENTS);
  await database.close();
});
