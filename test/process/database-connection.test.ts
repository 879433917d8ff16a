import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import { openPostgres } from '../../src/db/postgres.ts';
import type { Server } from '../../src/server.ts';
import type { Answer, ApiClient } from '../support/api-client.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { type Break, type DatabaseProxy, openDatabaseProxy, type Side } from './support/database-proxy.ts';
import { queryPostgres } from './support/database-rows.ts';

const PAYMENTS = 'developer_api_payments';
const POSITIONS_MAX = 200;
const ATTEMPTS_MAX = 60;
// Shorter than the ten seconds of a server, because the tests wait for them often.
const LIMITS = { connectMsMax: 200, queryMsMax: 200, lockMsMax: 1_000 };

interface Write {
  readonly path: string;
  readonly body: object;
}

/** How many rows of each table belong to a request. */
const belongings = {
  audit: `select request_id, count(*)::int as n from audit where org_id = $1 and outcome = 'accepted' group by 1`,
  events: 'select request_id, count(*)::int as n from events where org_id = $1 group by 1',
  entries: 'select request_id, count(*)::int as n from ledger_entries where org_id = $1 group by 1',
};

let proxy: DatabaseProxy;
let server: Server;
let databaseUrl = '';

beforeAll(async () => {
  databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const url = new URL(databaseUrl);
  proxy = await openDatabaseProxy(Number(url.port));
  url.port = String(proxy.port);
  // An API node: besides requests only the request log uses the proxy.
  const database = openPostgres(url.href, () => undefined, LIMITS);
  server = await openServer(
    'postgres',
    { databaseUrl: url.href, secret: 's'.repeat(32), role: 'api' },
    Promise.resolve(database),
  );
});
afterAll(async () => {
  await server?.close();
  await proxy?.close();
});

/** Repeats a write until it succeeds, as a client does after 503, and after 409 for its own earlier request. */
async function sendUntilOk(client: ApiClient, { path, body }: Write, idempotencyKey: string) {
  const refused: Answer[] = [];
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const answer = await client.post(path, body, { idempotencyKey });
    if (answer.status < 300) return { answer, refused };
    refused.push(answer);
  }
  throw new Error(`Not done after ${ATTEMPTS_MAX} attempts: ${refused.at(-1)?.text}`);
}

/** Breaks the connection at the first message of the write, then at the second, and so on until the last. */
async function breakEverywhere(
  client: ApiClient,
  write: Write,
  { side, how, isWarm }: { readonly side: Side; readonly how: Break; readonly isWarm: boolean },
): Promise<{ readonly types: string; readonly requestIds: readonly string[]; readonly found: number }> {
  const requestIds: string[] = [];
  let found = 0;
  const types: string[] = [];
  for (let number = 0; number < POSITIONS_MAX; number += how === 'hole' ? 2 : 1) {
    if (isWarm) requestIds.push((await sendUntilOk(client, write, randomUUID())).answer.body.requestId);
    else proxy.cutAll();
    const key = randomUUID();
    proxy.breakAt({ side, number, how });
    const { answer, refused } = await sendUntilOk(client, write, key);
    const type = proxy.end();
    const where = `${side} ${how} at ${number} (${type}) of ${types.join('')}`;
    for (const { code } of refused)
      expect(['service_unavailable', 'idempotency_in_progress'], where).toContain(code);
    if (refused.length > 0 && answer.headers['idempotent-replayed'] === 'true') found += 1;
    const again = await sendUntilOk(client, write, key);
    expect(again.answer.text, where).toBe(answer.text);
    expect(again.answer.headers['idempotent-replayed'], where).toBe('true');
    requestIds.push(answer.body.requestId);
    if (type === undefined) return { types: types.join(' '), requestIds, found };
    types.push(type);
  }
  throw new Error(`A write of more than ${POSITIONS_MAX} messages: ${types.join(' ')}`);
}

