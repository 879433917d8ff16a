// API1 broken object level authorization: records of another organization get the same response as unknown records.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personRoutes } from '../../src/http/console-routes.ts';
import { type IdKind, idPrefixes } from '../../src/kernel/ids.ts';
import { isStream, type Route, type ServedRoute } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import type { Answer } from '../support/api-client.ts';
import { expectOk } from '../support/api-client.ts';
import {
  bodyOf,
  createPopulatedTenant,
  kindOf,
  type PopulatedTenant,
  pathOf,
  rowDigests,
} from '../support/populated-tenant.ts';
import { type JsonSchema, jsonSchema } from '../support/schema-values.ts';
import { openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import {
  createApplication,
  createOrganization,
  invite,
  newPerson,
  ok,
  type Visitor,
} from '../support/visitor.ts';

const suffix = '01m7epxwjmf7za77rhky2f93cc';
/** A well-formed id that does not exist. */
const unknown = (id: string) => (/^\d/.test(id) ? '1999-12-31' : `${id.slice(0, 3)}_${suffix}`);

let server: Server;
let victim: PopulatedTenant;
/** Has no records, so every record that it sees belongs to another organization. */
let attacker: Tenant;
/** Has a record of every kind, which requests try to link to the victim's records. */
let neighbour: PopulatedTenant;
let before: Awaited<ReturnType<typeof rowDigests>>;

beforeAll(async () => {
  server = await openServer('postgres');
  [victim, attacker, neighbour] = await Promise.all([
    createPopulatedTenant(server),
    tenant(server),
    createPopulatedTenant(server),
  ]);
  before = await rowDigests(server, victim.orgId);
});
// No request changes the victim's rows, including its audit trail, request log and stored responses.
afterAll(async () => {
  expect(await rowDigests(server, victim.orgId)).toEqual(before);
  await server?.close();
});

/** Status and body without the request id and the given ids. */
function contentOf({ status, body, text }: Answer, ...ids: readonly string[]): string {
  let content = `${status} ${text.replaceAll(body.requestId, 'REQUEST')}`;
  for (const id of ids) content = content.replaceAll(id, 'ID');
  return content;
}

function expectNoDataOf(
  { ids, mark, orgId, appId, keyId, key }: PopulatedTenant,
  answer: Answer,
  requested: string,
): void {
  // The request log shows the caller's own paths and queries.
  const shown = JSON.stringify(JSON.parse(answer.text), (name, value: unknown) =>
    name === 'path' || name === 'query' ? undefined : value,
  ).replaceAll(requested, '');
  for (const one of [...Object.values(ids).filter((id) => !/^\d/.test(id)), mark, orgId, appId, keyId, key])
    expect(shown).not.toContain(one);
}

function call({ client }: Tenant, route: Route, path: string, body: unknown, query = ''): Promise<Answer> {
  return route.method === 'GET' ? client.get(path, query) : client.post(path, body, { query });
}

/** The fields of a schema that contain record ids, with their paths and id prefixes. */
function idFields(
  schema: JsonSchema,
  at: readonly string[] = [],
): { at: readonly string[]; prefix: string }[] {
  const [, prefix] = /^\^([a-z]{3})_/.exec(schema.pattern ?? '') ?? [];
  if (prefix !== undefined) return [{ at, prefix }];
  const forms = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, one]) => idFields(one, [...at, name]));
  // Not every id has a pattern: some fields accept ids of several kinds.
  const named = at.at(-1)?.endsWith('Id') && schema.type === 'string' ? [{ at, prefix: 'pay' }] : [];
  return [...own, ...forms.flatMap((one) => idFields(one, at)), ...named];
}

function idOf({ ids, orgId, appId, keyId }: PopulatedTenant, prefix: string): string {
  const all = [...Object.values(ids), orgId, appId, keyId];
  const id = all.find((one) => one.startsWith(`${prefix}_`));
  if (id === undefined)
    throw new Error(`create a record with the prefix ${prefix}_ in test/support/populated-tenant.ts`);
  return id;
}

const plain = routes.filter((route) => !isStream(route));

test('a foreign id in any path gets the same response as an unknown id', async () => {
  const withIds = plain.filter(({ path }) => path.includes('{'));
  expect(withIds.length).toBeGreaterThan(25);
  for (const route of withIds) {
    const id = victim.ids[kindOf(route)] ?? '';
    const [foreign, absent] = [id, unknown(id)].map((one) =>
      call(attacker, route, pathOf(route, { [kindOf(route)]: one }), bodyOf(route, neighbour.ids)),
    ) as [Promise<Answer>, Promise<Answer>];
    const answer = await foreign;
    expect(answer.status, `${route.operationId}: ${answer.text}`).toBe(404);
    expect(contentOf(answer, id), route.operationId).toBe(contentOf(await absent, unknown(id)));
    expectNoDataOf(victim, answer, id);
  }
});

