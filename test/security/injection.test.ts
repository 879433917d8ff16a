// Texts of callers stay texts: in every field of every body, in queries, paths and headers, none of them is obeyed anywhere.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { personRoutes } from '../../src/http/console-routes.ts';
import { isStream, type Route, type ServedRoute } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { expectOk } from '../support/api-client.ts';
import { type JsonSchema, jsonSchema } from '../support/schema-values.ts';
import { openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { found, newcomer, ok, type Person, register } from '../support/visitor.ts';
import { bodyOf, type Estate, kindOf, openEstate, pathOf } from './estate.ts';
import { payloads, shareOf, unstorable } from './payloads.ts';

const operatorToken = 'operator-token-of-a-test-0123456789';

let server: Server;
let acme: Estate;
let owner: Person;
let orgId: string;
let appId: string;

beforeAll(async () => {
  server = await openServer('postgres', { operatorToken });
  [acme, owner] = await Promise.all([openEstate(server), newcomer(server, 'Olga')]);
  orgId = await found(owner, 'Acme');
  appId = await register(owner, orgId);
});
afterAll(async () => {
  // Whatever was sent, the tables are there, and so is the organization that everything was sent to.
  expect(expectOk(await acme.client.get('developer_api_status')).status).toBe('ok');
  await server?.close();
});

/** All headers that any answer has. One more would be somebody else's. */
const headersKnown: ReadonlySet<string> = new Set([
  ...[
    'content-type',
    'content-length',
    'request-id',
    'api-version',
    'cache-control',
    'x-content-type-options',
  ],
  ...['www-authenticate', 'allow', 'idempotent-replayed', 'retry-after', 'date', 'connection', 'set-cookie'],
  ...['content-disposition', 'vary', 'etag', 'content-security-policy', 'x-frame-options', 'referrer-policy'],
  ...['cross-origin-opener-policy', 'cross-origin-resource-policy', 'permissions-policy', 'location'],
  ...['accept-ranges', 'last-modified', 'next-cursor'],
]);

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
}

/** Sends as it stands, and expects of every answer that it is one: no failure of ours, no header that was made up. */
async function send({ method, url, headers = {}, payload }: Sent) {
  const response = await server.app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload }),
  });
  const what = `${method} ${url} ${payload ?? ''}: ${response.body.slice(0, 300)}`;
  expect(response.statusCode, what).toBeLessThan(500);
  for (const [name, value] of Object.entries(response.headers)) {
    // Hosted viewers of API documents may load this one.
    const isShared = name === 'access-control-allow-origin' && url.startsWith('/openapi.json');
    if (!isShared) expect(headersKnown, `${name} after ${what}`).toContain(name);
    expect(String(value), what).not.toMatch(/forged|<|\r|\n/);
  }
  return response;
}

const withKey = ({ key }: Tenant) => ({ authorization: `Bearer ${key}` });

/** The ways to all texts of a schema that are not one of a list, with the most letters that each takes. */
function texts(
  schema: JsonSchema,
  at: readonly string[] = [],
): { at: readonly string[]; lengthMax?: number }[] {
  if (schema.enum || 'const' in schema) return [];
  const forms = (schema.anyOf ?? []).flatMap((one) => texts(one, at));
  if (schema.type === 'string')
    return [{ at, ...(schema.maxLength === undefined ? {} : { lengthMax: schema.maxLength }) }];
  if (schema.type === 'array') return texts(schema.items ?? {}, [...at, '0']);
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, one]) => texts(one, [...at, name]));
  const { additionalProperties } = schema;
  const free = typeof additionalProperties === 'object' ? texts(additionalProperties, [...at, 'free']) : [];
  // A body that may be anything has a text as well.
  const any = Object.keys(schema).every((word) => word === 'description') && at.length > 0 ? [{ at }] : [];
  return [...own, ...forms, ...free, ...any];
}

const mark = '"the text goes here"';

/** A right body as JSON, with a place for a text. */
function bodyWith(body: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return mark.slice(1, -1);
  const inner = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  if (name === '0') return [bodyWith(undefined, rest)];
  return { ...inner, [name]: bodyWith(inner[name], rest) };
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || typeof value !== 'object' || value === null) return value;
  return valueAt((value as Record<string, unknown>)[name], rest);
}

