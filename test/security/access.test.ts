import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consolePrefix, personRoutes } from '../../src/http/console-routes.ts';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import { isAtLeast, roles, scopes, scopesNeeded } from '../../src/kernel/permissions.ts';
import { isStream, type Route } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { rowDigests, traces } from '../support/populated-tenant.ts';
import { type ServedRoute, servedRoutes } from '../support/served-routes.ts';
import { openApp, openServer } from '../support/server.ts';
import { type KeyHolder, newKey, type Tenant, tenant } from '../support/tenant.ts';
import {
  createApplication,
  createOrganization,
  createTeam,
  newPerson,
  type Person,
  type Team,
} from '../support/visitor.ts';

// API2 broken authentication, API5 broken function level authorization: the allowed callers of every route.

const operatorToken = 'operator-token-of-a-test-0123456789';
const unknownOrg = 'org_01m7epxwjmf7za77rhky2f93cc';

/** Every request is invalid, so even an allowed caller changes nothing: the server checks the caller first and then responds with 400. */
const allowed = 'invalid_request';

interface Caller {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly address?: string;
}

let server: Server;
let acme: Tenant;
let rival: Tenant;
let people: Team;
let stranger: Person;

beforeAll(async () => {
  server = await openServer('postgres', { operatorToken });
  [acme, rival, people, stranger] = await Promise.all([
    tenant(server),
    tenant(server),
    createTeam(server),
    newPerson(server, 'Rita'),
  ]);
  await createApplication(stranger, await createOrganization(stranger, 'Rival'));
});
afterAll(() => server?.close());

/** The error code of a request with an invalid body or query, which the server validates last. */
async function codeOf(
  method: string,
  url: string,
  { headers = {}, address }: Caller,
  app = server.app,
): Promise<string> {
  const isWrite = method === 'POST';
  const response = await app.inject({
    method: method as 'GET',
    url: isWrite ? url : `${url}?nonsense=1`,
    headers: {
      ...(isWrite ? { 'content-type': 'application/json', 'idempotency-key': randomUUID() } : {}),
      ...headers,
    } as Record<string, string>,
    ...(isWrite ? { payload: '["nonsense"]' } : {}),
    ...(address === undefined ? {} : { remoteAddress: address }),
  });
  expect(response.statusCode, url).toBeGreaterThanOrEqual(400);
  return (JSON.parse(response.body) as { error: { code: string } }).error.code;
}

const apiUrl = ({ path }: Route) => `/_api/${path.replace(/\{\w+\}/, 'x')}`;
const withKey = (key: string): Caller => ({ headers: { authorization: `Bearer ${key}` } });
const cookiesOf = ({ cookies }: Person) => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

