import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consolePrefix, personRoutes } from '../../src/http/console-routes.ts';
import type { ErrorCode } from '../../src/kernel/errors.ts';
import { isAtLeast, roles, scopes, scopesNeeded } from '../../src/kernel/permissions.ts';
import { isStream, type Route } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { type ServedRoute, servedRoutes } from '../support/served-routes.ts';
import { openApp, openServer } from '../support/server.ts';
import { type KeyHolder, newKey, type Tenant, tenant } from '../support/tenant.ts';
import { found, type House, house, newcomer, type Person, register } from '../support/visitor.ts';
import { rowDigests, traces } from './estate.ts';

// API2 broken authentication, API5 broken function level authorization: who is let in where, over every route that there is.

const operatorToken = 'operator-token-of-a-test-0123456789';
const unknownOrg = 'org_01m7epxwjmf7za77rhky2f93cc';

/** Nothing that is asked here is right, so whoever is let in changes nothing either: 400 is what comes after all checks of who asks. */
const wentOn = 'invalid_request';

interface Asking {
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly address?: string;
}

let server: Server;
let acme: Tenant;
let rival: Tenant;
let people: House;
let stranger: Person;

beforeAll(async () => {
  server = await openServer('postgres', { operatorToken });
  [acme, rival, people, stranger] = await Promise.all([
    tenant(server),
    tenant(server),
    house(server),
    newcomer(server, 'Rita'),
  ]);
  await register(stranger, await found(stranger, 'Rival'));
});
afterAll(() => server?.close());