test('a foreign id in any filter gets the same response as an unknown id', async () => {
  let filters = 0;
  for (const route of plain) {
    if (route.method !== 'GET' || !route.query) continue;
    for (const { at, prefix } of idFields(jsonSchema(route.query))) {
      const name = at.join('.');
      const id = idOf(victim, prefix);
      const path = pathOf(route, neighbour.ids);
      const foreign = await call(neighbour, route, path, undefined, `${name}=${id}`);
      const absent = await call(neighbour, route, path, undefined, `${name}=${unknown(id)}`);
      expect(contentOf(foreign, id), `${route.operationId} ${name}`).toBe(contentOf(absent, unknown(id)));
      expectNoDataOf(victim, foreign, id);
      filters += 1;
    }
  }
  expect(filters).toBeGreaterThan(10);
});

test('a foreign id in any body field is rejected like an unknown id', async () => {
  const tried: string[] = [];
  for (const route of plain) {
    if (route.method !== 'POST' || !route.body) continue;
    for (const { at, prefix } of idFields(jsonSchema(route.body))) {
      const id = idOf(victim, prefix);
      const [first = '', ...rest] = at;
      expect(rest, 'nested id fields are not supported here').toEqual([]);
      const send = (one: string) =>
        call(neighbour, route, pathOf(route, neighbour.ids), {
          ...bodyOf(route, neighbour.ids),
          [first]: one,
        });
      const foreign = await send(id);
      expect(foreign.status, `${route.operationId} ${first}: ${foreign.text}`).toBeGreaterThanOrEqual(404);
      expect(contentOf(foreign, id)).toBe(contentOf(await send(unknown(id)), unknown(id)));
      expectNoDataOf(victim, foreign, id);
      tried.push(`${route.operationId} ${first}`);
    }
  }
  expect(tried).toEqual([
    'createPayment customerId',
    'createTransfer customerId',
    'replayWebhookEvent webhookId',
    'replayWebhookDeliveries webhookId',
  ]);
});

test('a cursor of another organization reveals none of its records', async () => {
  let lists = 0;
  for (const route of plain) {
    if (route.method !== 'GET' || !('cursor' in (jsonSchema(route.query ?? {}).properties ?? {}))) continue;
    const path = pathOf(route, victim.ids);
    const { nextCursor } = expectOk(await victim.client.get(path, 'limit=1'));
    if (nextCursor === null || nextCursor === undefined) continue;
    lists += 1;
    const answer = await neighbour.client.get(pathOf(route, neighbour.ids), `cursor=${nextCursor}`);
    expect(answer.status, answer.text).toBe(200);
    expectNoDataOf(victim, answer, nextCursor);
  }
  expect(lists).toBeGreaterThan(6);
  // The victim's own reads have written to its request log.
  before = await rowDigests(server, victim.orgId);
});

test('an Idempotency-Key of another organization is unused', async () => {
  const body = { amount: 777, currency: 'EUR' };
  const key = { idempotencyKey: 'the-same-for-both' };
  const theirs = await victim.client.post('developer_api_payments', body, key);
  before = await rowDigests(server, victim.orgId);
  const own = await attacker.client.post('developer_api_payments', body, key);
  expect(own.status).toBe(201);
  expect(own.headers['idempotent-replayed']).toBeUndefined();
  expect(own.body.id).not.toBe(theirs.body.id);
  const other = await neighbour.client.post('developer_api_payments', { ...body, amount: 778 }, key);
  expect(other.status, 'another body is not a conflict either').toBe(201);
});

test('a foreign organization id in a header is rejected like an unknown one', async () => {
  for (const route of plain) {
    const send = (organization: string) =>
      attacker.client.send(pathOf(route, victim.ids), {
        method: route.method,
        headers: { 'sandbank-organization': organization },
        ...(route.method === 'POST' ? { body: bodyOf(route, victim.ids) } : {}),
      });
    const foreign = await send(victim.orgId);
    expect(foreign.code, route.operationId).toBe('organization_mismatch');
    expect(contentOf(foreign)).toBe(contentOf(await send(unknown(victim.orgId))));
    expectNoDataOf(victim, foreign, '');
  }
});

