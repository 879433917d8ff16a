import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { personRoutes } from '../../src/http/console-routes.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { type ServedRoute, servedRoutes } from '../support/served-routes.ts';
import { openApp, openServer } from '../support/server.ts';
import {
  countsOf,
  createApplication,
  createOrganization,
  goodPassword,
  newPerson,
  ok,
  type Person,
  totp,
  Visitor,
} from '../support/visitor.ts';

const own = 'sandbank.test';

/** Headers of requests that another site triggers, and headers that no browser sends. */
const foreign: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'another site': { 'sec-fetch-site': 'cross-site' },
  'another host of the same site': { 'sec-fetch-site': 'same-site' },
  'another site that sends our origin': { 'sec-fetch-site': 'cross-site', origin: `http://${own}` },
  'a foreign origin': { origin: 'https://evil.test' },
  'a foreign origin that claims to be ours': { 'sec-fetch-site': 'same-origin', origin: 'https://evil.test' },
  'an origin that begins like ours': { origin: `http://${own}.evil.test` },
  'an origin that ends like ours': { origin: `http://evil${own}` },
  'another port': { origin: `http://${own}:8080` },
  'another scheme': { origin: `https://${own}` },
  'another scheme that claims to be ours': { 'sec-fetch-site': 'same-origin', origin: `https://${own}` },
  'a page without an origin': { origin: 'null' },
  'a page without an origin that claims to be ours': { 'sec-fetch-site': 'same-origin', origin: 'null' },
};
/** These may read, but not write. */
const rejectedForWrites: typeof foreign = {
  ...foreign,
  'a client without origin headers': {},
  'the address bar': { 'sec-fetch-site': 'none' },
};
const allowed: typeof foreign = {
  'our page': { 'sec-fetch-site': 'same-origin' },
  'our page with its origin': { 'sec-fetch-site': 'same-origin', origin: `http://${own}` },
  'our page in an old browser': { origin: `http://${own}` },
  'our page with its port': { origin: `http://${own}:80` },
};