const writes: Readonly<Record<string, (client: ApiClient) => Promise<Write>>> = {
  create: async () => ({ path: PAYMENTS, body: { amount: 1_250, currency: 'EUR' } }),
  advance: async (client) => {
    const body = { amount: 900_000, currency: 'EUR', captureMethod: 'manual' };
    const { id } = (await client.post(PAYMENTS, body)).body;
    await client.post(`${PAYMENTS}/${id}/advance`, { action: 'authorize' });
    return { path: `${PAYMENTS}/${id}/advance`, body: { action: 'capture', amount: 7 } };
  },
  refund: async (client) => {
    const { id } = (await client.post(PAYMENTS, { amount: 900_000, currency: 'EUR' })).body;
    await client.post(`${PAYMENTS}/${id}/advance`, { to: 'settled' });
    return { path: `${PAYMENTS}/${id}/refund`, body: { amount: 7 } };
  },
  transfer: async () => ({
    path: 'developer_api_transfers',
    body: { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 1_000 },
  }),
};

/** On a connection that has executed the same write before. */
const warm = [
  { side: 'client', how: 'cut', isWarm: true },
  { side: 'server', how: 'reset', isWarm: true },
  { side: 'server', how: 'half', isWarm: true },
] as const;
/** From the first message of a new connection. */
const cold = [
  { side: 'client', how: 'half', isWarm: false },
  { side: 'server', how: 'cut', isWarm: false },
] as const;
/** A transaction holds locks until PostgreSQL notices that its client is silent: that takes a long time. */
const holes = [{ side: 'server', how: 'hole', isWarm: true }] as const;
const more: Readonly<Record<string, readonly ((typeof cold)[number] | (typeof holes)[number])[]>> = {
  create: cold,
  refund: holes,
};

it.each(Object.keys(writes))(
  'a write (%s) is executed once, wherever its connection breaks',
  async (name) => {
    const { client, orgId } = await tenant(server);
    const write = await writes[name]?.(client);
    if (!write) throw new Error(`${name} is not a write`);
    const clean = await sendUntilOk(client, write, randomUUID());
    const before = await countsOf(orgId);
    const requestIds: string[] = [];
    let places = 0;
    let found = 0;
    for (const way of [...warm, ...(more[name] ?? [])]) {
      const broken = await breakEverywhere(client, write, way);
      requestIds.push(...broken.requestIds);
      found += broken.found;
      places += broken.types.split(' ').length;
    }
    console.log(`${name}: broken at ${places} places, executed at ${found} of them`);
    // Some were committed before the connection broke: the repeated request finds them executed.
    expect(found).toBeGreaterThan(2);
    expect(new Set(requestIds).size).toBe(requestIds.length);
    const after = await countsOf(orgId);
    for (const [table, counts] of Object.entries(after)) {
      const usual = counts.get(clean.answer.body.requestId);
      const wanted = new Map(before[table]);
      if (usual !== undefined) for (const id of requestIds) wanted.set(id, usual);
      expect(counts, `${name}: ${table}`).toEqual(wanted);
    }
    const { checks } = await verify(server.database);
    expect(checks.flatMap(({ differences }) => differences)).toEqual([]);
  },
);

it('a silent network costs one timeout, not one for each connection', async () => {
  const url = new URL(databaseUrl);
  url.port = String(proxy.port);
  // Only the lost query has a short limit: on a busy machine the others may take a while.
  const database = openPostgres(url.href, () => undefined, {
    ...LIMITS,
    connectMsMax: 30_000,
    queryMsMax: 30_000,
  });
  const one = { name: '', text: 'select pg_sleep(0.05)' };
  await Promise.all(Array.from({ length: 5 }, () => database.query(one, [])));
  proxy.silence();
  await expect(database.query({ ...one, msMax: 200 }, [])).rejects.toThrow('timeout');
  for (let i = 0; i < 5; i += 1) await database.query(one, []);
  await database.close();
});

async function countsOf(orgId: string): Promise<Readonly<Record<string, ReadonlyMap<string, number>>>> {
  return queryPostgres(databaseUrl, async (query) => {
    const counts: Record<string, ReadonlyMap<string, number>> = {};
    for (const [table, sql] of Object.entries(belongings)) {
      const rows = await query(sql.replace('$1', `'${orgId}'`));
      counts[table] = new Map(rows.map((row) => [String(row.request_id), Number(row.n)]));
    }
    return counts;
  });
}
