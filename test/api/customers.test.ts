import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, type Body, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

const customers = 'developer_api_customers';
const unknown = 'cus_01m7epxwjmf7za77rhky2f93cc';
const full = {
  name: 'Ada Lovelace',
  email: 'ada@example.test',
  phone: '+44 (20) 7946-0000',
  reference: 'crm-1',
  metadata: { tier: 'gold' },
};

describe.each(databaseKinds)('customers on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let other: Tenant;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    other = await tenant(server);
  });

  const create = async (body: unknown = full, client: ApiClient = acme.client): Promise<Body> =>
    (await client.post(customers, body)).body;
  const retrieve = async (id: string): Promise<Record<string, unknown>> =>
    withoutRequest((await acme.client.get(`${customers}/${id}`)).body);
  const update = (id: string, body: unknown, idempotencyKey: string = randomUUID()) =>
    acme.client.post(`${customers}/${id}/update`, body, { idempotencyKey });
  const archive = (id: string, idempotencyKey: string = randomUUID()) =>
    acme.client.post(`${customers}/${id}/archive`, undefined, { idempotencyKey });

  async function archived(): Promise<Body> {
    const { id } = await create();
    return (await archive(id)).body;
  }

  describe('201', () => {
    test('a new customer is active, and the response has every field', async () => {
      const { status, body } = await acme.client.post(customers, full);
      expect(status).toBe(201);
      expect(body).toEqual({
        object: 'customer',
        sandbox: true,
        requestId: expect.stringMatching(/^req_/),
        status: 'active',
        id: expect.stringMatching(/^cus_[0-9a-z]{26}$/),
        ...full,
        allowedActions: ['update', 'archive'],
        version: 1,
        createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        updatedAt: body.createdAt,
      });
      expect(await retrieve(body.id)).toEqual(withoutRequest(body));
    });

    test('a name or an email alone is sufficient, and the other fields are null', async () => {
      const emptyFields = { name: null, email: null, phone: null, reference: null, metadata: {} };
      expect(await create({ name: 'Ada' })).toMatchObject({ ...emptyFields, name: 'Ada' });
      expect(await create({ email: 'a@b' })).toMatchObject({ ...emptyFields, email: 'a@b' });
    });

    test('every text field accepts its maximum length, in any script', async () => {
      const input = {
        name: '名'.repeat(limits.nameLengthMax),
        email: `${'e'.repeat(limits.emailLengthMax - 2)}@b`,
        phone: '+'.padEnd(limits.phoneLengthMax, '1'),
        reference: '🎉'.repeat(limits.referenceLengthMax),
      };
      expect(await create(input)).toMatchObject({ status: 'active', ...input });
    });
  });

  describe('200', () => {
    test('an update changes the given fields, leaves the others and increments the version', async () => {
      const before = await create();
      const { status, body } = await update(before.id, { name: 'Ada King', phone: '123' });
      expect(status).toBe(200);
      expect(withoutRequest(body)).toEqual({
        ...withoutRequest(before),
        name: 'Ada King',
        phone: '123',
        version: 2,
        updatedAt: expect.any(String),
      });
      expect(String(body.updatedAt) >= before.createdAt).toBe(true);
      expect(await retrieve(before.id)).toEqual(withoutRequest(body));
    });

    test('null clears a field, and metadata is replaced as a whole', async () => {
      const { id } = await create();
      const { body } = await update(id, { phone: null, reference: null, email: null, metadata: { a: '1' } });
      expect(body).toMatchObject({ name: full.name, email: null, phone: null, reference: null });
      expect(body.metadata).toEqual({ a: '1' });
      expect((await update(id, { metadata: {} })).body.metadata).toEqual({});
    });

    test('the name can be cleared when the same request sets an email', async () => {
      const { id } = await create({ name: 'Ada' });
      const { status, body } = await update(id, { name: null, email: 'ada@example.test' });
      expect(status).toBe(200);
      expect(body).toMatchObject({ name: null, email: 'ada@example.test' });
    });

    test('an update without differences still counts as an update', async () => {
      const { id } = await create();
      expect((await update(id, { name: full.name })).body).toMatchObject({ name: full.name, version: 2 });
    });

    test('an archived customer remains readable and allows no actions', async () => {
      const before = await create();
      const { status, body } = await archive(before.id);
      expect(status).toBe(200);
      expect(withoutRequest(body)).toEqual({
        ...withoutRequest(before),
        status: 'archived',
        allowedActions: [],
        version: 2,
        updatedAt: expect.any(String),
      });
      expect(await retrieve(before.id)).toEqual(withoutRequest(body));
    });

    test.each<[name: string, call: { raw?: string; headers?: Record<string, string> }]>([
      ['no body', {}],
      ['an empty JSON body', { headers: { 'content-type': 'application/json', 'content-length': '0' } }],
      ['an empty object', { raw: '{}' }],
    ])('archive accepts %s, and all variants are the same request', async (_name, call) => {
      const { id } = await create();
      const idempotencyKey = randomUUID();
      const first = await acme.client.post(`${customers}/${id}/archive`, undefined, {
        ...call,
        idempotencyKey,
      });
      expect(first.status).toBe(200);
      const replay = await archive(id, idempotencyKey);
      expect(replay.text).toBe(first.text);
      expect(replay.headers['idempotent-replayed']).toBe('true');
    });

    test('a replayed update returns the first response, although the customer has changed since', async () => {
      const { id } = await create();
      const key = randomUUID();
      const first = await update(id, { name: 'First' }, key);
      await update(id, { name: 'Second' });
      const replay = await update(id, { name: 'First' }, key);
      expect(replay.text).toBe(first.text);
      expect((await retrieve(id)).name).toBe('Second');
    });

    test('fifty concurrent updates produce fifty consecutive versions', async () => {
      const { id } = await create();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => update(id, { reference: String(i) })),
      );
      const versions = answers.map(({ body }) => Number(body.version)).sort((a, b) => a - b);
      expect(versions).toEqual(Array.from({ length: 50 }, (_, i) => i + 2));
      expect((await retrieve(id)).version).toBe(51);
    });

    test('lists all pages newest first, and filters by status and time', async () => {
      let now = Date.parse('2026-05-01T00:00:00.000Z');
      const shop = await tenant(server);
      const client = shop.clientOn(openApp(server, { wallClock: () => now }));
      const createdIds: string[] = [];
      for (let i = 0; i < 5; i += 1) {
        createdIds.unshift((await client.post(customers, { name: `Customer ${i}` })).body.id);
        now += 60_000;
      }
      await client.post(`${customers}/${createdIds[1]}/archive`);
      const idsOf = async (query: string) =>
        (await client.get(customers, query)).body.data.map(({ id }) => id);
      expect(await idsOf('')).toEqual(createdIds);
      const first = await client.get(customers, 'limit=3');
      expect(first.body).toMatchObject({ object: 'list', status: 'ok', hasMore: true });
      expect(first.body.data[1]).toMatchObject({ object: 'customer', sandbox: true, status: 'archived' });
      expect([
        ...first.body.data.map(({ id }) => id),
        ...(await idsOf(`limit=3&cursor=${first.body.nextCursor}`)),
      ]).toEqual(createdIds);
      expect(await idsOf('status=archived')).toEqual([createdIds[1]]);
      expect(await idsOf('status=active')).toEqual(createdIds.filter((_, i) => i !== 1));
      expect(await idsOf('createdAfter=2026-05-01T00:03:00Z')).toEqual([createdIds[0]]);
      expect(await idsOf('createdBefore=2026-05-01T00:01:00Z&status=active')).toEqual([createdIds[4]]);
    });

    test('never shows customers of another organization', async () => {
      await create();
      const otherOrg = await tenant(server);
      expect((await otherOrg.client.get(customers)).body).toMatchObject({ data: [], hasMore: false });
    });
  });

  describe('400', () => {
    const shared: readonly [name: string, change: Record<string, unknown>, param: string][] = [
      ['an empty name', { name: '' }, '/name'],
      ['a name of 201 characters', { name: 'n'.repeat(201) }, '/name'],
      ['a numeric name', { name: 5 }, '/name'],
      ['an email without @', { email: 'ada' }, '/email'],
      ['an email with two @', { email: 'a@b@c' }, '/email'],
      ['an email with a space', { email: 'a b@c' }, '/email'],
      ['an email with a line break', { email: 'a@b\n' }, '/email'],
      ['an email of 255 characters', { email: `${'e'.repeat(253)}@b` }, '/email'],
      ['a phone with letters', { phone: 'call me' }, '/phone'],
      ['a phone of 33 characters', { phone: '1'.repeat(33) }, '/phone'],
      ['a phone of 2 characters', { phone: '12' }, '/phone'],
      ['an empty reference', { reference: '' }, '/reference'],
      ['a reference of 201 characters', { reference: 'r'.repeat(201) }, '/reference'],
      ['null metadata', { metadata: null }, '/metadata'],
      ['null in metadata', { metadata: { a: null } }, '/metadata/a'],
      ['a list in metadata under a key with a line break', { metadata: { 'a\nb': [] } }, '/metadata/a\nb'],
      ['an unknown field', { adress: 'x' }, '/adress'],
      ['a status', { status: 'archived' }, '/status'],
    ];

    test.each(shared)('create rejects %s, and param points at it', async (_name, change, param) => {
      const { code, body } = await acme.client.post(customers, { ...full, ...change });
      expect(code).toBe('invalid_request');
      expect(body.error.param).toBe(param);
    });

    test.each(shared)('update rejects %s, and param points at it', async (_name, change, param) => {
      const { code, body } = await update(unknown, change);
      expect(code).toBe('invalid_request');
      expect(body.error.param).toBe(param);
    });

    test('create requires a name or an email, and rejects null', async () => {
      for (const body of [{}, { phone: '123' }, { metadata: {} }]) {
        const refused = await acme.client.post(customers, body);
        expect(refused.code).toBe('invalid_request');
        expect(refused.body.error.message).toMatch(/name.*email/);
      }
      expect((await acme.client.post(customers, { name: 'Ada', email: null })).code).toBe('invalid_request');
    });

    test('update requires a body with at least one field', async () => {
      const { id } = await create();
      expect((await acme.client.post(`${customers}/${id}/update`)).code).toBe('invalid_request');
      expect((await update(id, {})).code).toBe('invalid_request');
      expect((await retrieve(id)).version).toBe(1);
    });

    test.each(['{"reason":"x"}', '[]', '1', '"x"', 'null', 'false'])(
      'archive accepts only an empty object: rejects %s',
      async (raw) => {
        const { id } = await create();
        const answer = await acme.client.post(`${customers}/${id}/archive`, undefined, { raw });
        expect(answer.code).toBe('invalid_request');
        expect((await retrieve(id)).status).toBe('active');
      },
    );

    test('every write rejects a malformed body', async () => {
      for (const path of [customers, `${customers}/${unknown}/update`, `${customers}/${unknown}/archive`]) {
        expect((await acme.client.post(path, undefined, { raw: '{' })).code, path).toBe('malformed_json');
      }
    });

    test('a rejected update does not consume its idempotency key', async () => {
      const { id } = await create();
      const key = randomUUID();
      expect((await update(id, { name: '' }, key)).status).toBe(400);
      expect((await update(id, { name: 'Ada' }, key)).status).toBe(200);
    });

    test.each<[query: string, param: string]>([
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['status=pending', 'status'],
      ['status=active&status=archived', 'status'],
      [`customerId=${unknown}`, 'customerId'],
      ['createdAfter=now', 'createdAfter'],
      ['email=a@b', 'email'],
    ])('rejects the query %s, and param names the parameter', async (query, param) => {
      const { code, body } = await acme.client.get(customers, query);
      expect(code).toBe('invalid_request');
      expect(body.error.param).toBe(param);
    });

    test('rejects a cursor of another list', async () => {
      const payment = { amount: 1, currency: 'EUR' };
      await acme.client.post('developer_api_payments', payment);
      await acme.client.post('developer_api_payments', payment);
      const cursor = (await acme.client.get('developer_api_payments', 'limit=1')).body.nextCursor;
      expect((await acme.client.get(customers, `cursor=${cursor}`)).code).toBe('invalid_cursor');
    });
  });

  describe('401', () => {
    test('rejects reads and writes without a key', async () => {
      const anonymous = new ApiClient(server.app, null);
      expect((await anonymous.get(customers)).code).toBe('api_key_missing');
      expect((await anonymous.post(`${customers}/${unknown}/archive`)).code).toBe('api_key_missing');
    });
  });

  describe('403', () => {
    test('reads and writes each require their own scope, and the error names it', async () => {
      const { id } = await create();
      const reader = await acme.addKey({ scopes: ['customers:read', 'payments:write'] });
      for (const [path, body] of [
        [customers, full],
        [`${customers}/${id}/update`, { name: 'x' }],
        [`${customers}/${id}/archive`, undefined],
      ] as const) {
        const { error } = (await reader.client.post(path, body)).body;
        expect(error).toMatchObject({ code: 'scope_missing', details: { scope: 'customers:write' } });
      }
      const writer = await acme.addKey({ scopes: ['customers:write', 'payments:read'] });
      for (const path of [customers, `${customers}/${id}`]) {
        const { error } = (await writer.client.get(path)).body;
        expect(error).toMatchObject({ code: 'scope_missing', details: { scope: 'customers:read' } });
      }
      expect((await retrieve(id)).version).toBe(1);
    });

    test('rejects a write that names another organization', async () => {
      const headers = { 'sandbank-organization': other.orgId };
      expect((await acme.client.post(customers, full, { headers })).code).toBe('organization_mismatch');
    });
  });

  describe('404', () => {
    test('unknown ids, ids of other organizations and malformed ids cannot be retrieved, updated or archived', async () => {
      const foreign = (await create(full, other.client)).id;
      for (const id of [unknown, foreign, 'cus_1', 'x', unknown.replace('cus', 'pay'), '%20']) {
        const answers = [
          await acme.client.get(`${customers}/${id}`),
          await update(id, { name: 'Mine now' }),
          await archive(id),
        ];
        for (const { code } of answers) expect(code, id).toBe('resource_not_found');
      }
      const untouched = await other.client.get(`${customers}/${foreign}`);
      expect(untouched.body).toMatchObject({ ...full, status: 'active', version: 1 });
    });

    test.each([1_025, 8_000])('an id of %d characters is not found', async (length) => {
      const id = 'a'.repeat(length);
      expect((await acme.client.get(`${customers}/${id}`)).status).toBe(404);
      expect((await archive(id)).status).toBe(404);
    });

    test('a 404 is not stored: the same idempotency key works for the right id', async () => {
      const { id } = await create();
      const key = randomUUID();
      expect((await update(unknown, { name: 'Ada' }, key)).status).toBe(404);
      const corrected = await update(id, { name: 'Ada' }, key);
      expect(corrected.status).toBe(200);
      expect(corrected.headers).not.toHaveProperty('idempotent-replayed');
    });
  });

  describe('405', () => {
    test.each(['PUT', 'PATCH', 'DELETE'])(
      '%s is not allowed, and Allow lists the allowed methods',
      async (method) => {
        const on = async (path: string) => {
          const answer = await acme.client.send(path, { method, body: {} });
          expect(answer.code, path).toBe('method_not_allowed');
          return answer.headers.allow?.split(', ').sort();
        };
        expect(await on(customers)).toEqual(['GET', 'HEAD', 'POST']);
        expect(await on(`${customers}/${unknown}`)).toEqual(['GET', 'HEAD']);
        expect(await on(`${customers}/${unknown}/update`)).toEqual(['POST']);
        expect(await on(`${customers}/${unknown}/archive`)).toEqual(['POST']);
      },
    );

    test('GET on an action is not allowed', async () => {
      const answer = await acme.client.get(`${customers}/${unknown}/archive`);
      expect(answer.code).toBe('method_not_allowed');
    });
  });

  describe('409', () => {
    test('rejects updating and archiving an archived customer, and the error gives the reason', async () => {
      const { id } = await archived();
      const before = await retrieve(id);
      for (const [action, answer] of [
        ['update', await update(id, { name: 'Ada' })],
        ['archive', await archive(id)],
      ] as const) {
        expect(answer.code).toBe('invalid_state_transition');
        expect(answer.body.error).toMatchObject({
          details: { status: 'archived', action },
          allowedActions: [],
          retryable: false,
        });
        expect(answer.body.error.message).toContain(action);
      }
      expect(await retrieve(id)).toEqual(before);
    });

    test('stores the rejection for its idempotency key and returns it byte for byte', async () => {
      const { id } = await archived();
      const key = randomUUID();
      const first = await archive(id, key);
      expect(first.status).toBe(409);
      const replay = await archive(id, key);
      expect(replay.status).toBe(409);
      expect(replay.text).toBe(first.text);
      expect(replay.headers['idempotent-replayed']).toBe('true');
    });

    test('of many concurrent archive requests, one succeeds', async () => {
      const { id } = await create();
      const answers = await Promise.all(Array.from({ length: 20 }, () => archive(id)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ code }) => code === 'invalid_state_transition')).toHaveLength(19);
    });
  });

  describe('413', () => {
    test('every write rejects a body of 256 KiB plus one byte', async () => {
      const raw = '{}'.padEnd(limits.bodyBytesMax + 1, ' ');
      for (const path of [customers, `${customers}/${unknown}/update`, `${customers}/${unknown}/archive`]) {
        expect((await acme.client.post(path, undefined, { raw })).code, path).toBe('payload_too_large');
      }
    });
  });

  describe('415', () => {
    test('rejects a body of another content type, even where no body is required', async () => {
      const { id } = await create();
      const call = { raw: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
      for (const path of [customers, `${customers}/${id}/update`, `${customers}/${id}/archive`]) {
        expect((await acme.client.post(path, undefined, call)).code, path).toBe('unsupported_media_type');
      }
      expect((await retrieve(id)).version).toBe(1);
    });
  });

  describe('422', () => {
    test('rejects clearing both name and email', async () => {
      const { id } = await create();
      expect((await update(id, { name: null, email: null })).code).toBe('customer_identity_missing');
      const named = await create({ name: 'Ada' });
      expect((await update(named.id, { name: null })).code).toBe('customer_identity_missing');
      const mailed = await create({ email: 'a@b' });
      expect((await update(mailed.id, { email: null, phone: '123' })).code).toBe('customer_identity_missing');
      expect(await retrieve(mailed.id)).toEqual(withoutRequest(mailed));
    });

    test('stores the rejection for its idempotency key and returns it byte for byte', async () => {
      const { id } = await create({ name: 'Ada' });
      const key = randomUUID();
      const first = await update(id, { name: null }, key);
      await update(id, { email: 'a@b' });
      const replay = await update(id, { name: null }, key);
      expect(replay.status).toBe(422);
      expect(replay.text).toBe(first.text);
      expect(replay.headers['idempotent-replayed']).toBe('true');
    });

    test('rejects an idempotency key reused for another customer or another action', async () => {
      const [one, two] = await Promise.all([create(), create()]);
      const key = randomUUID();
      await archive(one.id, key);
      expect((await archive(two.id, key)).code).toBe('idempotency_key_reused');
      expect((await update(one.id, { name: 'Ada' }, key)).code).toBe('idempotency_key_reused');
      expect((await retrieve(two.id)).status).toBe('active');
    });
  });

  describe('a request with two errors reports the earlier check:', () => {
    test('key before scope', async () => {
      const { client } = await acme.addKey({ scopes: [] });
      const headers = { 'sandbank-organization': other.orgId };
      expect((await client.post(customers, full, { headers })).code).toBe('organization_mismatch');
    });

    test('scope before existence', async () => {
      const { client } = await acme.addKey({ scopes: [] });
      expect((await client.get(`${customers}/${unknown}`)).code).toBe('scope_missing');
      expect((await client.post(`${customers}/${unknown}/archive`)).code).toBe('scope_missing');
    });

    test('body before existence', async () => {
      expect((await update(unknown, { nmae: 'Ada' })).code).toBe('invalid_request');
    });

    test('body before state', async () => {
      const { id } = await archived();
      expect((await update(id, { nmae: 'Ada' })).code).toBe('invalid_request');
    });

    test('existence before state', async () => {
      const { id } = await create(full, other.client);
      await other.client.post(`${customers}/${id}/archive`);
      expect((await archive(id)).code).toBe('resource_not_found');
    });

    test('state before semantics', async () => {
      const { id } = await archived();
      expect((await update(id, { name: null, email: null })).code).toBe('invalid_state_transition');
    });

    test('existence before semantics', async () => {
      expect((await update(unknown, { name: null, email: null })).code).toBe('resource_not_found');
    });
  });
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.customers);
});

function withoutRequest({ requestId: _requestId, ...resource }: Body): Record<string, unknown> {
  return resource;
}
