import { beforeAll, describe, expect, test } from 'vitest';
import { consoleRoutes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { openMerchant } from '../support/merchant.ts';
import { readConsole } from '../support/principal.ts';
import { withStatus } from '../support/receiver.ts';
import { databaseKinds, queryRows, sharedServer } from '../support/server.ts';
import { closedReceiver, readUntil, testReceiver, unknownWebhook } from '../support/webhooks.ts';

interface Statistics {
  readonly buckets: readonly {
    readonly at: string;
    readonly succeeded: number;
    readonly failed: number;
    readonly byClass: Readonly<Record<string, number>>;
    readonly p50Ms: number | null;
    readonly p95Ms: number | null;
  }[];
  readonly bucketSeconds: number;
  readonly isCapped: boolean;
}

const path = 'webhooks/{id}/statistics';

describe.each(databaseKinds)('the statistics of an endpoint on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  const hourMs = 3_600_000;

  test('count attempts by time, outcome and response class, with percentiles of their duration', async () => {
    const shop = await openMerchant(server);
    const receiver = await testReceiver();
    const closed = await closedReceiver();
    const { id } = await shop.createWebhook(receiver, { retryProfile: 'none' });
    for (const status of [204, 204, 400, 500]) {
      receiver.answer(withStatus(status));
      await shop.client.post(`developer_api_webhooks/${id}/test`);
    }
    await shop.client.post(`developer_api_webhooks/${id}/update`, { url: closed.url });
    await shop.client.post(`developer_api_webhooks/${id}/test`);
    // Known times and durations: two attempts two hours ago, three now.
    const attempts = await queryRows<{ delivery_id: string }>(
      server,
      'select delivery_id from delivery_attempts where org_id = $1 order by sent_at, delivery_id',
      [shop.orgId],
    );
    expect(attempts).toHaveLength(5);
    const now = Date.now();
    for (const [i, { delivery_id }] of attempts.entries())
      await queryRows(
        server,
        'update delivery_attempts set duration_ms = $3, sent_at = $4 where org_id = $1 and delivery_id = $2',
        [shop.orgId, delivery_id, (i + 1) * 100, new Date(i < 2 ? now - 2 * hourMs : now).toISOString()],
      );
    const read = (range: string) =>
      readConsole<Statistics>(server, consoleRoutes, path, shop, { params: { id }, query: { range }, now });
    const day = await read('24h');
    expect(day).toMatchObject({ object: 'webhook_statistics', bucketSeconds: 3_600, isCapped: false });
    expect(day.buckets).toHaveLength(24);
    expect(day.buckets.at(-3)).toMatchObject({ succeeded: 2, failed: 0, p50Ms: 150, p95Ms: 195 });
    expect(day.buckets.at(-2)).toMatchObject({ succeeded: 0, failed: 0, p50Ms: null, p95Ms: null });
    expect(day.buckets.at(-1)).toMatchObject({
      succeeded: 0,
      failed: 3,
      byClass: { '2xx': 0, '3xx': 0, '4xx': 1, '5xx': 1, noResponse: 1 },
      p50Ms: 400,
      p95Ms: 490,
    });
    const hour = await read('1h');
    expect(hour.buckets).toHaveLength(60);
    expect(hour.buckets.reduce((sum, { failed, succeeded }) => sum + failed + succeeded, 0)).toBe(3);
    expect((await read('7d')).buckets).toHaveLength(28);
    expect((await read('30d')).buckets).toHaveLength(30);
  });

  test('of another organization are not found', async () => {
    const [shop, other] = [await openMerchant(server), await openMerchant(server)];
    const { id } = await shop.createWebhook({ url: 'http://127.0.0.1:1/' });
    await readUntil(
      () => shop.readWebhook(id),
      ({ status }) => status === 'enabled',
    );
    for (const unknown of [id, unknownWebhook, 'nonsense'])
      expect(
        await readConsole(server, consoleRoutes, path, other, { params: { id: unknown } }),
      ).toMatchObject({ code: 'resource_not_found' });
  });

  test('read the deliveries of the endpoint by its index', async () => {
    const plan = await server.database.query<{ 'QUERY PLAN': string }>(
      {
        name: '',
        text: `explain select d.id from deliveries d where d.org_id = 'a' and d.webhook_id = 'b' and d.id >= 'c'
          order by d.org_id desc, d.webhook_id desc, d.id desc limit 10`,
      },
      [],
    );
    expect(JSON.stringify(plan)).toContain('deliveries_by_webhook');
  });
});
