// API1 broken object level authorization: what belongs to another organization is answered as what does not exist.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { personRoutes } from '../../src/http/console-routes.ts';
import { type IdKind, idPrefixes } from '../../src/kernel/ids.ts';
import { isStream, type Route, type ServedRoute } from '../../src/kernel/route.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import type { Answer } from '../support/api-client.ts';
import { expectOk } from '../support/api-client.ts';
import { type JsonSchema, jsonSchema } from '../support/schema-values.ts';
import { openServer } from '../support/server.ts';
import { type Tenant, tenant } from '../support/tenant.ts';
import { found, invite, newcomer, ok, register, type Visitor } from '../support/visitor.ts';
import { bodyOf, type Estate, kindOf, openEstate, pathOf, rowDigests } from './estate.ts';

const suffix = '01m7epxwjmf7za77rhky2f93cc';
/** Of the right form, and of nothing. */
const unknown = (id: string) => (/^\d/.test(id) ? '1999-12-31' : `${id.slice(0, 3)}_${suffix}`);

let server: Server;
let victim: Estate;
/** Has nothing, so that whatever it is shown belongs to somebody else. */
let thief: Tenant;
/** Has a record of everything, to be made to point at those of the victim. */
let neighbour: Estate;
let before: Awaited<ReturnType<typeof rowDigests>>;

beforeAll(async () => {
  server = await openServer('postgres');
  [victim, thief, neighbour] = await Promise.all([openEstate(server), tenant(server), openEstate(server)]);
  before = await rowDigests(server, victim.orgId);
});
// Not even a trace is left with the victim: its audit trail, its log of requests and its kept answers are as they were.
afterAll(async () => {
  expect(await rowDigests(server, victim.orgId)).toEqual(before);
  await server?.close();
});

/** What is told, apart from what every answer has of its own. */
function told({ status, body, text }: Answer, ...ids: readonly string[]): string {
  let words = `${status} ${text.replaceAll(body.requestId, 'REQUEST')}`;
  for (const id of ids) words = words.replaceAll(id, 'ID');
  return words;
}

function expectNothingOf(
  { ids, mark, orgId, appId, keyId, key }: Estate,
  answer: Answer,
  asked: string,
): void {
  // The log of requests shows who looks at it what they have asked for themselves.
  const shown = JSON.stringify(JSON.parse(answer.text), (name, value: unknown) =>
    name === 'path' || name === 'query' ? undefined : value,
  ).replaceAll(asked, '');
  for (const one of [...Object.values(ids).filter((id) => !/^\d/.test(id)), mark, orgId, appId, keyId, key])
    expect(shown).not.toContain(one);
}

function call({ client }: Tenant, route: Route, path: string, body: unknown, query = ''): Promise<Answer> {
  return route.method === 'GET' ? client.get(path, query) : client.post(path, body, { query });
}

/** The fields of a schema that name records, with the ways to them and the prefix of their ids. */
function idFields(
  schema: JsonSchema,
  at: readonly string[] = [],
): { at: readonly string[]; prefix: string }[] {
  const [, prefix] = /^\^([a-z]{3})_/.exec(schema.pattern ?? '') ?? [];
  if (prefix !== undefined) return [{ at, prefix }];
  const forms = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, one]) => idFields(one, [...at, name]));
  // Not every id has a pattern: some fields take those of several kinds.
  const named = at.at(-1)?.endsWith('Id') && schema.type === 'string' ? [{ at, prefix: 'pay' }] : [];
  return [...own, ...forms.flatMap((one) => idFields(one, at)), ...named];
}

function idOf({ ids, orgId, appId, keyId }: Estate, prefix: string): string {
  const all = [...Object.values(ids), orgId, appId, keyId];
  const id = all.find((one) => one.startsWith(`${prefix}_`));
  if (id === undefined) throw new Error(`make something of ${prefix}_ in test/security/estate.ts`);
  return id;
}

const plain = routes.filter((route) => !isStream(route));