describe('API keys on every API route', () => {
  let revoked: KeyHolder;
  let expired: KeyHolder;
  let restricted: KeyHolder;

  beforeAll(async () => {
    revoked = await acme.addKey({ revoked: true });
    expired = await acme.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' });
    restricted = await acme.addKey({ allowedCidrs: ['203.0.113.0/24', '2001:db8::/32'] });
  });

  const forOrganization = (organization: string | readonly string[]): Caller => ({
    headers: { ...withKey(acme.key).headers, 'sandbank-organization': organization },
  });

  test('each kind of invalid key is rejected with its own code and changes nothing', async () => {
    const callers: readonly (readonly [string, ErrorCode, Caller])[] = [
      ['no credentials', 'api_key_missing', {}],
      ['an empty header', 'api_key_missing', { headers: { authorization: '' } }],
      ['a scheme alone', 'api_key_missing', { headers: { authorization: 'Bearer' } }],
      ['a key alone', 'api_key_missing', { headers: { authorization: acme.key } }],
      ['Basic', 'api_key_missing', { headers: { authorization: `Basic ${btoa(`${acme.key}:`)}` } }],
      ['two keys', 'api_key_missing', withKey(`${acme.key} ${acme.key}`)],
      ['a key in a cookie', 'api_key_missing', { headers: { cookie: `key=${acme.key}` } }],
      ['a key in another header', 'api_key_missing', { headers: { 'x-api-key': acme.key } }],
      ['a session cookie', 'api_key_missing', { headers: { cookie: cookiesOf(people.owner) } }],
      ['a live key', 'api_key_invalid', withKey(acme.key.replace('sandbox', 'live'))],
      ['a truncated key', 'api_key_invalid', withKey(acme.key.slice(0, -1))],
      ['a key with an extra character', 'api_key_invalid', withKey(`${acme.key}0`)],
      ['a key in capitals', 'api_key_invalid', withKey(acme.key.toUpperCase())],
      ['an unknown key', 'api_key_invalid', withKey(newKey())],
      ['the hash of a key', 'api_key_invalid', withKey(`sbk_sandbox_${'a'.repeat(64)}`)],
      ['the operator token', 'api_key_invalid', withKey(operatorToken)],
      ['a revoked key', 'api_key_revoked', withKey(revoked.key)],
      ['an expired key', 'api_key_expired', withKey(expired.key)],
      [
        'a key from another network',
        'ip_not_allowed',
        { ...withKey(restricted.key), address: '198.51.100.7' },
      ],
      [
        'a key from another IPv6 network',
        'ip_not_allowed',
        { ...withKey(restricted.key), address: '2001:db9::1' },
      ],
      [
        'a key from another network with forged forwarding headers',
        'ip_not_allowed',
        {
          headers: {
            ...withKey(restricted.key).headers,
            'x-forwarded-for': '203.0.113.7',
            'x-real-ip': '203.0.113.7',
            forwarded: 'for=203.0.113.7',
          },
          address: '198.51.100.7',
        },
      ],
      ['another organization', 'organization_mismatch', forOrganization(rival.orgId)],
      ['an unknown organization', 'organization_mismatch', forOrganization(unknownOrg)],
      ['its organization in capitals', 'organization_mismatch', forOrganization(acme.orgId.toUpperCase())],
      ['two organizations', 'organization_mismatch', forOrganization([acme.orgId, rival.orgId])],
      ['a valid key', allowed, forOrganization(acme.orgId)],
      ['a valid key from its network', allowed, { ...withKey(restricted.key), address: '203.0.113.7' }],
      [
        'a valid key with a lower-case scheme and extra spaces',
        allowed,
        { headers: { authorization: `bearer   ${acme.key}` } },
      ],
    ];
    const before = await rowDigests(server, acme.orgId, traces);
    for (const route of routes) {
      const codes = await Promise.all(
        callers.map(async ([who, , caller]) => [who, await codeOf(route.method, apiUrl(route), caller)]),
      );
      expect(codes, route.operationId).toEqual(callers.map(([who, code]) => [who, code]));
    }
    expect(await rowDigests(server, acme.orgId, traces)).toEqual(before);
  });

  test('each of the eight scopes alone allows exactly the routes of the table', async () => {
    const holders = await Promise.all(scopes.map((scope) => acme.addKey({ scopes: [scope] })));
    for (const route of routes) {
      const needed = scopesNeeded(route.scope);
      const codes = await Promise.all(
        holders.map(({ key }) => codeOf(route.method, apiUrl(route), withKey(key))),
      );
      const expected = scopes.map((scope) =>
        needed.every((one) => one === scope) ? allowed : 'scope_missing',
      );
      expect(codes, route.operationId).toEqual(expected);
    }
  });

  test('only a short list of reads needs no scope', () => {
    expect(routes.filter(({ scope }) => scope === 'any').map(({ operationId }) => operationId)).toEqual([
      'getStatus',
      'getCapabilities',
      'getStateMachines',
      'getClock',
      'getCoverage',
      'listFaultPlans',
      'retrieveFaultPlan',
    ]);
  });
});

describe('people on every console route', () => {
  const served = personRoutes(routes, consoleRoutes);
  const from = { host: 'sandbank.test', 'sec-fetch-site': 'same-origin' };
  const asPerson = (person: Person): Caller => ({ headers: { ...from, cookie: cookiesOf(person) } });

  test('each role, strangers and holders of other credentials get the response in the table', async () => {
    const before = await rowDigests(server, people.orgId, traces);
    for (const { route, level, role } of served) {
      const place = level === 'organization' ? people.orgId : `${people.orgId}/${people.appId}`;
      const url = `${consolePrefix}${place}/${route.path.replace(/\{\w+\}/, 'x')}`;
      const codeFor = (caller: Caller) => codeOf(route.method, url, caller);
      const elsewhere = url.replace(people.orgId, unknownOrg);
      const [[name = '', cookie = ''] = []] = [...people.owner.cookies];
      const forged = { headers: { ...from, cookie: `${name}=${cookie.slice(0, 10)}${cookie.slice(11)}` } };
      const found = {
        anonymous: await codeFor({ headers: from }),
        key: await codeFor({ headers: { ...from, ...withKey(acme.key).headers } }),
        operator: await codeFor({ headers: { ...from, ...withKey(operatorToken).headers } }),
        forged: await codeFor(forged),
        stranger: await codeFor(asPerson(stranger)),
        unknownOrganization: await codeOf(route.method, elsewhere, asPerson(people.owner)),
        roles: await Promise.all(roles.map((one) => codeFor(asPerson(people[one])))),
      };
      expect(found, `${route.method} ${route.path}`).toEqual({
        ...{ anonymous: 'session_missing', key: 'session_missing', operator: 'session_missing' },
        ...{
          forged: 'session_missing',
          stranger: 'resource_not_found',
          unknownOrganization: 'resource_not_found',
        },
        roles: roles.map((one) => (isAtLeast(one, role) ? allowed : 'role_missing')),
      });
    }
    expect(await rowDigests(server, people.orgId, traces)).toEqual(before);
  });
});

