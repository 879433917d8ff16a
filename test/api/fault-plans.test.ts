import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import { idPattern } from '../../src/kernel/ids.ts';
import { type Scope, scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, expectOk, expectRefused, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const plans = 'developer_api_fault_plans';
const payments = 'developer_api_payments';
/** Has no effect: only endpoint tests create events of this type, and fault plans exclude endpoint tests. */
const noopPlan = {
  on: 'webhooks',
  fault: { type: 'drop' },
  count: 1,
  eventTypes: ['webhook.tested'],
} as const;
const unknown = 'flt_01m7epxwjmf7za77rhky2f93cc';

const validPlans: readonly (readonly [string, object, object])[] = [
  ['latency', { on: 'requests', fault: { type: 'latency', delayMs: 60_000 }, count: 10_000 }, {}],
  [
    'an error',
    {
      on: 'requests',
      fault: { type: 'error', code: 'rate_limited', retryAfterSeconds: 0 },
      share: 1,
      seed: 0,
      operations: ['createPayment', 'listCustomers'],
      methods: ['GET', 'POST'],
    },
    {},
  ],
  ['a reset', { on: 'requests', fault: { type: 'reset_connection' }, count: 1, methods: ['GET'] }, {}],
  [
    'a lost response',
    { on: 'requests', fault: { type: 'lose_answer' }, count: 3, share: 100, seed: 4_294_967_295 },
    {},
  ],
  [
    'duplicates',
    { on: 'webhooks', fault: { type: 'duplicate' }, count: 2 },
    { fault: { type: 'duplicate', copies: 1 } },
  ],
  ['more duplicates', { on: 'webhooks', fault: { type: 'duplicate', copies: 5 }, share: 50, seed: 7 }, {}],
  ['disorder', { on: 'webhooks', fault: { type: 'reorder' }, count: 1, eventTypes: ['*'] }, {}],
  [
    'delay',
    {
      on: 'webhooks',
      fault: { type: 'delay', seconds: 86_400 },
      share: 10,
      eventTypes: ['payment.*', 'customer.created'],
    },
    {},
  ],
  ['loss', { on: 'webhooks', fault: { type: 'drop' }, count: 1 }, {}],
];

const latency = { type: 'latency', delayMs: 5 };
const drop = { type: 'drop' };
const invalidPlans: readonly (readonly [string, unknown, string])[] = [
  ['nothing', {}, '/on'],
  ['no fault', { on: 'requests', count: 1 }, '/fault'],
  ['no target', { fault: latency, count: 1 }, '/on'],
  ['an unknown target', { on: 'people', fault: latency, count: 1 }, '/on'],
  ['neither count nor share', { on: 'requests', fault: latency }, ''],
  ['a share of 0', { on: 'requests', fault: latency, share: 0 }, '/share'],
  ['too large a share', { on: 'requests', fault: latency, share: 101 }, '/share'],
  ['a fractional share', { on: 'requests', fault: latency, share: 1.5 }, '/share'],
  ['a count of 0', { on: 'requests', fault: latency, count: 0 }, '/count'],
  ['too high a count', { on: 'requests', fault: latency, count: 10_001 }, '/count'],
  ['a negative seed', { on: 'requests', fault: latency, count: 1, seed: -1 }, '/seed'],
  ['too large a seed', { on: 'requests', fault: latency, count: 1, seed: 4_294_967_296 }, '/seed'],
  ['a fault that is not an object', { on: 'requests', fault: 'latency', count: 1 }, '/fault'],
  ['a fault without a type', { on: 'requests', fault: { delayMs: 5 }, count: 1 }, '/fault/type'],
  ['an unknown fault', { on: 'requests', fault: { type: 'fire' }, count: 1 }, '/fault/type'],
  ['a webhook fault', { on: 'requests', fault: drop, count: 1 }, '/fault/type'],
  ['a request fault', { on: 'webhooks', fault: latency, count: 1 }, '/fault/type'],
  ['latency without a delay', { on: 'requests', fault: { type: 'latency' }, count: 1 }, '/fault/delayMs'],
  [
    'too much latency',
    { on: 'requests', fault: { type: 'latency', delayMs: 60_001 }, count: 1 },
    '/fault/delayMs',
  ],
  ['an unknown field', { on: 'requests', fault: { ...latency, code: 'x' }, count: 1 }, '/fault/code'],
  [
    'an error code that cannot be injected',
    { on: 'requests', fault: { type: 'error', code: 'scope_missing' }, count: 1 },
    '/fault/code',
  ],
  [
    'too long a Retry-After',
    { on: 'requests', fault: { type: 'error', code: 'rate_limited', retryAfterSeconds: 3_601 }, count: 1 },
    '/fault/retryAfterSeconds',
  ],
  ['too many copies', { on: 'webhooks', fault: { type: 'duplicate', copies: 6 }, count: 1 }, '/fault/copies'],
  ['a delay of 0', { on: 'webhooks', fault: { type: 'delay', seconds: 0 }, count: 1 }, '/fault/seconds'],
  [
    'an unknown operation',
    { on: 'requests', fault: latency, count: 1, operations: ['payThePiper'] },
    '/operations/0',
  ],
  [
    'an excluded operation',
    { on: 'requests', fault: latency, count: 1, operations: ['advanceClock'] },
    '/operations/0',
  ],
  ['an empty operation list', { on: 'requests', fault: latency, count: 1, operations: [] }, '/operations'],
  [
    'an operation that does not use the method',
    { on: 'requests', fault: latency, count: 1, operations: ['listDisputes'], methods: ['POST'] },
    '/methods',
  ],
  ['an unsupported method', { on: 'requests', fault: latency, count: 1, methods: ['PUT'] }, '/methods/0'],
  [
    'an unknown event',
    { on: 'webhooks', fault: drop, count: 1, eventTypes: ['payment.eaten'] },
    '/eventTypes/0',
  ],
  [
    'event types for requests',
    { on: 'requests', fault: latency, count: 1, eventTypes: ['*'] },
    '/eventTypes',
  ],
  [
    'operations for webhooks',
    { on: 'webhooks', fault: drop, count: 1, operations: ['createPayment'] },
    '/operations',
  ],
  ['methods for webhooks', { on: 'webhooks', fault: drop, count: 1, methods: ['GET'] }, '/methods'],
];

describe.each(databaseKinds)('fault plans on %s', (kind) => {
  let server: Server;
  let acme: Tenant;

  beforeAll(async () => {
    // A separate server, because the test verifies the whole database.
    server = await openServer(kind);
    acme = await tenant(server);
  });
  afterAll(() => server?.close());

  const create = async (client: ApiClient, body: object = noopPlan): Promise<Body> =>
    expectOk(await client.post(plans, body));

  describe('201', () => {
    test.each(validPlans)(
      '%s is created, and the response has the requested values',
      async (_name, body, more) => {
        const { client } = await tenant(server);
        const answer = await client.post(plans, body);
        expect(answer.status, answer.text).toBe(201);
        const filters = { operations: null, methods: null, eventTypes: null };
        expect(answer.body).toEqual({
          ...{ object: 'fault_plan', sandbox: true, requestId: answer.headers['request-id'] },
          ...{ status: 'active', id: expect.stringMatching(idPattern('fault_plan')) },
          ...{ count: null, share: null, seed: expect.any(Number), ...filters, ...body, ...more },
          ...{ seen: 0, applied: 0, createdAt: expect.any(String), updatedAt: answer.body.createdAt },
        });
        const { requestId: _first, ...shown } = answer.body;
        const { requestId: _second, ...read } = expectOk(await client.get(`${plans}/${answer.body.id}`));
        expect(read).toEqual(shown);
      },
    );

    test('a plan without a seed gets a random one, different each time', async () => {
      const { client } = await tenant(server);
      const seeds = [];
      for (let i = 0; i < 5; i += 1) seeds.push((await create(client)).seed as number);
      expect(new Set(seeds).size).toBe(5);
      for (const seed of seeds) expect(seed).toBeLessThan(2 ** 32);
    });

    test('the same idempotency key returns the same plan with the same seed, and another body is rejected', async () => {
      const { client } = await tenant(server);
      const call = { idempotencyKey: randomUUID() };
      const first = await client.post(plans, noopPlan, call);
      const again = await client.post(plans, noopPlan, call);
      expect(again.headers['idempotent-replayed']).toBe('true');
      expect(again.text).toBe(first.text);
      expect((await client.post(plans, { ...noopPlan, count: 2 }, call)).code).toBe('idempotency_key_reused');
      expect(expectOk(await client.get(plans)).data).toHaveLength(1);
    });

    test('creation and end are in the audit log and in the history', async () => {
      const { client, orgId, keyId } = await tenant(server);
      const { id } = await create(client);
      await client.post(`${plans}/${id}/cancel`);
      await client.post(`${plans}/${id}/cancel`);
      const audit = await server.database.query(
        {
          name: '',
          text: `select action, actor_id as actor, resource_id as id, outcome, code from audit
            where org_id = $1 and action like 'fault_plans.%' order by id`,
        },
        [orgId],
      );
      const byKey = { actor: keyId };
      expect(audit).toEqual([
        { ...byKey, action: 'fault_plans.create', id, outcome: 'accepted', code: null },
        { ...byKey, action: 'fault_plans.cancel', id, outcome: 'accepted', code: null },
        {
          ...byKey,
          action: 'fault_plans.cancel',
          id,
          outcome: 'refused',
          code: 'invalid_state_transition',
        },
      ]);
      const history = await server.database.query(
        {
          name: '',
          text: 'select version, from_status as "from", to_status as "to" from state_history where org_id = $1 and resource_id = $2 order by version',
        },
        [orgId, id],
      );
      expect(history).toEqual([
        { version: 1, from: null, to: 'active' },
        { version: 2, from: 'active', to: 'canceled' },
      ]);
    });
  });

  describe('200', () => {
    test('lists plans newest first, in pages, and by status', async () => {
      const { client } = await tenant(server);
      const ids: string[] = [];
      for (let i = 0; i < 3; i += 1) ids.push((await create(client)).id);
      expectOk(await client.post(`${plans}/${ids[1]}/cancel`));
      const idsOf = (body: Body) => body.data.map(({ id }) => id);
      expect(idsOf(expectOk(await client.get(plans)))).toEqual(ids.toReversed());
      expect(idsOf(expectOk(await client.get(plans, 'status=canceled')))).toEqual([ids[1]]);
      expect(idsOf(expectOk(await client.get(plans, 'status=exhausted')))).toEqual([]);
      const first = expectOk(await client.get(plans, 'limit=2'));
      expect(first.hasMore).toBe(true);
      const rest = expectOk(await client.get(plans, `limit=2&cursor=${first.nextCursor}`));
      expect([...idsOf(first), ...idsOf(rest)]).toEqual(ids.toReversed());
    });

    test('canceling a plan sets its status', async () => {
      const { client } = await tenant(server);
      const { id } = await create(client);
      const answer = await client.post(`${plans}/${id}/cancel`);
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        object: 'fault_plan',
        id,
        status: 'canceled',
        seen: 0,
        applied: 0,
      });
    });

    test('timestamps follow the application clock, also those of counted hits', async () => {
      const { client, orgId } = await tenant(server);
      expectOk(await client.post('developer_api_clock/advance', { to: '2040-01-01T00:00:00.000Z' }));
      expectOk(await client.post('developer_api_clock/freeze'));
      const { id, createdAt } = await create(client, {
        on: 'requests',
        fault: { type: 'error', code: 'internal_error' },
        count: 1,
      });
      expect(createdAt).toMatch(/^2040-01-01T00:00:0/);
      expect((await client.get(payments)).code).toBe('internal_error');
      const read = expectOk(await client.get(`${plans}/${id}`));
      expect(read).toMatchObject({ status: 'exhausted', seen: 1, applied: 1, updatedAt: createdAt });
      const history = await server.database.query(
        {
          name: '',
          text: 'select action, actor_kind as kind, actor_id as by from state_history where org_id = $1 and resource_id = $2 and version = 2',
        },
        [orgId, id],
      );
      expect(history).toEqual([{ action: 'exhaust', kind: 'system', by: 'faults' }]);
    });
  });

  describe('400', () => {
    test.each(invalidPlans)('%s', async (_name, body, param) => {
      expectRefused(await acme.client.post(plans, body), 'invalid_request', param);
    });

    test('an invalid cursor, status or parameter', async () => {
      expectRefused(await acme.client.get(plans, 'cursor=abc'), 'invalid_cursor', 'cursor');
      expectRefused(await acme.client.get(plans, 'status=over'), 'invalid_request', 'status');
      expectRefused(await acme.client.get(plans, `appId=${acme.appId}`), 'invalid_request', 'appId');
      expect((await acme.client.post(`${plans}/${unknown}/cancel`, { now: true })).code).toBe(
        'invalid_request',
      );
    });

    test('a write without an Idempotency-Key', async () => {
      const answer = await acme.client.post(plans, noopPlan, { idempotencyKey: null });
      expect(answer.code).toBe('idempotency_key_missing');
    });
  });

  describe('401 and 403', () => {
    test('without a key', async () => {
      const anonymous = new ApiClient(server.app, null);
      for (const path of [plans, `${plans}/${unknown}`])
        expect((await anonymous.get(path)).code).toBe('api_key_missing');
      for (const path of [plans, `${plans}/${unknown}/cancel`])
        expect((await anonymous.post(path, {})).code).toBe('api_key_missing');
    });

    test.each([
      ['payments:write', 'transfers:write'],
      ['transfers:write', 'payments:write'],
    ] as [Scope, Scope][])(
      'a key without %s reads plans, but cannot create or cancel them',
      async (missing) => {
        const limited = await acme.addKey({ scopes: scopes.filter((scope) => scope !== missing) });
        const { id } = await create(acme.client);
        for (const answer of [
          await limited.client.post(plans, noopPlan),
          await limited.client.post(`${plans}/${id}/cancel`),
        ]) {
          expect(answer.code).toBe('scope_missing');
          expect(answer.body.error.details).toEqual({ scope: missing });
        }
        const scopeless = await acme.addKey({ scopes: [] });
        expect(expectOk(await scopeless.client.get(`${plans}/${id}`)).status).toBe('active');
        expect(
          expectOk(await scopeless.client.get(plans, 'status=active')).data.map((one) => one.id),
        ).toContain(id);
        expectOk(await acme.client.post(`${plans}/${id}/cancel`));
      },
    );
  });

  describe('404', () => {
    test('an unknown plan, and a malformed id', async () => {
      for (const id of [unknown, 'flt_x', 'x', acme.appId]) {
        expect((await acme.client.get(`${plans}/${id}`)).code, id).toBe('resource_not_found');
        expect((await acme.client.post(`${plans}/${id}/cancel`)).code, id).toBe('resource_not_found');
      }
    });

    test('a plan of another application, in the same organization or not, is not found and has no effect', async () => {
      const owner = await tenant(server);
      const sibling = await owner.addKey({ application: 'app' });
      const otherOrg = await tenant(server);
      const plan = await create(owner.client, {
        on: 'requests',
        fault: { type: 'error', code: 'internal_error' },
        share: 100,
      });
      for (const { client } of [sibling, otherOrg]) {
        expect((await client.get(`${plans}/${plan.id}`)).code).toBe('resource_not_found');
        expect((await client.post(`${plans}/${plan.id}/cancel`)).code).toBe('resource_not_found');
        expect(expectOk(await client.get(plans)).data).toEqual([]);
        expectOk(await client.get(payments));
      }
      expect(expectOk(await owner.client.get(`${plans}/${plan.id}`))).toMatchObject({
        status: 'active',
        seen: 0,
      });
      expect((await owner.client.get(payments)).code).toBe('internal_error');
    });
  });

  test('409: a plan that has ended cannot be canceled', async () => {
    const { client } = await tenant(server);
    const { id } = await create(client);
    expectOk(await client.post(`${plans}/${id}/cancel`));
    const answer = await client.post(`${plans}/${id}/cancel`);
    expect(answer.code).toBe('invalid_state_transition');
    expect(answer.body.error).toMatchObject({ details: { status: 'canceled' }, allowedActions: [] });
  });

  test('422: at most twenty plans are active, also with concurrent requests; an ended plan frees its slot', async () => {
    const { client } = await tenant(server);
    const answers = await Promise.all(Array.from({ length: 25 }, () => client.post(plans, noopPlan)));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 20 }, () => 201),
      ...Array.from({ length: 5 }, () => 422),
    ]);
    const refused = await client.post(plans, noopPlan);
    expect(refused.code).toBe('fault_plans_limit');
    const active = expectOk(await client.get(plans, 'status=active&limit=100')).data;
    expect(active).toHaveLength(20);
    expectOk(await client.post(`${plans}/${active[0]?.id}/cancel`));
    await create(client);
  });

  test('verification finds no inconsistency after these tests', async () => {
    const { checks } = await verify(server.database);
    expect(checks.filter(({ differences }) => differences.length > 0)).toEqual([]);
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.faultPlans);
});
