import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import type { ApiReadRoute } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';
import { expectOk } from '../support/api-client.ts';
import { createFaultPlan, faultPlans, hitsOf, readFaultPlan } from '../support/fault-plans.ts';
import { payments } from '../support/payments.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { viewerOf } from '../support/principal.ts';
import { head, RawConnection } from '../support/raw-connection.ts';
import { databaseKinds, openServer, sharedServer } from '../support/server.ts';
import { type KeyHolder, type Tenant, tenant } from '../support/tenant.ts';
import { found, newcomer, ok, register } from '../support/visitor.ts';
import { type KeepAliveClient, keepAliveClient } from './keep-alive-client.ts';

const customers = 'developer_api_customers';
const small = { amount: 1_250, currency: 'EUR' };
const error = { type: 'error', code: 'service_unavailable' } as const;

describe.each(databaseKinds)('faults of requests on %s', (kind) => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    url = await server.listen();
  });

  /** An organization of one test and its wire. */
  async function open(at = url, on = server): Promise<Tenant & { readonly wire: KeepAliveClient }> {
    const acme = await tenant(on);
    const wire = keepAliveClient(at, acme);
    onTestFinished(() => wire.close());
    return { ...acme, wire };
  }

  const paymentsOf = async ({ client }: Tenant) => expectOk(await client.get(payments, 'limit=100')).data;

  /** The bytes of a write, as they go over a connection of the test's own. */
  const written = (acme: Tenant, key: string) => {
    const body = JSON.stringify(small);
    const lines = [
      ...[`Authorization: Bearer ${acme.key}`, `Idempotency-Key: ${key}`, 'Content-Type: application/json'],
      `Content-Length: ${body.length}`,
    ];
    return head(`POST /_api/${payments}`, ...lines) + body;
  };

  describe('latency', () => {
    test('the request waits so long, is done, and says what befell it', async () => {
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'latency', delayMs: 300 },
        count: 2,
      });
      for (const ask of [() => acme.wire.post(payments, small), () => acme.wire.get(payments)]) {
        const startedAt = performance.now();
        const answer = await ask();
        expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299);
        expect(answer.status).toBeLessThan(300);
        expect(answer.headers['sandbank-fault']).toBe(id);
      }
      expect((await acme.wire.get(payments)).headers['sandbank-fault']).toBeUndefined();
      expect(await paymentsOf(acme)).toHaveLength(1);
    });

    test('nobody else waits, neither for a write nor for a read, however many wait', async () => {
      const acme = await open();
      const rival = await open();
      await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'latency', delayMs: 20_000 },
        share: 100,
      });
      const waiting = Array.from({ length: 40 }, () => acme.wire.post(payments, small));
      let isOver = false;
      void Promise.race(waiting).then(() => {
        isOver = true;
      });
      expect((await rival.wire.post(payments, small)).status).toBe(201);
      expect((await rival.wire.get(payments)).status).toBe(200);
      // What a test needs to get out again is spared.
      const active = expectOk(await acme.client.get(faultPlans, 'status=active')).data;
      expectOk(await acme.client.post(`${faultPlans}/${active[0]?.id}/cancel`));
      expect((await acme.wire.get('developer_api_status')).status).toBe(200);
      expect(isOver).toBe(false);
      expect(expectOk(await rival.client.get(payments)).data).toHaveLength(1);
      acme.wire.close();
      await Promise.all(waiting);
    });

    test('a server that closes does not wait for those that wait', async () => {
      const own = await openServer(kind);
      const acme = await open(await own.listen(), own);
      await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'latency', delayMs: 60_000 },
        count: 1,
      });
      const waiting = acme.wire.post(payments, small);
      await until(async () => (await readAll(acme)).some(({ applied }) => applied === 1));
      const startedAt = performance.now();
      const closed = own.close();
      expect((await waiting).status).toBe(201);
      acme.wire.close();
      await closed;
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    });
  });

  describe('errors', () => {
    test.each([
      [429, { code: 'rate_limited' }, '1'],
      [429, { code: 'rate_limited', retryAfterSeconds: 7 }, '7'],
      [500, { code: 'internal_error' }, undefined],
      [500, { code: 'internal_error', retryAfterSeconds: 3_600 }, '3600'],
      [503, { code: 'service_unavailable' }, '1'],
      [503, { code: 'service_unavailable', retryAfterSeconds: 0 }, '0'],
    ])('%d by %j: nothing is done, nothing is kept, and the same key works afterwards', async (...given) => {
      const [status, fault, retryAfter] = given;
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'error', ...fault },
        count: 2,
      });
      const key = randomUUID();
      for (let i = 0; i < 2; i += 1) {
        const answer = await acme.wire.post(payments, small, key);
        expect(answer.status).toBe(status);
        expect(answer.headers['retry-after']).toBe(retryAfter);
        expect(answer.headers['sandbank-fault']).toBe(id);
        expect(answer.headers['idempotent-replayed']).toBeUndefined();
        expect(answer.body).toMatchObject({ object: 'error', sandbox: true, status: 'error' });
        expect(answer.body.requestId).toBe(answer.headers['request-id']);
        expect(answer.body.error).toMatchObject({ code: fault.code, retryable: true });
        expect(answer.body.error.message).toMatch(`Fault plan ${id}: this error was injected`);
        expect(answer.body.error.docUrl).toContain(`/docs/errors#${fault.code}`);
      }
      expect(await readFaultPlan(acme.client, id)).toMatchObject({
        status: 'exhausted',
        seen: 2,
        applied: 2,
      });
      const made = await acme.wire.post(payments, small, key);
      expect(made.status).toBe(201);
      expect(made.headers['idempotent-replayed']).toBeUndefined();
      expect(made.headers['sandbank-fault']).toBeUndefined();
      expect((await acme.wire.post(payments, small, key)).headers['idempotent-replayed']).toBe('true');
      expect(await paymentsOf(acme)).toHaveLength(1);
    });

    test('an answer that was kept is not given while a plan hits its retry, and is the same one afterwards', async () => {
      const acme = await open();
      const key = randomUUID();
      const first = await acme.wire.post(payments, small, key);
      await createFaultPlan(acme.client, { on: 'requests', fault: error, count: 1 });
      expect((await acme.wire.post(payments, small, key)).status).toBe(503);
      const again = await acme.wire.post(payments, small, key);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.body).toEqual(first.body);
    });
  });

  describe('a connection that is reset', () => {
    test('not a byte comes, nothing was done, and the same key works on another connection', async () => {
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'reset_connection' },
        count: 1,
      });
      const key = randomUUID();
      const raw = await RawConnection.open(url);
      raw.send(written(acme, key));
      expect(await raw.next()).toBeUndefined();
      expect(await paymentsOf(acme)).toEqual([]);
      const answer = await acme.wire.post(payments, small, key);
      expect(answer.status).toBe(201);
      expect(answer.headers['idempotent-replayed']).toBeUndefined();
      expect(await readFaultPlan(acme.client, id)).toMatchObject({ status: 'exhausted', applied: 1 });
    });

    test('a client of Node is told ECONNRESET, for a read as for a write', async () => {
      const acme = await open();
      await createFaultPlan(acme.client, { on: 'requests', fault: { type: 'reset_connection' }, count: 3 });
      expect((await acme.wire.get(payments)).lost).toBe('ECONNRESET');
      expect((await acme.wire.head(payments)).lost).toBe('ECONNRESET');
      expect((await acme.wire.post(payments, small)).lost).toBe('ECONNRESET');
      expect((await acme.wire.get(payments)).status).toBe(200);
    });
  });

  describe('an answer that is lost', () => {
    test('the write is committed before the connection ends, and a retry with its key replays it: one payment', async () => {
      const acme = await open();
      await createFaultPlan(acme.client, { on: 'requests', fault: { type: 'lose_answer' }, count: 1 });
      const key = randomUUID();
      const raw = await RawConnection.open(url);
      raw.send(written(acme, key));
      expect(await raw.next()).toBeUndefined();
      const [made, ...more] = await paymentsOf(acme);
      expect(more).toEqual([]);
      const again = await acme.wire.post(payments, small, key);
      expect(again.status).toBe(201);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.headers['sandbank-fault']).toBeUndefined();
      expect(again.body.id).toBe(made?.id);
      expect(await paymentsOf(acme)).toHaveLength(1);
    });

    test('a refusal is lost as well, and a retry is refused in the same words', async () => {
      const acme = await open();
      await createFaultPlan(acme.client, { on: 'requests', fault: { type: 'lose_answer' }, count: 1 });
      const key = randomUUID();
      const foreign = { ...small, customerId: 'cus_01m7epxwjmf7za77rhky2f93cc' };
      expect((await acme.wire.post(payments, foreign, key)).lost).toBeDefined();
      const again = await acme.wire.post(payments, foreign, key);
      expect(again.status).toBe(422);
      expect(again.headers['idempotent-replayed']).toBe('true');
    });

    test('on a connection that is kept alive, what came before is whole, and the next one needs a new connection', async () => {
      const acme = await open();
      const wire = keepAliveClient(url, acme, 1);
      onTestFinished(() => wire.close());
      expect((await wire.post(payments, small)).status).toBe(201);
      await createFaultPlan(acme.client, { on: 'requests', fault: { type: 'lose_answer' }, count: 2 });
      expect((await wire.post(payments, small)).lost).toBe('ECONNRESET');
      expect((await wire.get(payments)).lost).toBe('ECONNRESET');
      expect((await wire.get(payments)).body.data).toHaveLength(2);
    });

    test('without a connection, as in tests that inject, the caller is told as well', async () => {
      const acme = await open();
      for (const type of ['lose_answer', 'reset_connection']) {
        await createFaultPlan(acme.client, { on: 'requests', fault: { type }, count: 1 });
        await expect(acme.client.post(payments, small)).rejects.toThrow('response destroyed');
      }
      expect(await paymentsOf(acme)).toHaveLength(1);
    });
  });

  describe('what a plan is one for', () => {
    test('operations and methods; HEAD is GET', async () => {
      const acme = await open();
      const named = await createFaultPlan(acme.client, {
        ...{ on: 'requests', fault: error, share: 100 },
        operations: ['listPayments', 'createCustomer'],
        methods: ['GET'],
      });
      expect((await acme.wire.post(customers, { name: 'Ada' })).status).toBe(201);
      expect((await acme.wire.get(customers)).status).toBe(200);
      expect((await acme.wire.post(payments, small)).status).toBe(201);
      expect((await acme.wire.get(payments)).status).toBe(503);
      const headed = await acme.wire.head(payments);
      expect([headed.status, headed.headers['sandbank-fault']]).toEqual([503, named.id]);
      expect(await readFaultPlan(acme.client, named.id)).toMatchObject({ seen: 2, applied: 2 });
    });

    test('what would be refused anyway uses up nothing, nor does what is spared', async () => {
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, { on: 'requests', fault: error, count: 1 });
      const reader = await acme.addKey({ scopes: ['payments:read'] });
      const { client } = acme;
      expect((await client.post(payments, { amount: 1 })).status).toBe(400);
      expect((await client.post(payments, undefined, { raw: '{' })).status).toBe(400);
      expect((await client.post(payments, small, { idempotencyKey: null })).status).toBe(400);
      expect((await client.get(payments, 'limit=0')).status).toBe(400);
      expect((await client.get(payments, '', { headers: { 'api-version': 'x' } })).status).toBe(400);
      expect((await reader.client.post(payments, small)).status).toBe(403);
      expect((await client.get('developer_api_nothing')).status).toBe(404);
      expect((await client.send(payments, { method: 'PUT' })).status).toBe(405);
      for (const spared of ['status', 'capabilities', 'state_machines', 'clock', 'fault_plans'])
        expectOk(await client.get(`developer_api_${spared}`));
      expectOk(await client.post('developer_api_clock/freeze'));
      expectOk(await client.post('developer_api_clock/advance', { seconds: 60 }));
      expectOk(await client.post('developer_api_clock/reset'));
      expect(await readFaultPlan(client, id)).toMatchObject({ status: 'active', seen: 0, applied: 0 });
      expect((await client.get(payments)).code).toBe('service_unavailable');
    });

    test('what a person does in the console is never hit', async () => {
      const ada = await newcomer(server, 'Ada');
      const orgId = await found(ada);
      const appId = await register(ada, orgId);
      const at = `${orgId}/${appId}`;
      const made = ok(
        await ada.post(`${at}/${faultPlans}`, {
          on: 'requests',
          fault: { type: 'reset_connection' },
          share: 100,
        }),
      );
      ok(await ada.post(`${at}/${payments}`, small));
      expect(ok(await ada.get(`${at}/${payments}`)).data).toHaveLength(1);
      expect(ok(await ada.get(`${at}/${faultPlans}/${made.id}`))).toMatchObject({
        status: 'active',
        seen: 0,
      });
    });

    test('the oldest that hits wins; what it leaves is for the next, and one request has one fault', async () => {
      const acme = await open();
      const half = { ...error, code: 'internal_error' };
      const older = await createFaultPlan(acme.client, { on: 'requests', fault: half, share: 50, seed: 11 });
      const younger = await createFaultPlan(acme.client, { on: 'requests', fault: error, count: 3 });
      const expected = hitsOf(11, 50, 12);
      const statuses: (number | undefined)[] = [];
      for (let i = 0; i < 12; i += 1) statuses.push((await acme.wire.get(payments)).status);
      let left = 3;
      expect(statuses).toEqual(
        statuses.map((_status, i) => {
          if (expected.includes(i + 1)) return 500;
          left -= 1;
          return left >= 0 ? 503 : 200;
        }),
      );
      expect(await readFaultPlan(acme.client, older.id)).toMatchObject({
        seen: 12,
        applied: expected.length,
      });
      expect(await readFaultPlan(acme.client, younger.id)).toMatchObject({ seen: 3, applied: 3 });
    });
  });

  describe('which of them are hit', () => {
    const hitPlaces = async (
      acme: Tenant & { wire: KeepAliveClient },
      count: number,
    ): Promise<readonly number[]> => {
      const hit: number[] = [];
      for (let k = 1; k <= count; k += 1) if ((await acme.wire.get(payments)).status === 503) hit.push(k);
      return hit;
    };

    test('a seed hits the same requests in every run, and another seed others', async () => {
      const runs: (readonly number[])[] = [];
      for (const seed of [7, 7, 8]) {
        const acme = await open();
        const { id } = await createFaultPlan(acme.client, { on: 'requests', fault: error, share: 20, seed });
        runs.push(await hitPlaces(acme, 100));
        expect(await readFaultPlan(acme.client, id)).toMatchObject({
          status: 'active',
          seen: 100,
          applied: 20,
        });
      }
      expect(runs[0]).toEqual(hitsOf(7, 20, 100));
      expect(runs[1]).toEqual(runs[0]);
      expect(runs[2]).toEqual(hitsOf(8, 20, 100));
      expect(runs[2]).not.toEqual(runs[0]);
    });

    test('a share with a count ends when so many were hit', async () => {
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: error,
        share: 30,
        count: 4,
        seed: 5,
      });
      const expected = hitsOf(5, 30, 60).slice(0, 4);
      expect(await hitPlaces(acme, 60)).toEqual(expected);
      expect(await readFaultPlan(acme.client, id)).toMatchObject({
        ...{ status: 'exhausted', seen: expected.at(-1), applied: 4 },
      });
    });

    test('clients that ask at once never make it more than the count, and a share stays exact', async () => {
      const acme = await open();
      const counted = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: error,
        count: 23,
        methods: ['GET'],
      });
      const shared = await createFaultPlan(acme.client, {
        ...{ on: 'requests', fault: { ...error, code: 'rate_limited' }, share: 10 },
        operations: ['createCustomer'],
      });
      const other = keepAliveClient(url, acme);
      onTestFinished(() => other.close());
      const asked = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? acme.wire : other));
      const answers = await Promise.all(
        asked.flatMap((wire) => [wire.get(payments), wire.post(customers, { name: 'Ada' })]),
      );
      const hits = (status: number) => answers.filter((answer) => answer.status === status).length;
      expect([hits(503), hits(429), hits(200) + hits(201)]).toEqual([23, 20, 400 - 43]);
      expect(await readFaultPlan(acme.client, counted.id)).toMatchObject({
        status: 'exhausted',
        applied: 23,
      });
      expect(await readFaultPlan(acme.client, shared.id)).toMatchObject({ seen: 200, applied: 20 });
    });

    test('the very next request after the answer feels a plan, and none after it was canceled', async () => {
      const acme = await open();
      for (let round = 0; round < 10; round += 1) {
        // The key is known by now, with or without plans.
        expect((await acme.wire.get(payments)).status).toBe(200);
        const { id } = await createFaultPlan(acme.client, { on: 'requests', fault: error, share: 100 });
        expect((await acme.wire.get(payments)).status).toBe(503);
        expect((await acme.wire.post(payments, small)).status).toBe(503);
        expectOk(await acme.client.post(`${faultPlans}/${id}/cancel`));
        expect((await acme.wire.get(payments)).status).toBe(200);
        expect(await readFaultPlan(acme.client, id)).toMatchObject({
          status: 'canceled',
          seen: 2,
          applied: 2,
        });
      }
    });
  });

  test('a plan continues after a restart', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'sandbank-faults-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place =
      kind === 'pglite'
        ? { dataDirectory: folder }
        : {
            databaseUrl: await migratedDatabase(inject('postgresUrl')),
            secret: 'the secret of a test server',
          };
    const first = await openServer(kind, place);
    const acme = await tenant(first);
    const made = await createFaultPlan(acme.client, {
      on: 'requests',
      fault: error,
      share: 40,
      count: 10,
      seed: 3,
    });
    const hit: number[] = [];
    const ask = async (on: Server, from: number, to: number) => {
      for (let k = from; k <= to; k += 1)
        if ((await acme.clientOn(on.app).get(payments)).code !== null) hit.push(k);
    };
    await ask(first, 1, 9);
    await first.close();
    const second = await openServer(kind, place);
    onTestFinished(() => second.close());
    await ask(second, 10, 60);
    expect(hit).toEqual(hitsOf(3, 40, 60).slice(0, 10));
    expect(await readFaultPlan(acme.clientOn(second.app), made.id)).toMatchObject({
      status: 'exhausted',
      applied: 10,
    });
  });

  test.runIf(kind === 'postgres')('two nodes on one database share the count exactly', async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const nodes = await Promise.all(
      [1, 2].map(() => openServer(kind, { databaseUrl, secret: 'the secret of a test server' })),
    );
    onTestFinished(async () => {
      for (const node of nodes) await node.close();
    });
    const [here, there] = nodes as [Server, Server];
    const acme = await tenant(here);
    const made = await createFaultPlan(acme.client, {
      on: 'requests',
      fault: error,
      share: 50,
      count: 30,
      seed: 9,
    });
    // The other node learns of it when it looks at the key again, and it has not met it yet.
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, i) => acme.clientOn((i % 2 === 0 ? here : there).app).get(payments)),
    );
    const hits = (from: number) => answers.filter(({ code }, i) => i % 2 === from && code !== null).length;
    expect(hits(0) + hits(1)).toBe(30);
    expect(hits(0)).toBeGreaterThan(0);
    expect(hits(1)).toBeGreaterThan(0);
    const seen = hitsOf(9, 50, 120)[29];
    expect(await readFaultPlan(acme.clientOn(there.app), made.id)).toMatchObject({
      status: 'exhausted',
      applied: 30,
      seen,
    });
  });

  describe('the log of requests', () => {
    test('names the plan of what was hit, and shows what never left as 0 and without an answer', async () => {
      const acme = await open();
      const faults = [
        { type: 'latency', delayMs: 1 },
        error,
        { type: 'reset_connection' },
        { type: 'lose_answer' },
      ];
      const ids: string[] = [];
      for (const fault of faults) {
        ids.push((await createFaultPlan(acme.client, { on: 'requests', fault, count: 1 })).id);
        await acme.wire.post(payments, small);
      }
      await acme.wire.post(payments, small);
      const words = (
        planId: string | undefined,
        status: number,
        errorCode: string | null,
        hasAnswer: boolean,
      ) => ({
        ...{ method: 'POST', route: 'createPayment', status, errorCode, planId: planId ?? null },
        answer: hasAnswer ? expect.any(String) : null,
      });
      expect(await logged(server, acme)).toMatchObject([
        words(ids[0], 201, null, true),
        words(ids[1], 503, 'service_unavailable', true),
        words(ids[2], 0, null, false),
        words(ids[3], 0, null, false),
        words(undefined, 201, null, true),
      ]);
    });

    test('shows it to whoever reads the log', async () => {
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'lose_answer' },
        count: 1,
      });
      await acme.wire.get(payments);
      await server.requestLog.flush();
      const list = [...routes, ...consoleRoutes].find(({ operationId }) => operationId === 'listRequests');
      const asked = { params: {}, query: {}, now: Date.now(), reader: server.reader, accepts: () => false };
      const page = await (list as ApiReadRoute).read({ ...asked, principal: viewerOf(acme) });
      expect((page as unknown as Body).data[0]).toMatchObject({
        route: 'listPayments',
        httpStatus: 0,
        faultPlanId: id,
      });
    });

    test('can be asked for what one plan has hit', async () => {
      const acme = await open();
      const [slow, lost] = await Promise.all(
        (['latency', 'lose_answer'] as const).map((type) =>
          createFaultPlan(acme.client, {
            on: 'requests',
            fault: type === 'latency' ? { type, delayMs: 1 } : { type },
            count: 2,
            methods: [type === 'latency' ? 'GET' : 'POST'],
          }),
        ),
      );
      for (let n = 0; n < 3; n += 1) {
        await acme.wire.get(payments);
        await acme.wire.post(payments, small);
      }
      const hitBy = async (planId: unknown) =>
        expectOk(await acme.client.get(`developer_api_requests?faultPlanId=${planId}`)).data.map(
          ({ route }: Body) => route,
        );
      expect(await hitBy(slow?.id)).toEqual(['listPayments', 'listPayments']);
      expect(await hitBy(lost?.id)).toEqual(['createPayment', 'createPayment']);
      expect(await hitBy('flt_00000000000000000000000000')).toEqual([]);
      const { status, code } = await acme.client.get('developer_api_requests?faultPlanId=pay_1');
      expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' });
    });
  });

  const readAll = async ({ client }: Tenant) =>
    expectOk(await client.get(faultPlans)).data as readonly (Body & { applied: number })[];
});

/** Asks again until it is so: for what another connection is about to do. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 15_000;
  while (!(await isSo())) if (performance.now() > end) throw new Error('it never came to be');
}

interface LoggedRequest {
  readonly id: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly answer: string | null;
  readonly planId: string | null;
}

/** The logged requests of an organization, oldest first, without those about fault plans. */
async function logged(server: Server, { orgId }: KeyHolder): Promise<readonly LoggedRequest[]> {
  await server.requestLog.flush();
  return server.database.query<LoggedRequest>(
    {
      name: '',
      text: `select id, method, route, http_status as status, error_code as "errorCode", response_body as answer,
          fault_plan_id as "planId"
        from requests where org_id = $1 and route not like '%FaultPlan%' order by id`,
    },
    [orgId],
  );
}
