import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';

const token = 'a token of an operator with more than 32 characters'.replaceAll(' ', '-');
const organizations = '/_operator/organizations';
const unknown = 'org_01m7epxwjmf7za77rhky2f93cc';

interface Created {
  readonly organization: { readonly id: string; readonly name: string };
  readonly application: { readonly id: string; readonly name: string };
  readonly apiKey: { readonly id: string; readonly key: string; readonly scopes: readonly string[] };
}

describe.each(databaseKinds)('the operator on %s', (kind) => {
  let server: Server;
  let operator: ApiClient;

  beforeAll(async () => {
    server = await openServer(kind, { operatorToken: token });
    operator = new ApiClient(server.app, token);
  });
  afterAll(() => server?.close());

  async function create(body: unknown = { name: 'Suite' }): Promise<Created> {
    const answer = await operator.post(organizations, body, { idempotencyKey: null });
    expect(answer.status, answer.text).toBe(201);
    return answer.body as unknown as Created;
  }

  describe('POST organizations', () => {
    test('201: creates an organization with an application and a key with all scopes', async () => {
      const { organization, application, apiKey } = await create({ name: 'Shop' });
      expect(organization.name).toBe('Shop');
      expect(apiKey.scopes).toEqual(scopes);
      const client = new ApiClient(server.app, apiKey.key);
      const status = (await client.get('developer_api_status')).body;
      expect(status).toMatchObject({
        organization: { id: organization.id, name: 'Shop' },
        application: { id: application.id, name: application.name },
        apiKey: { scopes },
      });
      const payment = await client.post('developer_api_payments', { amount: 100, currency: 'EUR' });
      expect(payment.status).toBe(201);
    });

    test('201: accepts names and scopes, and several organizations may share a name', async () => {
      const body = {
        name: 'Twin',
        application: { name: 'checkout' },
        scopes: ['payments:read'],
        keyName: 'reader',
      };
      const [first, second] = [await create(body), await create(body)];
      expect(first.organization.id).not.toBe(second.organization.id);
      expect(first.application.name).toBe('checkout');
      const client = new ApiClient(server.app, first.apiKey.key);
      expect((await client.get('developer_api_status')).body).toMatchObject({
        apiKey: { name: 'reader', scopes: ['payments:read'] },
      });
      expect((await client.post('developer_api_payments', { amount: 1, currency: 'EUR' })).code).toBe(
        'scope_missing',
      );
    });

    test('the organizations are isolated from each other', async () => {
      const [a, b] = [await create(), await create()];
      const [own, other] = [a, b].map(({ apiKey }) => new ApiClient(server.app, apiKey.key));
      const { id } = (await own?.post('developer_api_customers', { name: 'Ada' }))?.body ?? { id: '' };
      expect((await other?.get(`developer_api_customers/${id}`))?.code).toBe('resource_not_found');
    });

    test('a hundred concurrent requests create a hundred organizations, and the ledger is consistent', async () => {
      const all = await Promise.all(Array.from({ length: 100 }, () => create()));
      expect(new Set(all.map(({ organization }) => organization.id)).size).toBe(100);
      expect(new Set(all.map(({ apiKey }) => apiKey.key)).size).toBe(100);
      const verification = await verify(server.database);
      expect(verification.checks.flatMap(({ differences }) => differences)).toEqual([]);
    });

    test.each([
      ['no name', {}],
      ['an empty name', { name: '' }],
      ['a long name', { name: 'x'.repeat(201) }],
      ['an unknown field', { name: 'x', plan: 'pro' }],
      ['an unknown scope', { name: 'x', scopes: ['everything'] }],
      ['no scope at all', { name: 'x', scopes: [] }],
      ['an application without a name', { name: 'x', application: {} }],
    ])('400: %s', async (_what, body) => {
      expect((await operator.post(organizations, body)).code).toBe('invalid_request');
    });

    test('400, 413, 415: malformed JSON, a body that is too large, another content type', async () => {
      expect((await operator.post(organizations, undefined, { raw: '{' })).code).toBe('malformed_json');
      const large = { name: 'x', padding: 'x'.repeat(300_000) };
      expect((await operator.post(organizations, large)).code).toBe('payload_too_large');
      const headers = { 'content-type': 'text/plain' };
      expect((await operator.post(organizations, undefined, { raw: 'x', headers })).code).toBe(
        'unsupported_media_type',
      );
    });

    test('writes an audit row that names the operator', async () => {
      const { organization } = await create();
      const rows = await server.database.query<Record<string, unknown>>(
        {
          name: '',
          text: `select action, actor_kind, actor_id, outcome from audit where org_id = $1`,
        },
        [organization.id],
      );
      expect(rows).toEqual([
        {
          action: 'organizations.create',
          actor_kind: 'system',
          actor_id: 'operator',
          outcome: 'accepted',
        },
      ]);
    });
  });

  describe('GET organizations', () => {
    test('200: newest first, in pages', async () => {
      const names = ['one', 'two', 'three'].map((name) => `${name} of ${kind}`);
      for (const name of names) await create({ name });
      const found: string[] = [];
      let cursor = '';
      for (let page = 0; page < 3; page += 1) {
        const query = `limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
        const { body } = await operator.get(organizations, query);
        expect(body).toMatchObject({ object: 'list', status: 'ok', hasMore: true });
        found.push(...body.data.map(({ name }) => String(name)));
        cursor = body.nextCursor ?? '';
      }
      expect(found).toEqual([...names].reverse());
      const [first] = (await operator.get(organizations, 'limit=1')).body.data;
      expect(Object.keys(first ?? {})).toEqual([
        ...['object', 'sandbox', 'status', 'id', 'name', 'createdAt', 'expiresAt'],
      ]);
    });

    test('400: an invalid cursor, a limit out of range, an unknown parameter', async () => {
      expect((await operator.get(organizations, 'cursor=nonsense')).code).toBe('invalid_cursor');
      for (const query of ['limit=0', 'limit=101', 'limit=x', 'name=Shop'])
        expect((await operator.get(organizations, query)).code).toBe('invalid_request');
    });
  });

  describe('POST organizations/{id}/keys', () => {
    test('201: one more key, for the first application by default', async () => {
      const { organization, application } = await create();
      const path = `${organizations}/${organization.id}/keys`;
      const { status, body } = await operator.post(path, { name: 'ci', scopes: ['customers:read'] });
      expect(status).toBe(201);
      expect(body).toMatchObject({ object: 'api_key', name: 'ci', applicationId: application.id });
      const client = new ApiClient(server.app, String(body.key));
      expect((await client.get('developer_api_customers')).status).toBe(200);
      expect((await client.get('developer_api_payments')).code).toBe('scope_missing');
      const named = await operator.post(path, { name: 'web', applicationId: application.id });
      expect(named.body).toMatchObject({ applicationId: application.id, scopes });
    });

    test('404: an unknown organization or application', async () => {
      const { organization } = await create();
      const other = await create();
      for (const [orgId, body] of [
        [unknown, { name: 'ci' }],
        ['nonsense', { name: 'ci' }],
        [organization.id, { name: 'ci', applicationId: other.application.id }],
      ] as const)
        expect((await operator.post(`${organizations}/${orgId}/keys`, body)).code).toBe('resource_not_found');
    });

    test('422: an application that has reached its key limit', async () => {
      const { organization } = await create();
      const path = `${organizations}/${organization.id}/keys`;
      for (let i = 1; i < 100; i += 1)
        expect((await operator.post(path, { name: `key ${i}` })).status).toBe(201);
      expect((await operator.post(path, { name: 'one too many' })).code).toBe('limit_reached');
    });
  });

  describe('POST organizations/{id}/reset', () => {
    test('200: deletes all records and keeps the key; other organizations are not affected', async () => {
      const [own, other] = [await create(), await create()];
      const clients = [own, other].map(({ apiKey }) => new ApiClient(server.app, apiKey.key));
      for (const client of clients)
        await client.post('developer_api_payments', { amount: 100, currency: 'EUR' });
      const { status, body } = await operator.post(`${organizations}/${own.organization.id}/reset`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ object: 'reset', status: 'ok', deleted: { payments: 1, events: 1 } });
      const [ownPayments, otherPayments] = await Promise.all(
        clients.map((client) => client.get('developer_api_payments')),
      );
      expect(ownPayments?.body.data).toEqual([]);
      expect(otherPayments?.body.data).toHaveLength(1);
    });

    test('404: an unknown organization', async () => {
      expect((await operator.post(`${organizations}/${unknown}/reset`)).code).toBe('resource_not_found');
    });
  });

  describe('requests without the operator token', () => {
    test.each([
      ['no token', null],
      ['another token', 'x'.repeat(token.length)],
      ['the token without its last character', token.slice(0, -1)],
      ['the token with one more character', `${token}x`],
    ])('401: %s', async (_what, given) => {
      const stranger = new ApiClient(server.app, given);
      for (const answer of [
        await stranger.get(organizations),
        await stranger.post(organizations, { name: 'x' }),
        await stranger.post(`${organizations}/${unknown}/keys`, { name: 'x' }),
        await stranger.post(`${organizations}/${unknown}/reset`),
      ]) {
        expect(answer.code).toBe('operator_token_invalid');
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
    });

    test('401: an API key is not accepted as the token, nor the token as an API key', async () => {
      const { client } = await tenant(server);
      expect((await client.get(organizations)).code).toBe('operator_token_invalid');
      expect((await operator.get('developer_api_status')).code).toBe('api_key_invalid');
    });
  });
});

test('404: the operator API does not exist when no token is configured', async () => {
  const server = await openServer('postgres');
  const client = new ApiClient(server.app, token);
  for (const answer of [
    await client.get(organizations),
    await client.post(organizations, { name: 'x' }),
    await client.post(`${organizations}/${unknown}/reset`),
  ])
    expect(answer.code).toBe('route_not_found');
  await server.close();
});

test('an embedded server creates a token at each start', async () => {
  const [first, second] = [await openServer('pglite'), await openServer('pglite')];
  expect(first.operatorToken).toMatch(/^\S{32,}$/);
  expect(first.operatorToken).not.toBe(second.operatorToken);
  const operator = new ApiClient(first.app, first.operatorToken ?? '');
  expect((await operator.get(organizations)).status).toBe(200);
  await first.close();
  await second.close();
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.operator);
});
