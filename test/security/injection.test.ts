// Input is stored and returned as text and never executed: in every body field, query, path and header.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { personRoutes } from '../../src/http/console-routes.ts';
import { isStream, type Route, type ServedRoute } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { expectOk } from '../support/api-client.ts';
import {
  bodyOf,
  createPopulatedTenant,
  kindOf,
  type PopulatedTenant,
  pathOf,
} from '../support/populated-tenant.ts';
import { type JsonSchema, jsonSchema } from '../support/schema-values.ts';
import { openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { createApplication, createOrganization, newPerson, ok, type Person } from '../support/visitor.ts';
import { payloads, shareOf, unstorable } from './payloads.ts';

const operatorToken = 'operator-token-of-a-test-0123456789';

let server: Server;
let acme: PopulatedTenant;
let owner: Person;
let orgId: string;
let appId: string;

beforeAll(async () => {
  server = await openServer('postgres', { operatorToken });
  [acme, owner] = await Promise.all([createPopulatedTenant(server), newPerson(server, 'Olga')]);
  orgId = await createOrganization(owner, 'Acme');
  appId = await createApplication(owner, orgId);
});
afterAll(async () => {
  // The tables and the organization still exist after all requests.
  expect(expectOk(await acme.client.get('developer_api_status')).status).toBe('ok');
  await server?.close();
});

/** All response headers. Any other one would come from injected input. */
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

/** Sends a request unchanged and expects neither a server error nor an injected header. */
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

/** The paths of all free-text fields of a schema, with their maximum lengths. */
function textFields(
  schema: JsonSchema,
  at: readonly string[] = [],
): { at: readonly string[]; lengthMax?: number }[] {
  if (schema.enum || 'const' in schema) return [];
  const forms = (schema.anyOf ?? []).flatMap((one) => textFields(one, at));
  if (schema.type === 'string')
    return [{ at, ...(schema.maxLength === undefined ? {} : { lengthMax: schema.maxLength }) }];
  if (schema.type === 'array') return textFields(schema.items ?? {}, [...at, '0']);
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
    textFields(one, [...at, name]),
  );
  const { additionalProperties } = schema;
  const free =
    typeof additionalProperties === 'object' ? textFields(additionalProperties, [...at, 'free']) : [];
  // A field without a type also accepts a text.
  const any =
    Object.keys(schema).every((keyword) => keyword === 'description') && at.length > 0 ? [{ at }] : [];
  return [...own, ...forms, ...free, ...any];
}

const mark = '"the text goes here"';

/** A valid body with a placeholder for a text. */
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

/** Sends the payloads in every text field of a body. Returns the number of fields. */
async function tryBody(
  route: Pick<ServedRoute, 'operationId'>,
  schema: JsonSchema,
  body: unknown,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const fields = textFields(schema);
  for (const [number, { at, lengthMax }] of fields.entries()) {
    const frame = JSON.stringify(bodyWith(body, at));
    const post = (json: string) =>
      send({ method: 'POST', url, headers, payload: frame.replace(mark, () => json) });
    await Promise.all(
      shareOf(number, 2).map(async (text) => {
        const response = await post(JSON.stringify(text));
        if (response.statusCode >= 300) return;
        // An accepted text is returned character by character.
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
  return fields.length;
}

const plain = routes.filter((route) => !isStream(route));

describe('every payload', () => {
  test('is harmless in any API body', async () => {
    const hooked = await createPopulatedTenant(server);
    let fields = 0;
    for (const route of plain) {
      if (route.method !== 'POST' || !route.body) continue;
      // A separate tenant, so that events of the other requests are not sent to these endpoints.
      const holder = route.tag === 'Webhooks' ? hooked : acme;
      const url = `/_api/${pathOf(route, holder.ids)}`;
      fields += await tryBody(route, jsonSchema(route.body), bodyOf(route, holder.ids), url, withKey(holder));
    }
    expect(fields).toBeGreaterThan(30);
  });

  test('is harmless in any console or operator body', async () => {
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
    let fields = 0;
    for (const { route, level } of personRoutes([], consoleRoutes)) {
      // Forks and applications would exceed their limits, and a deletion with the right name would end the test organization.
      if (route.method !== 'POST' || !route.body || /^(fork|createA|deleteO)/.test(route.operationId))
        continue;
      const place = level === 'organization' ? orgId : `${orgId}/${appId}`;
      const url = `/console/api/${place}/${route.path.replace(/\{\w+\}/, ids[kindOf(route)] ?? 'x')}`;
      fields += await tryBody(route, jsonSchema(route.body), {}, url, browser);
    }
    expect(fields).toBeGreaterThan(3);
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

  const inJson = (text: string) => JSON.stringify(text).slice(1, -1).toLowerCase();
  /** What a search may find in a record: its texts, and those of its customer. */
  const textsOf = async (record: Readonly<Record<string, unknown>>) => {
    const { customerId } = record;
    if (typeof customerId !== 'string') return JSON.stringify(record).toLowerCase();
    const url = `/_api/developer_api_customers/${customerId}`;
    const { body } = await send({ method: 'GET', headers: withKey(acme), url });
    return `${JSON.stringify(record)}${body}`.toLowerCase();
  };

  test('is used as a filter value or rejected in any query', async () => {
    let fields = 0;
    for (const route of plain) {
      if (route.method !== 'GET') continue;
      const names = Object.entries(jsonSchema(route.query ?? {}).properties ?? {})
        .filter(([, schema]) => schema.type === 'string' || schema.enum)
        .map(([name]) => name);
      for (const name of names) {
        fields += 1;
        const answers = await Promise.all(
          shareOf(fields, 4).map(async (text) => ({
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
          for (const one of data ?? [])
            if (name === 'q') expect(await textsOf(one), `${route.path} ${name}`).toContain(inJson(text));
            else expect(one[name], `${route.path} ${name}`).toBe(text);
        }
      }
    }
    expect(fields).toBeGreaterThan(60);
  });

  test('is not found in any path', async () => {
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

  test('is harmless in any header', async () => {
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
    // Line breaks end a header on the wire, and Node rejects other control characters.
    const sendable = payloads.filter(
      (text) => ![...text].some((character) => character < ' ' || character > 'ÿ'),
    );
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

  test('in the URL of a page does not appear in the page', async () => {
    const fields = [
      '/',
      '/docs/',
      '/console/',
      '/console/api/',
      '/docs?q=',
      '/console?next=',
      '/openapi.json?x=',
    ];
    for (const place of fields)
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
      // Text that a router could parse as a pattern.
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

  test('contains no input text, so no cell is a formula and no field needs quotes', async () => {
    const holder = await tenant(server);
    const { client } = holder;
    let settledAt = '';
    for (const text of payloads.filter((one) => /^[=+\-@\t]/.test(one))) {
      const customer = expectOk(
        await client.post('developer_api_customers', { name: text, reference: text }),
      );
      const base = { amount: 1_000, currency: 'EUR', customerId: customer.id, reference: text };
      const payment = { ...base, description: text, metadata: { [text]: text } };
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

test('routes respond only in JSON, CSV and XML', () => {
  const forms = new Set(
    plain.map((route: Route) => ('alternateContentType' in route ? route.alternateContentType : undefined)),
  );
  expect([...forms].filter((form) => form !== undefined).sort()).toEqual(['application/xml', 'text/csv']);
});