test('the id of another organization in any path is answered as one that does not exist', async () => {
  const withIds = plain.filter(({ path }) => path.includes('{'));
  expect(withIds.length).toBeGreaterThan(25);
  for (const route of withIds) {
    const id = victim.ids[kindOf(route)] ?? '';
    const [foreign, absent] = [id, unknown(id)].map((one) =>
      call(thief, route, pathOf(route, { [kindOf(route)]: one }), bodyOf(route, neighbour.ids)),
    ) as [Promise<Answer>, Promise<Answer>];
    const answer = await foreign;
    expect(answer.status, `${route.operationId}: ${answer.text}`).toBe(404);
    expect(told(answer, id), route.operationId).toBe(told(await absent, unknown(id)));
    expectNothingOf(victim, answer, id);
  }
});

test('in any filter it finds what an id of nothing finds', async () => {
  let filters = 0;
  for (const route of plain) {
    if (route.method !== 'GET' || !route.query) continue;
    for (const { at, prefix } of idFields(jsonSchema(route.query))) {
      const name = at.join('.');
      const id = idOf(victim, prefix);
      const path = pathOf(route, neighbour.ids);
      const foreign = await call(neighbour, route, path, undefined, `${name}=${id}`);
      const absent = await call(neighbour, route, path, undefined, `${name}=${unknown(id)}`);
      expect(told(foreign, id), `${route.operationId} ${name}`).toBe(told(absent, unknown(id)));
      expectNothingOf(victim, foreign, id);
      filters += 1;
    }
  }
  expect(filters).toBeGreaterThan(10);
});

