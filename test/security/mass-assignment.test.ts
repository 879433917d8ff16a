// API3 broken object property level authorization: clients cannot set fields that the server controls.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personRoutes } from '../../src/http/console-routes.ts';
import type { Route } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import type { Answer } from '../support/api-client.ts';
import {
  bodyOf,
  createPopulatedTenant,
  kindOf,
  type PopulatedTenant,
  pathOf,
  rowDigests,
  traces,
} from '../support/populated-tenant.ts';
import { type JsonSchema, jsonSchema } from '../support/schema-values.ts';
import { servedRoutes } from '../support/served-routes.ts';
import { openServer } from '../support/server.ts';
import { createTeam, invite, ok, type Team } from '../support/visitor.ts';

const operatorToken = 'operator-token-of-a-test-0123456789';

/** Fields that only the server sets, and names that are dangerous in JavaScript objects. */
const protectedNames = [
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
let acme: PopulatedTenant;
let people: Team;

beforeAll(async () => {
  server = await openServer('postgres', { operatorToken });
  [acme, people] = await Promise.all([createPopulatedTenant(server), createTeam(server)]);
});
afterAll(() => server?.close());

/** All field names of a schema, in any of its variants. */
function namesIn({ properties = {}, anyOf = [] }: JsonSchema): readonly string[] {
  return [...Object.keys(properties), ...anyOf.flatMap(namesIn)];
}

/** The nested objects of a body whose fields are fixed. */
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

test('no response field can be sent unless the request schema has it', async () => {
  const before = await rowDigests(server, acme.orgId, traces);
  let tried = 0;
  for (const route of writes) {
    const schema = route.body ? jsonSchema(route.body) : {};
    const accepted = namesIn(schema);
    const returned = namesIn(jsonSchema(route.response));
    const names = [...new Set([...returned, ...protectedNames])].filter((name) => !accepted.includes(name));
    expect(names.length, route.operationId).toBeGreaterThan(protectedNames.length - 2);
    const body = bodyOf(route, acme.ids);
    const path = pathOf(route, acme.ids);
    const answers = await Promise.all(names.map((name) => acme.client.post(path, { ...body, [name]: 'x' })));
    for (const [at, answer] of answers.entries()) expectRefused(answer, names[at] ?? '', route.operationId);
    tried += names.length;
  }
  expect(tried).toBeGreaterThan(1_000);
  expect(await rowDigests(server, acme.orgId, traces)).toEqual(before);
});

test('no extra field can be sent in nested objects', async () => {
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

test('a field named __proto__ is rejected in every body and pollutes no prototype', async () => {
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
  requireTwoFactor: { isRequired: false },
  resetOrganizationInConsole: { name: 'Another' },
};

test('console-only routes reject extra fields, even from an owner', async () => {
  const { owner, orgId, appId } = people;
  const { id: keyId } = ok(
    await owner.post(`${orgId}/${appId}/api_keys`, { name: 'ci', scopes: ['payments:read'] }),
  );
  const ids: Readonly<Record<string, string>> = {
    ...{ members: people.viewer.memberId, applications: appId, api_keys: keyId },
    invitations: (await invite(owner, orgId, 'viewer')).id,
  };
  const before = await rowDigests(server, orgId, traces);
  for (const { route, level } of personRoutes([], consoleRoutes)) {
    if (route.method !== 'POST') continue;
    const accepted = route.body ? namesIn(jsonSchema(route.body)) : [];
    const names = [...protectedNames, 'role', 'scopes', 'email', 'url', 'replaces'].filter(
      (one) => !accepted.includes(one),
    );
    const place = level === 'organization' ? orgId : `${orgId}/${appId}`;
    const path = `${place}/${route.path.replace(/\{\w+\}/, ids[kindOf(route)] ?? '')}`;
    const body = consoleBodies[route.operationId] ?? {};
    const answers = await Promise.all(names.map((name) => owner.post(path, { ...body, [name]: 'x' })));
    for (const [at, answer] of answers.entries()) expectRefused(answer, names[at] ?? '', route.operationId);
  }
  expect(await rowDigests(server, orgId, traces)).toEqual(before);
});

test('sign-up and operator routes reject extra fields', async () => {
  const codeOf = async (url: string, body: object, headers: Record<string, string>) => {
    const response = await server.app.inject({ method: 'POST', url, headers, payload: body });
    return (JSON.parse(response.body) as { error?: { code: string } }).error?.code;
  };
  const browser = { host: 'sandbank.test', 'sec-fetch-site': 'same-origin' };
  const person = { name: 'Eve', email: 'eve@example.test', password: 'correct horse battery' };
  for (const name of [
    ...protectedNames,
    'role',
    'emailVerified',
    'twoFactorEnabled',
    'organizationIds',
    'image',
  ])
    expect(await codeOf('/console/api/session/sign_up', { ...person, [name]: true }, browser), name).toBe(
      'invalid_request',
    );
  const operator = { authorization: `Bearer ${operatorToken}` };
  const writeRoutes = servedRoutes(server.app, '/_operator/').filter(
    ({ method, path }) => method === 'POST' && path !== 'snapshots',
  );
  for (const { path } of writeRoutes)
    for (const name of protectedNames.filter((one) => !(one === 'applicationId' && path.endsWith('keys'))))
      expect(
        await codeOf(`/_operator/${path.replace(':id', acme.orgId)}`, { name: 'x', [name]: 'x' }, operator),
        `${name} in ${path}`,
      ).toBe('invalid_request');
});

test('no role can grant more than it has: an admin neither creates nor removes owners', async () => {
  const { owner, admin, developer, viewer, orgId } = people;
  const before = await rowDigests(server, orgId, traces);
  const answers = [
    await admin.post(`${orgId}/invitations`, { role: 'owner' }),
    await admin.post(`${orgId}/members/${admin.memberId}/role`, { role: 'owner' }),
    await admin.post(`${orgId}/members/${viewer.memberId}/role`, { role: 'owner' }),
    await admin.post(`${orgId}/members/${owner.memberId}/role`, { role: 'viewer' }),
    await admin.post(`${orgId}/members/${owner.memberId}/remove`),
    await admin.post(`${orgId}/members/${owner.memberId}/reset_link`),
    await developer.post(`${orgId}/members/${developer.memberId}/role`, { role: 'admin' }),
    await viewer.post(`${orgId}/${people.appId}/api_keys`, { name: 'x', scopes: ['payments:write'] }),
  ];
  expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 'role_missing'));
  expect(await rowDigests(server, orgId, traces)).toEqual(before);
});
