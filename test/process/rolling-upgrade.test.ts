/** A rolling upgrade from the previous release, which is built from the history of the repository, and back by one node. */
import { afterAll, describe, expect, inject, test } from 'vitest';
import type { Query } from '../support/audit.ts';
import { createDatabase } from '../support/postgres.ts';
import { hasPreviousRelease, previousRelease } from '../support/previous-release.ts';
import { runToEnd, type ServerProcess } from '../support/processes.ts';
import { call, createPayment, listPayments, PAYMENTS, post, postOk } from './support/client.ts';
import { ConsoleClient } from './support/console-client.ts';
import { queryPostgres } from './support/database-rows.ts';
import { auditDeliveries } from './support/delivery-audit.ts';
import { expectSame } from './support/load.ts';
import { type LoadBalancer, openLoadBalancer } from './support/load-balancer.ts';
import { type PaymentClients, startPaymentClients } from './support/payment-clients.ts';
import { acceptImmediately, type Inbox, openInbox } from './support/webhook-receiver.ts';
import { allSent, type Deployment, endpoint, openDeployment } from './support/webhook-servers.ts';

const CLIENTS = 4;
/** Purchases between two steps, each of three requests. */
const STEP = 15;
const WEBHOOKS = '/_api/developer_api_webhooks';

describe.skipIf(!hasPreviousRelease())('a rolling upgrade (skipped without the history)', () => {
  let inbox: Inbox | undefined;
  let deployment: Deployment | undefined;
  let balancer: LoadBalancer | undefined;

  afterAll(async () => {
    await deployment?.remove();
    await inbox?.close();
    await balancer?.close();
  });

  test('from the previous release, and a rollback, fail no request and lose and repeat nothing', async () => {
    const previous = await previousRelease();
    const endpoints = [endpoint('hook')];
    inbox = await openInbox({ hook: acceptImmediately });
    deployment = openDeployment(inbox, endpoints);
    balancer = await openLoadBalancer();
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const { start } = deployment;
    const nodes = balancer;
    const env = { SANDBANK_REGISTRATION: 'open' };
    const addNode = async (root?: string) => {
      const node = await start({ databaseUrl, env, ...(root !== undefined && { root }) });
      await nodes.add(node.url);
      return node;
    };
    /** 0.1.0 has no SANDBANK_DRAIN_SECONDS, so the load balancer stops sending requests before the node gets SIGTERM. */
    const removeNode = async (node: ServerProcess) => {
      await nodes.drain(node.url);
      expect(await node.stop(), node.logs()).toBe(0);
      nodes.remove(node.url);
    };

    const [first, second] = await Promise.all([addNode(previous), addNode(previous)]);
    const clients: PaymentClients = startPaymentClients(nodes.url, 'shop', CLIENTS);
    await clients.more(STEP);

    const migrated = await runToEnd({ databaseUrl, args: ['migrate'] });
    expect(migrated.code, migrated.stderr).toBe(0);
    await clients.more(STEP);

    const third = await addNode();
    await clients.more(STEP);
    for (const { url } of [first, second, third]) expect(nodes.answersOf(url)).toBeGreaterThan(STEP / 2);
    const extra = await expectCompatible(first, third);
    await removeNode(first);
    const fourth = await addNode();
    await clients.more(STEP);

    const rolledBack = await addNode(previous);
    await clients.more(STEP);
    expect(nodes.answersOf(rolledBack.url)).toBeGreaterThan(STEP / 2);
    await removeNode(rolledBack);
    await removeNode(second);
    await clients.more(STEP);
    await clients.stop();
    expect(clients.failures).toEqual([]);

    const listed = await listPayments(fourth.url);
    const expected = [...clients.purchases.map(({ id, reference }) => `${id} ${reference}`), ...extra];
    expectSame(
      listed.map(({ id, reference }) => `${id} ${reference}`),
      expected,
    );
    await allSent(fourth.url, 60_000);
    await Promise.all([removeNode(third), removeNode(fourth)]);
    const found = await queryPostgres(databaseUrl, async (query) => {
      await expectCaptured(query);
      const { arrivals } = inbox ?? { arrivals: [] };
      const acknowledged = expected.map((line) => line.split(' ')[0] ?? '');
      return auditDeliveries(query, { endpoints, arrivals, acknowledged, refused: new Set(), kills: 0 });
    });
    expect(found.complaints).toEqual([]);
    expect(found.extra).toBe(0);
    for (const root of [undefined, previous]) {
      const { code, stdout } = await runToEnd({ databaseUrl, args: ['verify'], ...(root && { root }) });
      expect(code, stdout).toBe(0);
    }
  });
});