test('lists, searches and totals contain no data of another organization', async () => {
  for (const route of plain) {
    if (route.method !== 'GET' || route.path.includes('{')) continue;
    const answer = await attacker.client.get(route.path);
    expect(answer.status, answer.text).toBe(200);
    expectNoDataOf(victim, answer, '');
  }
});

test('people get the same response for another organization as for an unknown one', async () => {
  const [owner, outsider] = await Promise.all([newPerson(server, 'Olga'), newPerson(server, 'Rita')]);
  const [orgId, ownOrg] = await Promise.all([
    createOrganization(owner, 'Acme'),
    createOrganization(outsider, 'Rival'),
  ]);
  const [appId, ownApp] = await Promise.all([
    createApplication(owner, orgId),
    createApplication(outsider, ownOrg),
  ]);
  const inApp = async (path: string, body: unknown) =>
    ok(await owner.post(`${orgId}/${appId}/${path}`, body));
  const { id: keyId } = await inApp('api_keys', { name: 'ci', scopes: ['payments:read'] });
  const { id: paymentId } = await inApp('developer_api_payments', { amount: 1, currency: 'EUR' });
  const ids: Readonly<Record<string, string>> = {
    ...victim.ids,
    ...{ members: owner.memberId, applications: appId, api_keys: keyId, timeline: paymentId },
    invitations: (await invite(owner, orgId, 'viewer')).id,
  };
  const beforeRequests = await rowDigests(server, orgId);
  for (const { route, level } of personRoutes(routes, consoleRoutes)) {
    const send = (place: string, id: string) => sendAs(outsider, route, `${place}/${withId(route, id)}`);
    const id = ids[kindOf(route)] ?? '';
    expect(id !== '' || !route.path.includes('{'), `an id of ${route.path}`).toBe(true);
    const placeOf = (org: string, app: string) => (level === 'organization' ? org : `${org}/${app}`);
    const foreign = await send(placeOf(orgId, appId), id);
    const absent = await send(placeOf(unknown(orgId), unknown(appId)), id);
    expect(foreign.status, `${route.path}: ${foreign.text}`).toBe(404);
    expect(contentOf(foreign), route.path).toBe(contentOf(absent));
    if (!route.path.includes('{')) continue;
    const inOwn = await send(placeOf(ownOrg, ownApp), id);
    expect(inOwn.status, `${route.path}: ${inOwn.text}`).toBe(404);
    expect(contentOf(inOwn, id), route.path).toBe(
      contentOf(await send(placeOf(ownOrg, ownApp), unknown(id)), unknown(id)),
    );
  }
  expect(await rowDigests(server, orgId)).toEqual(beforeRequests);
});

const consoleBodies: Readonly<Record<string, unknown>> = {
  changeMemberRole: { role: 'viewer' },
  renameOrganization: { name: 'Taken' },
  deleteOrganization: { name: 'Taken' },
  updateApplication: { name: 'Taken' },
  createApplication: { name: 'Taken' },
  updateApiKey: { name: 'Taken' },
  createApiKey: { name: 'Taken', scopes: ['payments:read'] },
  createInvitation: { role: 'owner' },
};

const consoleQueries: Readonly<Record<string, string>> = {
  search: '?q=x',
  counts: '?resource=payment',
  customer_names: '?ids=cus_01m7epxwjmf7za77rhky2f93cc',
  next_actions: '?ids=pay_01m7epxwjmf7za77rhky2f93cc',
};

function sendAs(person: Visitor, route: ServedRoute, path: string): Promise<Answer> {
  if (route.method === 'GET') return person.get(`${path}${consoleQueries[route.path] ?? ''}`);
  const isOfApi = (routes as readonly ServedRoute[]).includes(route);
  return person.post(path, isOfApi ? bodyOf(route as Route, victim.ids) : consoleBodies[route.operationId]);
}

const withId = ({ path }: ServedRoute, id: string) => path.replace(/\{\w+\}/, id);

test('the populated tenant has an id for every kind of path', () => {
  const kinds = new Set(plain.filter(({ path }) => path.includes('{')).map(kindOf));
  for (const kind of kinds) expect(Object.keys(victim.ids)).toContain(kind);
  const prefixes: readonly string[] = Object.keys(idPrefixes).map((kind) => idPrefixes[kind as IdKind]);
  for (const id of Object.values(victim.ids)) if (!/^\d/.test(id)) expect(prefixes).toContain(id.slice(0, 3));
});