describe('the operator', () => {
  const prefix = '/_operator/';
  const urlOf = ({ path }: ServedRoute) => prefix + path.replace(/:\w+/g, 'x');

  test('API accepts only the operator token, on every route', async () => {
    const served = servedRoutes(server.app, prefix);
    expect(served.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET coverage',
      'GET organizations',
      'GET organizations/:id/snapshot',
      'POST organizations',
      'POST organizations/:id/delete',
      'POST organizations/:id/fork',
      'POST organizations/:id/keys',
      'POST organizations/:id/reset',
      'POST snapshots',
    ]);
    const wrong: Readonly<Record<string, Caller>> = {
      'no credentials': {},
      'an empty token': { headers: { authorization: 'Bearer ' } },
      'another token': withKey('x'.repeat(operatorToken.length)),
      'one character less': withKey(operatorToken.slice(0, -1)),
      'one character more': withKey(`${operatorToken}x`),
      'another case': withKey(operatorToken.toUpperCase()),
      'a token alone': { headers: { authorization: operatorToken } },
      'an API key': withKey(acme.key),
      'an owner': { headers: { cookie: cookiesOf(people.owner) } },
    };
    for (const route of served) {
      for (const [who, caller] of Object.entries(wrong))
        expect(await codeOf(route.method, urlOf(route), caller), `${who} at ${route.path}`).toBe(
          'operator_token_invalid',
        );
      const codes = route.path === 'snapshots' ? ['unsupported_media_type'] : [allowed];
      expect(codes, route.path).toContain(await codeOf(route.method, urlOf(route), withKey(operatorToken)));
    }
  });

  test('API does not exist when no token is configured', async () => {
    const app = openApp(server, {
      operator: { token: undefined, actions: server.operator, coverage: () => Promise.reject(new Error()) },
    });
    expect(servedRoutes(app, prefix)).toEqual([]);
    for (const route of servedRoutes(server.app, prefix))
      expect(await codeOf(route.method, urlOf(route), withKey(operatorToken), app)).toBe('route_not_found');
    await app.close();
  });
});

describe('the inventory', () => {
  test('every served route is in a route table or on the list of public routes', () => {
    const columns = (path: string) => path.replace(/\{(\w+)\}/g, ':$1');
    const place = { organization: ':orgId', application: ':orgId/:appId' };
    const known = new Set([
      ...routes.map(({ method, path }) => `${method} /_api/${columns(path)}`),
      ...personRoutes(routes, consoleRoutes).map(
        ({ route, level }) => `${route.method} ${consolePrefix}${place[level]}/${columns(route.path)}`,
      ),
    ]);
    const rest = servedRoutes(server.app, '/')
      .map(({ method, path }) => `${method} /${path}`)
      .filter((name) => !known.has(name))
      .filter((name) => !/ \/(docs\/|docs$|_operator\/|console\/api\/session)/.test(name));
    expect(rest.sort()).toEqual([
      'GET /',
      'GET /console',
      'GET /console*',
      'GET /console/api/:orgId/:appId/event_stream',
      'GET /console/api/:orgId/snapshot',
      'GET /docs*',
      'GET /healthz',
      'GET /llms-full.txt',
      'GET /llms.txt',
      'GET /openapi.json',
      'GET /readyz',
      'GET /seed.schema.json',
      'POST /console/api/:orgId/:appId/developer_api_webhooks/:id/reveal_secret',
      'POST /console/api/:orgId/snapshot',
      'POST /inbox/:id',
    ]);
    expect(servedRoutes(server.app, '/_api/').length).toBe(routes.length);
    expect(routes.filter(isStream)).toHaveLength(1);
  });

  test('only a short list of session routes needs no session', async () => {
    const password = 'correct horse battery';
    const bodies: Readonly<Record<string, object>> = {
      '/email': { email: 'new@example.test', password },
      '/organizations': { name: 'x' },
      '/passkeys': { name: 'x', response: { id: 'x', response: {} } },
      '/passkeys/options': { password },
      '/password': { currentPassword: password, newPassword: password },
      '/profile': { name: 'x' },
      '/two_factor/backup_codes': { password },
      '/two_factor/confirm': { code: '123456' },
      '/two_factor/disable': { password },
      '/two_factor/enable': { password },
    };
    const open: string[] = [];
    for (const { method, path } of servedRoutes(server.app, `${consolePrefix}session`)) {
      const response = await server.app.inject({
        method,
        url: `${consolePrefix}session${path.replace(/:\w+/g, 'x')}`,
        headers: { host: 'sandbank.test', 'sec-fetch-site': 'same-origin' },
        ...(method === 'POST' ? { payload: bodies[path] ?? {} } : {}),
      });
      const { error } = JSON.parse(response.body) as { error?: { code: string } };
      if (error?.code !== 'session_missing') open.push(`${method} session${path}`);
    }
    expect(open.sort()).toEqual([
      'GET session',
      'GET session/invitations/:token',
      'POST session/passkey',
      'POST session/passkey_options',
      'POST session/password_reset',
      'POST session/sign_in',
      'POST session/sign_out',
      'POST session/sign_up',
      'POST session/two_factor',
    ]);
  });
});
