import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../src/http/openapi.ts';
import { isScope, scopes, scopesNeeded } from '../../src/kernel/permissions.ts';
import { isStream, type Route } from '../../src/kernel/route.ts';
import { eventCatalogue, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient, expectOk } from '../support/api-client.ts';
import { idlePlan, nowhere } from '../support/populated-tenant.ts';
import { RouteRecords, replayWindow } from '../support/route-records.ts';
import { jsonSchema, validValues } from '../support/schema-values.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type KeyHolder, newKey, type Tenant, tenant } from '../support/tenant.ts';

/** Keys with exactly one scope, with none and with all. The matrix combines these with the route table. */
const keyKinds = [...scopes.map((scope) => [scope]), [], scopes];
const nameOf = (kind: readonly string[]) => (kind.length === 1 ? `only ${kind[0]}` : `${kind.length} scopes`);

const named = routes.map((route) => [`${route.method} ${route.path} needs ${route.scope}`, route] as const);

/** Fixed, so that the matrix is the same in every run. */
const seed = 20_261_115;
const bodies = new Map<string, unknown>([
  // Only an inbox takes a behavior.
  ['updateWebhook', { description: 'x' }],
  ['replayWebhookDeliveries', replayWindow],
  ['createFaultPlan', idlePlan],
]);
describe.each(databaseKinds)('permissions on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let keys: ReadonlyMap<string, KeyHolder>;
  let records: RouteRecords;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    records = new RouteRecords({
      post: async (path, body) => expectOk(await acme.client.post(path, body)),
      get: async (path, query) => expectOk(await acme.client.get(path, query)),
    });
    const holders = await Promise.all(keyKinds.map((keyScopes) => acme.addKey({ scopes: keyScopes })));
    keys = new Map(holders.map((holder, i) => [nameOf(keyKinds[i] ?? []), holder]));
  });

  function call(client: ApiClient, route: Route, id: string, isAllowed = false): Promise<Answer> {
    const path = route.path.replace(/\{\w+\}/, id);
    // A stream does not end; a HEAD request uses the same route and does.
    if (isStream(route) && isAllowed) return client.send(path, { method: 'HEAD' });
    return route.method === 'GET' ? client.get(path) : client.post(path, bodyOf(route));
  }

  async function auditedRefusals(keyId: string): Promise<readonly { requestId: string; action: string }[]> {
    return server.database.query(
      {
        name: '',
        text: `select request_id as "requestId", action from audit
          where org_id = $1 and actor_id = $2 and outcome = 'refused' and code = 'scope_missing' order by id`,
      },
      [acme.orgId, keyId],
    );
  }

  describe.each(named)('%s', (_name, route) => {
    test.each(keyKinds.map(nameOf))('a key with %s is accepted or rejected by its scopes', async (name) => {
      const holder = keys.get(name);
      if (!holder) throw new Error(`no key with ${name}`);
      const missing = scopesNeeded(route.scope).find((scope) => !holder.scopes.includes(scope));
      const answer = await call(holder.client, route, await records.idFor(route.path), missing === undefined);
      if (missing === undefined) {
        expect(answer.status, answer.text).toBeLessThan(300);
      } else {
        expect(answer.code).toBe('scope_missing');
        expect(answer.body.error.details).toEqual({ scope: missing });
        expect(answer.body.error.message).toContain(missing);
        const audited = await auditedRefusals(holder.keyId);
        const action = route.method === 'POST' ? route.command.name : route.operationId;
        expect(audited).toContainEqual({ requestId: answer.headers['request-id'], action });
      }
    });

    test('rejects requests without a key or with an unknown key', async () => {
      expect((await call(new ApiClient(server.app, null), route, 'x')).code).toBe('api_key_missing');
      for (const key of [newKey(), 'garbage', `${acme.key}x`]) {
        expect((await call(new ApiClient(server.app, key), route, 'x')).code).toBe('api_key_invalid');
      }
    });

    test('rejects other methods for every caller, and Allow lists the allowed methods', async () => {
      const path = route.path.replace(/\{\w+\}/, 'x');
      const takes = (pattern: string) => new RegExp(`^${pattern.replace(/\{\w+\}/, '[^/]+')}$`).test(path);
      const known = [...new Set(routes.filter((one) => takes(one.path)).map(({ method }) => method))];
      const allowed = [...known, ...(known.includes('GET') ? ['HEAD'] : [])];
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (allowed.includes(method)) continue;
        for (const client of [acme.client, new ApiClient(server.app, null)]) {
          const answer = await client.send(path, { method });
          expect(answer.code, method).toBe('method_not_allowed');
          expect(answer.headers.allow?.split(', ').sort()).toEqual(allowed.toSorted());
        }
      }
    });
  });

  test('every rejection of the matrix is in the audit log once', async () => {
    for (const { keyId, scopes: scopesOfKey } of keys.values()) {
      const refused = routes.filter(({ scope }) =>
        scopesNeeded(scope).some((one) => !scopesOfKey.includes(one)),
      );
      const audited = await auditedRefusals(keyId);
      expect(new Set(audited.map(({ requestId }) => requestId)).size).toBe(audited.length);
      expect(audited).toHaveLength(refused.length);
    }
  });
});

describe('the route table', () => {
  const document = openApiDocument(routes, eventCatalogue, 'http://127.0.0.1:4000') as {
    paths: Record<string, Record<string, { operationId: string; 'x-scope': string }>>;
  };

  test.each(named)('%s: the scope is one of the eight, or any', (_name, { scope }) => {
    expect(scopes).toHaveLength(8);
    expect(scope === 'any' || scopesNeeded(scope).every(isScope)).toBe(true);
  });

  test.each(named)('%s: is in the OpenAPI document', (_name, route) => {
    const operation = document.paths[`/_api/${route.path}`]?.[route.method.toLowerCase()];
    expect(operation).toMatchObject({ operationId: route.operationId, 'x-scope': route.scope });
  });

  test('routes without a required scope are read-only', () => {
    for (const route of routes) if (route.scope === 'any') expect(route.method).toBe('GET');
  });

  test('write routes require a write scope, and read routes a read scope', () => {
    for (const { scope, method, path } of routes) {
      for (const one of scopesNeeded(scope))
        expect(one, path).toMatch(method === 'POST' ? /:write$/ : /:read$/);
    }
  });
});

/** A body that is valid by the schema and by the resource's rules: no null text, and no customer. */
function bodyOf(route: Route): unknown {
  if (route.method !== 'POST' || !route.body || route.isBodyOptional) return undefined;
  const known = bodies.get(route.operationId);
  if (known) return known;
  const money = { currency: ['EUR'], sourceCurrency: ['EUR'], targetCurrency: ['EUR'], sourceAmount: [500] };
  const plain = { ...money, url: [nowhere] };
  const samples = fc.sample(validValues(jsonSchema(route.body), plain), { seed, numRuns: 300 });
  const body = (samples as Readonly<Record<string, unknown>>[]).find(
    ({ customerId, name, email, targetAmount, to, ...fields }) =>
      [customerId, targetAmount, to].every((value) => value === undefined) &&
      name !== null &&
      email !== null &&
      Object.entries(plain).every(([field, [value]]) => (fields[field] ?? value) === value),
  );
  if (!body) throw new Error(`no valid sample body for ${route.operationId}`);
  bodies.set(route.operationId, body);
  return body;
}
