import { afterAll, expect, inject, test } from 'vitest';
import type { Query } from '../support/audit.ts';
import { makeNextRelease, NOTE } from '../support/next-release.ts';
import { createDatabase } from '../support/postgres.ts';
import { runToEnd, type ServerProcess } from '../support/processes.ts';
import { type Balancer, openBalancer } from './balancer.ts';
import { type Shoppers, startShoppers } from './shoppers.ts';
import { listPayments } from './support/client.ts';
import { queryPostgres } from './support/database-rows.ts';
import { auditDeliveries } from './support/delivery-audit.ts';
import { expectSame } from './support/load.ts';
import { atOnce, type Inbox, openInbox } from './support/webhook-receiver.ts';
import { allSent, endpoint, expireLeases, type Home, openHome } from './support/webhook-servers.ts';

const CLIENTS = 4;
/** Purchases between two steps, each of three requests: every node has its turn many times. */
const STEP = 20;
/** The balancer checks ten times a second; on a busy machine a check takes up to two seconds. */
const DRAIN = { SANDBANK_DRAIN_SECONDS: '4' };

const next = makeNextRelease();
let inbox: Inbox | undefined;
let home: Home | undefined;
let balancer: Balancer | undefined;

afterAll(async () => {
  await home?.remove();
  await inbox?.close();
  await balancer?.close();
  next.remove();
});

test('nodes are replaced by those of the next release without one failed request, and any of them may be killed', async () => {
  const endpoints = [endpoint('hook')];
  inbox = await openInbox({ hook: atOnce });
  home = openHome(inbox, endpoints);
  balancer = await openBalancer();
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const { start } = home;
  const startOld = (role: string) => start({ databaseUrl, env: DRAIN }, '--role', role);
  const startNext = (role: string) => start({ databaseUrl, env: DRAIN, root: next.root }, '--role', role);
  const door = balancer;
  const enter = async (node: ServerProcess) => {
    await door.add(node.url);
    return node;
  };
  /** SIGTERM; the balancer finds out by itself. */
  const leave = async (node: ServerProcess) => {
    expect(await node.stop(), node.logs()).toBe(0);
    door.remove(node.url);
  };

  const [oldApi, otherOldApi, oldWorker] = await Promise.all([
    startOld('api').then(enter),
    startOld('api').then(enter),
    startOld('worker'),
  ]);
  const shoppers: Shoppers = startShoppers(door.url, 'shop', CLIENTS);
  await shoppers.more(STEP);

  // The first node of the next release migrates under the feet of the old ones, which go on.
  const worker = await startNext('worker');
  await shoppers.more(STEP);
  expect(await oldWorker.stop(), oldWorker.logs()).toBe(0);
  const api = await enter(await startNext('api'));
  await shoppers.more(STEP);
  // Both releases serve the same payments.
  for (const { url } of [oldApi, otherOldApi, api]) expect(door.answersOf(url)).toBeGreaterThan(STEP / 2);
  await leave(oldApi);
  await shoppers.more(STEP);

  // And back again: a node of the old release starts on the migrated database, and says so.
  const back = await startOld('worker');
  expect(back.logs()).toContain('migrations of a newer version (9001 notes, 9002 payments_by_note)');
  const otherApi = await enter(await startNext('api'));
  await leave(otherOldApi);
  await shoppers.more(STEP);
  expect(shoppers.failures).toEqual([]);

  // Two API nodes and two workers: one of each is killed, and nothing is lost.
  await Promise.all([otherApi.kill(), back.kill()]);
  await shoppers.more(STEP);
  await queryPostgres(databaseUrl, expireLeases);
  await shoppers.stop();
  const killed = shoppers.failures.filter((words) => !/502|fetch failed/.test(words));
  expect(killed, 'a balancer that lost its node says 502, and nothing else fails').toEqual([]);

  const listed = await listPayments(api.url);
  expectSame(
    listed.map(({ id, reference }) => `${id} ${reference}`),
    shoppers.purchases.map(({ id, reference }) => `${id} ${reference}`),
  );
  await allSent(api.url, 60_000);
  await Promise.all([leave(api), worker.stop()]);
  const found = await queryPostgres(databaseUrl, async (query) => {
    await expectBoth(query);
    const acknowledged = shoppers.purchases.map(({ id }) => String(id));
    const { arrivals } = inbox ?? { arrivals: [] };
    return auditDeliveries(query, { endpoints, arrivals, acknowledged, refused: new Set(), kills: 1 });
  });
  expect(found.complaints).toEqual([]);
  for (const root of [undefined, next.root]) {
    const { code, stdout } = await runToEnd({ databaseUrl, args: ['verify'], ...(root && { root }) });
    expect(code, stdout).toBe(0);
  }
  console.log(
    `${shoppers.purchases.length} purchases, ${found.arrivals} webhooks, ${shoppers.failures.length} requests lost with the killed nodes`,
  );
});

/** Both releases have written, and what the new one wrote into its column outlived moves by the old one. */
async function expectBoth(query: Query): Promise<void> {
  const made = await query(`select p.note, bool_and(p.status = 'captured') as "isMoved",
      bool_and((select count(*) from state_history h where h.resource_id = p.id) = p.version) as "isWhole",
      bool_and((select count(*) from audit a where a.resource_id = p.id and a.outcome = 'accepted') = 2) as "isAudited"
    from payments p group by 1 order by 1 nulls first`);
  const whole = { isMoved: true, isWhole: true, isAudited: true };
  expect(made).toEqual([
    { note: null, ...whole },
    { note: NOTE, ...whole },
  ]);
  const [index] = await query(
    `select indisvalid as "isValid" from pg_index where indexrelid = 'payments_by_note'::regclass`,
  );
  expect(index).toEqual({ isValid: true });
}
