import { beforeAll, describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { apiVersion } from '../../src/kernel/envelope.ts';
import { entryReasons } from '../../src/kernel/ledger.ts';
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
  let anonymous: ApiClient;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    anonymous = new ApiClient(server.app, null);
  });

  describe('200', () => {
    test("status returns the key's organization, application and scopes, and the clock", async () => {
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

    test('status enables sandbox features and disables everything real, each with a reason', async () => {
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

    test('no response contains the key', async () => {
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
        actionFields: {
          create: ['name', 'email', 'phone', 'reference', 'metadata'],
          update: ['name', 'email', 'phone', 'reference', 'metadata'],
          archive: [],
        },
        targetFields: {},
        amountMaximums: {},
      });
      expect(body.operationScopes).toMatchObject({
        advanceClock: ['payments:write', 'transfers:write'],
        createFaultPlan: ['payments:write', 'transfers:write'],
      });
      expect(body.operationScopes).not.toHaveProperty('createPayment');
      expect(body.ledgerReasons).toEqual(entryReasons);
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

    const resourceNamed = async (name: string) => {
      const { body } = await acme.client.get(capabilities);
      const resources = body.resources as {
        name: string;
        states: string[];
        actionFields: Record<string, string[]>;
        targetFields: Record<string, string[]>;
        amountMaximums: Record<string, string>;
      }[];
      return resources.find((one) => one.name === name);
    };

    test('capabilities lists the body fields of the actions and target states of a payment', async () => {
      const payment = await resourceNamed('payment');
      const money = ['amount', 'currency'];
      expect(payment?.actionFields).toMatchObject({
        authorize: [],
        capture: [...money, 'final'],
        fail: ['failureCode'],
        refund: [...money, 'reason', 'metadata'],
        dispute: [...money, 'reason'],
      });
      expect(payment?.actionFields.create).toEqual(expect.arrayContaining([...money, 'scenario']));
      expect(payment?.actionFields).not.toHaveProperty('charge_back');
      expect(payment?.targetFields).toMatchObject({
        captured: [],
        partially_captured: money,
        partially_refunded: money,
        disputed: money,
        failed: ['failureCode'],
      });
      expect(Object.keys(payment?.targetFields ?? {})).toEqual(payment?.states);
      expect(payment?.amountMaximums).toEqual({
        ...{ capture: 'amountCapturable', refund: 'amountRefundable', dispute: 'amountRefundable' },
      });
    });

    test('capabilities lists the body fields of transfers, disputes and webhooks', async () => {
      const transfer = await resourceNamed('transfer');
      expect(transfer?.actionFields).toMatchObject({
        accept: ['beneficiary'],
        return: ['returnCode'],
        fail: ['failureCode'],
        fund: [],
      });
      expect(transfer?.actionFields.quote).toEqual(expect.arrayContaining(['sourceAmount', 'targetAmount']));
      expect(transfer?.targetFields).toMatchObject({
        completed: ['beneficiary'],
        returned: ['beneficiary', 'returnCode'],
        refunded: ['beneficiary', 'returnCode'],
        failed: ['beneficiary', 'failureCode'],
      });
      expect((await resourceNamed('dispute'))?.actionFields).toEqual({
        submit_evidence: ['evidence'],
        ...{ accept: [], expire: [], win: [], lose: [], escalate: [] },
      });
      expect((await resourceNamed('webhook'))?.actionFields).toMatchObject({
        rotate_secret: ['secret', 'overlapSeconds'],
        disable: [],
      });
    });

    test('capabilities describes every scenario and retry profile', async () => {
      const { body } = await acme.client.get(capabilities);
      const { payment, transfer } = body.scenarioDescriptions as Record<string, Record<string, string>>;
      expect(Object.keys(payment ?? {})).toEqual(body.scenarios);
      expect(Object.keys(transfer ?? {})).toEqual(body.transferScenarios);
      for (const text of [...Object.values(payment ?? {}), ...Object.values(transfer ?? {})])
        expect(text).toMatch(/^[A-Z].+\.$/);
      expect(payment?.['decline:expired_card']).toBe('The card has expired. It cannot be retried.');
      expect(body.retryProfiles).toEqual([
        { name: 'standard', delaysSeconds: [0, 5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 43_200] },
        { name: 'fast', delaysSeconds: [0, 1, 4, 15, 30] },
        { name: 'none', delaysSeconds: [0] },
      ]);
    });

    test('a key without scopes can read status and capabilities', async () => {
      const { client } = await acme.addKey({ scopes: [] });
      expect((await client.get(status)).status).toBe(200);
      expect((await client.get(capabilities)).status).toBe(200);
    });

    test('the Bearer scheme is case-insensitive', async () => {
      const headers = { authorization: `bearer ${acme.key}` };
      expect((await anonymous.get(status, '', { headers })).status).toBe(200);
    });

    test("headers with the key's organization and a supported version change nothing", async () => {
      const headers = { 'sandbank-organization': acme.orgId, 'api-version': apiVersion };
      expect((await acme.client.get(status, '', { headers })).status).toBe(200);
    });

    test('a key with allowed networks works from inside them, in any address notation', async () => {
      const { client } = await acme.addKey({ allowedCidrs: ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'] });
      for (const remoteAddress of ['10.1.2.3', '192.0.2.7', '2001:db8::5', '::ffff:10.1.2.3']) {
        const answer = await client.get(status, '', { remoteAddress });
        expect(answer.status, remoteAddress).toBe(200);
      }
    });

    test('HEAD responds like GET, without a body', async () => {
      const { status: code, headers, text } = await acme.client.send(status, { method: 'HEAD' });
      expect(code).toBe(200);
      expect(text).toBe('');
      expect(headers['request-id']).toMatch(/^req_/);
      expect(Number(headers['content-length'])).toBeGreaterThan(0);
    });

    test('health and readiness require no key and have the envelope', async () => {
      const health = await anonymous.get('/healthz');
      expect(health.status).toBe(200);
      expect(health.body).toMatchObject({ object: 'health', status: 'ok' });
      const readiness = await anonymous.get('/readyz');
      expect(readiness.status).toBe(200);
      expect(readiness.body).toMatchObject({ object: 'readiness', status: 'ok' });
    });

    test('documents require no key', async () => {
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

    test('without a rate limit, no response has rate limit headers', async () => {
      const { headers } = await acme.client.get(status);
      expect(headers).not.toHaveProperty('ratelimit');
      expect(headers).not.toHaveProperty('ratelimit-policy');
    });
  });

  describe('400', () => {
    test('rejects an unknown version and lists the supported ones', async () => {
      for (const version of ['2020-01-01', '', 'latest', `${apiVersion}, ${apiVersion}`]) {
        const { code, body } = await acme.client.get(status, '', { headers: { 'api-version': version } });
        expect(code, version).toBe('unsupported_api_version');
        expect(body.error).toMatchObject({ param: 'Api-Version', details: { supported: [apiVersion] } });
      }
    });

    test.each(['verbose=true', 'limit=5', '__proto__=1', 'constructor=1', '=1', '%ff=1'])(
      'rejects the unknown query parameter %s',
      async (query) => {
        expect((await acme.client.get(status, query)).code).toBe('invalid_request');
        expect((await acme.client.get(capabilities, query)).code).toBe('invalid_request');
      },
    );

    test('rejects a path that cannot be decoded, with the envelope', async () => {
      expect((await acme.client.get('/_api/%E0%A4%A')).code).toBe('invalid_request');
    });
  });

  describe('401', () => {
    test('reports a missing key without a bearer token', async () => {
      for (const authorization of [null, '', acme.key, `Basic ${acme.key}`, 'Bearer', 'Bearer a b']) {
        const answer = await anonymous.get(status, '', { headers: { authorization } });
        expect(answer.code, String(authorization)).toBe('api_key_missing');
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
    });

    test('rejects an unknown, truncated or malformed key as invalid', async () => {
      const forms = [newKey(), acme.key.slice(0, -1), `${acme.key}0`, 'sbk_live_1', 'garbage', 'Ünïcode'];
      for (const key of forms) {
        const answer = await new ApiClient(server.app, key).get(status);
        expect(answer.code, key).toBe('api_key_invalid');
        expect(answer.headers['www-authenticate']).toBe('Bearer');
      }
    });

    test('reports a revoked key', async () => {
      const { client } = await acme.addKey({ revoked: true });
      const answer = await client.get(status);
      expect(answer.code).toBe('api_key_revoked');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    });

    test('a revocation applies within a second, and a later declaration cannot undo it', async () => {
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

    test('a key works until its expiry time, exclusive', async () => {
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

    test('a revoked or expired key is reported before its address or organization is checked', async () => {
      const headers = { 'sandbank-organization': 'org_other' };
      const allowedCidrs = ['10.0.0.0/8'];
      const revoked = await acme.addKey({ revoked: true, allowedCidrs });
      expect((await revoked.client.get(status, '', { headers })).code).toBe('api_key_revoked');
      const expired = await acme.addKey({ expiresAt: '2020-01-01T00:00:00Z', allowedCidrs });
      expect((await expired.client.get(status, '', { headers })).code).toBe('api_key_expired');
    });
  });

  describe('403', () => {
    test("the Sandbank-Organization header must match the key's organization", async () => {
      const other = await tenant(server);
      for (const name of [other.orgId, 'org_unknown', '', acme.orgId.toUpperCase()]) {
        const headers = { 'sandbank-organization': name };
        const { code, body } = await acme.client.get(status, '', { headers });
        expect(code, name).toBe('organization_mismatch');
        expect(body.error.param).toBe('Sandbank-Organization');
      }
    });

    test('rejects a key with allowed networks from other addresses', async () => {
      const { client } = await acme.addKey({ allowedCidrs: ['10.0.0.0/8', '2001:db8::/32'] });
      for (const remoteAddress of ['127.0.0.1', '11.0.0.1', '2001:db9::1', '::1', '::ffff:11.0.0.1']) {
        const answer = await client.get(status, '', { remoteAddress });
        expect(answer.code, remoteAddress).toBe('ip_not_allowed');
      }
    });
  });

  describe('404', () => {
    test('an unknown path has the envelope, below /_api and elsewhere, with and without a key', async () => {
      const paths = ['/_api/developer_api_statuses', '/_api', '/_api/', '/nowhere', '//', '/_API/x'];
      for (const path of paths) {
        for (const client of [acme.client, anonymous]) {
          expect((await client.get(path)).code, path).toBe('route_not_found');
          expect((await client.post(path, {})).code, path).toBe('route_not_found');
        }
      }
    });

    test('paths are case-sensitive, and a trailing slash makes another path', async () => {
      for (const path of ['developer_api_STATUS', 'developer_api_status/', '/HEALTHZ']) {
        expect((await acme.client.get(path)).code, path).toBe('route_not_found');
      }
    });
  });

  describe('405', () => {
    test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
      '%s is not allowed, and Allow lists the allowed methods',
      async (method) => {
        for (const path of [status, capabilities]) {
          const answer = await anonymous.send(path, { method });
          expect(answer.code).toBe('method_not_allowed');
          expect(answer.headers.allow).toBe('GET, HEAD');
          expect(answer.body.error.details).toEqual({ allowed: ['GET', 'HEAD'] });
        }
      },
    );

    test('a public path with a wrong method gets 405, not 404', async () => {
      for (const path of ['/healthz', '/readyz', '/openapi.json', '/seed.schema.json']) {
        expect((await anonymous.post(path, {})).code, path).toBe('method_not_allowed');
      }
    });
  });

  describe('429', () => {
    test('a key that used its burst is rejected until tokens are refilled; other keys are not', async () => {
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
      const org = await tenant(server);
      const keys = await Promise.all(Array.from({ length: 6 }, () => org.addKey()));
      const answers = [];
      for (const key of keys) for (const _burst of [1, 2]) answers.push(await key.clientOn(app).get(status));
      expect(answers.map(({ status: code }) => code)).toEqual([...Array(10).fill(200), 429, 429]);
      const refused = answers.at(-1);
      expect(refused?.headers['ratelimit-policy']).toBe('"application";q=10;w=2');
      expect(refused?.headers['retry-after']).toBe('1');
      expect((await acme.clientOn(app).get(status)).status).toBe(200);
    });

    test('requests without a valid key are not counted, and get no rate limit headers', async () => {
      const app = openApp(server, { rateLimiter: createRateLimiter(1) });
      for (let i = 0; i < 5; i += 1) {
        const answer = await new ApiClient(app, newKey()).get(status);
        expect(answer.code).toBe('api_key_invalid');
        expect(answer.headers).not.toHaveProperty('ratelimit');
      }
    });
  });

  describe('500', () => {
    test('a read that fails with a bug returns 500 without its cause', async () => {
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
  test('without the database, nothing is served but the liveness probe', async () => {
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

test('the configured rate limit appears in responses', async () => {
  const server = await openServer('postgres', { rateLimit: 5 });
  const { client } = await tenant(server);
  expect((await client.get(status)).headers['ratelimit-policy']).toBe('"default";q=10;w=2');
  await server.close();
});

test('covers the error codes listed for this file', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.status);
});
