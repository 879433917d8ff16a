import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../src/http/openapi.ts';
import { isScope, scopes, scopesNeeded } from '../../src/kernel/permissions.ts';
import { isStream, type Route } from '../../src/kernel/route.ts';
import { eventCatalogue, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient, type Body } from '../support/api-client.ts';
import { jsonSchema, validValues } from '../support/schema-values.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { type KeyHolder, newKey, type Tenant, tenant } from '../support/tenant.ts';

/** Keys with exactly one scope, with none and with all. The matrix combines these with the route table. */
const keyKinds = [...scopes.map((scope) => [scope]), [], scopes];
const nameOf = (kind: readonly string[]) => (kind.length === 1 ? `only ${kind[0]}` : `${kind.length} scopes`);

const named = routes.map((route) => [`${route.method} ${route.path} needs ${route.scope}`, route] as const);

/** Fixed, so that the matrix is the same in every run. */
const seed = 20_261_115;
const window = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', select: 'failed' };
/** Has no effect: only endpoint tests create events of this type, and fault plans exclude endpoint tests. */
const noopPlan = { on: 'webhooks', fault: { type: 'drop' }, count: 1, eventTypes: ['webhook.tested'] };
const bodies = new Map<string, unknown>([
  ['replayWebhookDeliveries', window],
  ['createFaultPlan', noopPlan],
]);
/** A URL where no server listens. */
const nowhere = 'http://127.0.0.1:9/';

describe.each(databaseKinds)('permissions on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let keys: ReadonlyMap<string, KeyHolder>;
  const webhooksByAction = new Map<string, Body>();

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    const holders = await Promise.all(keyKinds.map((keyScopes) => acme.addKey({ scopes: keyScopes })));
    keys = new Map(holders.map((holder, i) => [nameOf(keyKinds[i] ?? []), holder]));
  });

  function call(client: ApiClient, route: Route, id: string, isAllowed = false): Promise<Answer> {
    const path = route.path.replace(/\{\w+\}/, id);
    // A stream does not end; a HEAD request uses the same route and does.
    if (isStream(route) && isAllowed) return client.send(path, { method: 'HEAD' });
    return route.method === 'GET' ? client.get(path) : client.post(path, bodyOf(route));
  }

  /** A new record for routes with an id, in a state in which the route's action is allowed. */
  async function record({ path }: Route): Promise<string> {
    const create = async (at: string, body?: unknown) => {
      const answer = await acme.client.post(at, body);
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    if (!path.includes('{')) return '';
    if (path.startsWith('developer_api_customers')) {
      return (await create('developer_api_customers', { name: 'Ada' })).id;
    }
    if (path.startsWith('developer_api_transfers')) {
      const beneficiary = { name: 'Grace' };
      const body = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000, beneficiary };
      return (await create('developer_api_transfers', body)).id;
    }
    if (path.startsWith('developer_api_webhook')) return webhookRecord(path, create);
    if (path.startsWith('developer_api_requests')) {
      return String((await acme.client.get('developer_api_status')).headers['request-id']);
    }
    if (path.startsWith('developer_api_fault_plans')) return faultPlanRecord(create);
    const payments = 'developer_api_payments';
    if (path.startsWith('developer_api_settlements')) {
      const { id } = await create(payments, { amount: 5_000, currency: 'EUR' });
      return String((await create(`${payments}/${id}/advance`, { to: 'settled' })).settledAt).slice(0, 10);
    }
    const { id } = await create(payments, { amount: 5_000, currency: 'EUR', scenario: 'refund_pending' });
    if (path.endsWith('/refund')) await create(`${payments}/${id}/advance`, { to: 'captured' });
    if (path.startsWith('developer_api_refunds')) {
      await create(`${payments}/${id}/advance`, { to: 'captured' });
      return (await create(`${payments}/${id}/refund`, {})).id;
    }
    if (path.startsWith('developer_api_disputes')) {
      return String((await create(`${payments}/${id}/advance`, { to: 'disputed' })).disputeId);
    }
    return id;
  }

  /** An endpoint without a receiver, so that no test waits for a response; or a record that belongs to one. */
  async function webhookRecord(path: string, create: (at: string, body?: unknown) => Promise<Body>) {
    if (path.startsWith('developer_api_webhook_replays')) {
      return (await create('developer_api_webhook_deliveries/replay', window)).id;
    }
    const event = () => create('developer_api_webhook_events', { type: 'payment.created' });
    if (path.startsWith('developer_api_webhook_events')) return (await event()).id;
    // One per action, because an application may have at most a hundred.
    const action = path.split('/').at(-1) ?? '';
    const webhook =
      webhooksByAction.get(action) ?? (await create('developer_api_webhooks', { url: nowhere }));
    webhooksByAction.set(action, webhook);
    const { id } = webhook;
    const { status } = (await acme.client.get(`developer_api_webhooks/${id}`)).body;
    if (action === 'enable' && status === 'enabled') await create(`developer_api_webhooks/${id}/disable`);
    if (action === 'disable' && status === 'disabled') await create(`developer_api_webhooks/${id}/enable`);
    if (!path.startsWith('developer_api_webhook_deliveries')) return id;
    const query = `webhookId=${id}&eventId=${(await event()).id}`;
    return (await acme.client.get('developer_api_webhook_deliveries', query)).body.data[0]?.id ?? '';
  }

  /** An active plan, reused, because an application may have at most twenty. */
  async function faultPlanRecord(create: (at: string, body?: unknown) => Promise<Body>) {
    const [active] = (await acme.client.get('developer_api_fault_plans', 'status=active')).body.data;
    return (active ?? (await create('developer_api_fault_plans', noopPlan))).id;
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
      const answer = await call(holder.client, route, await record(route), missing === undefined);
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