test('in any field of any body it is refused as an id of nothing is', async () => {
  const tried: string[] = [];
  for (const route of plain) {
    if (route.method !== 'POST' || !route.body) continue;
    for (const { at, prefix } of idFields(jsonSchema(route.body))) {
      const id = idOf(victim, prefix);
      const [first = '', ...rest] = at;
      expect(rest, 'a field inside of another is to be set there').toEqual([]);
      const ask = (one: string) =>
        call(neighbour, route, pathOf(route, neighbour.ids), {
          ...bodyOf(route, neighbour.ids),
          [first]: one,
        });
      const foreign = await ask(id);
      expect(foreign.status, `${route.operationId} ${first}: ${foreign.text}`).toBeGreaterThanOrEqual(404);
      expect(told(foreign, id)).toBe(told(await ask(unknown(id)), unknown(id)));
      expectNothingOf(victim, foreign, id);
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

test('a cursor of another organization leads to nothing of it', async () => {
  let lists = 0;
  for (const route of plain) {
    if (route.method !== 'GET' || !('cursor' in (jsonSchema(route.query ?? {}).properties ?? {}))) continue;
    const path = pathOf(route, victim.ids);
    const { nextCursor } = expectOk(await victim.client.get(path, 'limit=1'));
    if (nextCursor === null || nextCursor === undefined) continue;
    lists += 1;
    const answer = await neighbour.client.get(pathOf(route, neighbour.ids), `cursor=${nextCursor}`);
    expect(answer.status, answer.text).toBe(200);
    expectNothingOf(victim, answer, nextCursor);
  }
  expect(lists).toBeGreaterThan(6);
  // Reading its own lists has left something in the log of the victim.
  before = await rowDigests(server, victim.orgId);
});

test('an Idempotency-Key of another organization is one that nobody has used', async () => {
  const body = { amount: 777, currency: 'EUR' };
  const key = { idempotencyKey: 'the-same-for-both' };
  const theirs = await victim.client.post('developer_api_payments', body, key);
  before = await rowDigests(server, victim.orgId);
  const own = await thief.client.post('developer_api_payments', body, key);
  expect(own.status).toBe(201);
  expect(own.headers['idempotent-replayed']).toBeUndefined();
  expect(own.body.id).not.toBe(theirs.body.id);
  const other = await neighbour.client.post('developer_api_payments', { ...body, amount: 778 }, key);
  expect(other.status, 'another body is no misuse of it either').toBe(201);
});

test('the name of another organization in a header is refused as that of none', async () => {
  for (const route of plain) {
    const ask = (organization: string) =>
      thief.client.send(pathOf(route, victim.ids), {
        method: route.method,
        headers: { 'sandbank-organization': organization },
        ...(route.method === 'POST' ? { body: bodyOf(route, victim.ids) } : {}),
      });
    const foreign = await ask(victim.orgId);
    expect(foreign.code, route.operationId).toBe('organization_mismatch');
    expect(told(foreign)).toBe(told(await ask(unknown(victim.orgId))));
    expectNothingOf(victim, foreign, '');
  }
});

test('lists, searches and sums of one organization hold nothing of another', async () => {
  for (const route of plain) {
    if (route.method !== 'GET' || route.path.includes('{')) continue;
    const answer = await thief.client.get(route.path);
    expect(answer.status, answer.text).toBe(200);
    expectNothingOf(victim, answer, '');
  }
});

test('people of another organization are told what they are told of one that does not exist', async () => {
  const [owner, outsider] = await Promise.all([newcomer(server, 'Olga'), newcomer(server, 'Rita')]);
  const [orgId, ownOrg] = await Promise.all([found(owner, 'Acme'), found(outsider, 'Rival')]);
  const [appId, ownApp] = await Promise.all([register(owner, orgId), register(outsider, ownOrg)]);
  const inApp = async (path: string, body: unknown) =>
    ok(await owner.post(`${orgId}/${appId}/${path}`, body));
  const { id: keyId } = await inApp('api_keys', { name: 'ci', scopes: ['payments:read'] });
  const { id: paymentId } = await inApp('developer_api_payments', { amount: 1, currency: 'EUR' });
  const ids: Readonly<Record<string, string>> = {
    ...victim.ids,
    ...{ members: owner.memberId, applications: appId, api_keys: keyId, timeline: paymentId },
    invitations: (await invite(owner, orgId, 'viewer')).id,
  };
  const still = await rowDigests(server, orgId);
  for (const { route, within } of personRoutes(routes, consoleRoutes)) {
    const ask = (place: string, id: string) => visit(outsider, route, `${place}/${filled(route, id)}`);
    const id = ids[kindOf(route)] ?? '';
    expect(id !== '' || !route.path.includes('{'), `an id of ${route.path}`).toBe(true);
    const placeOf = (org: string, app: string) => (within === 'organization' ? org : `${org}/${app}`);
    const foreign = await ask(placeOf(orgId, appId), id);
    const absent = await ask(placeOf(unknown(orgId), unknown(appId)), id);
    expect(foreign.status, `${route.path}: ${foreign.text}`).toBe(404);
    expect(told(foreign), route.path).toBe(told(absent));
    if (!route.path.includes('{')) continue;
    const inOwn = await ask(placeOf(ownOrg, ownApp), id);
    expect(inOwn.status, `${route.path}: ${inOwn.text}`).toBe(404);
    expect(told(inOwn, id), route.path).toBe(
      told(await ask(placeOf(ownOrg, ownApp), unknown(id)), unknown(id)),
    );
  }
  expect(await rowDigests(server, orgId)).toEqual(still);
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

function visit(person: Visitor, route: ServedRoute, path: string): Promise<Answer> {
  if (route.method === 'GET') return person.get(route.path === 'search' ? `${path}?q=x` : path);
  const isOfApi = (routes as readonly ServedRoute[]).includes(route);
  return person.post(path, isOfApi ? bodyOf(route as Route, victim.ids) : consoleBodies[route.operationId]);
}

const filled = ({ path }: ServedRoute, id: string) => path.replace(/\{\w+\}/, id);

test('every kind of id that a path can name is in the estate', () => {
  const kinds = new Set(plain.filter(({ path }) => path.includes('{')).map(kindOf));
  for (const kind of kinds) expect(Object.keys(victim.ids)).toContain(kind);
  const prefixes: readonly string[] = Object.keys(idPrefixes).map((kind) => idPrefixes[kind as IdKind]);
  for (const id of Object.values(victim.ids)) if (!/^\d/.test(id)) expect(prefixes).toContain(id.slice(0, 3));
});
