import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import { organizationTables, tablesOf } from '../../src/engine/organization-tables.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { countRows, populate, settle } from '../operator/populate.ts';
import { type ApiClient, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const path = 'developer_api_reset';
const payments = 'developer_api_payments';
/** These tests do much work, and the machine may be busy. */
const loadTimeoutMs = 180_000;
const writes = scopes.filter((scope) => scope.endsWith(':write'));

async function expectConsistent({ database }: Server): Promise<void> {
  const { checks } = await verify(database);
  expect(checks.flatMap(({ name, differences }) => differences.map((one) => ({ name, ...one })))).toEqual([]);
}

/** Rows whose record does not exist, left by a partially deleted or partially written batch. */
const orphans = `
  select 'history' as what, h.resource_id as id from state_history h where h.org_id = $1
    and h.resource in ('payment', 'customer', 'refund', 'dispute', 'transfer') and not exists (
    select from payments p where p.org_id = h.org_id and p.id = h.resource_id
    union all select from customers c where c.org_id = h.org_id and c.id = h.resource_id
    union all select from refunds r where r.org_id = h.org_id and r.id = h.resource_id
    union all select from disputes d where d.org_id = h.org_id and d.id = h.resource_id
    union all select from transfers t where t.org_id = h.org_id and t.id = h.resource_id)
  union all select 'customer', p.id from payments p where p.org_id = $1 and p.customer_id is not null
    and not exists (select from customers c where c.org_id = p.org_id and c.id = p.customer_id)
  union all select 'refund', r.id from refunds r where r.org_id = $1
    and not exists (select from payments p where p.org_id = r.org_id and p.id = r.payment_id)
  union all select 'entry', e.id from ledger_entries e where e.org_id = $1 and e.payment_id is not null
    and not exists (select from payments p where p.org_id = e.org_id and p.id = e.payment_id)
  union all select 'provider event', e.id from provider_events e where e.org_id = $1 and e.payment_id is not null
    and not exists (select from payments p where p.org_id = e.org_id and p.id = e.payment_id)
  union all select 'timer', t.id from timers t where t.org_id = $1 and t.resource = 'payment'
    and not exists (select from payments p where p.org_id = t.org_id and p.id = t.id)
  union all select 'delivery', d.id from deliveries d where d.org_id = $1
    and not exists (select from events e where e.org_id = d.org_id and e.id = d.event_id)
  union all select 'attempt', a.delivery_id from delivery_attempts a where a.org_id = $1
    and not exists (select from deliveries d where d.org_id = a.org_id and d.id = a.delivery_id)`;

async function expectNoOrphans({ database }: Server, orgId: string): Promise<void> {
  expect(await database.query({ name: '', text: orphans }, [orgId])).toEqual([]);
}

describe.each(databaseKinds)('reset on %s', (kind) => {
  let server: Server;
  let receiver: Receiver;
  beforeAll(async () => {
    // A separate server: the tests verify the whole database, and other files fill the shared one.
    server = await openServer(kind);
    receiver = await openReceiver();
  });
  afterAll(async () => {
    await receiver?.close();
    await server?.close();
  });

  describe('200', () => {
    let acme: Tenant;
    let otherOrg: Tenant;
    let before: Readonly<Record<string, number>>;
    let after: Readonly<Record<string, number>>;
    let foreign: Readonly<Record<string, number>>;
    let deleted: Readonly<Record<string, number>>;
    let olderRequests: readonly unknown[];
    const all = organizationTables.map(({ name }) => name);

    beforeAll(async () => {
      [acme, otherOrg] = [await tenant(server), await tenant(server)];
      for (const { client, orgId } of [acme, otherOrg]) {
        await populate(client, receiver.url);
        await settle(server, orgId);
      }
      await acme.client.post('developer_api_clock/advance', { seconds: 86_400 });
      await acme.client.post('developer_api_clock/freeze');
      await settle(server, acme.orgId);
      await server.requestLog.flush();
      before = await countRows(server, acme.orgId, all);
      foreign = await countRows(server, otherOrg.orgId, tablesOf('configuration', 'record'));
      const { status, body, text } = await acme.client.post(path);
      expect(status, text).toBe(200);
      expect(body).toMatchObject({ object: 'reset', sandbox: true, status: 'ok' });
      deleted = body.deleted as typeof deleted;
      after = await countRows(server, acme.orgId, all);
      // A request is logged after its response: the reset itself may already be there.
      olderRequests = await server.database.query(
        { name: '', text: 'select method, path from requests where org_id = $1 and path <> $2' },
        [acme.orgId, `/_api/${path}`],
      );
    });

    test.each(tablesOf('record').filter((name) => name !== 'state_history'))(
      '%s: all rows are deleted',
      (table) => {
        expect(before[table], `create a record of ${table} in test/operator/populate.ts`).toBeGreaterThan(0);
        expect(after[table]).toBe(0);
        const name = table.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
        expect(deleted[name]).toBe(before[table]);
      },
    );

    test('deletes the history of deleted records, and retains the history of the others', async () => {
      const rows = await server.database.query<{ resource: string; events: number }>(
        {
          name: '',
          text: `select resource, count(event_id)::integer as events from state_history where org_id = $1 group by 1 order by 1`,
        },
        [acme.orgId],
      );
      expect(rows.map(({ resource }) => resource)).toEqual([
        'api_key',
        'application',
        'clock',
        'organization',
        'webhook',
      ]);
      expect(rows.every(({ events }) => events === 0)).toBe(true);
    });

    test.each(['organizations', 'applications', 'api_keys', 'webhooks', 'clocks', 'audit'])(
      '%s: retained',
      (table) => {
        expect(before[table]).toBeGreaterThan(0);
        expect(after[table]).toBeGreaterThanOrEqual(before[table] ?? 0);
      },
    );

    test('deletes all stored responses except its own, and the logged requests', async () => {
      expect(before.idempotency).toBeGreaterThan(10);
      expect(after.idempotency).toBe(1);
      expect(before.requests).toBeGreaterThan(10);
      expect(olderRequests).toEqual([]);
    });

    test('the clock shows real time, and webhooks are enabled or disabled as before', async () => {
      expect((await acme.client.get('developer_api_clock')).body).toMatchObject({
        status: 'running',
        offsetSeconds: 0,
      });
      const { data } = (await acme.client.get('developer_api_webhooks')).body;
      expect(data.map(({ status }) => status).sort()).toEqual(['disabled', 'enabled']);
    });

    test('another organization retains all rows', async () => {
      expect(await countRows(server, otherOrg.orgId, tablesOf('configuration', 'record'))).toEqual(foreign);
    });

    test('the ledger is consistent, and the organization can be used again', async () => {
      await expectConsistent(server);
      const { id } = (await acme.client.post(payments, { amount: 500, currency: 'EUR' })).body;
      await acme.client.post(`${payments}/${id}/advance`, { to: 'settled' });
      const { ledger_balances: balances } = await countRows(server, acme.orgId, ['ledger_balances']);
      expect(balances).toBeGreaterThan(0);
      await expectConsistent(server);
      await expectNoOrphans(server, acme.orgId);
    });

    test('is in the audit log', async () => {
      const rows = await server.database.query(
        {
          name: '',
          text: `select actor_kind, outcome from audit where org_id = $1 and action = 'organizations.reset'`,
        },
        [acme.orgId],
      );
      expect(rows).toEqual([{ actor_kind: 'api_key', outcome: 'accepted' }]);
    });
  });

  test('the same request again returns the first response, and deletes nothing', async () => {
    const { client } = await tenant(server);
    await client.post(payments, { amount: 1, currency: 'EUR' });
    const idempotencyKey = randomUUID();
    const first = await client.post(path, undefined, { idempotencyKey });
    expect(first.body.deleted).toMatchObject({ payments: 1 });
    await client.post(payments, { amount: 2, currency: 'EUR' });
    const second = await client.post(path, undefined, { idempotencyKey });
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await client.get(payments)).body.data).toHaveLength(1);
    const other = await client.post(payments, { amount: 2, currency: 'EUR' }, { idempotencyKey });
    expect(other.code).toBe('idempotency_key_reused');
  });

  test('an earlier idempotency key can be reused for any request', async () => {
    const { client } = await tenant(server);
    const idempotencyKey = randomUUID();
    await client.post(payments, { amount: 1, currency: 'EUR' }, { idempotencyKey });
    await client.post(path);
    const again = await client.post(payments, { amount: 7, currency: 'USD' }, { idempotencyKey });
    expect(again.body).toMatchObject({ amount: 7, status: 'pending' });
    expect(again.headers['idempotent-replayed']).toBeUndefined();
  });

  test.each(writes)('403: a key without %s', async (missing) => {
    const { client } = await tenant(server, { scopes: scopes.filter((scope) => scope !== missing) });
    const { code, body } = await client.post(path);
    expect(code).toBe('scope_missing');
    expect(body.error.details).toEqual({ scope: missing });
  });

  test('400: a body, no idempotency key; 401: no API key; 405: GET', async () => {
    const { client, clientOn } = await tenant(server);
    expect((await client.post(path, { hard: true })).code).toBe('invalid_request');
    expect((await client.post(path, undefined, { idempotencyKey: null })).code).toBe(
      'idempotency_key_missing',
    );
    const headers = { authorization: null };
    expect((await clientOn(server.app).post(path, undefined, { headers })).code).toBe('api_key_missing');
    expect((await client.get(path)).code).toBe('method_not_allowed');
  });

  test('409 while the clock of any application is being advanced; then it works', async () => {
    const acme = await tenant(server);
    const other = await acme.addKey({ application: 'mobile' });
    let answer: () => void = () => undefined;
    const received = new Promise<void>((resolve) => {
      void openReceiver((_received, response) => {
        answer = () => response.writeHead(204).end();
        resolve();
      }).then((slow) => {
        slowReceiver = slow;
      });
    });
    let slowReceiver: Receiver | undefined;
    while (!slowReceiver) await new Promise((resolve) => setImmediate(resolve));
    await other.client.post('developer_api_webhooks', { url: slowReceiver.url });
    await other.client.post(payments, { amount: 10, currency: 'EUR' });
    const advance = other.client.post('developer_api_clock/advance', { seconds: 60 });
    await received;
    const refused = await acme.client.post(path);
    expect(refused.code).toBe('clock_advancing');
    expect(refused.headers['retry-after']).toBe('1');
    expect((await acme.client.get(payments)).body.data).toHaveLength(1);
    answer();
    expect((await advance).body).toMatchObject({ complete: true });
    expect((await acme.client.post(path)).body.deleted).toMatchObject({ payments: 1 });
    await slowReceiver.close();
  });

  test('a delivery in flight during the reset leaves no rows behind', async () => {
    const { client, orgId } = await tenant(server);
    const answers: (() => void)[] = [];
    const slow = await openReceiver((_received, response) => {
      answers.push(() => response.writeHead(204).end());
    });
    await client.post('developer_api_webhooks', { url: slow.url, maxConcurrency: 2 });
    const requests = Array.from({ length: 10 }, () => client.post(payments, { amount: 1, currency: 'EUR' }));
    await Promise.all(requests);
    await slow.waitFor(2);
    expect((await client.post(path)).body.deleted).toMatchObject({ events: 10, deliveries: 10 });
    for (const answer of answers) answer();
    slow.answer((_received, response) => response.writeHead(204).end());
    // An event created now is sent after all pending ones.
    await client.post('developer_api_customers', { name: 'Ada' });
    await settle(server, orgId);
    const types = slow.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(types.filter((type) => type === 'payment.created').length).toBeLessThanOrEqual(2);
    expect(types).toContain('customer.created');
    await expectNoOrphans(server, orgId);
    await expectConsistent(server);
    await slow.close();
  });

  test('a webhook test in progress returns 404 after the reset', async () => {
    const { client, orgId } = await tenant(server);
    let answer: () => void = () => undefined;
    const slow = await openReceiver((_received, response) => {
      answer = () => response.writeHead(204).end();
    });
    const { id } = (await client.post('developer_api_webhooks', { url: slow.url })).body;
    const testing = client.post(`developer_api_webhooks/${id}/test`);
    await slow.waitFor(1);
    expect((await client.post(path)).status).toBe(200);
    answer();
    expect((await testing).code).toBe('resource_not_found');
    await expectNoOrphans(server, orgId);
    await slow.close();
  });

  test('resets under concurrent load leave no partial data', { timeout: loadTimeoutMs }, async () => {
    const acme = await tenant(server);
    await acme.client.post('developer_api_webhooks', { url: receiver.url });
    await runUnderLoad([acme.client], acme.client, 32, 6);
    await settle(server, acme.orgId);
    await expectNoOrphans(server, acme.orgId);
    await expectConsistent(server);
  });
});

