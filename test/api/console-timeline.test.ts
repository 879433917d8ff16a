import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { consoleRoutes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { readConsole } from '../support/principal.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

interface Item {
  readonly kind: string;
  readonly at: string;
  readonly id: string;
  readonly version: number | null;
  readonly title: string;
  readonly requestId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Timeline {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

const payments = 'developer_api_payments';

describe.each(databaseKinds)('a timeline on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;
  let receiver: Receiver;

  const read = (id: string, holder = acme) =>
    readConsole<Timeline>(server, consoleRoutes, 'timeline/{id}', holder, { params: { id } });
  const post = async (path: string, body?: object) => {
    const answer = await acme.client.post(path, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const pay = async (to: string, more: object = {}) => {
    const { id } = await post(payments, { amount: 1_000, currency: 'EUR', ...more });
    await post(`${payments}/${id}/advance`, { to });
    return id;
  };
  const titles = (items: readonly Item[], itemKind: string) =>
    items.filter((item) => item.kind === itemKind).map(({ title }) => title);

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, other] = [await tenant(server), await tenant(server)];
    receiver = await openReceiver();
    await post('developer_api_webhooks', { url: receiver.url, eventTypes: ['payment.captured'] });
  });
  afterAll(async () => {
    await receiver?.close();
  });

  test('of a payment has its transitions, events, ledger entries, provider events and deliveries, newest first', async () => {
    const id = await pay('settled', { captureMethod: 'manual' });
    // Otherwise the request log may be written between the two reads.
    await server.requestLog.flush();
    const { items } = await vi.waitFor(async () => {
      const timeline = await read(id);
      const delivery = timeline.items.find((item) => item.kind === 'delivery');
      expect(delivery?.data).toMatchObject({ status: 'succeeded', attempts: 1, lastResponseStatus: 204 });
      return timeline;
    });
    expect(titles(items, 'move')).toEqual([
      'captured → settled',
      'authorized → captured',
      'pending → authorized',
      'pending',
    ]);
    expect(titles(items, 'event')).toEqual([
      'payment.settled',
      'payment.captured',
      'payment.authorized',
      'payment.created',
    ]);
    expect(titles(items, 'ledger_entry')).toEqual(['settle', 'capture', 'authorize']);
    expect(titles(items, 'delivery')).toEqual([`payment.captured to ${receiver.url}`]);
    expect(titles(items, 'provider_event').length).toBeGreaterThan(2);
    const ids = items.map((item) => item.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(items.map(({ at }) => at)).toEqual(
      items
        .map(({ at }) => at)
        .sort()
        .reverse(),
    );
    const versions = items.flatMap(({ version }) => version ?? []);
    expect(versions).toEqual([...versions].sort((a, b) => b - a));
    for (const item of items) expect(item.requestId).toMatch(/^req_/);
    expect(await read(id)).toMatchObject({ object: 'timeline', status: 'ok', id, hasMore: false, items });
  });

  test('of a refund or a dispute has only its own ledger entries, not the rest of its payment', async () => {
    const id = await pay('captured');
    const refund = await post(`${payments}/${id}/refund`, { amount: 300 });
    await post(`${payments}/${id}/refund`, { amount: 200 });
    const { items } = await read(refund.id);
    expect(titles(items, 'move').at(-1)).toBe('pending');
    expect(titles(items, 'ledger_entry').every((title) => title.startsWith('refund'))).toBe(true);
    const amounts = items.flatMap(
      ({ data }) => (data.postings as { amount: number }[] | undefined)?.map(({ amount }) => amount) ?? [],
    );
    expect(amounts).toEqual([300, -300, 300, -300]);
    const disputed = await post(`${payments}/${id}/advance`, { action: 'dispute' });
    const dispute = (await read(String(disputed.disputeId))).items;
    expect(titles(dispute, 'move')).toEqual(['needs_response']);
    expect(titles(dispute, 'ledger_entry')).toEqual(['dispute']);
  });

  test('of a transfer has its transitions, events, ledger entries and provider events', async () => {
    const quote = {
      sourceCurrency: 'EUR',
      targetCurrency: 'USD',
      sourceAmount: 5_000,
      beneficiary: { name: 'Grace' },
    };
    const { id } = await post('developer_api_transfers', quote);
    await post(`developer_api_transfers/${id}/advance`, { to: 'completed' });
    const { items } = await read(id);
    expect(titles(items, 'move')).toHaveLength(6);
    expect(titles(items, 'event')[0]).toBe('transfer.completed');
    expect(titles(items, 'ledger_entry').length).toBeGreaterThan(2);
    expect(titles(items, 'provider_event').length).toBeGreaterThan(0);
  });

  test('of an unknown record, or one of another organization, is not found', async () => {
    const id = await pay('captured');
    const refund = await post(`${payments}/${id}/refund`, { amount: 300 });
    for (const one of [id, refund.id])
      expect(await read(one, other)).toMatchObject({ ok: false, code: 'resource_not_found' });
    for (const one of ['', 'x', 'pay_01m7epxwjmf7za77rhky2f93cc', acme.keyId])
      expect(await read(one)).toMatchObject({ ok: false, code: 'resource_not_found' });
  });

  test('is limited to 200 items, and reports that there are more', async () => {
    const { id } = await post(payments, { amount: 1_000, currency: 'EUR' });
    await server.database.script(`insert into events (org_id, id, app_id, type, resource, resource_id, sequence, request_id, data, created_at)
      select '${acme.orgId}', 'evt_00' || lpad(n::text, 24, '0'), 'app_x', 'payment.created', 'payment', '${id}', n, 'req_x', '{}',
        '2020-01-01'::timestamptz + n * interval '1 second' from generate_series(1, 300) n`);
    const { items, hasMore } = await read(id);
    expect(hasMore).toBe(true);
    expect(items).toHaveLength(200);
    expect(items[0]?.at.startsWith('2020')).toBe(false);
    expect(items.at(-1)?.version).toBeGreaterThan(100);
  });
});
