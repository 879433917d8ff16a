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

/** Keys with exactly one scope, with none and with all. The matrix is made of these and of the table of routes. */
const keyKinds = [...scopes.map((scope) => [scope]), [], scopes];
const nameOf = (kind: readonly string[]) => (kind.length === 1 ? `only ${kind[0]}` : `${kind.length} scopes`);

const named = routes.map((route) => [`${route.method} ${route.path} needs ${route.scope}`, route] as const);

/** Fixed, so that the matrix is the same in every run. */
const seed = 20_261_115;
const window = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', select: 'failed' };
/** A fault plan that hits nothing: no event of this type comes but by a test, and tests are spared. */
const idlePlan = { on: 'webhooks', fault: { type: 'drop' }, count: 1, eventTypes: ['webhook.tested'] };
const bodies = new Map<string, unknown>([
  ['replayWebhookDeliveries', window],
  ['createFaultPlan', idlePlan],
]);
/** Nothing listens here. */
const nowhere = 'http://127.0.0.1:9/';

describe.each(databaseKinds)('permissions on %s', (kind) => {
  let server: Server;
  let acme: Tenant;
  let keys: ReadonlyMap<string, KeyHolder>;
  const hooks = new Map<string, Body>();

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await tenant(server);
    const holders = await Promise.all(keyKinds.map((some) => acme.addKey({ scopes: some })));
    keys = new Map(holders.map((holder, i) => [nameOf(keyKinds[i] ?? []), holder]));
  });

  function call(client: ApiClient, route: Route, id: string, isLetIn = false): Promise<Answer> {
    const path = route.path.replace(/\{\w+\}/, id);
    // A stream does not end; its head is asked for in the same way, and does.
    if (isStream(route) && isLetIn) return client.send(path, { method: 'HEAD' });
    return route.method === 'GET' ? client.get(path) : client.post(path, bodyOf(route));
  }

  /** A fresh record for routes that work on one, in a state in which they do something. */
  async function record({ path }: Route): Promise<string> {
    const made = async (at: string, body?: unknown) => {
      const answer = await acme.client.post(at, body);
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    if (!path.includes('{')) return '';
    if (path.startsWith('developer_api_customers')) {
      return (await made('developer_api_customers', { name: 'Ada' })).id;
    }
    if (path.startsWith('developer_api_transfers')) {
      const beneficiary = { name: 'Grace' };
      const body = { sourceCurrency: 'EUR', targetCurrency: 'USD', sourceAmount: 5_000, beneficiary };
      return (await made('developer_api_transfers', body)).id;
    }
    if (path.startsWith('developer_api_webhook')) return webhookRecord(path, made);
    if (path.startsWith('developer_api_requests')) {
      return String((await acme.client.get('developer_api_status')).headers['request-id']);
    }
    if (path.startsWith('developer_api_fault_plans')) return faultPlanRecord(made);
    const payments = 'developer_api_payments';
    if (path.startsWith('developer_api_settlements')) {
      const { id } = await made(payments, { amount: 5_000, currency: 'EUR' });
      return String((await made(`${payments}/${id}/advance`, { to: 'settled' })).settledAt).slice(0, 10);
    }
    const { id } = await made(payments, { amount: 5_000, currency: 'EUR', scenario: 'refund_pending' });
    if (path.endsWith('/refund')) await made(`${payments}/${id}/advance`, { to: 'captured' });
    if (path.startsWith('developer_api_refunds')) {
      await made(`${payments}/${id}/advance`, { to: 'captured' });
      return (await made(`${payments}/${id}/refund`, {})).id;
    }
    if (path.startsWith('developer_api_disputes')) {
      return String((await made(`${payments}/${id}/advance`, { to: 'disputed' })).disputeId);
    }
    return id;
  }

  /** An endpoint at which nothing listens, so that no test of this file waits for anybody; or what was made for it. */
  async function webhookRecord(path: string, made: (at: string, body?: unknown) => Promise<Body>) {
    if (path.startsWith('developer_api_webhook_replays')) {
      return (await made('developer_api_webhook_deliveries/replay', window)).id;
    }
    const event = () => made('developer_api_webhook_events', { type: 'payment.created' });
    if (path.startsWith('developer_api_webhook_events')) return (await event()).id;
    // One for each action, because an application has no more than a hundred.
    const action = path.split('/').at(-1) ?? '';
    const hook = hooks.get(action) ?? (await made('developer_api_webhooks', { url: nowhere }));
    hooks.set(action, hook);
    const { id } = hook;
    const { status } = (await acme.client.get(`developer_api_webhooks/${id}`)).body;
    if (action === 'enable' && status === 'enabled') await made(`developer_api_webhooks/${id}/disable`);
    if (action === 'disable' && status === 'disabled') await made(`developer_api_webhooks/${id}/enable`);
    if (!path.startsWith('developer_api_webhook_deliveries')) return id;
    const query = `webhookId=${id}&eventId=${(await event()).id}`;
    return (await acme.client.get('developer_api_webhook_deliveries', query)).body.data[0]?.id ?? '';
  }

  /** One that is active, and few of them, because an application has no more than twenty. */
  async function faultPlanRecord(made: (at: string, body?: unknown) => Promise<Body>) {
    const [active] = (await acme.client.get('developer_api_fault_plans', 'status=active')).body.data;
    return (active ?? (await made('developer_api_fault_plans', idlePlan))).id;
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
    test.each(keyKinds.map(nameOf))('a key with %s is let in or refused accordingly', async (name) => {
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

    test('nobody is let in without a key, or with one that is made up', async () => {
      expect((await call(new ApiClient(server.app, null), route, 'x')).code).toBe('api_key_missing');
      for (const key of [newKey(), 'garbage', `${acme.key}x`]) {
        expect((await call(new ApiClient(server.app, key), route, 'x')).code).toBe('api_key_invalid');
      }
    });

    test('another method is not allowed, whoever asks, and Allow names those that are', async () => {
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

  test('every refusal of the matrix is in the audit trail, once', async () => {
    for (const { keyId, scopes: had } of keys.values()) {
      const refused = routes.filter(({ scope }) => scopesNeeded(scope).some((one) => !had.includes(one)));
      const audited = await auditedRefusals(keyId);
      expect(new Set(audited.map(({ requestId }) => requestId)).size).toBe(audited.length);
      expect(audited).toHaveLength(refused.length);
    }
  });
});

describe('the table of routes', () => {
  const document = openApiDocument(routes, eventCatalogue, 'http://127.0.0.1:4000') as {
    paths: Record<string, Record<string, { operationId: string; 'x-scope': string }>>;
  };

  test.each(named)('%s: the scope is one of the eight, or any key will do', (_name, { scope }) => {
    expect(scopes).toHaveLength(8);
    expect(scope === 'any' || scopesNeeded(scope).every(isScope)).toBe(true);
  });

  test.each(named)('%s: it is in the OpenAPI document', (_name, route) => {
    const operation = document.paths[`/_api/${route.path}`]?.[route.method.toLowerCase()];
    expect(operation).toMatchObject({ operationId: route.operationId, 'x-scope': route.scope });
  });

  test('what any key may call changes nothing', () => {
    for (const route of routes) if (route.scope === 'any') expect(route.method).toBe('GET');
  });

  test('a route that writes needs a write scope, and one that reads a read scope', () => {
    for (const { scope, method, path } of routes) {
      for (const one of scopesNeeded(scope))
        expect(one, path).toMatch(method === 'POST' ? /:write$/ : /:read$/);
    }
  });
});

/** A body that the schema takes and the rules of the resource too: no text in it is null, and it names no customer. */
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
  if (!body) throw new Error(`no plain body for ${route.operationId}`);
  bodies.set(route.operationId, body);
  return body;
}