/** What docs/upgrading.md says about nodes of both releases. Returns the payments that it created, with their references. */
async function expectCompatible(old: ServerProcess, next: ServerProcess): Promise<readonly string[]> {
  // A response of the old node is replayed by the new one, byte by byte.
  const byOld = await createPayment(old.url, 'by-old', 'by-old');
  expect(await createPayment(next.url, 'by-old', 'by-old')).toMatchObject({
    status: 201,
    text: byOld.text,
    isReplay: true,
  });
  // The old node cannot read a response of the new one, and does not execute the request a second time.
  const byNew = await createPayment(next.url, 'by-new', 'by-new');
  const repeated = await createPayment(old.url, 'by-new', 'by-new');
  expect([repeated.status, repeated.body.error]).toEqual([
    409,
    expect.objectContaining({ code: 'idempotency_in_progress' }),
  ]);
  expect(Number(repeated.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await createPayment(next.url, 'by-new', 'by-new')).toMatchObject({
    text: byNew.text,
    isReplay: true,
  });
  for (const [{ url }, { body }] of [
    [old, byNew],
    [next, byOld],
  ] as const)
    await postOk(`${url}${PAYMENTS}/${String(body.id)}/advance`, { to: 'captured' });

  // A session of one node is valid at the other; an invitation of the old node is not.
  for (const [one, other] of [
    [old, next],
    [next, old],
  ] as const) {
    const person = await ConsoleClient.signUp(one.url);
    expect(await person.at(other.url).get('session')).toMatchObject({ person: { email: person.email } });
  }
  const owner = await ConsoleClient.signUp(old.url);
  const { id: orgId } = await owner.post('session/organizations', { name: 'Initrode' });
  const offered = async (node: ServerProcess) => {
    const { url } = await owner.at(node.url).post(`${orgId}/invitations`, { role: 'viewer' });
    const token = String(url).split('/').at(-1);
    const { status } = await fetch(`${next.url}/console/api/session/invitations/${token}`);
    return status;
  };
  expect([await offered(next), await offered(old)]).toEqual([200, 404]);

  // The old node creates a delivery for an endpoint that the new one deletes; `allSent` waits until it has ended.
  const { id } = await postOk(next.url + WEBHOOKS, { url: 'http://127.0.0.1:9/', retryProfile: 'standard' });
  const atOld = await createPayment(old.url, 'before-deletion', 'before-deletion');
  await postOk(`${next.url}${WEBHOOKS}/${String(id)}/delete`, {});
  const deleted = await call(`${next.url}${WEBHOOKS}/${String(id)}`);
  expect(deleted.body.status).toBe('deleted');
  const after = await createPayment(old.url, 'after-deletion', 'after-deletion');
  const all = [byOld, byNew, atOld, after];
  for (const { body } of [atOld, after]) {
    const path = `${PAYMENTS}/${String(body.id)}/advance`;
    expect((await post(old.url + path, { to: 'captured' })).status).toBe(200);
  }
  return all.map(({ body }) => `${String(body.id)} ${String(body.reference)}`);
}

/** Every payment is captured once: its history, its events and its audit trail have two rows, whichever nodes wrote them. */
async function expectCaptured(query: Query): Promise<void> {
  const rows = await query(`select p.id from payments p where p.status <> 'captured'
    or (select count(*) from state_history h where h.resource_id = p.id) <> p.version
    or (select count(*) from events e where e.resource_id = p.id) <> 2
    or (select count(*) from audit a where a.resource_id = p.id and a.outcome = 'accepted') <> 2`);
  expect(rows).toEqual([]);
}