/** On one database, because the server checks the headers before it reads any row. */
describe('the origin of console requests', () => {
  let server: Server;
  let ada: Person;
  let served: readonly ServedRoute[];
  let withIds: (path: string) => string;

  beforeAll(async () => {
    server = await openServer('pglite');
    await server.app.ready();
    served = servedRoutes(server.app, '/console/api/');
    ada = await newPerson(server);
    const orgId = await createOrganization(ada);
    const appId = await createApplication(ada, orgId);
    const [device] = ok(await ada.get('session/devices')).data;
    const ids: Readonly<Record<string, string>> = {
      ...{ orgId, appId, token: 'A'.repeat(32), date: '2026-11-15' },
      id: device?.id ?? '',
    };
    withIds = (path) => path.replace(/:(\w+)/g, (_whole, name: string) => ids[name] ?? 'x');
  });
  afterAll(() => server?.close());

  /** The same browser with other origin headers. */
  const withHeaders = (visitor: Visitor, headers: Readonly<Record<string, string>>) => {
    const copy = visitor.copy();
    copy.headers = { host: own, ...headers };
    return copy;
  };

  test('the list of routes is complete', () => {
    const all = served.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(all).size).toBe(all.length);
    const expected = personRoutes(routes, consoleRoutes).map(({ route, level }) => {
      const place = level === 'organization' ? ':orgId' : ':orgId/:appId';
      return `${route.method} ${place}/${route.path.replace(/\{(\w+)\}/g, ':$1')}`;
    });
    expect(all).toEqual(expect.arrayContaining(expected));
    const rest = all
      .filter((name) => !expected.includes(name))
      .filter((name) => !/(event_stream|snapshot|reveal_secret)$/.test(name));
    for (const name of rest) expect(name).toMatch(/^(GET|POST) session(\/|$)/);
    expect(rest.filter((name) => name.startsWith('POST')).length).toBeGreaterThanOrEqual(14);
  });

  test.each(Object.entries(rejectedForWrites))('rejects writes from %s', async (_name, headers) => {
    const before = await countsOf(server);
    const visitor = withHeaders(ada, headers);
    for (const { path } of served.filter(({ method }) => method === 'POST')) {
      const answer = await visitor.post(withIds(path), {});
      expect(answer.code, `${path}: ${answer.text}`).toBe('origin_not_allowed');
      expect(answer.status).toBe(403);
      expect(visitor.setCookies, path).toEqual([]);
    }
    expect(await countsOf(server)).toEqual(before);
    expect((await ada.get('session')).body.person).toMatchObject({ name: 'Ada' });
  });

  test.each(Object.entries(rejectedForWrites))(
    'rejects sign-in and sign-out from %s',
    async (_name, headers) => {
      const stranger = withHeaders(new Visitor(server.app), headers);
      const credentials = { email: ada.email, password: goodPassword };
      expect((await stranger.post('session/sign_in', credentials)).code).toBe('origin_not_allowed');
      expect(stranger.cookies.size).toBe(0);
      expect((await withHeaders(ada, headers).post('session/sign_out')).code).toBe('origin_not_allowed');
      expect((await ada.get('session')).body.person).not.toBeNull();
    },
  );

  test.each(Object.entries(foreign))('rejects reads from %s', async (_name, headers) => {
    const visitor = withHeaders(ada, headers);
    for (const { path } of served.filter(({ method }) => method === 'GET')) {
      const answer = await visitor.get(withIds(path));
      expect(answer.code, `${path}: ${answer.text}`).toBe('origin_not_allowed');
      expect(answer.text).not.toContain(ada.email);
    }
  });

  test.each(Object.entries(allowed))('allows every request from %s', async (_name, headers) => {
    const stranger = withHeaders(new Visitor(server.app), headers);
    for (const { method, path } of served) {
      const { code } =
        method === 'GET' ? await stranger.get(withIds(path)) : await stranger.post(withIds(path));
      expect(code, path).not.toBe('origin_not_allowed');
    }
    expect((await withHeaders(ada, headers).get('session')).body.person).toMatchObject({ email: ada.email });
    ok(await withHeaders(ada, headers).post('session/profile', { name: 'Ada' }));
  });

  test('allows reads from the address bar and without origin headers', async () => {
    for (const headers of [{}, { 'sec-fetch-site': 'none' }]) {
      expect((await withHeaders(ada, headers).get('session')).body.person).toMatchObject({
        email: ada.email,
      });
    }
  });

  test('no response has a CORS header', async () => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD'] as const) {
      for (const url of ['/console/api/session', '/console/api/session/sign_in', '/console', '/_api/x']) {
        const { headers } = await server.app.inject({
          ...{ method, url },
          headers: { origin: 'https://evil.test', 'access-control-request-method': 'POST' },
        });
        const names = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
        expect(names, `${method} ${url}`).toEqual([]);
      }
    }
  });

  test('checks HEAD like GET', async () => {
    const head = async (site: string) =>
      (
        await server.app.inject({
          ...{ method: 'HEAD', url: '/console/api/session' },
          headers: { host: own, 'sec-fetch-site': site },
        })
      ).statusCode;
    expect(await head('cross-site')).toBe(403);
    expect(await head('same-origin')).toBe(200);
  });

  test('behind a proxy, only the public URL is an allowed origin', async () => {
    const publicUrl = () => 'https://pay.example.test';
    const app = openApp(server, { publicUrl, allowedHosts: ['internal'] });
    const from = (origin: string, host = 'internal:4000') => {
      const visitor = ada.at(app);
      visitor.headers = { host, 'sec-fetch-site': 'same-origin', origin };
      return visitor.post('session/profile', { name: 'Ada' });
    };
    // A proxy either forwards the requested host or sends the server's own host.
    for (const host of ['internal:4000', 'pay.example.test', 'pay.example.test:443', '127.0.0.1:4000'])
      ok(await from('https://pay.example.test', host));
    for (const host of ['pay.example.test', 'pay.example.test:443'])
      expect((await from('http://pay.example.test', host)).code, host).toBe('origin_not_allowed');
    for (const origin of [
      'http://pay.example.test',
      'https://pay.example.test:444',
      'https://pay.example.test.evil.test',
      'https://example.test',
      `http://${own}`,
      'null',
    ])
      expect((await from(origin)).code, origin).toBe('origin_not_allowed');
  });
});

