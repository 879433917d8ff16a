import { beforeAll, describe, expect, test } from 'vitest';
import { consoleRoutes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { readConsole } from '../support/principal.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

interface Found {
  readonly hits: readonly { readonly kind: string; readonly id: string; readonly title: string }[];
}

const money = { amount: 1_000, currency: 'EUR' };
const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000 };

describe.each(databaseKinds)('search on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;

  const search = async (q: string, holder = acme) =>
    (await readConsole<Found>(server, consoleRoutes, 'search', holder, { query: { q } })).hits;
  const create = async (path: string, body: object, holder = acme) => {
    const answer = await holder.client.post(path, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, other] = [await tenant(server), await tenant(server)];
  });

  test('finds a record of any type by id, and nothing of another organization', async () => {
    const payment = await create('developer_api_payments', { ...money, reference: 'by-id' });
    await create(`developer_api_payments/${payment.id}/advance`, { to: 'captured' });
    const refund = await create(`developer_api_payments/${payment.id}/refund`, { amount: 1 });
    const disputed = await create(`developer_api_payments/${payment.id}/advance`, { action: 'dispute' });
    const customer = await create('developer_api_customers', { name: 'Ida' });
    const transfer = await create('developer_api_transfers', quote);
    const webhook = await create('developer_api_webhooks', { url: 'http://127.0.0.1:9/' });
    const event = await create('developer_api_webhook_events', { type: 'payment.created' });
    const deliveries = await acme.client.get('developer_api_webhook_deliveries', `eventId=${event.id}`);
    const hits = [
      { kind: 'payment', id: payment.id, title: '10.00 EUR', subtitle: 'by-id', status: 'disputed' },
      { kind: 'refund', id: refund.id, title: '0.01 EUR', subtitle: payment.id, status: 'succeeded' },
      {
        kind: 'dispute',
        id: String(disputed.disputeId),
        title: '9.99 EUR',
        subtitle: payment.id,
        status: 'needs_response',
      },
      { kind: 'customer', id: customer.id, title: 'Ida', subtitle: null, status: 'active' },
      { kind: 'transfer', id: transfer.id, title: '50.00 EUR to USD', subtitle: null, status: 'quoted' },
      { kind: 'webhook', id: webhook.id, title: 'http://127.0.0.1:9/', subtitle: null, status: 'enabled' },
      { kind: 'event', id: event.id, title: 'payment.created', subtitle: expect.any(String), status: 'ok' },
      {
        kind: 'delivery',
        id: deliveries.body.data[0]?.id ?? '',
        title: 'payment.created',
        subtitle: webhook.id,
        status: expect.any(String),
      },
      {
        kind: 'api_key',
        id: acme.keyId,
        title: acme.keyName,
        subtitle: `…${acme.key.slice(-4)}`,
        status: 'active',
      },
    ];
    for (const hit of hits) {
      expect(await search(hit.id)).toEqual([hit]);
      expect(await search(` ${hit.id} `)).toEqual([hit]);
      expect(await search(hit.id, other)).toEqual([]);
    }
    for (const id of ['pay_01m7epxwjmf7za77rhky2f93cc', 'req_01m7epxwjmf7za77rhky2f93cc', 'pay_', ' '])
      expect(await search(id)).toEqual([]);
  });

  test('finds payments, transfers and customers by reference or reference prefix', async () => {
    const reference = 'Order 7% _x\\';
    const payment = await create('developer_api_payments', { ...money, reference });
    const longer = await create('developer_api_payments', { ...money, reference: `${reference}-b` });
    const transfer = await create('developer_api_transfers', { ...quote, reference: `${reference}é` });
    const customer = await create('developer_api_customers', { name: 'Olga', reference });
    await create('developer_api_payments', { ...money, reference: 'Order 70' });
    await create('developer_api_payments', { ...money, reference }, other);
    const ids = [payment.id, longer.id, transfer.id, customer.id];
    expect((await search(reference)).map(({ id }) => id)).toEqual(ids);
    expect((await search('Order 7%')).map(({ id }) => id)).toEqual(ids);
    const anywhere = (await search('dER 7%')).map(({ id }) => id);
    expect(anywhere.toSorted()).toEqual(ids.toSorted());
    expect((await search(`${reference}-b`)).map(({ id }) => id)).toEqual([longer.id]);
    expect(await search('%')).toEqual([]);
  });

  test('finds customers by name and e-mail, case-insensitively, each once', async () => {
    const ada = await create('developer_api_customers', { name: 'Ada Lovelace', email: 'Ada@Example.test' });
    const mail = await create('developer_api_customers', { email: 'adam@example.test' });
    await create('developer_api_customers', { name: 'Ada of another house' }, other);
    expect((await search('aDa')).map(({ id }) => id).sort()).toEqual([ada.id, mail.id].sort());
    expect((await search('ADA@example.TEST')).map(({ id }) => id)).toEqual([ada.id]);
    expect((await search('ada l')).map(({ id }) => id)).toEqual([ada.id]);
    expect((await search('lovelace')).map(({ id }) => id)).toEqual([ada.id]);
    expect((await search('ADAM@EXAMPLE')).map(({ id }) => id)).toEqual([mail.id]);
  });

  test('finds payments by a part of their description, newest first and after those by reference', async () => {
    const described = { ...money, description: 'Two tickets to Zermatt' };
    const first = await create('developer_api_payments', described);
    const second = await create('developer_api_payments', described);
    const referenced = await create('developer_api_payments', { ...money, reference: 'Zermatt-1' });
    await create('developer_api_payments', described, other);
    expect((await search('Zermatt')).map(({ id }) => id)).toEqual([referenced.id, second.id, first.id]);
    expect((await search('zermatt')).map(({ id }) => id)).toEqual([referenced.id, second.id, first.id]);
    expect(await search('zermatt_')).toEqual([]);
  });

  test('returns at most twenty hits', async () => {
    await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        create('developer_api_payments', { ...money, reference: `many-${i}` }),
      ),
    );
    expect(await search('many-')).toHaveLength(20);
  });

  test.each([
    ['developer_api_payments', money],
    ['developer_api_transfers', quote],
    ['developer_api_customers', { name: 'Ref' }],
  ])('the list %s filters by the exact reference', async (path, body) => {
    const reference = `exact ${path}`;
    const [first, second] = [
      await create(path, { ...body, reference }),
      await create(path, { ...body, reference }),
    ];
    await create(path, { ...body, reference: `${reference}!` });
    await create(path, { ...body, reference }, other);
    const list = (more = '') => acme.client.get(path, `reference=${encodeURIComponent(reference)}${more}`);
    const found = await list();
    expect(found.body.data.map(({ id }) => id)).toEqual([second.id, first.id]);
    const page = await list('&limit=1');
    expect(page.body).toMatchObject({ hasMore: true, data: [{ id: second.id }] });
    expect((await list(`&limit=1&cursor=${page.body.nextCursor}`)).body.data.map(({ id }) => id)).toEqual([
      first.id,
    ]);
    expect((await list('&createdBefore=2020-01-01T00:00:00Z')).body.data).toEqual([]);
    expect((await acme.client.get(path, 'reference=nothing')).body.data).toEqual([]);
    for (const wrong of ['', 'x'.repeat(201), '%00'])
      expect((await acme.client.get(path, `reference=${wrong}`)).status, wrong).toBe(400);
  });
});