/** The error code of a request that is wrong in its body or its query, which is read last. */
async function codeOf(
  method: string,
  url: string,
  { headers = {}, address }: Asking,
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
const bearing = (key: string): Asking => ({ headers: { authorization: `Bearer ${key}` } });
const cookiesOf = ({ cookies }: Person) => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

describe('keys, on every route of the API', () => {
  let revoked: KeyHolder;
  let expired: KeyHolder;
  let confined: KeyHolder;

  beforeAll(async () => {
    revoked = await acme.addKey({ revoked: true });
    expired = await acme.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' });
    confined = await acme.addKey({ allowedCidrs: ['203.0.113.0/24', '2001:db8::/32'] });
  });

  const claiming = (organization: string | readonly string[]): Asking => ({
    headers: { ...bearing(acme.key).headers, 'sandbank-organization': organization },
  });

  test('each kind of key that is not good for it is refused by its own code, and nothing is changed', async () => {
    const callers: readonly (readonly [string, ErrorCode, Asking])[] = [
      ['nobody', 'api_key_missing', {}],
      ['an empty header', 'api_key_missing', { headers: { authorization: '' } }],
      ['a scheme alone', 'api_key_missing', { headers: { authorization: 'Bearer' } }],
      ['a key alone', 'api_key_missing', { headers: { authorization: acme.key } }],
      ['Basic', 'api_key_missing', { headers: { authorization: `Basic ${btoa(`${acme.key}:`)}` } }],
      ['two keys', 'api_key_missing', bearing(`${acme.key} ${acme.key}`)],
      ['a key in a cookie', 'api_key_missing', { headers: { cookie: `key=${acme.key}` } }],
      ['a key in a header of its own', 'api_key_missing', { headers: { 'x-api-key': acme.key } }],
      ['a person', 'api_key_missing', { headers: { cookie: cookiesOf(people.owner) } }],
      ['a live key', 'api_key_invalid', bearing(acme.key.replace('sandbox', 'live'))],
      ['a key that was cut', 'api_key_invalid', bearing(acme.key.slice(0, -1))],
      ['a key with a sign more', 'api_key_invalid', bearing(`${acme.key}0`)],
      ['a key in capitals', 'api_key_invalid', bearing(acme.key.toUpperCase())],
      ['a key that nobody made', 'api_key_invalid', bearing(newKey())],
      ['the hash of a key', 'api_key_invalid', bearing(`sbk_sandbox_${'a'.repeat(64)}`)],
      ['the operator', 'api_key_invalid', bearing(operatorToken)],
      ['a revoked key', 'api_key_revoked', bearing(revoked.key)],
      ['an expired key', 'api_key_expired', bearing(expired.key)],
      ['a key from elsewhere', 'ip_not_allowed', { ...bearing(confined.key), address: '198.51.100.7' }],
      [
        'a key from elsewhere by IPv6',
        'ip_not_allowed',
        { ...bearing(confined.key), address: '2001:db9::1' },
      ],
      [
        'a key from elsewhere that says it is not',
        'ip_not_allowed',
        {
          headers: {
            ...bearing(confined.key).headers,
            'x-forwarded-for': '203.0.113.7',
            'x-real-ip': '203.0.113.7',
            forwarded: 'for=203.0.113.7',
          },
          address: '198.51.100.7',
        },
      ],
      ['another organization', 'organization_mismatch', claiming(rival.orgId)],
      ['an organization that is not there', 'organization_mismatch', claiming(unknownOrg)],
      ['its organization in capitals', 'organization_mismatch', claiming(acme.orgId.toUpperCase())],
      ['two organizations', 'organization_mismatch', claiming([acme.orgId, rival.orgId])],
      ['a good key', wentOn, claiming(acme.orgId)],
      ['a good key from its network', wentOn, { ...bearing(confined.key), address: '203.0.113.7' }],
      ['a good key, written loosely', wentOn, { headers: { authorization: `bearer   ${acme.key}` } }],
    ];
    const before = await rowDigests(server, acme.orgId, traces);
    for (const route of routes) {
      const codes = await Promise.all(
        callers.map(async ([who, , asking]) => [who, await codeOf(route.method, apiUrl(route), asking)]),
      );
      expect(codes, route.operationId).toEqual(callers.map(([who, code]) => [who, code]));
    }
    expect(await rowDigests(server, acme.orgId, traces)).toEqual(before);
  });

  test('each of the eight scopes alone opens what the table says, and nothing else', async () => {
    const holders = await Promise.all(scopes.map((scope) => acme.addKey({ scopes: [scope] })));
    for (const route of routes) {
      const needed = scopesNeeded(route.scope);
      const codes = await Promise.all(
        holders.map(({ key }) => codeOf(route.method, apiUrl(route), bearing(key))),
      );
      const expected = scopes.map((scope) =>
        needed.every((one) => one === scope) ? wentOn : 'scope_missing',
      );
      expect(codes, route.operationId).toEqual(expected);
    }
  });

  test('what any key may do without a scope is a short list, and reads', () => {
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

describe('people, on every route of the console', () => {
  const served = personRoutes(routes, consoleRoutes);
  const from = { host: 'sandbank.test', 'sec-fetch-site': 'same-origin' };
  const asPerson = (person: Person): Asking => ({ headers: { ...from, cookie: cookiesOf(person) } });

  test('nobody, strangers, each role and the holders of other secrets get what the table says', async () => {
    const before = await rowDigests(server, people.orgId, traces);
    for (const { route, within, role } of served) {
      const place = within === 'organization' ? people.orgId : `${people.orgId}/${people.appId}`;
      const url = `${consolePrefix}${place}/${route.path.replace(/\{\w+\}/, 'x')}`;
      const ask = (asking: Asking) => codeOf(route.method, url, asking);
      const elsewhere = url.replace(people.orgId, unknownOrg);
      const [[name = '', cookie = ''] = []] = [...people.owner.cookies];
      const forged = { headers: { ...from, cookie: `${name}=${cookie.slice(0, 10)}${cookie.slice(11)}` } };
      const found = {
        nobody: await ask({ headers: from }),
        key: await ask({ headers: { ...from, ...bearing(acme.key).headers } }),
        operator: await ask({ headers: { ...from, ...bearing(operatorToken).headers } }),
        forged: await ask(forged),
        stranger: await ask(asPerson(stranger)),
        lost: await codeOf(route.method, elsewhere, asPerson(people.owner)),
        roles: await Promise.all(roles.map((one) => ask(asPerson(people[one])))),
      };
      expect(found, `${route.method} ${route.path}`).toEqual({
        ...{ nobody: 'session_missing', key: 'session_missing', operator: 'session_missing' },
        ...{ forged: 'session_missing', stranger: 'resource_not_found', lost: 'resource_not_found' },
        roles: roles.map((one) => (isAtLeast(one, role) ? wentOn : 'role_missing')),
      });
    }
    expect(await rowDigests(server, people.orgId, traces)).toEqual(before);
  });
});

describe('the operator', () => {
  const prefix = '/_operator/';
  const urlOf = ({ path }: ServedRoute) => prefix + path.replace(/:\w+/g, 'x');

  test('is who has the token, on every route of the operator, and nobody else', async () => {
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
    const wrong: Readonly<Record<string, Asking>> = {
      nobody: {},
      'an empty token': { headers: { authorization: 'Bearer ' } },
      'another token': bearing('x'.repeat(operatorToken.length)),
      'one letter less': bearing(operatorToken.slice(0, -1)),
      'one letter more': bearing(`${operatorToken}x`),
      'another case': bearing(operatorToken.toUpperCase()),
      'a token alone': { headers: { authorization: operatorToken } },
      'a key of the API': bearing(acme.key),
      'an owner': { headers: { cookie: cookiesOf(people.owner) } },
    };
    for (const route of served) {
      for (const [who, asking] of Object.entries(wrong))
        expect(await codeOf(route.method, urlOf(route), asking), `${who} at ${route.path}`).toBe(
          'operator_token_invalid',
        );
      const codes = route.path === 'snapshots' ? ['unsupported_media_type'] : [wentOn];
      expect(codes, route.path).toContain(await codeOf(route.method, urlOf(route), bearing(operatorToken)));
    }
  });

  test('is nobody where no token was set: the routes are not there', async () => {
    const app = openApp(server, {
      operator: { token: undefined, actions: server.operator, coverage: () => Promise.reject(new Error()) },
    });
    expect(servedRoutes(app, prefix)).toEqual([]);
    for (const route of servedRoutes(server.app, prefix))
      expect(await codeOf(route.method, urlOf(route), bearing(operatorToken), app)).toBe('route_not_found');
    await app.close();
  });
});

describe('the inventory', () => {
  test('everything that the server serves is in a table of routes, or on the list of what needs no key', () => {
    const columns = (path: string) => path.replace(/\{(\w+)\}/g, ':$1');
    const place = { organization: ':orgId', application: ':orgId/:appId' };
    const known = new Set([
      ...routes.map(({ method, path }) => `${method} /_api/${columns(path)}`),
      ...personRoutes(routes, consoleRoutes).map(
        ({ route, within }) => `${route.method} ${consolePrefix}${place[within]}/${columns(route.path)}`,
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
    ]);
    expect(servedRoutes(server.app, '/_api/').length).toBe(routes.length);
    expect(routes.filter(isStream)).toHaveLength(1);
  });

  test('of the routes for signing in, those that need nobody to be signed in are a short list', async () => {
    const password = 'correct horse battery';
    const bodies: Readonly<Record<string, object>> = {
      '/organizations': { name: 'x' },
      '/password': { currentPassword: password, newPassword: password },
      '/profile': { name: 'x' },
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
      'POST session/password_reset',
      'POST session/sign_in',
      'POST session/sign_out',
      'POST session/sign_up',
      'POST session/two_factor',
    ]);
  });
});
