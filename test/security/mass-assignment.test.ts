// API3 broken object property level authorization: what the server decides cannot be sent, whatever it is called.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personRoutes } from '../../src/http/console-routes.ts';
import type { Route } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import type { Answer } from '../support/api-client.ts';
import { type JsonSchema, jsonSchema } from '../support/schema-values.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { openServer } from '../support/server.ts';
import { type House, house, invite, ok } from '../support/visitor.ts';
import { bodyOf, type Estate, kindOf, openEstate, pathOf, rowDigests, traces } from './estate.ts';

const operatorToken = 'operator-token-of-a-test-0123456789';

/** What only the server says, of any record; and what reaches into the program in languages that are careless. */
const owned = [
  ...['id', 'object', 'sandbox', 'status', 'version', 'createdAt', 'updatedAt', 'requestId', 'livemode'],
  ...[
    'orgId',
    'org_id',
    'organizationId',
    'appId',
    'applicationId',
    'ownerId',
    'keyId',
    'personId',
    'memberId',
  ],
  ...['isAdmin', 'admin', 'permissions', 'hash', 'lastFour', 'key', 'token', 'rateLimit', 'verified'],
  ...['constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'],
];

let server: Server;
let acme: Estate;
let people: House;

beforeAll(async () => {
  server = await openServer('postgres', { operatorToken });
  [acme, people] = await Promise.all([openEstate(server), house(server)]);
});
afterAll(() => server?.close());

/** All names that a body may have, in any of its forms. */
function namesIn({ properties = {}, anyOf = [] }: JsonSchema): readonly string[] {
  return [...Object.keys(properties), ...anyOf.flatMap(namesIn)];
}

/** The objects inside of a body whose fields are fixed: each is an object of its own to add something to. */
function innerObjects({ properties = {}, anyOf = [] }: JsonSchema): readonly string[] {
  const own = Object.entries(properties).flatMap(([name, schema]) => {
    const forms = [schema, ...(schema.anyOf ?? [])];
    return forms.some((one) => one.properties !== undefined) ? [name] : [];
  });
  return [...own, ...anyOf.flatMap(innerObjects)];
}

function expectRefused({ code, body, text }: Answer, name: string, where: string): void {
  expect(code, `${name} in ${where}: ${text}`).toBe('invalid_request');
  expect(body.error.param, `${name} in ${where}`).toContain(name);
}

const writes = routes.filter((route): route is Extract<Route, { method: 'POST' }> => route.method === 'POST');

test('no field of any answer can be sent, unless it is one of the request', async () => {
  const before = await rowDigests(server, acme.orgId, traces);
  let tried = 0;
  for (const route of writes) {
    const schema = route.body ? jsonSchema(route.body) : {};
    const taken = namesIn(schema);
    const answered = namesIn(jsonSchema(route.response));
    const names = [...new Set([...answered, ...owned])].filter((name) => !taken.includes(name));
    expect(names.length, route.operationId).toBeGreaterThan(owned.length - 2);
    const body = bodyOf(route, acme.ids);
    const path = pathOf(route, acme.ids);
    const answers = await Promise.all(names.map((name) => acme.client.post(path, { ...body, [name]: 'x' })));
    for (const [at, answer] of answers.entries()) expectRefused(answer, names[at] ?? '', route.operationId);
    tried += names.length;
  }
  expect(tried).toBeGreaterThan(1_000);
  expect(await rowDigests(server, acme.orgId, traces)).toEqual(before);
});

test('nor in the objects inside of a body', async () => {
  const before = await rowDigests(server, acme.orgId, traces);
  const inner = writes.flatMap((route) =>
    innerObjects(route.body ? jsonSchema(route.body) : {}).map((name) => ({ route, name })),
  );
  expect(inner.map(({ route, name }) => `${route.operationId} ${name}`)).toEqual(
    expect.arrayContaining([
      'createPayment paymentMethod',
      'createTransfer beneficiary',
      'createFaultPlan fault',
    ]),
  );
  for (const { route, name } of inner) {
    const body = bodyOf(route, acme.ids);
    const value = (body[name] ?? {}) as object;
    const answer = await acme.client.post(pathOf(route, acme.ids), {
      ...body,
      [name]: { ...value, id: 'x' },
    });
    expect(answer.code, `${route.operationId} ${name}: ${answer.text}`).toBe('invalid_request');
    expect(answer.body.error.param).toContain(`/${name}`);
  }
  expect(await rowDigests(server, acme.orgId, traces)).toEqual(before);
});

