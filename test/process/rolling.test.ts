import { afterAll, expect, inject, test } from 'vitest';
import type { Query } from '../support/audit.ts';
import { makeNextRelease, NOTE } from '../support/next-release.ts';
import { createDatabase } from '../support/postgres.ts';
import { runToEnd, type ServerProcess } from '../support/processes.ts';
import { listPayments } from './support/client.ts';
import { queryPostgres } from './support/database-rows.ts';
import { auditDeliveries } from './support/delivery-audit.ts';
import { expectSame } from './support/load.ts';
import { type LoadBalancer, openLoadBalancer } from './support/load-balancer.ts';
import { type PaymentClients, startPaymentClients } from './support/payment-clients.ts';
import { acceptImmediately, type Inbox, openInbox } from './support/webhook-receiver.ts';
import {
  allSent,
  type Deployment,
  endpoint,
  expireLeases,
  openDeployment,
} from './support/webhook-servers.ts';

const CLIENTS = 4;
/** Purchases between two steps, each of three requests, so that every node serves many. */
const STEP = 20;
/** The load balancer checks ten times a second; on a busy machine a check takes up to two seconds. */
const DRAIN = { SANDBANK_DRAIN_SECONDS: '4' };

const next = makeNextRelease();
let inbox: Inbox | undefined;
let deployment: Deployment | undefined;
let balancer: LoadBalancer | undefined;

afterAll(async () => {
  await deployment?.remove();
  await inbox?.close();
  await balancer?.close();
  next.remove();
});

test('a rolling upgrade to the next release and a partial rollback fail no request, and killed nodes lose nothing', async () => {
  const endpoints = [endpoint('hook')];
  inbox = await openInbox({ hook: acceptImmediately });
  deployment = openDeployment(inbox, endpoints);
  balancer = await openLoadBalancer();
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const { start } = deployment;
  const startOld = (role: string) => start({ databaseUrl, env: DRAIN }, '--role', role);
  const startNext = (role: string) => start({ databaseUrl, env: DRAIN, root: next.root }, '--role', role);
  const nodes = balancer;
  const addNode = async (node: ServerProcess) => {
    await nodes.add(node.url);
    return node;
  };
  /** Sends SIGTERM; the load balancer notices through /readyz. */
  const removeNode = async (node: ServerProcess) => {
    expect(await node.stop(), node.logs()).toBe(0);
    nodes.remove(node.url);
  };

  const [oldApi, otherOldApi, oldWorker] = await Promise.all([
    startOld('api').then(addNode),
    startOld('api').then(addNode),
    startOld('worker'),
  ]);
  const clients: PaymentClients = startPaymentClients(nodes.url, 'shop', CLIENTS);
  await clients.more(STEP);

  // The first node of the next release migrates the database while the old nodes keep serving.
  const worker = await startNext('worker');
  await clients.more(STEP);
  expect(await oldWorker.stop(), oldWorker.logs()).toBe(0);
  const api = await addNode(await startNext('api'));
  await clients.more(STEP);
  // Both releases serve the same payments.
  for (const { url } of [oldApi, otherOldApi, api]) expect(nodes.answersOf(url)).toBeGreaterThan(STEP / 2);
  await removeNode(oldApi);
  await clients.more(STEP);

  // Rollback: a node of the old release starts on the migrated database and logs that it is newer.
  const rolledBack = await startOld('worker');
  expect(rolledBack.logs()).toContain('migrations of a newer version (9001 notes, 9002 payments_by_note)');
  const otherApi = await addNode(await startNext('api'));
  await removeNode(otherOldApi);
  await clients.more(STEP);
  expect(clients.failures).toEqual([]);

  // Two API nodes and two workers: one of each is killed, and nothing is lost.
  await Promise.all([otherApi.kill(), rolledBack.kill()]);
  await clients.more(STEP);
  await queryPostgres(databaseUrl, expireLeases);
  await clients.stop();
  const unexpected = clients.failures.filter((failure) => !/502|fetch failed/.test(failure));
  expect(unexpected, 'a load balancer responds 502 for a lost node, and nothing else fails').toEqual([]);

  const listed = await listPayments(api.url);
  expectSame(
    listed.map(({ id, reference }) => `${id} ${reference}`),
    clients.purchases.map(({ id, reference }) => `${id} ${reference}`),
  );
  await allSent(api.url, 60_000);
  await Promise.all([removeNode(api), worker.stop()]);
  const found = await queryPostgres(databaseUrl, async (query) => {
    await expectBoth(query);
    const acknowledged = clients.purchases.map(({ id }) => String(id));
    const { arrivals } = inbox ?? { arrivals: [] };
    return auditDeliveries(query, { endpoints, arrivals, acknowledged, refused: new Set(), kills: 1 });
  });
  expect(found.complaints).toEqual([]);
  for (const root of [undefined, next.root]) {
    const { code, stdout } = await runToEnd({ databaseUrl, args: ['verify'], ...(root && { root }) });
    expect(code, stdout).toBe(0);
  }
  console.log(
    `${clients.purchases.length} purchases, ${found.arrivals} webhooks, ${clients.failures.length} requests lost with the killed nodes`,
  );
});

/** Both releases have written, and transitions by the old release preserved the new column. */
async function expectBoth(query: Query): Promise<void> {
  const rows = await query(`select p.note, bool_and(p.status = 'captured') as "isMoved",
      bool_and((select count(*) from state_history h where h.resource_id = p.id) = p.version) as "isWhole",
      bool_and((select count(*) from audit a where a.resource_id = p.id and a.outcome = 'accepted') = 2) as "isAudited"
    from payments p group by 1 order by 1 nulls first`);
  const complete = { isMoved: true, isWhole: true, isAudited: true };
  expect(rows).toEqual([
    { note: null, ...complete },
    { note: NOTE, ...complete },
  ]);
  const [index] = await query(
    `select indisvalid as "isValid" from pg_index where indexrelid = 'payments_by_note'::regclass`,
  );
  expect(index).toEqual({ isValid: true });
}