/** Sends every text in every place of a body. Returns how many places there were. */
async function tryBody(
  route: Pick<ServedRoute, 'operationId'>,
  schema: JsonSchema,
  body: unknown,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const places = texts(schema);
  for (const [number, { at, lengthMax }] of places.entries()) {
    const frame = JSON.stringify(bodyWith(body, at));
    const post = (json: string) =>
      send({ method: 'POST', url, headers, payload: frame.replace(mark, () => json) });
    await Promise.all(
      shareOf(number, 2).map(async (text) => {
        const response = await post(JSON.stringify(text));
        if (response.statusCode >= 300) return;
        // What was taken is there as it was sent, letter for letter.
        const shown = valueAt(JSON.parse(response.body), at);
        if (typeof shown === 'string' && !['to', 'seconds', 'url'].includes(at[0] ?? ''))
          expect(shown, `${route.operationId} ${at.join('/')}`).toBe(text);
      }),
    );
    for (const json of unstorable)
      expect((await post(json)).statusCode, `${route.operationId} ${at.join('/')} ${json}`).toBe(400);
    if (lengthMax !== undefined) expect((await post(`"${'é'.repeat(lengthMax + 1)}"`)).statusCode).toBe(400);
    expect((await post(`"${'x'.repeat(200_000)}"`)).statusCode).toBeLessThan(500);
  }
  return places.length;
}

const plain = routes.filter((route) => !isStream(route));

describe('every text', () => {
  test('in any body of the API', async () => {
    const hooked = await openEstate(server);
    let places = 0;
    for (const route of plain) {
      if (route.method !== 'POST' || !route.body) continue;
      // Apart, so that what is made of the others is not sent to the endpoints of these.
      const holder = route.tag === 'Webhooks' ? hooked : acme;
      const url = `/_api/${pathOf(route, holder.ids)}`;
      places += await tryBody(route, jsonSchema(route.body), bodyOf(route, holder.ids), url, withKey(holder));
    }
    expect(places).toBeGreaterThan(30);
  });

  test('in any body of the console and of the operator', async () => {
    const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const browser = { cookie, host: 'sandbank.test', 'sec-fetch-site': 'same-origin' };
    const { id: keyId } = ok(
      await owner.post(`${orgId}/${appId}/api_keys`, { name: 'ci', scopes: ['payments:read'] }),
    );
    const ids: Readonly<Record<string, string>> = {
      members: owner.memberId,
      applications: appId,
      api_keys: keyId,
    };
    let places = 0;
    for (const { route, within } of personRoutes([], consoleRoutes)) {
      // Every fork would be an organization more, every application counts, and a deletion that fits the renamed organization ends it.
      if (route.method !== 'POST' || !route.body || /^(fork|createA|deleteO)/.test(route.operationId))
        continue;
      const place = within === 'organization' ? orgId : `${orgId}/${appId}`;
      const url = `/console/api/${place}/${route.path.replace(/\{\w+\}/, ids[kindOf(route)] ?? 'x')}`;
      places += await tryBody(route, jsonSchema(route.body), {}, url, browser);
    }
    expect(places).toBeGreaterThan(3);
    for (const text of payloads) {
      const session = (path: string, body: object) =>
        send({
          ...{ method: 'POST', url: `/console/api/session/${path}`, payload: JSON.stringify(body) },
          headers: { ...browser, cookie: '' },
        });
      await session('sign_in', { email: text, password: text });
      await session('password_reset', { token: text, newPassword: text.padEnd(12, 'x') });
      await session('two_factor', { code: text.slice(0, 12) });
      await send({
        ...{ method: 'POST', url: '/_operator/organizations', payload: JSON.stringify({ name: text }) },
        headers: { authorization: `Bearer ${operatorToken}` },
      });
    }
  });

  test('in any query: it filters by itself, or is refused', async () => {
    let places = 0;
    for (const route of plain) {
      if (route.method !== 'GET') continue;
      const names = Object.entries(jsonSchema(route.query ?? {}).properties ?? {})
        .filter(([, schema]) => schema.type === 'string' || schema.enum)
        .map(([name]) => name);
      for (const name of names) {
        places += 1;
        const answers = await Promise.all(
          shareOf(places, 4).map(async (text) => ({
            text,
            response: await send({
              ...{ method: 'GET', headers: withKey(acme) },
              url: `/_api/${pathOf(route, acme.ids)}?${name}=${encodeURIComponent(text)}`,
            }),
          })),
        );
        for (const { text, response } of answers) {
          if (response.statusCode !== 200) continue;
          const { data } = JSON.parse(response.body) as { data?: Record<string, unknown>[] };
          for (const one of data ?? []) expect(one[name], `${route.path} ${name}`).toBe(text);
        }
      }
    }
    expect(places).toBeGreaterThan(60);
  });

  test('in any path: there is no such record', async () => {
    for (const [at, route] of plain.filter(({ path }) => path.includes('{')).entries()) {
      await Promise.all(
        shareOf(at, 3).map(async (text) => {
          const path = pathOf(route, { [kindOf(route)]: encodeURIComponent(text) });
          const body = bodyOf(route, acme.ids);
          const response = await send({
            ...{ method: route.method, url: `/_api/${path}`, headers: withKey(acme) },
            ...(route.method === 'POST' ? { payload: JSON.stringify(body) } : {}),
          });
          expect(response.statusCode, `${path}: ${response.body}`).toBe(404);
        }),
      );
    }
  });

  test('in any header', async () => {
    const names = [
      ...[
        'authorization',
        'idempotency-key',
        'api-version',
        'sandbank-organization',
        'content-type',
        'accept',
      ],
      ...['user-agent', 'x-request-id', 'x-forwarded-for', 'x-forwarded-host', 'forwarded', 'host', 'cookie'],
      ...['origin', 'referer', 'accept-language', 'if-none-match', 'range', 'x-http-method-override'],
    ];
    // Line breaks end a header on the wire, and Node takes no other signs of control.
    const sendable = payloads.filter((text) => ![...text].some((sign) => sign < ' ' || sign > 'ÿ'));
    const payload = JSON.stringify({ amount: 1, currency: 'EUR' });
    for (const name of names)
      await Promise.all(
        sendable.map((text) =>
          send({
            ...{ method: 'POST', url: '/_api/developer_api_payments', payload },
            headers: { ...withKey(acme), [name]: text },
          }),
        ),
      );
  });

  test('in the address of a page is not in the page', async () => {
    const places = [
      '/',
      '/docs/',
      '/console/',
      '/console/api/',
      '/docs?q=',
      '/console?next=',
      '/openapi.json?x=',
    ];
    for (const place of places)
      for (const text of payloads) {
        const { headers, body } = await send({ method: 'GET', url: place + encodeURIComponent(text) });
        const isPage = String(headers['content-type']).startsWith('text/html');
        if (isPage && text.includes('<')) expect(body, place).not.toContain(text);
        if (!isPage && headers.location === undefined)
          expect(headers['x-content-type-options']).toBe('nosniff');
      }
    for (const url of [
      '/docs/<script>alert(1)</script>',
      '/console/"><img src=x>',
      '/%3Cscript%3E',
      '//evil.test/%2e%2e',
      // What a router could take for patterns of its own.
      ...['/*)(', '/:a(b', '/a(b+)+$)', '/:x(^(a+)+$)/:x(', '/docs/*(', '/[/**'],
    ])
      expect((await send({ method: 'GET', url })).body, url).not.toContain('<script>alert(1)');
  });
});