test('a field named __proto__ is refused in every body, and nothing inherits from it', async () => {
  for (const route of writes) {
    const raw = JSON.stringify(bodyOf(route, acme.ids))
      .replace(/^\{/, '{"__proto__":{"isAdmin":true},')
      .replace(',}', '}');
    const answer = await acme.client.post(pathOf(route, acme.ids), undefined, { raw });
    expectRefused(answer, '__proto__', route.operationId);
  }
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});

const consoleBodies: Readonly<Record<string, object>> = {
  renameOrganization: { name: 'Taken' },
  deleteOrganization: { name: 'Another' },
  changeMemberRole: { role: 'viewer' },
  createInvitation: { role: 'viewer' },
  createApplication: { name: 'Taken' },
  updateApplication: { name: 'Taken' },
  createApiKey: { name: 'Taken', scopes: ['payments:read'] },
  updateApiKey: { name: 'Taken' },
  forkOrganization: { name: 'Taken' },
};

test('what only the console does takes no more than its fields either, from whoever may do most', async () => {
  const { owner, orgId, appId } = people;
  const { id: keyId } = ok(
    await owner.post(`${orgId}/${appId}/api_keys`, { name: 'ci', scopes: ['payments:read'] }),
  );
  const ids: Readonly<Record<string, string>> = {
    ...{ members: people.viewer.memberId, applications: appId, api_keys: keyId },
    invitations: (await invite(owner, orgId, 'viewer')).id,
  };
  const before = await rowDigests(server, orgId, traces);
  for (const { route, within } of personRoutes([], consoleRoutes)) {
    if (route.method !== 'POST') continue;
    const taken = route.body ? namesIn(jsonSchema(route.body)) : [];
    const names = [...owned, 'role', 'scopes', 'email', 'url', 'replaces'].filter(
      (one) => !taken.includes(one),
    );
    const place = within === 'organization' ? orgId : `${orgId}/${appId}`;
    const path = `${place}/${route.path.replace(/\{\w+\}/, ids[kindOf(route)] ?? '')}`;
    const body = consoleBodies[route.operationId] ?? {};
    const answers = await Promise.all(names.map((name) => owner.post(path, { ...body, [name]: 'x' })));
    for (const [at, answer] of answers.entries()) expectRefused(answer, names[at] ?? '', route.operationId);
  }
  expect(await rowDigests(server, orgId, traces)).toEqual(before);
});

test('signing up makes nobody more than a person, and the operator has no secret fields', async () => {
  const ask = async (url: string, body: object, headers: Record<string, string>) => {
    const response = await server.app.inject({ method: 'POST', url, headers, payload: body });
    return (JSON.parse(response.body) as { error?: { code: string } }).error?.code;
  };
  const browser = { host: 'sandbank.test', 'sec-fetch-site': 'same-origin' };
  const person = { name: 'Eve', email: 'eve@example.test', password: 'correct horse battery' };
  for (const name of [...owned, 'role', 'emailVerified', 'twoFactorEnabled', 'organizationIds', 'image'])
    expect(await ask('/console/api/session/sign_up', { ...person, [name]: true }, browser), name).toBe(
      'invalid_request',
    );
  const operator = { authorization: `Bearer ${operatorToken}` };
  const makers = servedRoutes(server.app, '/_operator/').filter(
    ({ method, path }) => method === 'POST' && path !== 'snapshots',
  );
  for (const { path } of makers)
    for (const name of owned.filter((one) => !(one === 'applicationId' && path.endsWith('keys'))))
      expect(
        await ask(`/_operator/${path.replace(':id', acme.orgId)}`, { name: 'x', [name]: 'x' }, operator),
        `${name} in ${path}`,
      ).toBe('invalid_request');
});

test('nobody gives away more than they have: an admin makes no owner, and removes none', async () => {
  const { owner, admin, developer, viewer, orgId } = people;
  const before = await rowDigests(server, orgId, traces);
  const tries = [
    await admin.post(`${orgId}/invitations`, { role: 'owner' }),
    await admin.post(`${orgId}/members/${admin.memberId}/role`, { role: 'owner' }),
    await admin.post(`${orgId}/members/${viewer.memberId}/role`, { role: 'owner' }),
    await admin.post(`${orgId}/members/${owner.memberId}/role`, { role: 'viewer' }),
    await admin.post(`${orgId}/members/${owner.memberId}/remove`),
    await admin.post(`${orgId}/members/${owner.memberId}/reset_link`),
    await developer.post(`${orgId}/members/${developer.memberId}/role`, { role: 'admin' }),
    await viewer.post(`${orgId}/${people.appId}/api_keys`, { name: 'x', scopes: ['payments:write'] }),
  ];
  expect(tries.map(({ code }) => code)).toEqual(tries.map(() => 'role_missing'));
  expect(await rowDigests(server, orgId, traces)).toEqual(before);
});
