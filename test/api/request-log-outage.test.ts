/** The request log while its database is unavailable. */
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { DatabaseFailure } from '../../src/db/failure.ts';
import { RequestJournal } from '../../src/engine/request-journal.ts';
import type { Server } from '../../src/server.ts';
import { RequestLog } from '../../src/workers/request-log.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openApp, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';

const payments = 'developer_api_payments';
const small = { amount: 1250, currency: 'EUR' };
/** The lock that orders the writes of all nodes. */
const numberingLock = 0x73626b6c;

let server: Server;
let client: pg.Client;
beforeAll(async () => {
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  server = await openServer('postgres', { databaseUrl });
  client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await server?.close();
});

async function loggedRequests(orgId: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>('select id from requests where org_id = $1', [orgId]);
  return rows.map(({ id }) => id).sort();
}

test('a connection that ends during a write of the log loses no request', async () => {
  const acme = await tenant(server);
  await client.query('select pg_advisory_lock($1)', [numberingLock]);
  const answers = [
    await acme.client.post(payments, small),
    await acme.client.get(payments),
    await acme.client.get(`${payments}/nobody`),
  ];
  const ended = await vi.waitUntil(async () => {
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = $1 and not granted`,
      [numberingLock],
    );
    return rowCount;
  });
  expect(ended).toBe(1);
  await client.query('select pg_advisory_unlock($1)', [numberingLock]);
  const ids = answers.map(({ body }) => String(body.requestId)).sort();
  await expect.poll(() => loggedRequests(acme.orgId)).toEqual(ids);
});

/** A log whose journal executes each write and then reports a lost connection, for the given number of writes. */
async function openLog(lost: number) {
  const acme = await tenant(server);
  const journal = new RequestJournal(server.database);
  const seen = { writes: 0, dropped: 0, problems: [] as string[] };
  const requestLog = new RequestLog({
    journal: {
      count: (counts) => journal.count(counts),
      write: async (rows) => {
        await journal.write(rows);
        seen.writes += 1;
        if (seen.writes <= lost) throw new DatabaseFailure('unavailable', new Error('lost'));
      },
    },
    wallClock: Date.now,
    uptime: () => performance.now(),
    onError: (_error, what) => seen.problems.push(what),
    measures: {
      dropped: (count) => {
        seen.dropped += count;
      },
    },
  });
  const app = openApp(server, { requestLog });
  return { acme, seen, requestLog, app, client: acme.clientOn(app) };
}

test('a write whose result was lost is repeated and adds each request once', async () => {
  const { acme, seen, requestLog, app, client: own } = await openLog(2);
  const answers = [await own.post(payments, small), await own.get(payments)];
  await requestLog.flush();
  expect(seen).toMatchObject({ writes: 1, problems: ['the request log cannot be written'] });
  // The timer repeats it without a further request.
  await expect.poll(() => seen.writes).toBe(3);
  expect(seen).toMatchObject({ dropped: 0, problems: ['the request log cannot be written'] });
  const ids = answers.map(({ body }) => String(body.requestId)).sort();
  expect(await loggedRequests(acme.orgId)).toEqual(ids);
  await requestLog.close();
  await app.close();
});

test('a full buffer does not write faster while the database is unavailable', async () => {
  const { seen, requestLog, app, client: own } = await openLog(Number.MAX_SAFE_INTEGER);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: 250 }, () => own.get(payments)));
  await expect.poll(() => seen.writes).toBeGreaterThan(2);
  const timers = (performance.now() - startedAt) / 250;
  // One write because a batch was full, and one for each tick of the timer.
  expect(seen.writes).toBeLessThanOrEqual(timers + 2);
  await requestLog.close();
  // The batch that was held is counted as dropped.
  expect(seen.dropped).toBe(100);
  await app.close();
});
