/** Two whole servers on one database: what one of them has cached, while the other one changes it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { scopes } from '../../src/kernel/permissions.ts';
import { effort } from '../support/effort.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { randomFrom, testSeed } from '../support/seed.ts';
import { expectVisibleInTime } from '../support/visible-in-time.ts';
import { API_KEY, call, expectRefusal, PAYMENTS, postOk, SPARE_KEY } from './support/client.ts';
import { ConsoleClient } from './support/console-client.ts';
import { queryPostgres } from './support/database-rows.ts';
import {
  type ChangingKind,
  CUSTOMERS,
  changingKinds,
  contentOf,
  ENTRIES,
  EVENTS,
  LISTS,
  paymentKind,
  read,
  readPage,
  type Shown,
  TRANSFER,
  TRANSFERS,
  WEBHOOKS,
} from './support/node-records.ts';
import { acceptImmediately, type Inbox, openInbox } from './support/webhook-receiver.ts';
import { allSent, DELIVERIES, type Deployment, endpoint, openDeployment } from './support/webhook-servers.ts';

const WAIT = { interval: 20 };

let inbox: Inbox;
let deployment: Deployment;
let databaseUrl = '';
let [a, b] = ['', ''];

beforeAll(async () => {
  inbox = await openInbox({ acme: acceptImmediately, globex: acceptImmediately });
  deployment = openDeployment(inbox, [endpoint('acme')], [endpoint('globex')]);
  databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const options = { databaseUrl, env: { SANDBANK_REGISTRATION: 'open' } };
  // The first one applies the seed.
  a = (await deployment.start(options)).url;
  b = (await deployment.start(options)).url;
});
afterAll(async () => {
  await deployment?.remove();
  await inbox?.close();
});

const repeated = <Result>(count: number, work: (i: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));

describe('a record that one node has cached and the other one changes', () => {
  /** The record as `node` shows it by id, in a page, in the page of its status, and in the page of its former status. */
  async function readEverywhere(node: string, path: string, id: string, former: string, current: string) {
    const [single, page, sameStatus, formerStatus] = await Promise.all([
      read(`${node + path}/${id}`),
      readPage(`${node + path}?limit=100`),
      readPage(`${node + path}?limit=100&status=${current}`),
      readPage(`${node + path}?limit=100&status=${former}`),
    ]);
    const inPage = (rows: readonly Shown[]) => rows.find((row) => row.id === id);
    return {
      single,
      listed: inPage(page),
      withStatus: inPage(sameStatus),
      withFormerStatus: former === current ? undefined : inPage(formerStatus),
    };
  }

  async function changeAndRead({ path, create, changes }: ChangingKind): Promise<void> {
    const id = await create(a);
    for (const [i, change] of changes.entries()) {
      const [reader, writer] = i % 2 === 0 ? [a, b] : [b, a];
      const before = await read(`${reader + path}/${id}`);
      const { status: former, version } = before;
      const warm = await readEverywhere(reader, path, id, former, former);
      expect(warm).toMatchObject({ single: { version }, listed: { version }, withStatus: { version } });

      const changed = contentOf({ body: await postOk(`${writer + path}/${id}/${change.path}`, change.body) });
      expect(changed.version, JSON.stringify(change)).toBe(version + 1);
      const after = await readEverywhere(reader, path, id, former, changed.status);
      expect(after.single).toMatchObject(changed);
      expect(after.listed).toEqual(changed);
      expect(after.withStatus).toEqual(changed);
      expect(after.withFormerStatus).toBeUndefined();
    }
  }

  it.each(Object.keys(changingKinds))('is never served stale: a %s, by id and in pages', async (name) => {
    const kind = changingKinds[name];
    if (kind === undefined) throw new Error(`${name} is not a kind of record`);
    await repeated(effort(4, 20), () => changeAndRead(kind));
  });

  it('has its new events, ledger entries, history and audit entry in the lists of the other node', async () => {
    const id = await paymentKind.create(a);
    for (const [i, change] of paymentKind.changes.entries()) {
      const [reader, writer] = i % 2 === 0 ? [a, b] : [b, a];
      const pages = (node: string) =>
        Promise.all([
          readPage(`${node + EVENTS}?limit=100&resourceId=${id}`),
          readPage(`${node + ENTRIES}?limit=100&paymentId=${id}`),
          readPage(`${node + PAYMENTS}/${id}/history?limit=100`),
          readPage(`${node}/_api/developer_api_audit_entries?limit=100&resourceId=${id}`),
        ]);
      await pages(reader);
      const changed = contentOf({
        body: await postOk(`${writer + PAYMENTS}/${id}/${change.path}`, change.body),
      });
      const [events, entries, history, audit] = await pages(reader);
      expect(events[0]?.data).toMatchObject({ id, version: changed.version, status: changed.status });
      expect(history[0]).toMatchObject({ version: changed.version, event: { id: events[0]?.id } });
      expect(history).toHaveLength(changed.version);
      expect(audit).toHaveLength(changed.version);
      expect([events, entries, history, audit]).toEqual(await pages(writer));
    }
  });

  it('is never older than the last response that showed it, while it changes all the time', async () => {
    const reads = effort(3_000, 60_000);
    const random = randomFrom(testSeed);
    /** The newest version that a response of either node has shown. */
    const shown = new Map<string, number>();
    const show = ({ id, version }: Shown) => shown.set(id, Math.max(version, shown.get(id) ?? 0));
    let started = 0;

    const move = async () => {
      while (started < reads) {
        const id = await paymentKind.create(b);
        for (const { path, body } of paymentKind.changes)
          show(contentOf({ body: await postOk(`${b + PAYMENTS}/${id}/${path}`, body) }));
      }
    };
    const stale: unknown[] = [];
    const readOnce = async () => {
      const before = new Map([...shown].slice(-20));
      const ids = [...before.keys()];
      const status = ['authorized', 'partially_captured', 'captured', 'settled', 'partially_refunded'][
        started % 5
      ];
      started += 1;
      const id = ids[Math.floor(random() * ids.length)];
      const filter = random() < 0.5 ? '' : `&status=${status}`;
      const isSingle = id !== undefined && random() < 0.5;
      const rows = isSingle
        ? [await read(`${a + PAYMENTS}/${id}`)]
        : await readPage(`${a + PAYMENTS}?limit=${10 + Math.floor(random() * 20)}${filter}`);
      for (const row of rows) {
        if (row.version < (before.get(row.id) ?? 0)) stale.push({ row, atLeast: before.get(row.id) });
        if (!isSingle && filter !== '' && row.status !== status) stale.push({ row, filter });
        show(row);
      }
    };
    await Promise.all([
      ...Array.from({ length: 6 }, move),
      repeated(30, async () => {
        while (started < reads && stale.length === 0) await readOnce();
        // A stale response ends the test: the payments need not move any longer.
        started = Math.max(started, stale.length === 0 ? 0 : reads);
      }),
    ]);
    expect(stale, `seed ${testSeed}`).toEqual([]);
  });

  it('shows the state of its delivery as soon as the other node does', async () => {
    const [hook] = await readPage(`${a + WEBHOOKS}?limit=100`).then((rows) =>
      rows.filter(({ url }) => url === inbox.urlOf('acme')),
    );
    if (hook === undefined) throw new Error('the endpoint of the seed is missing');
    await allSent(a);
    for (let round = 0; round < effort(6, 60); round += 1) {
      const [reader, writer] = round % 2 === 0 ? [a, b] : [b, a];
      const newest = async (node: string) =>
        (await readPage(`${node + DELIVERIES}?limit=3&webhookId=${hook.id}`))[0];
      inbox.answer('acme', () => undefined);
      await newest(reader);
      const { id: customerId } = await postOk(writer + CUSTOMERS, { name: 'Ada' });
      const [event] = await readPage(`${reader + EVENTS}?resourceId=${customerId}`);
      const pending = await newest(reader);
      expect(pending).toMatchObject({ eventId: event?.id, status: 'pending', held: false });
      await postOk(`${writer + WEBHOOKS}/${hook.id}/disable`, {});
      expect(await newest(reader)).toMatchObject({ id: pending?.id, status: 'pending', held: true });
      await postOk(`${writer + WEBHOOKS}/${hook.id}/enable`, {});
      expect(await newest(reader)).toMatchObject({ id: pending?.id, status: 'pending', held: false });

      inbox.answer('acme', acceptImmediately);
      await vi.waitUntil(async () => (await newest(writer))?.status === 'succeeded', WAIT);
      expect(await newest(reader)).toMatchObject({ id: pending?.id, status: 'succeeded' });
      expect(await readPage(`${reader + DELIVERIES}?status=pending&webhookId=${hook.id}`)).toEqual([]);
    }
  });
});

