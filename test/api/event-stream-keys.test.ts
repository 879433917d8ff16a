import { afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';
import { type Listener, listenTo, soon } from '../support/listener.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openReceiver } from '../support/receiver.ts';
import { databaseKinds, openServer, sharedServer } from '../support/server.ts';
import { type KeyHolder, type Tenant, tenant } from '../support/tenant.ts';

const events = 'developer_api_webhook_events';
const payments = 'developer_api_payments';
const small = { amount: 100, currency: 'EUR' };

describe.each(databaseKinds)('the event stream for API keys on %s', (kind) => {
  let server: Server;
  let url: string;
  let acme: Tenant;
  const open = new Set<Listener>();

  beforeAll(async () => {
    server = await sharedServer(kind);
    url = await server.listen();
    acme = await tenant(server);
  });
  afterEach(() => {
    for (const listener of open) listener.close();
    open.clear();
  });

  async function listen(
    { key }: Pick<KeyHolder, 'key'> = acme,
    query = '',
    headers: Record<string, string> = {},
    at = url,
  ): Promise<Listener> {
    const listener = await listenTo(`${at}/_api/${events}/stream${query}`, {
      authorization: `Bearer ${key}`,
      ...headers,
    });
    open.add(listener);
    return listener;
  }
  const pay = async ({ client }: KeyHolder = acme) => (await client.post(payments, small)).body.id;
  const resourceIds = (listener: Listener) => listener.sent('event').map(({ data }) => data.resourceId);

  test('a fault plan affects a stream when it opens: an error, a lost connection, then latency', async () => {
    const org = await tenant(server);
    const plan = async (fault: object) =>
      (
        await org.client.post('developer_api_fault_plans', {
          on: 'requests',
          fault,
          count: 1,
          operations: ['streamWebhookEvents'],
        })
      ).body.id;
    const open = () =>
      fetch(`${url}/_api/${events}/stream`, { headers: { authorization: `Bearer ${org.key}` } });
    const first = await plan({ type: 'error', code: 'service_unavailable', retryAfterSeconds: 3 });
    const refused = await open();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('sandbank-fault')).toBe(first);
    expect(refused.headers.get('retry-after')).toBe('3');
    await refused.text();
    for (const type of ['reset_connection', 'lose_answer']) {
      const id = await plan({ type });
      await expect(open()).rejects.toThrow('fetch failed');
      expect((await org.client.get(`developer_api_fault_plans/${id}`)).body).toMatchObject({
        status: 'exhausted',
        seen: 1,
        applied: 1,
      });
    }
    const delayed = await plan({ type: 'latency', delayMs: 1 });
    const listener = await listen(org);
    expect(listener.response.headers['sandbank-fault']).toBe(delayed);
    const id = await pay(org);
    await soon(() => expect(resourceIds(listener)).toEqual([id]));
  });

  test('sends new events as the API returns them, with the headers of every response', async () => {
    await pay();
    const listener = await listen();
    const { headers, statusCode } = listener.response;
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(headers['request-id']).toMatch(/^req_/);
    expect(headers['api-version']).toBe('2026-11-15');
    const id = await pay();
    await soon(() => expect(resourceIds(listener)).toEqual([id]));
    const [sent] = listener.sent('event');
    const { requestId: _requestId, ...shown } = (await acme.client.get(`${events}/${sent?.data.id}`)).body;
    expect(sent).toEqual({ id: shown.id, event: 'event', data: shown });
  });

  test("sends only events about the key's application, even when another application advances the record", async () => {
    const other = await acme.addKey({ application: 'other' });
    const otherOrg = await tenant(server);
    const listener = await listen(other);
    await pay();
    await pay(otherOrg);
    const ownPayment = await pay(other);
    await acme.client.post(`${payments}/${ownPayment}/advance`, { to: 'authorized' });
    await soon(() => expect(resourceIds(listener)).toEqual([ownPayment, ownPayment]));
    expect(listener.sent().map(({ data }) => data.applicationId)).toEqual([other.appId, other.appId]);
  });

  test('sends only the requested event types', async () => {
    const listener = await listen(acme, '?eventTypes=customer.*,payment.authorized');
    const { id: customerId } = (await acme.client.post('developer_api_customers', { name: 'Ada' })).body;
    const id = await pay();
    await acme.client.post(`${payments}/${id}/advance`, { to: 'authorized' });
    await acme.client.post(`developer_api_customers/${customerId}/archive`);
    await soon(() =>
      expect(listener.sent().map(({ data }) => data.type)).toEqual([
        'customer.created',
        'payment.authorized',
        'customer.archived',
      ]),
    );
  });

  test('resumes after Last-Event-ID, within its filter and its application', async () => {
    const org = await tenant(server);
    const other = await org.addKey({ application: 'other' });
    const first = await listen(org, '?eventTypes=payment.*');
    await pay(org);
    await soon(() => expect(first.sent()).toHaveLength(1));
    const lastId = first.sent()[0]?.id ?? '';
    first.close();
    const missed = await pay(org);
    await pay(other);
    await org.client.post('developer_api_customers', { name: 'Ada' });
    const again = await listen(org, '?eventTypes=payment.*', { 'last-event-id': lastId });
    const next = await pay(org);
    await soon(() => expect(resourceIds(again)).toEqual([missed, next]));
  });

  test('sends a replayed event again, even if no endpoint matches it, without an id to resume from', async () => {
    const listener = await listen();
    const other = await listen(await acme.addKey({ application: 'other' }));
    const id = await pay();
    await soon(() => expect(listener.sent('event')).toHaveLength(1));
    const [event] = listener.sent('event');
    for (const times of [1, 2]) {
      const { status } = await acme.client.post(`${events}/${event?.data.id}/replay`);
      expect(status).toBe(200);
      await soon(() => expect(listener.sent('replay')).toHaveLength(times));
    }
    expect(listener.sent('replay')[1]).toEqual({ id: undefined, event: 'replay', data: event?.data });
    expect(resourceIds(listener)).toEqual([id]);
    expect(other.sent()).toEqual([]);
  });

  test('sends each event of a time range replay once, regardless of the number of endpoints', async () => {
    const org = await tenant(server);
    const receiver = await openReceiver();
    for (const _endpoint of [1, 2])
      await org.client.post('developer_api_webhooks', { url: receiver.url, eventTypes: ['payment.*'] });
    const ids = [await pay(org), await pay(org)];
    const listener = await listen(org, '?eventTypes=payment.created');
    const window = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', select: 'all' };
    const dry = await org.client.post('developer_api_webhook_deliveries/replay', { ...window, dryRun: true });
    expect(dry.body.matched).toBe(4);
    const done = await org.client.post('developer_api_webhook_deliveries/replay', window);
    expect(done.body).toMatchObject({ status: 'completed', replayed: 4 });
    const last = await pay(org);
    await soon(() => expect(resourceIds(listener)).toEqual([last]));
    await soon(() => expect(listener.sent('replay').map(({ data }) => data.resourceId)).toEqual(ids));
    await receiver.close();
  });

  test('rejects invalid requests before it starts streaming', async () => {
    const path = `${events}/stream`;
    const { client } = acme;
    const rejected = await client.get(path, 'eventTypes=payment.*,payment.paid');
    expect(rejected.body.error).toMatchObject({ code: 'invalid_request', param: 'eventTypes' });
    expect(rejected.body.error.message).toContain('payment.paid');
    for (const query of ['eventTypes=', 'eventTypes=payment.*,', 'eventTypes=*&eventTypes=*', 'types=*'])
      expect((await client.get(path, query)).code, query).toBe('invalid_request');
    expect((await client.post(path, {})).code).toBe('method_not_allowed');
    const head = await client.send(path, { method: 'HEAD' });
    expect([head.status, head.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const withoutRead = await acme.addKey({ scopes: scopes.filter((one) => one !== 'webhooks:read') });
    expect((await withoutRead.client.get(path)).code).toBe('scope_missing');
  });

  test('is limited per key, and accepts another stream when one closes', async () => {
    const org = await tenant(server);
    const all = await Promise.all(Array.from({ length: 10 }, () => listen(org)));
    const refused = await org.client.get(`${events}/stream`);
    expect(refused.code).toBe('service_unavailable');
    expect(refused.headers['retry-after']).toBe('10');
    all[0]?.close();
    await soon(async () => {
      const next = await listen(org);
      expect(next.response.statusCode).toBe(200);
    });
  });

  test.each(['revoked', 'expired', 'without the scope'])('ends when the key is %s', async (keyChange) => {
    const org = await tenant(server);
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const holder = await org.addKey(keyChange === 'expired' ? { expiresAt } : {});
    const listener = await listen(holder);
    const otherListener = await listen(org);
    await pay(org);
    await soon(() => expect(listener.sent()).toHaveLength(1));
    if (keyChange === 'revoked') await org.addKey({ key: holder.key, revoked: true });
    if (keyChange === 'without the scope') await org.addKey({ key: holder.key, scopes: ['payments:read'] });
    await listener.end;
    const id = await pay(org);
    await soon(() => expect(resourceIds(otherListener)).toContain(id));
    expect(resourceIds(listener)).not.toContain(id);
    const again = await listen(holder);
    expect([401, 403]).toContain(again.response.statusCode);
  });

  test('is in the request log as soon as it is open', async () => {
    const org = await tenant(server);
    const listener = await listen(org);
    const id = String(listener.response.headers['request-id']);
    const logged = await org.client.get(`developer_api_requests/${id}`);
    expect(logged.body).toMatchObject({ route: 'streamWebhookEvents', httpStatus: 200, responseBody: null });
    listener.close();
    await listener.end;
    const all = await org.client.get('developer_api_requests');
    expect(all.body.data.filter((one: Body) => one.route === 'streamWebhookEvents')).toHaveLength(1);
  });

  test('ends when the server closes', async () => {
    const closingServer = await openServer(kind);
    const at = await closingServer.listen();
    const listener = await listen(await tenant(closingServer), '', {}, at);
    await closingServer.close();
    await listener.end;
    expect(listener.response.complete).toBe(true);
  });
});

test('sends events and replays that another node commits', async () => {
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const secret = 's'.repeat(32);
  const here = await openServer('postgres', { databaseUrl, secret });
  const there = await openServer('postgres', { databaseUrl, secret });
  const org = await tenant(there);
  const headers = { authorization: `Bearer ${org.key}` };
  const listener = await listenTo(`${await here.listen()}/_api/${events}/stream`, headers);
  const { id } = (await org.client.post(payments, small)).body;
  await soon(() => expect(listener.sent('event').map(({ data }) => data.resourceId)).toEqual([id]));
  await org.client.post(`${events}/${listener.sent()[0]?.data.id}/replay`);
  await soon(() => expect(listener.sent('replay').map(({ data }) => data.resourceId)).toEqual([id]));
  listener.close();
  await Promise.all([here.close(), there.close()]);
});
