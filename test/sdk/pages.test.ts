import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Pages, type Sandbank } from '../../sdk/client.ts';
import { databaseKinds } from '../support/server.ts';
import { recorder } from './recorder.ts';
import { openWorld, type World } from './world.ts';

const total = 8;

describe.each(databaseKinds)('a list of a server on %s', (kind) => {
  const { fetch, sent } = recorder();
  let world: World;
  let sandbank: Sandbank;
  const newestFirst: string[] = [];
  beforeAll(async () => {
    world = await openWorld(kind);
    ({ sandbank } = await world.client({ fetch }));
    for (let made = 0; made < total; made += 1) {
      const { id } = await sandbank.payments.create({
        amount: 1000 + made,
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

  test('goes over all pages, each asked for when it is needed, with the same filters', async () => {
    const ids: string[] = [];
    const asked: number[] = [];
    for await (const payment of list()) {
      ids.push(payment.id);
      asked.push(sent.length);
    }
    expect(ids).toEqual(newestFirst);
    expect(asked).toEqual([1, 1, 1, 2, 2, 2, 3, 3]);
    expect(sent.map(({ query }) => query.get('reference'))).toEqual(['even', 'even', 'even']);
    expect(new Set(sent.map(({ query }) => query.get('cursor'))).size).toBe(3);
  });

  test('a loop that is left asks for no more', async () => {
    const ids: string[] = [];
    for await (const payment of list()) {
      ids.push(payment.id);
      if (ids.length === 4) break;
    }
    expect(ids).toEqual(newestFirst.slice(0, 4));
    expect(sent).toHaveLength(2);
  });

  test('awaited, it is its first page', async () => {
    const page = await list();
    expect(page).toMatchObject({ object: 'list', hasMore: true });
    expect(page.data).toHaveLength(3);
    const next = await sandbank.payments.list({ limit: 3, reference: 'even', cursor: page.nextCursor ?? '' });
    expect(next.data.map(({ id }) => id)).toEqual(newestFirst.slice(3, 6));
  });

  test('page by page', async () => {
    const sizes: number[] = [];
    for await (const page of list().pages()) sizes.push(page.data.length);
    expect(sizes).toEqual([3, 3, 2]);
  });

  test('all at once, up to a bound', async () => {
    expect((await list().toArray()).map(({ id }) => id)).toEqual(newestFirst);
    expect(await list().toArray({ itemsMax: total })).toHaveLength(total);
    await expect(list().toArray({ itemsMax: total - 1 })).rejects.toThrow(/more than 7 items/);
  });

  test('nothing is sent before it is awaited or gone over; awaited twice, it is asked for once', async () => {
    const payments = list();
    await Promise.resolve();
    expect(sent).toEqual([]);
    const [first, second] = await Promise.all([payments, payments]);
    expect(first).toBe(second);
    expect(sent).toHaveLength(1);
  });

  test('a refusal comes out of await and of the loop', async () => {
    const bad = () => sandbank.payments.list({ cursor: 'nonsense' });
    await expect(bad()).rejects.toMatchObject({ code: 'invalid_cursor' });
    await expect(bad().toArray()).rejects.toMatchObject({ code: 'invalid_cursor' });
    expect(await bad().catch(() => 'caught')).toBe('caught');
  });

  test('dates are instants, and what is undefined is left out', async () => {
    const page = await sandbank.payments.list({ createdAfter: new Date(0), customerId: undefined });
    expect(page.data).toHaveLength(total + 1);
    expect(sent[0]?.query.get('createdAfter')).toBe('1970-01-01T00:00:00.000Z');
    expect(sent[0]?.query.has('customerId')).toBe(false);
  });

  test('what is a list and more is both: a report with totals, a reconciliation with counts', async () => {
    for (const id of newestFirst.slice(0, 3)) await sandbank.payments.advance(id, { to: 'settled' });
    const report = sandbank.reconciliation.retrieve({ limit: 1 });
    expect((await report).counts.matched).toBe(3);
    expect(await report.toArray()).toHaveLength(3);
  });
});

test('a server that goes round in circles is left', async () => {
  const pages = new Pages(async () => ({ data: [1], hasMore: true, nextCursor: 'same' }));
  await expect(pages.toArray()).rejects.toThrow(/same cursor/);
});
