import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { type ServerProcess, startServer } from '../support/processes.ts';
import {
  type Answer,
  API_KEY,
  call,
  createPayment,
  expectRefusal,
  listPayments,
  PAYMENTS,
  SPARE_KEY,
  temporaryFolder,
} from './client.ts';
import { expectSame, newClaims } from './load.ts';
import { expectWhole, queryPostgres } from './records.ts';

const migrations = readdirSync(new URL('../../migrations/', import.meta.url)).filter((name) =>
  /^\d{4}_.*\.sql$/.test(name),
);
const folder = temporaryFolder();
const started: ServerProcess[] = [];

afterAll(() => folder.remove());

async function start(count: number, databaseUrl: string): Promise<readonly ServerProcess[]> {
  const nodes = await Promise.all(
    Array.from({ length: count }, () => startServer({ databaseUrl, seed: folder.seed })),
  );
  started.push(...nodes);
  return nodes;
}

async function stopAll(): Promise<void> {
  const nodes = started.splice(0);
  const codes = await Promise.all(nodes.map((node) => node.stop()));
  codes.forEach((code, i) => {
    expect(code, nodes[i]?.logs()).toBe(0);
  });
}

describe('nodes that start at once on an empty database', () => {
  afterEach(stopAll);

  it.each([2, 4])('%d of them migrate it once, declare the seed once, and all serve', async (count) => {
    const databaseUrl = await createDatabase(inject('postgresUrl'));
    const nodes = await start(count, databaseUrl);
    for (const node of nodes) {
      expect((await call(`${node.url}/readyz`)).status).toBe(200);
      expect((await createPayment(node.url, `first-${node.pid}`, 'first')).status).toBe(201);
    }
    await queryPostgres(databaseUrl, async (query) => {
      expect(await query('select name from schema_migrations')).toHaveLength(migrations.length);
      await expectSeededOnce(query);
    });

    // And so it stays when they start again.
    await stopAll();
    await start(2, databaseUrl);
    await queryPostgres(databaseUrl, expectSeededOnce);
  });

  async function expectSeededOnce(query: (sql: string) => Promise<readonly object[]>): Promise<void> {
    expect(await query('select name, version from organizations')).toEqual([{ name: 'Acme', version: 1 }]);
    expect(await query('select name, version from applications')).toEqual([{ name: 'web', version: 1 }]);
    expect(await query('select name, version from api_keys order by name')).toEqual([
      { name: 'ci', version: 1 },
      { name: 'spare', version: 1 },
    ]);
    expect(
      await query(`select 1 from state_history where resource in ('organization', 'application', 'api_key')`),
    ).toHaveLength(4);
  }
});

describe('two nodes on one database', () => {
  let databaseUrl = '';
  let nodes: readonly ServerProcess[] = [];

  beforeAll(async () => {
    databaseUrl = await createDatabase(inject('postgresUrl'));
    nodes = await start(2, databaseUrl);
  });
  afterAll(async () => {
    await queryPostgres(databaseUrl, async (query) => {
      const payments = await query('select id from payments');
      await expectWhole(
        query,
        payments.map(({ id }) => String(id)),
      );
    });
    await stopAll();
  });

  /** Node 0, node 1, node 0 and so on. */
  const urlOf = (i: number): string => nodes[i % nodes.length]?.url ?? '';

  it.each([1, 2, 3, 4, 5])(
    'make one payment of 100 identical requests at the same time, round %d',
    async (round) => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, i) => createPayment(urlOf(i), `same-${round}`, `same-${round}`)),
      );
      expectOneOf(answers);
      const listed = await listPayments(urlOf(round));
      expect(listed.filter(({ reference }) => reference === `same-${round}`)).toHaveLength(1);
    },
  );

  it('make 300 payments of 300 keys that both get at the same time', async () => {
    const claims = newClaims('both', 300);
    const answers = await Promise.all(
      claims.map(({ key, reference }) =>
        Promise.all(nodes.map((node) => createPayment(node.url, key, reference))),
      ),
    );
    for (const pair of answers) expectOneOf(pair);
    const listed = (await listPayments(urlOf(0))).filter(({ reference }) =>
      reference?.startsWith('ref-both'),
    );
    expectSame(
      listed.map(({ reference }) => String(reference)),
      claims.map(({ reference }) => reference),
    );
    expect(await listPayments(urlOf(1))).toEqual(await listPayments(urlOf(0)));
  });

  it('make 300 payments of 300 keys that they get in opposite order', async () => {
    const claims = newClaims('crossed', 300);
    const [forth, back] = await Promise.all([
      Promise.all(claims.map(({ key, reference }) => createPayment(urlOf(0), key, reference))),
      Promise.all(claims.toReversed().map(({ key, reference }) => createPayment(urlOf(1), key, reference))),
    ]);
    back.reverse();
    forth.forEach((answer, i) => {
      expectOneOf([answer, back[i] as Answer]);
    });
  });

  it('refuse a key on both within two seconds after it was revoked in the database', async () => {
    const statuses = () =>
      Promise.all(nodes.map(async (node) => (await call(node.url + PAYMENTS, { key: SPARE_KEY })).status));
    expect(await statuses()).toEqual([200, 200]);
    await queryPostgres(databaseUrl, (query) =>
      query(
        `update api_keys set status = 'revoked', version = version + 1 where last_four = '${SPARE_KEY.slice(-4)}'`,
      ),
    );
    const revokedAt = performance.now();
    await vi.waitUntil(async () => (await statuses()).every((status) => status === 401), {
      timeout: 2_000,
      interval: 20,
    });
    console.log(`revoked on both nodes after ${Math.round(performance.now() - revokedAt)} ms`);
    for (const node of nodes) {
      expectRefusal(await call(node.url + PAYMENTS, { key: SPARE_KEY }), 'api_key_revoked');
      expect((await call(node.url + PAYMENTS, { key: API_KEY })).status).toBe(200);
    }
  });
});

describe('one embedded server', () => {
  afterEach(stopAll);

  it('makes one payment of 100 identical requests at the same time', async () => {
    const server = await startServer({ dataDir: 'memory', seed: folder.seed });
    started.push(server);
    const { url } = server;
    for (let round = 0; round < 5; round += 1) {
      expectOneOf(
        await Promise.all(
          Array.from({ length: 100 }, () => createPayment(url, `same-${round}`, `same-${round}`)),
        ),
      );
      expect(await listPayments(url)).toHaveLength(round + 1);
    }
  });
});

/** All say the same, and exactly one of them made it. */
function expectOneOf(answers: readonly Answer[]): void {
  expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
}
