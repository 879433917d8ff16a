import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import type { Database } from '../../src/db/database.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import type { Server } from '../../src/server.ts';
import { openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { call, createPayment, PAYMENTS } from './support/client.ts';
import { expectCompleteRows, queryPostgres } from './support/database-rows.ts';
import { auditDeliveries } from './support/delivery-audit.ts';
import { expectListed, expectOnlyUnavailable, newClaims, retry, startLoad } from './support/load.ts';
import { type Pair, queryOnce, startPair, synchronous } from './support/postgres-pair.ts';
import { type Inbox, openInbox } from './support/webhook-receiver.ts';
import { allSent, type Deployment, endpoint, openDeployment } from './support/webhook-servers.ts';

const RECOVERY = { interval: 20 };
const PAYMENTS_BEFORE = 150;

let pair: Pair;
let deployment: Deployment | undefined;
let inbox: Inbox | undefined;
let alone: Server | undefined;
const opened: Database[] = [];

beforeAll(async () => {
  pair = await startPair();
});
afterAll(async () => {
  await deployment?.remove();
  await inbox?.close();
  await alone?.close();
  await Promise.all(opened.map((database) => database.close()));
  await pair?.stop();
});

it('a primary without its standby acknowledges no write, and still answers reads', async () => {
  const databaseUrl = await pair.primary.createDatabase('aside');
  const limits = { connectMsMax: 500, queryMsMax: 500, lockMsMax: 1_000 };
  alone = await openServer(
    'postgres',
    { databaseUrl, secret: 's'.repeat(32), role: 'api' },
    Promise.resolve(openPostgres(databaseUrl, () => undefined, limits)),
  );
  const { client } = await tenant(alone);
  await pair.standby.stopServer();
  const create = () => client.post(PAYMENTS, { amount: 1, currency: 'EUR' }, { idempotencyKey: 'without' });
  expect((await create()).status).toBe(503);
  expect((await client.get(PAYMENTS)).body).toMatchObject({ data: [] });
  expect((await create()).status).toBe(503);
  await pair.standby.startServer();
  await synchronous(pair.primary);
  const answer = await vi.waitUntil(async () => {
    const again = await create();
    return again.status === 201 ? again : undefined;
  }, RECOVERY);
  expect((await client.get(PAYMENTS)).body).toMatchObject({ data: [{ id: answer.body.id }] });
  await alone.close();
  alone = undefined;
});

it('kill -9 of the primary loses no acknowledged write, and the server recovers by itself', async () => {
  const endpoints = [endpoint('hook')];
  const box = await openInbox({ hook: () => ({ status: 204, afterMs: 20 }) });
  inbox = box;
  deployment = openDeployment(box, endpoints);
  const server = await deployment.start({ databaseUrl: pair.url });
  const load = startLoad(server.url, 'load');
  await load.acknowledged(PAYMENTS_BEFORE);
  await pair.primary.kill();
  await load.ended;
  expect(load.lost()).toBe(0);
  expectOnlyUnavailable(load.refused);

  // No server accepts writes until the standby is promoted.
  const claims = newClaims('between', 16);
  const between = await Promise.all(
    claims.map(({ key, reference }) => createPayment(server.url, key, reference)),
  );
  expect(new Set(between.map(({ status }) => status))).toEqual(new Set([503]));
  expectOnlyUnavailable(between);
  // The standby is not promoted before all of them are answered: none waits for it.
  expect((await call(`${server.url}/readyz`)).status).toBe(503);

  await pair.promote();
  await vi.waitUntil(
    async () => (await createPayment(server.url, 'key-after', 'ref-after')).status === 201,
    RECOVERY,
  );
  expect((await call(`${server.url}/readyz`)).status).toBe(200);

  const all = [...load.claims, ...claims, { key: 'key-after', reference: 'ref-after' }];
  const counts = await retry(server.url, all);
  await expectListed(server.url, all);
  await allSent(server.url);
  expect(await server.stop()).toBe(0);
  const ids = all.map(({ id }) => String(id));
  const { complaints, ...found } = await queryPostgres(pair.urlOn(pair.standby), async (query) => {
    await expectCompleteRows(query, ids);
    return auditDeliveries(query, {
      ...{ endpoints, arrivals: box.arrivals, acknowledged: ids, refused: new Set<string>() },
      kills: 1,
    });
  });
  expect(complaints.slice(0, 10)).toEqual([]);
  const books = openPostgres(pair.url, () => undefined);
  opened.push(books);
  expect((await verify(books)).checks.flatMap(({ differences }) => differences)).toEqual([]);
  console.log(`failover: ${JSON.stringify(counts)}, ${JSON.stringify(found)}`);
});

it('a server leaves a replaced primary for the promoted one, and does not return to it', async () => {
  const { primary: old, standby: promoted } = pair;
  const hostOf = async (database: Database) => {
    const [row] = await database.query<{ port: string }>(
      { name: '', text: `select current_setting('port') as port` },
      [],
    );
    return Number(row?.port);
  };
  const write = (database: Database) =>
    database.query({ name: '', text: 'insert into tried default values' }, []);
  const make = 'create table if not exists tried (at timestamptz default now())';
  const countTried = (server: typeof old) =>
    queryOnce({ url: pair.urlOn(server) }, 'select count(*)::int as n from tried');
  const open = () => {
    const database = openPostgres(pair.url, () => undefined);
    opened.push(database);
    return database;
  };

  // It does not know that it was replaced, and is not fenced. It no longer waits for a standby.
  await old.startServer();
  await queryOnce(old, 'alter system reset synchronous_standby_names');
  await queryOnce(old, 'select pg_reload_conf()');
  for (const server of [old, promoted]) await queryOnce({ url: pair.urlOn(server) }, make);
  expect(await hostOf(open())).toBe(promoted.port);

  await promoted.stopServer();
  const database = open();
  expect(await hostOf(database)).toBe(old.port);
  await promoted.startServer();
  await queryOnce(old, 'alter system set default_transaction_read_only = on');
  await queryOnce(old, 'select pg_reload_conf()');
  // The setting reaches a connection that is open when it is used next.
  const failure = await vi.waitUntil(() => write(database).then(() => undefined, String), RECOVERY);
  expect(failure).toContain('read-only');
  // PostgreSQL passes a new setting on in the background, so writes may have succeeded until then.
  const rowsOnOld = await countTried(old);
  // The very next write finds the promoted server.
  await write(database);
  expect(await hostOf(database)).toBe(promoted.port);

  await queryOnce(old, 'alter system reset default_transaction_read_only');
  await queryOnce(old, 'select pg_reload_conf()');
  await promoted.stopServer('immediate');
  await expect(write(database)).rejects.toThrow();
  await expect(write(database)).rejects.toThrow();
  await promoted.startServer();
  await vi.waitUntil(
    () =>
      write(database).then(
        () => true,
        () => false,
      ),
    RECOVERY,
  );
  expect(await hostOf(database)).toBe(promoted.port);
  expect(await countTried(old)).toEqual(rowsOnOld);
});
