import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import type { Server } from '../../src/server.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const money = { amount: 1_000, currency: 'EUR' };
const quote = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000 };

describe.each(databaseKinds)('search within a list on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;

  const create = async (path: string, body: object, holder = acme) => {
    const answer = await holder.client.post(`developer_api_${path}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const list = async (path: string, query: Record<string, string>, client = acme.client) => {
    const answer = await client.get(`developer_api_${path}`, String(new URLSearchParams(query)));
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
  const idsOf = async (path: string, query: Record<string, string>, client = acme.client) =>
    (await list(path, query, client)).data.map(({ id }) => id);

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, other] = [await tenant(server), await tenant(server)];
  });

  test('payments and transfers match by id, own texts, and name or email of the customer', async () => {
    const ida = await create('customers', { name: 'Ida Rhodes', email: 'Ida@Example.test' });
    const payment = await create('payments', {
      ...money,
      customerId: ida.id,
      reference: 'Order-7731',
      description: 'Two tickets to Zermatt',
    });
    const transfer = await create('transfers', { ...quote, customerId: ida.id, reference: 'Invoice-7731' });
    await create('payments', { ...money, reference: 'unrelated' });
    await create('payments', { ...money, reference: 'Order-7731', description: 'Zermatt' }, other);
    const found = { payments: payment.id, transfers: transfer.id };
    for (const [path, id] of Object.entries(found)) {
      for (const q of [id, id.slice(0, 20).toUpperCase(), ida.id, '7731', 'da RHO', 'a@example'])
        expect(await idsOf(path, { q }), `${path} ${q}`).toEqual([id]);
      for (const q of ['Ada Rhodes', id.slice(4)]) expect(await idsOf(path, { q }), q).toEqual([]);
    }
    expect(await idsOf('payments', { q: 'ZERMATT' })).toEqual([payment.id]);
    expect(await idsOf('customers', { q: 'rhodes' })).toEqual([ida.id]);
    expect(await idsOf('customers', { q: '@example.TEST' })).toEqual([ida.id]);
  });

  test('a key without customers:read finds nothing by names of customers', async () => {
    const eva = await create('customers', { name: 'Eva Secret' });
    const { id } = await create('payments', { ...money, customerId: eva.id, reference: 'of eva' });
    const { client } = await acme.addKey({ scopes: ['payments:read'] });
    expect(await idsOf('payments', { q: 'Eva Secret' })).toEqual([id]);
    expect(await idsOf('payments', { q: 'Eva Secret' }, client)).toEqual([]);
    expect(await idsOf('payments', { q: 'of EVA' }, client)).toEqual([id]);
  });

  test('refunds and disputes match by reason, payment id and reference of the payment', async () => {
    const payment = await create('payments', { ...money, reference: 'parent-5512' });
    await create(`payments/${payment.id}/advance`, { to: 'captured' });
    const refund = await create(`payments/${payment.id}/refund`, { amount: 1, reason: 'Wrong colour' });
    const { disputeId } = await create(`payments/${payment.id}/advance`, { action: 'dispute' });
    for (const [path, id] of [
      ['refunds', refund.id],
      ['disputes', String(disputeId)],
    ] as const)
      for (const q of [id, payment.id, 'PARENT-55'])
        expect(await idsOf(path, { q }), `${path} ${q}`).toEqual([id]);
    expect(await idsOf('refunds', { q: 'wrong c' })).toEqual([refund.id]);
    expect(await idsOf('disputes', { q: 'wrong c' })).toEqual([]);
  });

  test('wildcards and quotes are ordinary characters', async () => {
    const [percent, underscore, quotes] = [
      await create('payments', { ...money, reference: '50% off' }),
      await create('payments', { ...money, reference: 'a_b wild' }),
      await create('payments', { ...money, reference: `O'Brien\\"` }),
    ];
    await create('payments', { ...money, reference: '50 percent, axb wild' });
    expect(await idsOf('payments', { q: '%' })).toEqual([percent.id]);
    expect(await idsOf('payments', { q: '0% O' })).toEqual([percent.id]);
    expect(await idsOf('payments', { q: 'A_B' })).toEqual([underscore.id]);
    expect(await idsOf('payments', { q: `'brien\\"` })).toEqual([quotes.id]);
    for (const q of ['', 'x'.repeat(101), '\u0000'])
      expect((await acme.client.get('developer_api_payments', `q=${encodeURIComponent(q)}`)).status).toBe(
        400,
      );
  });

  test('combines with other filters and the cursor', async () => {
    const created: string[] = [];
    for (const [index, status] of ['failed', 'captured', 'failed', 'failed'].entries()) {
      const { id } = await create('payments', { ...money, reference: `batch-${index}` });
      await create(`payments/${id}/advance`, { to: status });
      if (status === 'failed') created.unshift(id);
    }
    const query = { q: 'BATCH-', status: 'failed' };
    expect(await idsOf('payments', query)).toEqual(created);
    const first = await list('payments', { ...query, limit: '2' });
    expect(first.data.map(({ id }) => id)).toEqual(created.slice(0, 2));
    const second = await list('payments', { ...query, limit: '2', cursor: String(first.nextCursor) });
    expect(second).toMatchObject({ data: [{ id: created[2] }], hasMore: false, nextCursor: null });
    expect(await idsOf('payments', { ...query, reference: 'batch-0' })).toEqual([created[2]]);
    expect(await idsOf('payments', { ...query, createdBefore: '2020-01-01T00:00:00Z' })).toEqual([]);
    const foreign = `${query.q}&cursor=${Buffer.from('cus_1').toString('base64url')}`;
    expect((await acme.client.get('developer_api_payments', `q=${foreign}`)).code).toBe('invalid_cursor');
  });

  test('payments, refunds and disputes have filters for currency and amount', async () => {
    const holder = await tenant(server);
    const of = (amount: number, currency: string) => create('payments', { amount, currency }, holder);
    const [small, large, yen] = [await of(500, 'EUR'), await of(900, 'EUR'), await of(700, 'JPY')];
    const found = (query: Record<string, string>) => idsOf('payments', query, holder.client);
    expect(await found({ currency: 'eur' })).toEqual([large.id, small.id]);
    expect(await found({ amountMin: '700' })).toEqual([yen.id, large.id]);
    expect(await found({ currency: 'EUR', amountMin: '500', amountMax: '899' })).toEqual([small.id]);
    expect(await found({ currency: 'USD' })).toEqual([]);
    await create(`payments/${large.id}/advance`, { to: 'captured' }, holder);
    const refund = await create(`payments/${large.id}/refund`, { amount: 300 }, holder);
    expect(await idsOf('refunds', { currency: 'EUR', amountMax: '300' }, holder.client)).toEqual([refund.id]);
    expect(await idsOf('refunds', { amountMin: '301' }, holder.client)).toEqual([]);
    expect(await idsOf('disputes', { currency: 'EUR' }, holder.client)).toEqual([]);
  });

  test('a page reads a bounded number of rows, and the next one continues there', async () => {
    const holder = await tenant(server);
    const oldest = await create('customers', { name: 'Old needle' }, holder);
    await server.database.script(`insert into customers
      select (jsonb_populate_record(t, jsonb_build_object('id', 'cus_7zzzzzzzzzzzzzzzzz' || lpad(n::text, 8, '0'), 'name', 'Hay'))).*
      from customers t, generate_series(1, ${limits.rowsSearchedMax}) n where t.org_id = '${holder.orgId}' and t.id = '${oldest.id}'`);
    const first = await list('customers', { q: 'needle' }, holder.client);
    expect(first).toMatchObject({ data: [], hasMore: true });
    const next = await list('customers', { q: 'needle', cursor: String(first.nextCursor) }, holder.client);
    expect(next).toMatchObject({ data: [{ id: oldest.id }], hasMore: false, nextCursor: null });
    const all = await list('customers', { q: 'hay', limit: '5' }, holder.client);
    expect(all.data).toHaveLength(5);
    expect(all.hasMore).toBe(true);
  });
});