describe('cookies', () => {
  /** Every Set-Cookie line from sign-up to sign-out, including the second factor. */
  async function setCookieLines(server: Server): Promise<readonly string[]> {
    const ada = await newPerson(server);
    const lines = [...ada.setCookies];
    const post = async (visitor: Visitor, path: string, body: object = {}) => {
      const answer = ok(await visitor.post(path, body));
      lines.push(...visitor.setCookies);
      return answer;
    };
    const { secret } = await post(ada, 'session/two_factor/enable', { password: goodPassword });
    await post(ada, 'session/two_factor/confirm', { code: totp(String(secret)) });
    const again = new Visitor(server.app);
    await post(again, 'session/sign_in', { email: ada.email, password: goodPassword });
    expect(lines.length).toBeGreaterThanOrEqual(3);
    // Each code is accepted once. The server already accepts the next one.
    await post(again, 'session/two_factor', { code: totp(String(secret), Date.now() + 30_000) });
    await post(again, 'session/sign_out');
    return lines;
  }
  const partsOf = (line: string) => line.split(';').map((part) => part.trim().toLowerCase());

  test('are host-only, HttpOnly and SameSite=Strict', async () => {
    const server = await openServer('pglite');
    const lines = await setCookieLines(server);
    for (const line of lines) {
      const [pair, ...attributes] = partsOf(line);
      expect(pair).toMatch(/^sandbank-[0-9a-f]{8}\./);
      expect(attributes, line).toEqual(expect.arrayContaining(['path=/', 'httponly', 'samesite=strict']));
      expect(attributes, line).not.toContain('secure');
      expect(line).not.toMatch(/domain=/i);
    }
    await server.close();
  });

  test('are Secure and have the __Host- prefix when the public URL is https', async () => {
    const server = await openServer('pglite', { publicUrl: 'https://pay.example.test' });
    for (const line of await setCookieLines(server)) {
      const [pair, ...attributes] = partsOf(line);
      expect(pair).toMatch(/^__host-sandbank-/);
      expect(line).toMatch(/^__Host-/);
      expect(attributes, line).toEqual(
        expect.arrayContaining(['path=/', 'httponly', 'samesite=strict', 'secure']),
      );
      expect(line).not.toMatch(/domain=/i);
    }
    await server.close();
  });

  test('two servers on one host do not end each other’s sessions', async () => {
    const [one, two] = await Promise.all([
      openServer('pglite', { secret: 'a'.repeat(32) }),
      openServer('pglite', { secret: 'b'.repeat(32) }),
    ]);
    const [here, there] = await Promise.all([newPerson(one), newPerson(two)]);
    const shared = new Map([...here.cookies, ...there.cookies]);
    expect(shared.size, 'a session and a known device each').toBe(4);
    expect((await new Visitor(one.app, shared).get('session')).body.person).toMatchObject({
      id: here.personId,
    });
    expect((await new Visitor(two.app, shared).get('session')).body.person).toMatchObject({
      id: there.personId,
    });
    await Promise.all([one.close(), two.close()]);
  });
});

