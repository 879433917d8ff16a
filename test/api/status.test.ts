import { beforeAll, describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { limits } from '../../src/kernel/limits.ts';
import { scopes } from '../../src/kernel/permissions.ts';
import type { ApiReadRoute } from '../../src/kernel/route.ts';
import { routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, openServer, sharedServer } from '../support/server.ts';
import { newKey, type Tenant, tenant } from '../support/tenant.ts';

const status = 'developer_api_status';
const capabilities = 'developer_api_capabilities';

describe.each(databaseKinds)('status and capabilities on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let nobody: ApiClient;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    nobody = new ApiClient(server.app, null);
  });

  describe('200', () => {
    test('status says whom the key stands for, with its scopes and the clock', async () => {
      const limited = await acme.addKey({ scopes: ['payments:read', 'webhooks:write'] });
      const { status: code, body } = await limited.client.get(status);
      expect(code).toBe(200);
      expect(body).toMatchObject({
        object: 'api_status',
        status: 'ok',
        apiVersion,
        organization: { id: acme.orgId, name: acme.orgName },
        application: { id: acme.appId, name: 'web' },
        apiKey: { id: limited.keyId, name: limited.keyName, scopes: ['payments:read', 'webhooks:write'] },
        clock: { status: 'running', offsetSeconds: 0, now: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) },
      });
      expect(acme.orgId).toMatch(/^org_/);
      expect(acme.appId).toMatch(/^app_/);
      expect(limited.keyId).toMatch(/^key_/);
    });

    test('status switches sandbox features on and all that is real off, each with its reason', async () => {
      const { body } = await acme.client.get(status);
      const gates = body.capabilities as Record<string, { enabled: boolean; reason: string | null }>;
      for (const name of ['live_credentials', 'production_rails', 'real_money_execution']) {
        expect(gates[name]).toEqual({
          enabled: false,
          reason: expect.stringContaining('separate production authorization'),
        });
      }
      const { live_credentials, production_rails, real_money_execution, ...features } = gates;
      expect(Object.keys(features)).toContain('payments');
      for (const gate of Object.values(features)) expect(gate).toEqual({ enabled: true, reason: null });
    });

    test('no answer shows the key itself', async () => {
      const answers = await Promise.all([acme.client.get(status), acme.client.get(capabilities)]);
      for (const { text } of answers) expect(text).not.toContain(acme.key);
    });

    test('capabilities lists versions, scopes, resources, events, currencies and limits', async () => {
      const { status: code, body } = await acme.client.get(capabilities);
      expect(code).toBe(200);
      expect(body).toMatchObject({
        object: 'capabilities',
        status: 'ok',
        apiVersion,
        apiVersions: [apiVersion],
        scopes,
        limits,
      });
      const named = body.resources as { name: string; states: string[]; actions: { action: string }[] }[];
      expect(named.map(({ name }) => name)).toEqual(expect.arrayContaining(['customer', 'payment']));
      expect(named.find(({ name }) => name === 'customer')).toEqual({
        name: 'customer',
        states: ['active', 'archived'],
        actions: [
          { action: 'create', from: [], to: ['active'] },
          { action: 'update', from: ['active'], to: ['active'] },
          { action: 'archive', from: ['active'], to: ['archived'] },
        ],
      });
      expect(body.eventTypes).toEqual(expect.arrayContaining(['payment.created', 'customer.archived']));
      const currencies = body.currencies as { code: string; exponent: number }[];
      expect(currencies.length).toBeGreaterThan(100);
      expect(currencies).toEqual(
        expect.arrayContaining([
          { code: 'EUR', exponent: 2, name: 'Euro' },
          { code: 'JPY', exponent: 0, name: 'Japanese yen' },
          { code: 'KWD', exponent: 3, name: 'Kuwaiti dinar' },
        ]),
      );
    });

    test('a key without any scope may ask for status and capabilities', async () => {
      const { client } = await acme.addKey({ scopes: [] });
      expect((await client.get(status)).status).toBe(200);
      expect((await client.get(capabilities)).status).toBe(200);
    });

    test('the scheme Bearer is taken in any case', async () => {
      const headers = { authorization: `bearer ${acme.key}` };
      expect((await nobody.get(status, '', { headers })).status).toBe(200);
    });

    test('naming the organization of the key and a version that exists changes nothing', async () => {
      const headers = { 'sandbank-organization': acme.orgId, 'api-version': apiVersion };
      expect((await acme.client.get(status, '', { headers })).status).toBe(200);
    });

    test('a key with allowed networks works from inside them, however the address is written', async () => {
      const { client } = await acme.addKey({ allowedCidrs: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'] });
      for (const remoteAddress of ['10.1.2.3', '192.0.2.7', '2001:db8::5', '::ffff:10.1.2.3']) {
        const answer = await client.get(status, '', { remoteAddress });
        expect(answer.status, remoteAddress).toBe(200);
      }
    });

    test('HEAD answers as GET does, without a body', async () => {
      const { status: code, headers, text } = await acme.client.send(status, { method: 'HEAD' });
      expect(code).toBe(200);
      expect(text).toBe('');
      expect(headers['request-id']).toMatch(/^req_/);
      expect(Number(headers['content-length'])).toBeGreaterThan(0);
    });

    test('health and readiness need no key and carry the envelope', async () => {
      const health = await nobody.get('/healthz');
      expect(health.status).toBe(200);
      expect(health.body).toMatchObject({ object: 'health', status: 'ok' });
      const readiness = await nobody.get('/readyz');
      expect(readiness.status).toBe(200);
      expect(readiness.body).toMatchObject({ object: 'readiness', status: 'ok' });
    });

    test('documents need no key', async () => {
      for (const url of [
        '/openapi.json',
        '/seed.schema.json',
        '/docs',
        '/docs/errors',
        '/llms.txt',
        '/console',
      ]) {
        const { statusCode, headers } = await server.app.inject(url);
        expect(statusCode, url).toBe(200);
        expect(headers['content-type'], url).toMatch(/charset=utf-8/);
        expect(headers['request-id'], url).toMatch(/^req_/);
        expect(headers['api-version'], url).toBe(apiVersion);
      }
      expect((await server.app.inject('/metrics')).statusCode).toBe(404);
    });

    test('without a rate limit no answer speaks of one', async () => {
      const { headers } = await acme.client.get(status);
      expect(headers).not.toHaveProperty('ratelimit');
      expect(headers).not.toHaveProperty('ratelimit-policy');
    });
  });

  describe('400', () => {
    test('a version that does not exist is refused and those that do are named', async () => {
      for (const version of ['2020-01-01', '', 'latest', `${apiVersion}, ${apiVersion}`]) {
        const { code, body } = await acme.client.get(status, '', { headers: { 'api-version': version } });
        expect(code, version).toBe('unsupported_api_version');
        expect(body.error).toMatchObject({ param: 'Api-Version', details: { supported: [apiVersion] } });
      }
    });

    test.each(['verbose=true', 'limit=5', '__proto__=1', 'constructor=1', '=1', '%ff=1'])(
      'the query parameter %s is unknown',
      async (query) => {
        expect((await acme.client.get(status, query)).code).toBe('invalid_request');
        expect((await acme.client.get(capabilities, query)).code).toBe('invalid_request');
      },
    );

    test('a path that cannot be decoded is refused with the envelope', async () => {
      expect((await acme.client.get('/_api/%E0%A4%A')).code).toBe('invalid_request');
    });
  });

  describe('401', () => {
    test('without a key, or with one that is not sent as a bearer token, the key is missing', async () => {
      for (const authorization of [null, '', acme.key, `Basic ${acme.key}`, 'Bearer', 'Bearer a b']) {
        const answer = await nobody.get(status, '', { headers: { authorization } });
        expect(answer.code, String(authorization)).toBe('api_key_missing');
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
    });

    test('a key that is unknown, cut, or of another form is invalid', async () => {
      const forms = [newKey(), acme.key.slice(0, -1), `${acme.key}0`, 'sbk_live_1', 'garbage', 'Ünïcode'];
      for (const key of forms) {
        const answer = await new ApiClient(server.app, key).get(status);
        expect(answer.code, key).toBe('api_key_invalid');
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
    });

    test('a revoked key is told so', async () => {
      const { client } = await acme.addKey({ revoked: true });
      const answer = await client.get(status);
      expect(answer.code).toBe('api_key_revoked');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    });

    test('a revocation works within a second, and cannot be declared away', async () => {
      let now = Date.now();
      const app = openApp(server, { wallClock: () => now });
      const { key, clientOn } = await acme.addKey();
      expect((await clientOn(app).get(status)).status).toBe(200);
      await acme.addKey({ key, revoked: true });
      now += 1_000;
      expect((await clientOn(app).get(status)).code).toBe('api_key_revoked');
      await acme.addKey({ key, revoked: false });
      now += 1_000;
      expect((await clientOn(app).get(status)).code).toBe('api_key_revoked');
    });

    test('a key works up to the instant of its expiry and not at it', async () => {
      const expiresAt = '2027-01-01T00:00:00.000Z';
      const { clientOn } = await acme.addKey({ expiresAt });
      let now = Date.parse(expiresAt) - 1;
      const app = openApp(server, { wallClock: () => now });
      expect((await clientOn(app).get(status)).status).toBe(200);
      now += 1;
      const answer = await clientOn(app).get(status);
      expect(answer.code).toBe('api_key_expired');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    });

    test('a revoked or expired key is told that before where it comes from or whom it names', async () => {
      const headers = { 'sandbank-organization': 'org_other' };
      const allowedCidrs = ['10.0.0.0/8'];
      const revoked = await acme.addKey({ revoked: true, allowedCidrs });
      expect((await revoked.client.get(status, '', { headers })).code).toBe('api_key_revoked');
      const expired = await acme.addKey({ expiresAt: '2020-01-01T00:00:00Z', allowedCidrs });
      expect((await expired.client.get(status, '', { headers })).code).toBe('api_key_expired');
    });
  });

  describe('403', () => {
    test('the header Sandbank-Organization must name the organization of the key', async () => {
      const other = await tenant(server);
      for (const name of [other.orgId, 'org_unknown', '', acme.orgId.toUpperCase()]) {
        const headers = { 'sandbank-organization': name };
        const { code, body } = await acme.client.get(status, '', { headers });
        expect(code, name).toBe('organization_mismatch');
        expect(body.error.param).toBe('Sandbank-Organization');
      }
    });

    test('a key with allowed networks does not work from elsewhere', async () => {
      const { client } = await acme.addKey({ allowedCidrs: ['10.0.0.0/8', '2001:db8::/32'] });
      for (const remoteAddress of ['127.0.0.1', '11.0.0.1', '2001:db9::1', '::1', '::ffff:11.0.0.1']) {
        const answer = await client.get(status, '', { remoteAddress });
        expect(answer.code, remoteAddress).toBe('ip_not_allowed');
      }
    });
  });

  describe('404', () => {
    test('an unknown path has the envelope, below /_api and elsewhere, with a key and without', async () => {
      const paths = ['/_api/developer_api_statuses', '/_api', '/_api/', '/nowhere', '//', '/_API/x'];
      for (const path of paths) {
        for (const client of [acme.client, nobody]) {
          expect((await client.get(path)).code, path).toBe('route_not_found');
          expect((await client.post(path, {})).code, path).toBe('route_not_found');
        }
      }
    });

    test('a path that differs in case or by a slash at its end is another path', async () => {
      for (const path of ['developer_api_STATUS', 'developer_api_status/', '/HEALTHZ']) {
        expect((await acme.client.get(path)).code, path).toBe('route_not_found');
      }
    });
  });

  describe('405', () => {
    test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      '%s is not allowed, and Allow says what is',
      async (method) => {
        for (const path of [status, capabilities]) {
          const answer = await nobody.send(path, { method });
          expect(answer.code).toBe('method_not_allowed');
          expect(answer.headers.allow).toBe('GET, HEAD');
          expect(answer.body.error.details).toEqual({ allowed: ['GET', 'HEAD'] });
        }
      },
    );

    test('a public path that exists is not said to be missing when the method is wrong', async () => {
      for (const path of ['/healthz', '/readyz', '/openapi.json', '/seed.schema.json']) {
        expect((await nobody.post(path, {})).code, path).toBe('method_not_allowed');
      }
    });
  });

  describe('429', () => {
    test('a key that spent its burst is refused until tokens flow in; other keys are not', async () => {
      let now = Date.now();
      const app = openApp(server, { rateLimiter: createRateLimiter(5), wallClock: () => now });
      const [first, second] = await Promise.all([acme.addKey(), acme.addKey()]);
      for (let left = 9; left >= 0; left -= 1) {
        const { status: code, headers } = await first.clientOn(app).get(status);
        expect(code).toBe(200);
        expect(headers['ratelimit-policy']).toBe('"default";q=10;w=2');
        expect(headers.ratelimit).toMatch(new RegExp(`^"default";r=${left};t=[12]$`));
      }
      const refused = await first.clientOn(app).get(status);
      expect(refused.code).toBe('rate_limited');
      expect(refused.body.error.retryable).toBe(true);
      expect(refused.headers['retry-after']).toBe('1');
      expect(refused.headers.ratelimit).toBe('"default";r=0;t=2');
      expect(refused.headers['ratelimit-policy']).toBe('"default";q=10;w=2');
      expect((await second.clientOn(app).get(status)).status).toBe(200);
      now += Number(refused.headers['retry-after']) * 1_000;
      expect((await first.clientOn(app).get(status)).status).toBe(200);
    });

    test('an application with many keys has five times the rate of one key', async () => {
      const app = openApp(server, { rateLimiter: createRateLimiter(1), wallClock: () => 0 });
      const own = await tenant(server);
      const keys = await Promise.all(Array.from({ length: 6 }, () => own.addKey()));
      const answers = [];
      for (const key of keys) for (const _burst of [1, 2]) answers.push(await key.clientOn(app).get(status));
      expect(answers.map(({ status: code }) => code)).toEqual([...Array(10).fill(200), 429, 429]);
      const refused = answers.at(-1);
      expect(refused?.headers['ratelimit-policy']).toBe('"application";q=10;w=2');
      expect(refused?.headers['retry-after']).toBe('1');
      expect((await acme.clientOn(app).get(status)).status).toBe(200);
    });

    test('who has no valid key is not counted, and a refused key is not told of a limit', async () => {
      const app = openApp(server, { rateLimiter: createRateLimiter(1) });
      for (let i = 0; i < 5; i += 1) {
        const answer = await new ApiClient(app, newKey()).get(status);
        expect(answer.code).toBe('api_key_invalid');
        expect(answer.headers).not.toHaveProperty('ratelimit');
      }
    });
  });

  describe('500', () => {
    test('a read that fails by our fault says so and nothing of its cause', async () => {
      const broken: ApiReadRoute = {
        operationId: 'readBroken',
        method: 'GET',
        path: 'developer_api_broken',
        scope: 'any',
        tag: 'Sandbox',
        summary: 'Fails',
        response: {},
        responseName: 'Broken',
        read: () => {
          throw new Error('select secret_detail from hidden_table');
        },
      };
      const app = openApp(server, { routes: [...routes, broken] });
      const { code, text } = await acme.clientOn(app).get(broken.path);
      expect(code).toBe('internal_error');
      expect(text).not.toMatch(/secret_detail|hidden_table|Error:|\.ts/);
    });
  });
});

describe('503', () => {
  test('when the database is gone, nothing is served but the process says that it lives', async () => {
    const server = await openServer('postgres');
    const acme = await tenant(server);
    await server.database.close();
    const refused = [
      await acme.client.get('/readyz'),
      await acme.client.get(status),
      await acme.client.get('developer_api_payments'),
      await acme.client.post('developer_api_payments', { amount: 1, currency: 'EUR' }),
    ];
    for (const answer of refused) {
      expect(answer.code).toBe('service_unavailable');
      expect(answer.headers['retry-after']).toBe('1');
      expect(answer.body.error.retryable).toBe(true);
    }
    expect((await acme.client.get('/healthz')).status).toBe(200);
    await server.app.close();
  });
});

test('a rate limit in the configuration reaches the answers', async () => {
  const server = await openServer('postgres', { rateLimit: 5 });
  const { client } = await tenant(server);
  expect((await client.get(status)).headers['ratelimit-policy']).toBe('"default";q=10;w=2');
  await server.close();
});

test('this file provokes the codes that it is said to provoke', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.status);
});
