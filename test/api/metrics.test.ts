import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Server } from '../../src/server.ts';
import { Backlogs } from '../../src/telemetry/backlog.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const file = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The ETag of the last scrape of each server. */
const versions = new WeakMap<Server, unknown>();

/**
 * The samples of a new scrape by name and labels. The server collects at most once a second, so this polls for a new
 * ETag.
 */
async function scrape(server: Server): Promise<ReadonlyMap<string, number>> {
  const response = await vi.waitUntil(
    async () => {
      const one = await server.app.inject('/metrics');
      return one.headers.etag === versions.get(server) ? undefined : one;
    },
    { interval: 20 },
  );
  const { statusCode, body, headers } = response;
  versions.set(server, headers.etag);
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

function registeredMetrics(server: Server) {
  const metrics = createMetrics({ version: '1', role: 'all' });
  metrics.watch(server);
  return metrics.registry.getMetricsAsArray();
}

describe('metrics', () => {
  let server: Server;
  let apiNode: Server;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await openReceiver();
    server = await openServer('postgres', { hasMetrics: true, rateLimit: 20 });
    // A node that accepts requests but runs no workers: due work remains due.
    apiNode = await openServer('postgres', { hasMetrics: true, role: 'api' });
  });
  afterAll(async () => {
    await server.close();
    await apiNode.close();
    await receiver.close();
  });

  it('match the metrics page name by name, in both directions', () => {
    const rows = registeredMetrics(server).map((metric) => {
      const { name, help, type, labelNames } = metric as unknown as Record<string, string> & {
        labelNames: readonly string[];
      };
      const labels = labelNames.map((label) => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
    });
    const sandbankRows = rows.filter((row) => row.startsWith('| `sandbank_'));
    const documented = file('docs/metrics.md')
      .split('\n')
      .filter((line) => line.startsWith('| `sandbank_'));
    expect([...documented].sort()).toEqual([...sandbankRows].sort());
  });

  it('count requests by route, commands, statements, rejections and replays', async () => {
    const { client } = await tenant(server);
    const before = await scrape(server);
    const body = { amount: 100, currency: 'EUR' };
    const { id } = (await client.post('developer_api_payments', body, { idempotencyKey: 'a' })).body;
    await client.post('developer_api_payments', body, { idempotencyKey: 'a' });
    await client.get(`developer_api_payments/${id}`);
    await client.get(`developer_api_payments/${id}x`);
    await client.get('nothing_like_that');
    const after = await scrape(server);
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    const count = (method: string, route: string, status: number) =>
      grown(`sandbank_http_request_seconds_count{method="${method}",route="${route}",status="${status}"}`);
    expect(count('POST', '/_api/developer_api_payments', 201)).toBe(2);
    expect(count('GET', '/_api/developer_api_payments/:id', 200)).toBe(1);
    expect(count('GET', '/_api/developer_api_payments/:id', 404)).toBe(1);
    expect(count('GET', 'none', 404)).toBe(1);
    expect(grown('sandbank_http_idempotent_replays_total')).toBe(1);
    expect(grown('sandbank_http_errors_total{code="resource_not_found"}')).toBe(1);
    expect(grown('sandbank_engine_commands_total{outcome="accepted"}')).toBe(1);
    expect(grown('sandbank_engine_commands_total{outcome="replayed"}')).toBe(1);
    expect(grown('sandbank_engine_batch_size_count')).toBe(2);
    expect(grown('sandbank_engine_wait_seconds_count')).toBe(2);
    expect(grown('sandbank_database_statement_seconds_count')).toBeGreaterThan(3);
    await Promise.all(Array.from({ length: 60 }, () => client.get('developer_api_status')));
    const limited = (await scrape(server)).get('sandbank_http_errors_total{code="rate_limited"}') ?? 0;
    expect(limited).toBeGreaterThan(0);
    // The scrape counts itself as in flight.
    expect(after.get('sandbank_http_requests_in_flight')).toBe(1);
    expect(after.get('sandbank_engine_queue_max')).toBe(2_000);
    expect(after.get('sandbank_database_up')).toBe(1);
    expect(after.get('sandbank_database_connections_max')).toBe(10);
    expect([...after.keys()].find((name) => name.startsWith('sandbank_database_info'))).toMatch(
      /kind="postgres",version="\d+/,
    );
    expect(after.get('sandbank_database_migration_version')).toBeGreaterThanOrEqual(10);
  });

  it('are collected at most once a second, compressed, and shared by all clients', async () => {
    await scrape(server);
    const headers = { 'accept-encoding': 'gzip' };
    const [first, second] = await Promise.all([
      server.app.inject({ url: '/metrics', headers }),
      server.app.inject({ url: '/metrics', headers }),
    ]);
    expect(first.headers).toMatchObject({ 'content-encoding': 'gzip', etag: second.headers.etag });
    expect(first.rawPayload.equals(second.rawPayload)).toBe(true);
  });

  it('count delivery outcomes and measure the time to arrival', async () => {
    const { client } = await tenant(server);
    await client.post('developer_api_webhooks', { url: receiver.url, retryProfile: 'none' });
    await client.post('developer_api_payments', { amount: 100, currency: 'EUR' });
    await receiver.waitFor(1);
    await expect
      .poll(async () => (await scrape(server)).get('sandbank_delivery_arrival_seconds_count'))
      .toBe(1);
    receiver.answer((_received, response) => response.writeHead(410).end());
    await client.post('developer_api_payments', { amount: 100, currency: 'EUR' });
    await expect
      .poll(async () => {
        const samples = await scrape(server);
        return ['outcome="succeeded"', 'outcome="failed"'].map((label) =>
          samples.get(`sandbank_delivery_attempts_total{${label}}`),
        );
      })
      .toEqual([1, 1]);
    await expect
      .poll(async () =>
        (await scrape(server)).get('sandbank_delivery_endpoints_disabled_total{reason="gone"}'),
      )
      .toBe(1);
  });

  it('contain no ids and no text from requests', async () => {
    const { client, orgId } = await tenant(server);
    await client.get(`developer_api_payments/pay_${'z'.repeat(26)}?x=${orgId}`);
    await server.app.inject({ method: 'GET', url: '/invented-by-a-caller' });
    await server.app.inject({ method: 'PROPFIND', url: '/invented-by-a-caller' });
    const names = [...(await scrape(server)).keys()].join('\n');
    expect(names).not.toMatch(/(?:org|pay|app|key|req|evt)_[0-7][0-9a-z]{25}|invented|zzz/);
  });

  it('count the due work in the database, up to a limit, while no worker runs', async () => {
    const one: Tenant = await tenant(apiNode);
    const { body } = await one.client.post('developer_api_webhooks', { url: receiver.url });
    await one.client.post('developer_api_payments', { amount: 100, currency: 'EUR' });
    const backlogs = () => new Backlogs(apiNode.database, Date.now).read();
    expect(await backlogs()).toMatchObject({ deliveriesDue: 1, timersDue: 0 });
    expect((await backlogs())?.unsealed).toBeGreaterThan(2);

    const execute = async (text: string) => apiNode.database.execute(text, []);
    await execute(`insert into deliveries (org_id, id, app_id, webhook_id, event_id, event_type, trigger, status, due_at, created_at, updated_at)
      select d.org_id, d.id || n, d.app_id, d.webhook_id, d.event_id, d.event_type, d.trigger, 'pending',
        now() - interval '1 hour' + n * interval '1 millisecond', d.created_at, d.updated_at
      from deliveries d cross join generate_series(1, 12000) n where d.webhook_id = '${body.id}'`);
    await execute(`insert into timers (org_id, id, app_id, resource, due_at)
      select '${one.orgId}', 'pay_none' || n, '${one.appId}', 'payment', now() + (n - 50.5) * interval '1 minute'
      from generate_series(1, 100) n`);
    const backlog = await backlogs();
    // The queues are counted one by one, each up to the limit.
    expect(backlog).toMatchObject({ deliveriesDue: 10_000, timersDue: 50 });
    expect(backlog?.timerAge).toBeGreaterThan(48 * 60);
    expect(backlog?.timerAge).toBeLessThan(50 * 60);
    await execute(
      `update deliveries set lease_until = now() + interval '1 minute' where webhook_id = '${body.id}' and due_at > 'epoch'`,
    );
    expect(await backlogs()).toMatchObject({ deliveriesDue: 1 });
    await one.client.post(`developer_api_webhooks/${body.id}/disable`);
    expect(await backlogs()).toMatchObject({ deliveriesDue: 0, deliveryAge: 0 });
  });

  it('query the database once for concurrent scrapes, and report when it does not respond', async () => {
    let queries = 0;
    let isUnavailable = false;
    const query: typeof apiNode.database.query = (statement, values) => {
      queries += 1;
      return isUnavailable ? Promise.reject(new Error('away')) : apiNode.database.query(statement, values);
    };
    const database = { ...apiNode.database, kind: 'postgres' as const, query };
    const metrics = createMetrics({ version: '1', role: 'all' });
    metrics.watch({ ...apiNode, database });
    const texts = await Promise.all([metrics.registry.metrics(), metrics.registry.metrics()]);
    expect(queries).toBe(4);
    for (const text of texts) expect(text).toMatch(/^sandbank_delivery_due \d+$/m);
    isUnavailable = true;
    const lost = createMetrics({ version: '1', role: 'all' });
    lost.watch({ ...apiNode, database });
    const text = await lost.registry.metrics();
    expect(text).toMatch(/^sandbank_database_up 0$/m);
    expect(text).not.toMatch(/^sandbank_(?:delivery_due|database_info|timers_overdue)\b/m);
  });
});