describe('a settlement report as CSV', () => {
  const inert = [
    /^\d{4}-\d\d-\d\d$/,
    /^[a-z]+$/,
    /^[A-Za-z0-9_]+$/,
    /^[A-Z]{3}$/,
    /^-?\d+$/,
    /^-?\d+$/,
    /^-?\d+$/,
    /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  ] as const;

  test('has no text of a caller in it, so that no cell is a formula and no field needs quotes', async () => {
    const holder = await tenant(server);
    const { client } = holder;
    let settledAt = '';
    for (const text of payloads.filter((one) => /^[=+\-@\t]/.test(one))) {
      const customer = expectOk(
        await client.post('developer_api_customers', { name: text, reference: text }),
      );
      const asked = { amount: 1_000, currency: 'EUR', customerId: customer.id, reference: text };
      const payment = { ...asked, description: text, metadata: { [text]: text } };
      const { id } = expectOk(await client.post('developer_api_payments', payment));
      const path = `developer_api_payments/${id}/advance`;
      settledAt = String(expectOk(await client.post(path, { to: 'settled' })).settledAt);
    }
    const { headers, body } = await send({
      ...{ method: 'GET', url: `/_api/developer_api_settlements/${settledAt.slice(0, 10)}` },
      headers: { ...withKey(holder), accept: 'text/csv' },
    });
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="settlement-[\d-]+\.csv"$/);
    const [, ...lines] = body.trimEnd().split('\r\n');
    expect(lines).toHaveLength(6);
    for (const line of lines) {
      const fields = line.split(',');
      expect(fields).toHaveLength(inert.length);
      for (const [at, field] of fields.entries()) expect(field).toMatch(inert[at] ?? /^$/);
    }
  });
});

test('there is no form but JSON, CSV and XML that a route answers in', () => {
  const forms = new Set(
    plain.map((route: Route) => ('alternateContentType' in route ? route.alternateContentType : undefined)),
  );
  expect([...forms].filter((form) => form !== undefined).sort()).toEqual(['application/xml', 'text/csv']);
});
