import { afterEach, expect, inject, it } from 'vitest';
import { openPostgres } from '../../src/db/postgres.ts';
import { DeliveryQueue, type EndpointKey } from '../../src/engine/delivery-queue.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { createPayment } from './client.ts';
import { endpoint, expireLeases, type Home, openHome } from './delivery-endpoints.ts';
import { type Inbox, openInbox } from './delivery-inbox.ts';
import { queryPostgres } from './records.ts';

/** Fewer than there are, so that each finds some that the other has not taken. */
const ROOM = 2;
const PAYMENTS = 10;
const CLAIMS = 400;
const LEASE_MS = 25_000;
const BYTES_MAX = 1_000_000;
/** The second claim begins while the first is about to be committed: after so much of the time that it takes. */
const LATER_MIN = 0.4;
const LATER_STEPS = 40;

let inbox: Inbox | undefined;
let home: Home | undefined;

afterEach(async () => {
  await home?.remove();
  await inbox?.close();
});

it('of two nodes that claim for one endpoint at the same time one gets it: together they would exceed its limit', async () => {
  const box = await openInbox({});
  inbox = box;
  const nodes = openHome(box, [endpoint('narrow', { maxConcurrency: ROOM })]);
  home = nodes;
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  // Nobody sends: what is due stays so until it is claimed here.
  const api = await nodes.start({ databaseUrl }, '--role', 'api');
  for (let i = 0; i < PAYMENTS; i += 1) await createPayment(api.url, `${i}`, `${i}`);
  expect(await api.stop()).toBe(0);

  const databases = [0, 1].map(() => openPostgres(databaseUrl, () => undefined));
  const queues = databases.map((database, i) => new DeliveryQueue(database, `node ${i}`));
  let tookMs = 4;
  const claimers = { 0: 0, 1: 0, 2: 0 };
  await queryPostgres(databaseUrl, async (query) => {
    const keys = await query('select org_id as "orgId", id as "webhookId" from webhooks');
    const wanted = keys.map((key) => ({ ...(key as unknown as EndpointKey), room: ROOM }));
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
  console.log(`pairs of claims by how many of the two got something: ${JSON.stringify(claimers)}`);
  expect(claimers).toEqual({ 0: 0, 1: CLAIMS, 2: 0 });
});

it('a claim returns no more bytes of events than it may, an event once, and takes turns between endpoints', async () => {
  const box = await openInbox({});
  inbox = box;
  const nodes = openHome(box, [endpoint('one'), endpoint('two'), endpoint('three')]);
  home = nodes;
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const api = await nodes.start({ databaseUrl }, '--role', 'api');
  for (let i = 0; i < PAYMENTS; i += 1) await createPayment(api.url, `${i}`, `${i}`);
  expect(await api.stop()).toBe(0);
  const database = openPostgres(databaseUrl, () => undefined);
  const queue = new DeliveryQueue(database, 'node');
  await queryPostgres(databaseUrl, async (query) => {
    const keys = await query('select org_id as "orgId", id as "webhookId" from webhooks');
    const wanted = keys.map((key) => ({ ...(key as unknown as EndpointKey), room: PAYMENTS }));
    const [size] = await query('select max(octet_length(data::text))::integer as bytes from events');
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
  });
  await database.close();
});
