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
import { createApplication, createOrganization, newPerson, ok } from '../support/visitor.ts';
import { type KeepAliveClient, keepAliveClient } from './keep-alive-client.ts';

const customers = 'developer_api_customers';
const small = { amount: 1_250, currency: 'EUR' };
const error = { type: 'error', code: 'service_unavailable' } as const;

describe.each(databaseKinds)('request faults on %s', (kind) => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    url = await server.listen();
  });

  /** An organization for one test, with a keep-alive client. */
  async function open(at = url, on = server): Promise<Tenant & { readonly http: KeepAliveClient }> {
    const acme = await tenant(on);
    const http = keepAliveClient(at, acme);
    onTestFinished(() => http.close());
    return { ...acme, http };
  }

  const paymentsOf = async ({ client }: Tenant) => expectOk(await client.get(payments, 'limit=100')).data;

  /** The raw bytes of a write, for a connection that the test controls. */
  const written = (acme: Tenant, key: string) => {
    const body = JSON.stringify(small);
    const lines = [
      ...[`Authorization: Bearer ${acme.key}`, `Idempotency-Key: ${key}`, 'Content-Type: application/json'],
      `Content-Length: ${body.length}`,
    ];
    return head(`POST /_api/${payments}`, ...lines) + body;
  };

  describe('latency', () => {
    test('delays the request, executes it, and names the fault plan in a header', async () => {
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'latency', delayMs: 300 },
        count: 2,
      });
      for (const send of [() => acme.http.post(payments, small), () => acme.http.get(payments)]) {
        const startedAt = performance.now();
        const answer = await send();
        expect(performance.now() - startedAt).toBeGreaterThanOrEqual(299);
        expect(answer.status).toBeLessThan(300);
        expect(answer.headers['sandbank-fault']).toBe(id);
      }
      expect((await acme.http.get(payments)).headers['sandbank-fault']).toBeUndefined();
      expect(await paymentsOf(acme)).toHaveLength(1);
    });

    test("does not delay other organizations' reads or writes, however many requests wait", async () => {
      const acme = await open();
      const otherOrg = await open();
      await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'latency', delayMs: 20_000 },
        share: 100,
      });
      const waiting = Array.from({ length: 40 }, () => acme.http.post(payments, small));
      let isOver = false;
      void Promise.race(waiting).then(() => {
        isOver = true;
      });
      expect((await otherOrg.http.post(payments, small)).status).toBe(201);
      expect((await otherOrg.http.get(payments)).status).toBe(200);
      // The operations that a client needs to cancel the plan are excluded.
      const active = expectOk(await acme.client.get(faultPlans, 'status=active')).data;
      expectOk(await acme.client.post(`${faultPlans}/${active[0]?.id}/cancel`));
      expect((await acme.http.get('developer_api_status')).status).toBe(200);
      expect(isOver).toBe(false);
      expect(expectOk(await otherOrg.client.get(payments)).data).toHaveLength(1);
      acme.http.close();
      await Promise.all(waiting);
    });

    test('a closing server does not wait for delayed requests', async () => {
      const closingServer = await openServer(kind);
      const acme = await open(await closingServer.listen(), closingServer);
      await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'latency', delayMs: 60_000 },
        count: 1,
      });
      const waiting = acme.http.post(payments, small);
      await waitUntil(async () => (await readAll(acme)).some(({ applied }) => applied === 1));
      const startedAt = performance.now();
      const closed = closingServer.close();
      expect((await waiting).status).toBe(201);
      acme.http.close();
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
    ])(
      '%d for %j: nothing is executed or stored, and the same idempotency key works afterwards',
      async (...testCase) => {
        const [status, fault, retryAfter] = testCase;
        const acme = await open();
        const { id } = await createFaultPlan(acme.client, {
          on: 'requests',
          fault: { type: 'error', ...fault },
          count: 2,
        });
        const key = randomUUID();
        for (let i = 0; i < 2; i += 1) {
          const answer = await acme.http.post(payments, small, key);
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
        const created = await acme.http.post(payments, small, key);
        expect(created.status).toBe(201);
        expect(created.headers['idempotent-replayed']).toBeUndefined();
        expect(created.headers['sandbank-fault']).toBeUndefined();
        expect((await acme.http.post(payments, small, key)).headers['idempotent-replayed']).toBe('true');
        expect(await paymentsOf(acme)).toHaveLength(1);
      },
    );

    test('a stored response is not returned while a plan affects its retry, and is unchanged afterwards', async () => {
      const acme = await open();
      const key = randomUUID();
      const first = await acme.http.post(payments, small, key);
      await createFaultPlan(acme.client, { on: 'requests', fault: error, count: 1 });
      expect((await acme.http.post(payments, small, key)).status).toBe(503);
      const again = await acme.http.post(payments, small, key);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.body).toEqual(first.body);
    });
  });

  describe('a connection reset', () => {
    test('sends no byte, executes nothing, and the same idempotency key works on another connection', async () => {
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
      const answer = await acme.http.post(payments, small, key);
      expect(answer.status).toBe(201);
      expect(answer.headers['idempotent-replayed']).toBeUndefined();
      expect(await readFaultPlan(acme.client, id)).toMatchObject({ status: 'exhausted', applied: 1 });
    });

    test('a Node client gets ECONNRESET, for a read and for a write', async () => {
      const acme = await open();
      await createFaultPlan(acme.client, { on: 'requests', fault: { type: 'reset_connection' }, count: 3 });
      expect((await acme.http.get(payments)).connectionError).toBe('ECONNRESET');
      expect((await acme.http.head(payments)).connectionError).toBe('ECONNRESET');
      expect((await acme.http.post(payments, small)).connectionError).toBe('ECONNRESET');
      expect((await acme.http.get(payments)).status).toBe(200);
    });
  });

  describe('a lost response', () => {
    test('commits the write before closing the connection; a retry with its idempotency key replays it', async () => {
      const acme = await open();
      await createFaultPlan(acme.client, { on: 'requests', fault: { type: 'lose_answer' }, count: 1 });
      const key = randomUUID();
      const raw = await RawConnection.open(url);
      raw.send(written(acme, key));
      expect(await raw.next()).toBeUndefined();
      const [payment, ...more] = await paymentsOf(acme);
      expect(more).toEqual([]);
      const again = await acme.http.post(payments, small, key);
      expect(again.status).toBe(201);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.headers['sandbank-fault']).toBeUndefined();
      expect(again.body.id).toBe(payment?.id);
      expect(await paymentsOf(acme)).toHaveLength(1);
    });

    test('a lost rejection is replayed unchanged to a retry', async () => {
      const acme = await open();
      await createFaultPlan(acme.client, { on: 'requests', fault: { type: 'lose_answer' }, count: 1 });
      const key = randomUUID();
      const foreign = { ...small, customerId: 'cus_01m7epxwjmf7za77rhky2f93cc' };
      expect((await acme.http.post(payments, foreign, key)).connectionError).toBeDefined();
      const again = await acme.http.post(payments, foreign, key);
      expect(again.status).toBe(422);
      expect(again.headers['idempotent-replayed']).toBe('true');
    });

    test('on a keep-alive connection, earlier responses are complete, and the next request needs a new connection', async () => {
      const acme = await open();
      const http = keepAliveClient(url, acme, 1);
      onTestFinished(() => http.close());
      expect((await http.post(payments, small)).status).toBe(201);
      await createFaultPlan(acme.client, { on: 'requests', fault: { type: 'lose_answer' }, count: 2 });
      expect((await http.post(payments, small)).connectionError).toBe('ECONNRESET');
      expect((await http.get(payments)).connectionError).toBe('ECONNRESET');
      expect((await http.get(payments)).body.data).toHaveLength(2);
    });

    test('without a socket, as with inject, the caller gets an error too', async () => {
      const acme = await open();
      for (const type of ['lose_answer', 'reset_connection']) {
        await createFaultPlan(acme.client, { on: 'requests', fault: { type }, count: 1 });
        await expect(acme.client.post(payments, small)).rejects.toThrow('response destroyed');
      }
      expect(await paymentsOf(acme)).toHaveLength(1);
    });
  });

  describe('matching', () => {
    test('operations and methods; HEAD counts as GET', async () => {
      const acme = await open();
      const named = await createFaultPlan(acme.client, {
        ...{ on: 'requests', fault: error, share: 100 },
        operations: ['listPayments', 'createCustomer'],
        methods: ['GET'],
      });
      expect((await acme.http.post(customers, { name: 'Ada' })).status).toBe(201);
      expect((await acme.http.get(customers)).status).toBe(200);
      expect((await acme.http.post(payments, small)).status).toBe(201);
      expect((await acme.http.get(payments)).status).toBe(503);
      const headResponse = await acme.http.head(payments);
      expect([headResponse.status, headResponse.headers['sandbank-fault']]).toEqual([503, named.id]);
      expect(await readFaultPlan(acme.client, named.id)).toMatchObject({ seen: 2, applied: 2 });
    });

    test('rejected requests and excluded operations are not counted', async () => {
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
      for (const excluded of ['status', 'capabilities', 'state_machines', 'clock', 'fault_plans'])
        expectOk(await client.get(`developer_api_${excluded}`));
      expectOk(await client.post('developer_api_clock/freeze'));
      expectOk(await client.post('developer_api_clock/advance', { seconds: 60 }));
      expectOk(await client.post('developer_api_clock/reset'));
      expect(await readFaultPlan(client, id)).toMatchObject({ status: 'active', seen: 0, applied: 0 });
      expect((await client.get(payments)).code).toBe('service_unavailable');
    });

    test('requests by people in the console are never affected', async () => {
      const ada = await newPerson(server, 'Ada');
      const orgId = await createOrganization(ada);
      const appId = await createApplication(ada, orgId);
      const at = `${orgId}/${appId}`;
      const plan = ok(
        await ada.post(`${at}/${faultPlans}`, {
          on: 'requests',
          fault: { type: 'reset_connection' },
          share: 100,
        }),
      );
      ok(await ada.post(`${at}/${payments}`, small));
      expect(ok(await ada.get(`${at}/${payments}`)).data).toHaveLength(1);
      expect(ok(await ada.get(`${at}/${faultPlans}/${plan.id}`))).toMatchObject({
        status: 'active',
        seen: 0,
      });
    });

    test('the oldest matching plan applies first, later plans get the rest; a request has at most one fault', async () => {
      const acme = await open();
      const half = { ...error, code: 'internal_error' };
      const older = await createFaultPlan(acme.client, { on: 'requests', fault: half, share: 50, seed: 11 });
      const younger = await createFaultPlan(acme.client, { on: 'requests', fault: error, count: 3 });
      const expected = hitsOf(11, 50, 12);
      const statuses: (number | undefined)[] = [];
      for (let i = 0; i < 12; i += 1) statuses.push((await acme.http.get(payments)).status);
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

  describe('selection', () => {
    const hitPositions = async (
      acme: Tenant & { http: KeepAliveClient },
      count: number,
    ): Promise<readonly number[]> => {
      const hit: number[] = [];
      for (let k = 1; k <= count; k += 1) if ((await acme.http.get(payments)).status === 503) hit.push(k);
      return hit;
    };

    test('one seed affects the same requests in every run, another seed affects others', async () => {
      const runs: (readonly number[])[] = [];
      for (const seed of [7, 7, 8]) {
        const acme = await open();
        const { id } = await createFaultPlan(acme.client, { on: 'requests', fault: error, share: 20, seed });
        runs.push(await hitPositions(acme, 100));
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

    test('a share with a count ends when the count is reached', async () => {
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: error,
        share: 30,
        count: 4,
        seed: 5,
      });
      const expected = hitsOf(5, 30, 60).slice(0, 4);
      expect(await hitPositions(acme, 60)).toEqual(expected);
      expect(await readFaultPlan(acme.client, id)).toMatchObject({
        ...{ status: 'exhausted', seen: expected.at(-1), applied: 4 },
      });
    });

    test('concurrent requests never exceed the count, and a share stays exact', async () => {
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
      const clients = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? acme.http : other));
      const answers = await Promise.all(
        clients.flatMap((http) => [http.get(payments), http.post(customers, { name: 'Ada' })]),
      );
      const hits = (status: number) => answers.filter((answer) => answer.status === status).length;
      expect([hits(503), hits(429), hits(200) + hits(201)]).toEqual([23, 20, 400 - 43]);
      expect(await readFaultPlan(acme.client, counted.id)).toMatchObject({
        status: 'exhausted',
        applied: 23,
      });
      expect(await readFaultPlan(acme.client, shared.id)).toMatchObject({ seen: 200, applied: 20 });
    });

    test('a plan applies from the next request after its response, and to none after it is canceled', async () => {
      const acme = await open();
      for (let round = 0; round < 10; round += 1) {
        // The key is cached by now, with and without plans.
        expect((await acme.http.get(payments)).status).toBe(200);
        const { id } = await createFaultPlan(acme.client, { on: 'requests', fault: error, share: 100 });
        expect((await acme.http.get(payments)).status).toBe(503);
        expect((await acme.http.post(payments, small)).status).toBe(503);
        expectOk(await acme.client.post(`${faultPlans}/${id}/cancel`));
        expect((await acme.http.get(payments)).status).toBe(200);
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
    const plan = await createFaultPlan(acme.client, {
      on: 'requests',
      fault: error,
      share: 40,
      count: 10,
      seed: 3,
    });
    const hit: number[] = [];
    const sendRange = async (on: Server, from: number, to: number) => {
      for (let k = from; k <= to; k += 1)
        if ((await acme.clientOn(on.app).get(payments)).code !== null) hit.push(k);
    };
    await sendRange(first, 1, 9);
    await first.close();
    const second = await openServer(kind, place);
    onTestFinished(() => second.close());
    await sendRange(second, 10, 60);
    expect(hit).toEqual(hitsOf(3, 40, 60).slice(0, 10));
    expect(await readFaultPlan(acme.clientOn(second.app), plan.id)).toMatchObject({
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
    const plan = await createFaultPlan(acme.client, {
      on: 'requests',
      fault: error,
      share: 50,
      count: 30,
      seed: 9,
    });
    // The other node learns of the plan when it reads the key again, and it has not cached the key yet.
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, i) => acme.clientOn((i % 2 === 0 ? here : there).app).get(payments)),
    );
    const hits = (from: number) => answers.filter(({ code }, i) => i % 2 === from && code !== null).length;
    expect(hits(0) + hits(1)).toBe(30);
    expect(hits(0)).toBeGreaterThan(0);
    expect(hits(1)).toBeGreaterThan(0);
    const seen = hitsOf(9, 50, 120)[29];
    expect(await readFaultPlan(acme.clientOn(there.app), plan.id)).toMatchObject({
      status: 'exhausted',
      applied: 30,
      seen,
    });
  });

  describe('the request log', () => {
    test('names the fault plan, and records an unsent response with status 0 and no body', async () => {
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
        await acme.http.post(payments, small);
      }
      await acme.http.post(payments, small);
      const loggedRow = (
        planId: string | undefined,
        status: number,
        errorCode: string | null,
        hasAnswer: boolean,
      ) => ({
        ...{ method: 'POST', route: 'createPayment', status, errorCode, planId: planId ?? null },
        answer: hasAnswer ? expect.any(String) : null,
      });
      expect(await logged(server, acme)).toMatchObject([
        loggedRow(ids[0], 201, null, true),
        loggedRow(ids[1], 503, 'service_unavailable', true),
        loggedRow(ids[2], 0, null, false),
        loggedRow(ids[3], 0, null, false),
        loggedRow(undefined, 201, null, true),
      ]);
    });

    test('the list includes the fault plan id', async () => {
      const acme = await open();
      const { id } = await createFaultPlan(acme.client, {
        on: 'requests',
        fault: { type: 'lose_answer' },
        count: 1,
      });
      await acme.http.get(payments);
      await server.requestLog.flush();
      const list = [...routes, ...consoleRoutes].find(({ operationId }) => operationId === 'listRequests');
      const readContext = {
        params: {},
        query: {},
        now: Date.now(),
        reader: server.reader,
        accepts: () => false,
      };
      const page = await (list as ApiReadRoute).read({ ...readContext, principal: viewerOf(acme) });
      expect((page as unknown as Body).data[0]).toMatchObject({
        route: 'listPayments',
        httpStatus: 0,
        faultPlanId: id,
      });
    });

    test('can be filtered by fault plan', async () => {
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
        await acme.http.get(payments);
        await acme.http.post(payments, small);
      }
      const routesHitBy = async (planId: unknown) =>
        expectOk(await acme.client.get(`developer_api_requests?faultPlanId=${planId}`)).data.map(
          ({ route }: Body) => route,
        );
      expect(await routesHitBy(slow?.id)).toEqual(['listPayments', 'listPayments']);
      expect(await routesHitBy(lost?.id)).toEqual(['createPayment', 'createPayment']);
      expect(await routesHitBy('flt_00000000000000000000000000')).toEqual([]);
      const { status, code } = await acme.client.get('developer_api_requests?faultPlanId=pay_1');
      expect({ status, code }).toEqual({ status: 400, code: 'invalid_request' });
    });
  });

  const readAll = async ({ client }: Tenant) =>
    expectOk(await client.get(faultPlans)).data as readonly (Body & { applied: number })[];
});

/** Polls until the condition holds, for an action of another connection. */
async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 15_000;
  while (!(await condition()))
    if (performance.now() > end) throw new Error('the condition did not hold within 15 seconds');
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

/** The logged requests of an organization, oldest first, without those for fault plans. */
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