test('resets from two nodes under concurrent load leave no partial data', {
  timeout: loadTimeoutMs,
}, async () => {
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const secret = 'the shared secret of both nodes, for this test';
  const nodes = [
    await openServer('postgres', { databaseUrl, secret }),
    await openServer('postgres', { databaseUrl, secret }),
  ] as const;
  const receiver = await openReceiver();
  const acme = await tenant(nodes[0]);
  await acme.client.post('developer_api_webhooks', { url: receiver.url });
  const clients = nodes.map(({ app }) => acme.clientOn(app));
  await runUnderLoad(clients, acme.clientOn(nodes[1].app), 32, 10);
  await settle(nodes[0], acme.orgId);
  await expectNoOrphans(nodes[0], acme.orgId);
  await expectConsistent(nodes[0]);
  for (const node of nodes) await node.close();
  await receiver.close();
});

/** Clients create and advance records, replay events and reference customers while resets run repeatedly. */
async function runUnderLoad(
  clients: readonly ApiClient[],
  resetClient: ApiClient,
  count: number,
  resets: number,
): Promise<void> {
  let isOver = false;
  let created = 0;
  const seen = new Set<number>();
  const work = async (n: number): Promise<void> => {
    const client = clients[n % clients.length];
    const send = async (at: string, body?: unknown): Promise<string | undefined> => {
      const answer = await client?.post(at, body);
      seen.add(answer?.status ?? 0);
      // Records can disappear at any time, and requests for them get an error; no other failure is allowed.
      expect([200, 201, 404, 409, 422, 503], answer?.text).toContain(answer?.status);
      return answer && answer.status < 300 ? answer.body.id : undefined;
    };
    while (!isOver) {
      const customerId = await send('developer_api_customers', { name: 'Ada' });
      const body = { amount: 100, currency: 'EUR', ...(customerId === undefined ? {} : { customerId }) };
      const id = await send(payments, body);
      if (id === undefined) continue;
      created += 1;
      await send(`${payments}/${id}/advance`, { to: n % 2 === 0 ? 'settled' : 'authorized' });
      if (n % 4 === 0) await send(`${payments}/${id}/refund`, { amount: 10 });
      if (n % 8 === 0) {
        const events = (await client?.get('developer_api_webhook_events', 'limit=1'))?.body.data ?? [];
        if (events[0]) await send(`developer_api_webhook_events/${events[0].id}/replay`);
      }
    }
  };
  const working = Array.from({ length: count }, (_, n) => work(n));
  const ended = Promise.all(working);
  for (let done = 0; done < resets; ) {
    // Each reset deletes existing records; otherwise the test would prove nothing.
    for (const until = created + count / 2; created < until; )
      await Promise.race([new Promise((resolve) => setImmediate(resolve)), ended]);
    const { status, text } = await resetClient.post(path);
    expect([200, 503], text).toContain(status);
    if (status === 200) done += 1;
  }
  isOver = true;
  await ended;
  expect([...seen]).toContain(201);
}

test('covers exactly the error codes listed for this file', () => {
  const optionalCodes = ['service_unavailable', 'resource_not_found', 'customer_not_found'];
  const seen = [...seenCodes].filter((code) => !optionalCodes.includes(code)).sort();
  expect(seen).toEqual(expectedErrorCodes.reset);
});
