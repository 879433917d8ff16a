// API8 security misconfiguration: required and forbidden response headers, and allowed methods.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consolePrefix } from '../../src/http/console-routes.ts';
import { isStream } from '../../src/kernel/route.ts';
import { routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { head } from '../support/raw-connection.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { openApp, openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';

let server: Server;
let acme: Tenant;
let pages: readonly string[];

beforeAll(async () => {
  server = await openServer('postgres', { operatorToken: 'operator-token-of-a-test-0123456789' });
  acme = await tenant(server);
  pages = servedRoutes(server.app, '/')
    .map(({ method, path }) => `${method} /${path}`)
    .filter((name) => /^GET \/(docs|console|llms|$)/.test(name) && !/[:*]/.test(name))
    .map((name) => name.slice(4));
});
afterAll(() => server?.close());

const evil = { origin: 'https://evil.test', 'access-control-request-method': 'POST' };

test('no response names the server software or allows another site to read it', async () => {
  const urls = [
    ...routes.filter((route) => !isStream(route)).map(({ path }) => `/_api/${path.replace(/\{\w+\}/, 'x')}`),
    ...servedRoutes(server.app, '/_operator/').map(({ path }) => `/_operator/${path.replace(/:\w+/g, 'x')}`),
    ...[
      `${consolePrefix}session`,
      '/healthz',
      '/readyz',
      '/seed.schema.json',
      '/nothing',
      '/%',
      '/docs',
      '/console',
      '/',
    ],
  ];
  for (const url of new Set(urls)) {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const authorization = `Bearer ${acme.key}`;
      const { headers } = await server.app.inject({ method, url, headers: { ...evil, authorization } });
      const names = Object.keys(headers);
      expect(
        names.filter((name) => /^(server|x-powered-by|via|access-control-.*|x-runtime)$/.test(name)),
        `${method} ${url}`,
      ).toEqual([]);
      expect(headers['x-content-type-options'] ?? headers.location, `${method} ${url}`).toBeDefined();
    }
  }
});

test('CORS allows other sites to read the OpenAPI document and nothing else', async () => {
  const corsOf = async (method: 'GET' | 'HEAD' | 'OPTIONS') => {
    const { headers } = await server.app.inject({ method, url: '/openapi.json', headers: evil });
    return Object.entries(headers).filter(([name]) => name.startsWith('access-control-'));
  };
  expect(await corsOf('GET')).toEqual([['access-control-allow-origin', '*']]);
  expect(await corsOf('HEAD')).toEqual([['access-control-allow-origin', '*']]);
  // Without a preflight response, a browser does not send requests that need a preflight.
  expect(await corsOf('OPTIONS')).toEqual([]);
  const { headers: unchanged, statusCode } = await server.app.inject({
    url: '/openapi.json',
    headers: {
      ...evil,
      'if-none-match': (await server.app.inject({ url: '/openapi.json' })).headers.etag ?? '',
    },
  });
  expect([statusCode, unchanged['access-control-allow-origin']]).toEqual([304, '*']);
});

test('responses of the API, the console and the operator API are never cached', async () => {
  const cacheControlOf = async (url: string, authorization = `Bearer ${acme.key}`) =>
    (await server.app.inject({ url, headers: { authorization } })).headers['cache-control'];
  for (const route of routes)
    if (route.method === 'GET' && !isStream(route))
      expect(await cacheControlOf(`/_api/${route.path.replace(/\{\w+\}/, 'x')}`), route.path).toBe(
        'no-store',
      );
  for (const url of [`${consolePrefix}session`, '/_operator/organizations', '/nothing', '/console'])
    expect(await cacheControlOf(url), url).toBe('no-store');
  const { body, headers } = await acme.client.post('developer_api_webhooks', { url: 'http://127.0.0.1:9/' });
  expect(body.secret, 'a response with a secret').toMatch(/^whsec_/);
  expect(headers['cache-control']).toBe('no-store');
  expect(headers.vary).toBeUndefined();
});

test('every page has security headers and a strict content security policy', async () => {
  expect(pages.length).toBeGreaterThan(30);
  for (const url of [...pages, '/console/x/y', '/docs/nothing']) {
    const { headers, statusCode } = await server.app.inject({ url });
    if (!String(headers['content-type']).startsWith('text/html')) continue;
    expect(statusCode).toBeLessThan(500);
    expect(headers, url).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policy = String(headers['content-security-policy']);
    for (const rule of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
      expect(policy, url).toContain(rule);
    expect(policy, url).not.toMatch(/unsafe-eval|\*|https?:/);
    // A report has no scripts: without the directive, `default-src` refuses them all.
    const scripts = policy.match(/script-src [^;]*/)?.[0] ?? '';
    if (url.startsWith('/docs/soak/')) expect(scripts).toBe('');
    else expect(scripts, url).toContain("script-src 'self'");
    expect(scripts, url).not.toContain('unsafe');
  }
});

describe('methods', () => {
  const methods = [
    'OPTIONS',
    'PUT',
    'PATCH',
    'DELETE',
    'TRACE',
    'PROPFIND',
    'MKCOL',
    'LOCK',
    'SEARCH',
    'PURGE',
  ];

  test('that a path does not support are rejected, and TRACE does not echo the request', async () => {
    const { port } = new URL(await server.listen());
    for (const path of [
      '/_api/developer_api_payments',
      '/healthz',
      '/docs',
      '/console',
      '/_operator/organizations',
    ]) {
      for (const method of methods) {
        const socket = connect(Number(port), '127.0.0.1');
        await once(socket, 'connect');
        socket.end(
          head(
            `${method} ${path}`,
            `Authorization: Bearer ${acme.key}`,
            'Connection: close',
            'X-Mine: echo-me',
          ),
        );
        const answer = await text(socket);
        expect(answer, `${method} ${path}`).toMatch(/^HTTP\/1\.1 40[45] /);
        expect(answer, `${method} ${path}`).not.toMatch(/echo-me|sbk_sandbox_/);
      }
    }
  });

  test('cannot be changed by a header or a parameter', async () => {
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override'])
      expect(
        (await acme.client.get('developer_api_payments', '', { headers: { [name]: 'POST' } })).status,
      ).toBe(200);
    expect((await acme.client.get('developer_api_payments', '_method=POST')).status).toBe(400);
  });
});

test('an internal error has a generic message without implementation details', async () => {
  const secret = 'postgres://user:word@db.internal/x';
  const reader = {
    rows: () => Promise.reject(new TypeError(`cannot read ${secret}`)),
    byKey: () => Promise.reject(new Error(secret)),
  } as unknown as Server['reader'];
  const app = openApp(server, { reader });
  const client = acme.clientOn(app);
  for (const answer of [
    await client.get('developer_api_payments'),
    await client.post(
      'developer_api_payments',
      { amount: 1, currency: 'EUR' },
      { idempotencyKey: randomUUID() },
    ),
  ]) {
    expect([answer.status, answer.code]).toEqual([500, 'internal_error']);
    expect(answer.text).not.toMatch(/TypeError|\.ts|\.js|node_modules| at |postgres|word/);
  }
  await app.close();
});