describe('two organizations that read through one node', () => {
  const KEYS = [API_KEY, SPARE_KEY] as const;
  /** The ids of each organization, newest first, by table. */
  let owned: readonly Readonly<Record<string, readonly string[]>>[] = [];

  beforeAll(async () => {
    await repeated(60, async (i) => {
      const key = i < 30 ? API_KEY : SPARE_KEY;
      const node = i % 2 === 0 ? a : b;
      const create = async (path: string, body: object) =>
        String((await postOk(node + path, body, randomUUID(), key)).id);
      await create(CUSTOMERS, { name: `Ada ${i}` });
      const id = await create(PAYMENTS, { amount: 1_000, currency: 'EUR' });
      if (i % 3 === 0) await create(`${PAYMENTS}/${id}/advance`, { to: 'captured' });
      if (i % 6 === 0) await create(`${PAYMENTS}/${id}/refund`, { amount: 100 });
      if (i % 6 === 3) await create(`${PAYMENTS}/${id}/advance`, { action: 'dispute', amount: 300 });
      await create(TRANSFERS, TRANSFER);
    });
    for (const key of KEYS) await allSent(a, undefined, key);
    // From the database, because responses that mix up the organizations would mix up the expectation as well.
    const rows = await queryPostgres(databaseUrl, (query) =>
      query(
        Object.keys(LISTS)
          .map(
            (table) =>
              `select '${table}' as "table", o.name, t.id from ${table} t join organizations o using (org_id)`,
          )
          .join(' union all '),
      ),
    );
    owned = ['Acme', 'Globex'].map((name) => {
      const own = rows.filter((row) => row.name === name);
      const idsOf = (table: string) =>
        own
          .flatMap((row) => (row.table === table ? String(row.id) : []))
          .sort()
          .reverse();
      return Object.fromEntries(Object.keys(LISTS).map((table) => [table, idsOf(table)]));
    });
  });

  it('see only their own records in thousands of mixed concurrent reads', async () => {
    const random = randomFrom(testSeed);
    const pick = <Item>(items: readonly Item[]): Item => {
      const item = items[Math.floor(random() * items.length)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    };
    const foreign = owned.map((_own, i) => new Set(Object.values(owned[1 - i] ?? {}).flat()));
    const mixedUp: unknown[] = [];

    const readOnce = async () => {
      const i = random() < 0.5 ? 0 : 1;
      const [table, { path, isReadById }] = pick(Object.entries(LISTS));
      const own = owned[i]?.[table] ?? [];
      const way = isReadById ? pick(['own', 'foreign', 'page'] as const) : 'page';
      const limit = 1 + Math.floor(random() * 30);
      const id = pick(way === 'foreign' ? (owned[1 - i]?.[table] ?? []) : own);
      const url = way === 'page' ? `${a + path}?limit=${limit}` : `${a + path}/${id}`;
      const { status, body, text } = await call(url, { key: KEYS[i] ?? '' });
      const found = way === 'page' ? (body.data as readonly Shown[]).map((row) => row.id) : body.id;
      const expected = { own: id, foreign: undefined, page: own.slice(0, limit) }[way];
      const isExpected = JSON.stringify(found) === JSON.stringify(expected);
      const leaked = (text.match(/\b[a-z]+_[0-9a-z]{26}\b/g) ?? []).filter((one) => foreign[i]?.has(one));
      if (status !== (way === 'foreign' ? 404 : 200) || !isExpected || leaked.length > 0)
        mixedUp.push({ url, organization: i, status, found, expected, leaked });
    };
    const waves = effort(40, 800);
    for (let wave = 0; wave < waves && mixedUp.length === 0; wave += 1) await repeated(100, readOnce);
    expect(mixedUp.slice(0, 3), `seed ${testSeed}`).toEqual([]);
  });

  it('get 404 for a record that the node has just read for the other one, in one group with it', async () => {
    for (const [table, { path, isReadById }] of Object.entries(LISTS)) {
      if (!isReadById) continue;
      const ids = owned[0]?.[table]?.slice(0, 20) ?? [];
      await Promise.all(ids.map((id) => read(`${a + path}/${id}`)));
      const answers = await Promise.all(
        ids.flatMap((id) =>
          KEYS.map(async (key) => ({ id, key, answer: await call(`${a + path}/${id}`, { key }) })),
        ),
      );
      for (const { id, key, answer } of answers) {
        if (key === API_KEY) expect(answer).toMatchObject({ status: 200, body: { id } });
        else expectRefusal(answer, 'resource_not_found');
      }
    }
  });
});

describe('an organization that is changed in the console of the other node', () => {
  let person: ConsoleClient;
  let orgId = '';
  const newKey = async (name: string) => {
    const { id: appId } = await person.post(`${orgId}/applications`, { name });
    const created = await person.post(`${orgId}/${appId}/api_keys`, { name, scopes: [...scopes] });
    return { key: String(created.key), path: `${orgId}/${appId}/api_keys/${created.id}` };
  };

  beforeAll(async () => {
    person = await ConsoleClient.signUp(b);
    orgId = (await person.post('session/organizations', { name: 'Initrode' })).id;
  });

  it('has its revoked keys rejected within a second, and never accepted again', async () => {
    const delays = await repeated(5, async (i) => {
      const { key, path } = await newKey(`revoked ${i}`);
      const read = () => call(`${a + PAYMENTS}?limit=1`, { key });
      const delay = await expectVisibleInTime(
        async () => (await read()).status === 401,
        () => person.post(`${path}/revoke`),
      );
      for (const answer of await repeated(40, read)) expectRefusal(answer, 'api_key_revoked');
      return delay;
    });
    console.log(`the last accepted requests began ${delays.map(Math.round).join(', ')} ms after the change`);
  });

  it('has no cached records left after a reset', async () => {
    const { key } = await newKey('reset');
    const ids = await repeated(10, async (i) => {
      const body = { amount: 1_000 + i, currency: 'EUR' };
      return String((await postOk(b + PAYMENTS, body, randomUUID(), key)).id);
    });
    await Promise.all(ids.map((id) => read(`${a + PAYMENTS}/${id}`, key)));
    expect(await readPage(a + PAYMENTS, key)).toHaveLength(ids.length);
    await person.post(`${orgId}/reset`, { name: 'Initrode' });
    for (const answer of await Promise.all(ids.map((id) => call(`${a + PAYMENTS}/${id}`, { key }))))
      expectRefusal(answer, 'resource_not_found');
    for (const path of [PAYMENTS, EVENTS, ENTRIES]) expect(await readPage(a + path, key)).toEqual([]);
  });
});