/** Needs the build: `npm run build` writes the pages to dist/console. */
describe('the page', () => {
  let server: Server;
  let address: string;
  beforeAll(async () => {
    server = await openServer('pglite');
    address = await server.listen();
  });
  afterAll(() => server?.close());

  /** Sends the path unchanged over a socket: `inject` and `fetch` would normalize it. */
  async function raw(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<IncomingMessage & { text: string }> {
    const { hostname, port } = new URL(address);
    const sent = request({ hostname, port, path, headers, agent: false });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    return Object.assign(response, { text: Buffer.concat(chunks).toString('utf8') });
  }
  const nonceOf = (policy: string) => /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';

  test.each(['/console', '/console/', '/console/sign-in', '/console/org_x/app_y/payments?status=captured'])(
    '%s returns the single document with a strict content security policy',
    async (path) => {
      const { statusCode, headers, text } = await raw(path);
      expect(statusCode, text).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'request-id': expect.stringMatching(/^req_/),
      });
      const policy = String(headers['content-security-policy']);
      const nonce = nonceOf(policy);
      expect(Buffer.from(nonce, 'base64').length).toBeGreaterThanOrEqual(16);
      expect(policy.replace(nonce, 'NONCE').split('; ').sort()).toEqual(
        [
          ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'nonce-NONCE'"],
          ...["img-src 'self' data:", "font-src 'self'", "connect-src 'self'", "manifest-src 'self'"],
          ...["base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"],
        ].sort(),
      );
      expect(policy).not.toMatch(/unsafe|\*/);
      expect(text).toContain(nonce);
      expect(text).not.toContain('__CSP_NONCE__');
      expect(text, 'no inline script or style').not.toMatch(
        /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i,
      );
      expect(text).not.toMatch(/(src|href)="(?!\/console\/)/);
      expect(headers['set-cookie']).toBeUndefined();
    },
  );

  test('the nonce differs in every response', async () => {
    const pages = await Promise.all(Array.from({ length: 20 }, () => raw('/console')));
    const nonces = pages.map(({ headers }) => nonceOf(String(headers['content-security-policy'])));
    expect(new Set(nonces).size).toBe(20);
  });

  test('the page is the same for every visitor and contains no data of the signed-in person', async () => {
    const ada = await newPerson(server);
    const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const own = await raw('/console', { cookie });
    expect(own.text).not.toContain(ada.email);
    const plain = ({ text, headers }: Awaited<ReturnType<typeof raw>>) =>
      text.replaceAll(nonceOf(String(headers['content-security-policy'])), '');
    expect(plain(own)).toBe(plain(await raw('/console')));
  });

  test('its files are served, immutable, compressed on request, and with the right content type', async () => {
    const { text } = await raw('/console');
    const files = [...text.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(
      ([, file = '']) => file,
    );
    expect(files.length).toBeGreaterThanOrEqual(2);
    for (const file of files) {
      const { statusCode, headers } = await raw(file);
      expect(statusCode, file).toBe(200);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cache-control']).toMatch(/immutable/);
      expect(headers['content-type']).toMatch(/javascript|css|svg|png|json/);
      if (!/\.(js|css)$/.test(file)) continue;
      const small = await raw(file, { 'accept-encoding': 'br' });
      expect(small.headers['content-encoding'], file).toBe('br');
      expect(small.headers['content-type']).toBe(headers['content-type']);
      expect(small.headers.vary).toMatch(/accept-encoding/i);
    }
  });

  test.each([
    '/console/api/',
    '/console/api/nothing',
    '/console/api/session/nothing',
    '/console/api/org_x/app_y/nothing',
    '/console/api/?x=1',
  ])('%s returns a JSON error instead of the page', async (path) => {
    const { statusCode, headers, text } = await raw(path);
    expect(statusCode).toBe(404);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(JSON.parse(text)).toMatchObject({ object: 'error', error: { code: 'route_not_found' } });
  });

  test.each([
    '/console/assets/../../main.js',
    '/console/assets/../index.html',
    '/console/assets/..%2findex.html',
    '/console/assets/%2e%2e/index.html',
    '/console/assets/%2e%2e%2f%2e%2e%2fmain.js',
    '/console/assets/..%5c..%5cmain.js',
    '/console/assets/....//....//main.js',
    '/console/assets/%252e%252e/index.html',
    '/console/assets//etc/passwd',
    '/console/assets/%00',
    '/console/assets/x%00.js',
    '/console/assets/',
    '/console/assets/nothing.js',
    '/console/assets/.env',
  ])('%s is not found', async (path) => {
    const { statusCode, headers, text } = await raw(path);
    expect([400, 404], text.slice(0, 200)).toContain(statusCode);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(text).not.toMatch(/daemon:|createServer|<!doctype/i);
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleOrigin);
});
