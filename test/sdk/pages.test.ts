import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Pages, type Sandbank } from '../../sdk/client.ts';
import { databaseKinds } from '../support/server.ts';
import { recorder } from './recorder.ts';
import { openWorld, type World } from './world.ts';

const total = 8;

describe.each(databaseKinds)('lists of a server on %s', (kind) => {
  const { fetch, sent } = recorder();
  let world: World;
  let sandbank: Sandbank;
  const newestFirst: string[] = [];
  beforeAll(async () => {
    world = await openWorld(kind);
    ({ sandbank } = await world.client({ fetch }));
    for (let index = 0; index < total; index += 1) {
      const { id } = await sandbank.payments.create({
        amount: 1000 + index,
        currency: 'EUR',
        reference: 'even',
      });
      newestFirst.unshift(id);
    }
    await sandbank.payments.create({ amount: 1, currency: 'EUR', reference: 'odd' });
  });
  beforeEach(() => {
    sent.length = 0;
  });
  afterAll(() => world?.close());

  const list = () => sandbank.payments.list({ limit: 3, reference: 'even' });

  test('iterates over all pages with the same filters, and requests each page only when it is needed', async () => {
    const ids: string[] = [];
    const requestCounts: number[] = [];
    for await (const payment of list()) {
      ids.push(payment.id);
      requestCounts.push(sent.length);
    }
    expect(ids).toEqual(newestFirst);
    expect(requestCounts).toEqual([1, 1, 1, 2, 2, 2, 3, 3]);
    expect(sent.map(({ query }) => query.get('reference'))).toEqual(['even', 'even', 'even']);
    expect(new Set(sent.map(({ query }) => query.get('cursor'))).size).toBe(3);
  });

  test('a loop that breaks requests no more pages', async () => {
    const ids: string[] = [];
    for await (const payment of list()) {
      ids.push(payment.id);
      if (ids.length === 4) break;
    }
    expect(ids).toEqual(newestFirst.slice(0, 4));
    expect(sent).toHaveLength(2);
  });

  test('await returns the first page', async () => {
    const page = await list();
    expect(page).toMatchObject({ object: 'list', hasMore: true });
    expect(page.data).toHaveLength(3);
    const next = await sandbank.payments.list({ limit: 3, reference: 'even', cursor: page.nextCursor ?? '' });
    expect(next.data.map(({ id }) => id)).toEqual(newestFirst.slice(3, 6));
  });

  test('pages() iterates page by page', async () => {
    const sizes: number[] = [];
    for await (const page of list().pages()) sizes.push(page.data.length);
    expect(sizes).toEqual([3, 3, 2]);
  });

  test('toArray reads all items, up to itemsMax', async () => {
    expect((await list().toArray()).map(({ id }) => id)).toEqual(newestFirst);
    expect(await list().toArray({ itemsMax: total })).toHaveLength(total);
    await expect(list().toArray({ itemsMax: total - 1 })).rejects.toThrow(/more than 7 items/);
  });

  test('no request is sent before the list is awaited or iterated, and a second await sends none', async () => {
    const payments = list();
    await Promise.resolve();
    expect(sent).toEqual([]);
    const [first, second] = await Promise.all([payments, payments]);
    expect(first).toBe(second);
    expect(sent).toHaveLength(1);
  });

  test('await, toArray and catch all reject with the error', async () => {
    const bad = () => sandbank.payments.list({ cursor: 'nonsense' });
    await expect(bad()).rejects.toMatchObject({ code: 'invalid_cursor' });
    await expect(bad().toArray()).rejects.toMatchObject({ code: 'invalid_cursor' });
    expect(await bad().catch(() => 'caught')).toBe('caught');
  });

  test('dates are sent as instants, and undefined parameters are omitted', async () => {
    const page = await sandbank.payments.list({ createdAfter: new Date(0), customerId: undefined });
    expect(page.data).toHaveLength(total + 1);
    expect(sent[0]?.query.get('createdAfter')).toBe('1970-01-01T00:00:00.000Z');
    expect(sent[0]?.query.has('customerId')).toBe(false);
  });

  test('a reconciliation is a list and has counts too', async () => {
    for (const id of newestFirst.slice(0, 3)) await sandbank.payments.advance(id, { to: 'settled' });
    const report = sandbank.reconciliation.retrieve({ limit: 1 });
    expect((await report).counts.matched).toBe(3);
    expect(await report.toArray()).toHaveLength(3);
  });
});

test('a server that repeats a cursor causes an error, not an endless loop', async () => {
  const pages = new Pages(async () => ({ data: [1], hasMore: true, nextCursor: 'same' }));
  await expect(pages.toArray()).rejects.toThrow(/same cursor/);
});
