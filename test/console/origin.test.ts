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
  found,
  goodPassword,
  newcomer,
  ok,
  type Person,
  register,
  totp,
  Visitor,
} from '../support/visitor.ts';

const own = 'sandbank.test';

/** What a browser sends when another site makes it ask, and what no browser sends. */
const foreign: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'another site': { 'sec-fetch-site': 'cross-site' },
  'another host of the same site': { 'sec-fetch-site': 'same-site' },
  'another site that says our origin': { 'sec-fetch-site': 'cross-site', origin: `http://${own}` },
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
const writers: typeof foreign = {
  ...foreign,
  nobody: {},
  'the address bar': { 'sec-fetch-site': 'none' },
};
const right: typeof foreign = {
  'a page of ours': { 'sec-fetch-site': 'same-origin' },
  'a page of ours with its origin': { 'sec-fetch-site': 'same-origin', origin: `http://${own}` },
  'a page of ours in a browser of old': { origin: `http://${own}` },
  'a page of ours with its port': { origin: `http://${own}:80` },
};

/** On one database: what is looked at are headers, before any row is. */
describe('where requests to the console come from', () => {
  let server: Server;
  let ada: Person;
  let known: readonly ServedRoute[];
  let filled: (path: string) => string;

  beforeAll(async () => {
    server = await openServer('pglite');
    await server.app.ready();
    known = servedRoutes(server.app, '/console/api/');
    ada = await newcomer(server);
    const orgId = await found(ada);
    const appId = await register(ada, orgId);
    const [device] = ok(await ada.get('session/devices')).data;
    const ids: Readonly<Record<string, string>> = {
      ...{ orgId, appId, token: 'A'.repeat(32), date: '2026-11-15' },
      id: device?.id ?? '',
    };
    filled = (path) => path.replace(/:(\w+)/g, (_whole, name: string) => ids[name] ?? 'x');
  });
  afterAll(() => server?.close());

  /** The same browser with other words about where it comes from. */
  const saying = (visitor: Visitor, headers: Readonly<Record<string, string>>) => {
    const copy = visitor.copy();
    copy.headers = { host: own, ...headers };
    return copy;
  };

  test('the list of routes is whole', () => {
    const all = known.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(all).size).toBe(all.length);
    const expected = personRoutes(routes, consoleRoutes).map(({ route, within }) => {
      const place = within === 'organization' ? ':orgId' : ':orgId/:appId';
      return `${route.method} ${place}/${route.path.replace(/\{(\w+)\}/g, ':$1')}`;
    });
    expect(all).toEqual(expect.arrayContaining(expected));
    const rest = all
      .filter((name) => !expected.includes(name))
      .filter((name) => !/(event_stream|snapshot)$/.test(name));
    for (const name of rest) expect(name).toMatch(/^(GET|POST) session(\/|$)/);
    expect(rest.filter((name) => name.startsWith('POST')).length).toBeGreaterThanOrEqual(14);
  });

  test.each(Object.entries(writers))('nothing is written for %s', async (_name, headers) => {
    const before = await countsOf(server);
    const visitor = saying(ada, headers);
    for (const { path } of known.filter(({ method }) => method === 'POST')) {
      const answer = await visitor.post(filled(path), {});
      expect(answer.code, `${path}: ${answer.text}`).toBe('origin_not_allowed');
      expect(answer.status).toBe(403);
      expect(visitor.setCookies, path).toEqual([]);
    }
    expect(await countsOf(server)).toEqual(before);
    expect((await ada.get('session')).body.person).toMatchObject({ name: 'Ada' });
  });

  test.each(Object.entries(writers))('nobody is signed in or out for %s', async (_name, headers) => {
    const stranger = saying(new Visitor(server.app), headers);
    const asked = { email: ada.email, password: goodPassword };
    expect((await stranger.post('session/sign_in', asked)).code).toBe('origin_not_allowed');
    expect(stranger.cookies.size).toBe(0);
    expect((await saying(ada, headers).post('session/sign_out')).code).toBe('origin_not_allowed');
    expect((await ada.get('session')).body.person).not.toBeNull();
  });

  test.each(Object.entries(foreign))('nothing is read for %s', async (_name, headers) => {
    const visitor = saying(ada, headers);
    for (const { path } of known.filter(({ method }) => method === 'GET')) {
      const answer = await visitor.get(filled(path));
      expect(answer.code, `${path}: ${answer.text}`).toBe('origin_not_allowed');
      expect(answer.text).not.toContain(ada.email);
    }
  });

  test.each(Object.entries(right))('%s may ask for everything', async (_name, headers) => {
    const stranger = saying(new Visitor(server.app), headers);
    for (const { method, path } of known) {
      const { code } =
        method === 'GET' ? await stranger.get(filled(path)) : await stranger.post(filled(path));
      expect(code, path).not.toBe('origin_not_allowed');
    }
    expect((await saying(ada, headers).get('session')).body.person).toMatchObject({ email: ada.email });
    ok(await saying(ada, headers).post('session/profile', { name: 'Ada' }));
  });

  test('who reads may come from the address bar, or say nothing', async () => {
    for (const headers of [{}, { 'sec-fetch-site': 'none' }]) {
      expect((await saying(ada, headers).get('session')).body.person).toMatchObject({ email: ada.email });
    }
  });

  test('no other site is told that it may ask: no answer has a header of CORS', async () => {
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

  test('HEAD is looked at as GET is', async () => {
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

  test('behind a proxy the address that people see counts, and only that', async () => {
    const publicUrl = () => 'https://pay.example.test';
    const app = openApp(server, { publicUrl, allowedHosts: ['internal'] });
    const from = (origin: string, host = 'internal:4000') => {
      const visitor = ada.at(app);
      visitor.headers = { host, 'sec-fetch-site': 'same-origin', origin };
      return visitor.post('session/profile', { name: 'Ada' });
    };
    // A proxy passes on the host that it was asked for, or names the server itself.
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
  /** Everything that the server says about cookies from signing up to signing out, the second factor included. */
  async function sayingsOf(server: Server): Promise<readonly string[]> {
    const ada = await newcomer(server);
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
    // Each code is accepted once, and the next one is valid already.
    await post(again, 'session/two_factor', { code: totp(String(secret), Date.now() + 30_000) });
    await post(again, 'session/sign_out');
    return lines;
  }
  const partsOf = (line: string) => line.split(';').map((part) => part.trim().toLowerCase());

  test('are for this host alone, for the server alone, and never sent along by another site', async () => {
    const server = await openServer('pglite');
    const lines = await sayingsOf(server);
    for (const line of lines) {
      const [pair, ...attributes] = partsOf(line);
      expect(pair).toMatch(/^sandbank-[0-9a-f]{8}\./);
      expect(attributes, line).toEqual(expect.arrayContaining(['path=/', 'httponly', 'samesite=strict']));
      expect(attributes, line).not.toContain('secure');
      expect(line).not.toMatch(/domain=/i);
    }
    await server.close();
  });

  test('where people come over TLS they are marked Secure, and bound to the host by their name', async () => {
    const server = await openServer('pglite', { publicUrl: 'https://pay.example.test' });
    for (const line of await sayingsOf(server)) {
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

  test('two servers on one host do not sign each other’s people out', async () => {
    const [one, two] = await Promise.all([
      openServer('pglite', { secret: 'a'.repeat(32) }),
      openServer('pglite', { secret: 'b'.repeat(32) }),
    ]);
    const [here, there] = await Promise.all([newcomer(one), newcomer(two)]);
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

/** These need the real build: `npm run build` puts the pages into dist/console. */
describe('the page', () => {
  let server: Server;
  let address: string;
  beforeAll(async () => {
    server = await openServer('pglite');
    address = await server.listen();
  });
  afterAll(() => server?.close());

  /** Over a socket and as written: `inject` and `fetch` would tidy the path up. */
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
    '%s is the one document, with a strict policy',
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
      expect(text, 'no script or style that is not a file').not.toMatch(
        /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i,
      );
      expect(text).not.toMatch(/(src|href)="(?!\/console\/)/);
      expect(headers['set-cookie']).toBeUndefined();
    },
  );

  test('the nonce is another one each time', async () => {
    const pages = await Promise.all(Array.from({ length: 20 }, () => raw('/console')));
    const nonces = pages.map(({ headers }) => nonceOf(String(headers['content-security-policy'])));
    expect(new Set(nonces).size).toBe(20);
  });

  test('the page is the same for everybody: it holds nothing of whoever is signed in', async () => {
    const ada = await newcomer(server);
    const cookie = [...ada.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const own = await raw('/console', { cookie });
    expect(own.text).not.toContain(ada.email);
    const plain = ({ text, headers }: Awaited<ReturnType<typeof raw>>) =>
      text.replaceAll(nonceOf(String(headers['content-security-policy'])), '');
    expect(plain(own)).toBe(plain(await raw('/console')));
  });

  test('its files are there, kept for good, compressed where asked, and of their own type', async () => {
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
  ])('%s is no page but an error in JSON', async (path) => {
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
  ])('%s leads nowhere', async (path) => {
    const { statusCode, headers, text } = await raw(path);
    expect([400, 404], text.slice(0, 200)).toContain(statusCode);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(text).not.toMatch(/daemon:|createServer|<!doctype/i);
  });
});

test('the codes seen here are those of the list', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleOrigin);
});
