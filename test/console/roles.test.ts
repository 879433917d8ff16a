import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PersonRoute, personRoutes } from '../../src/http/console-routes.ts';
import { isAtLeast, type Role, roles } from '../../src/kernel/permissions.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, type Body, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { idlePlan, nowhere } from '../support/populated-tenant.ts';
import { RouteRecords, replayWindow } from '../support/route-records.ts';
import { jsonSchema, validValues } from '../support/schema-values.ts';
import { databaseKinds, openServer } from '../support/server.ts';
import {
  auditOf,
  countsOf,
  createApplication,
  createOrganization,
  createTeam,
  invite,
  join,
  newPerson,
  ok,
  type Person,
  type Team,
  Visitor,
} from '../support/visitor.ts';

/** The minimum role of every console route. A route that is not listed here must not be served. */
const expected: Readonly<Record<string, Role>> = {
  'GET organization': 'viewer',
  'POST organization/rename': 'admin',
  'POST organization/two_factor': 'owner',
  'POST organization/delete': 'owner',
  'GET members': 'viewer',
  'POST members/{id}/role': 'admin',
  // Of another member. Every member may leave: see members.test.ts.
  'POST members/{id}/remove': 'admin',
  'POST members/{id}/reset_link': 'owner',
  'GET invitations': 'admin',
  'POST invitations': 'admin',
  'POST invitations/{id}/revoke': 'admin',
  'POST reset': 'admin',
  'GET snapshot': 'admin',
  'POST fork': 'admin',
  'GET applications': 'viewer',
  'GET applications/{id}': 'viewer',
  'POST applications': 'developer',
  'POST applications/{id}/update': 'developer',
  'POST applications/{id}/archive': 'admin',
  'POST applications/{id}/restore': 'admin',
  'GET audit': 'viewer',
  'GET audit/values': 'viewer',
  'GET audit/verification': 'viewer',
  'GET api_keys': 'viewer',
  'POST api_keys': 'developer',
  'POST api_keys/{id}/update': 'developer',
  'POST api_keys/{id}/rotate': 'developer',
  'POST api_keys/{id}/revoke': 'developer',
  'GET request_errors': 'viewer',
  'GET timeline/{id}': 'viewer',
  'GET search': 'viewer',
  'GET overview': 'viewer',
  'GET attention': 'viewer',
  'GET counts': 'viewer',
  'GET customer_names': 'viewer',
  'GET next_actions': 'viewer',
  'GET schedule': 'viewer',
  'GET transfer_preview': 'viewer',
  'GET webhooks/{id}/statistics': 'viewer',
  'GET deliveries': 'viewer',
  'GET webhooks/{id}/examinations': 'viewer',
  'GET event_stream': 'viewer',
  'GET developer_api_capabilities': 'viewer',
  'GET developer_api_state_machines': 'viewer',
  'GET developer_api_payments': 'viewer',
  'POST developer_api_payments': 'developer',
  'GET developer_api_payments/{id}': 'viewer',
  'POST developer_api_payments/{id}/advance': 'developer',
  'POST developer_api_payments/{id}/update': 'developer',
  'POST developer_api_payments/{id}/refund': 'developer',
  'GET developer_api_payments/{id}/history': 'viewer',
  'GET developer_api_payments/{id}/ledger_entries': 'viewer',
  'GET developer_api_payments/{id}/provider_events': 'viewer',
  'GET developer_api_refunds': 'viewer',
  'GET developer_api_refunds/{id}': 'viewer',
  'POST developer_api_refunds/{id}/advance': 'developer',
  'GET developer_api_disputes': 'viewer',
  'GET developer_api_disputes/{id}': 'viewer',
  'POST developer_api_disputes/{id}/advance': 'developer',
  'GET developer_api_transfers': 'viewer',
  'POST developer_api_transfers': 'developer',
  'GET developer_api_transfers/{id}': 'viewer',
  'POST developer_api_transfers/{id}/advance': 'developer',
  'GET developer_api_transfers/{id}/history': 'viewer',
  'GET developer_api_transfers/{id}/ledger_entries': 'viewer',
  'GET developer_api_transfers/{id}/provider_events': 'viewer',
  'GET developer_api_fx_rates': 'viewer',
  'GET developer_api_balances': 'viewer',
  'GET developer_api_ledger_entries': 'viewer',
  'GET developer_api_settlements': 'viewer',
  'GET developer_api_settlements/{date}': 'viewer',
  'GET developer_api_reconciliation': 'viewer',
  'GET developer_api_customers': 'viewer',
  'POST developer_api_customers': 'developer',
  'GET developer_api_customers/{id}': 'viewer',
  'POST developer_api_customers/{id}/update': 'developer',
  'POST developer_api_customers/{id}/archive': 'developer',
  'GET developer_api_clock': 'viewer',
  'POST developer_api_clock/advance': 'developer',
  'POST developer_api_clock/freeze': 'developer',
  'POST developer_api_clock/resume': 'developer',
  'POST developer_api_clock/reset': 'developer',
  'GET developer_api_fault_plans': 'viewer',
  'POST developer_api_fault_plans': 'developer',
  'GET developer_api_fault_plans/{id}': 'viewer',
  'POST developer_api_fault_plans/{id}/cancel': 'developer',
  'GET developer_api_webhooks': 'viewer',
  'POST developer_api_webhooks': 'developer',
  'GET developer_api_webhooks/{id}': 'viewer',
  'POST developer_api_webhook_inbox': 'developer',
  'POST developer_api_webhooks/{id}/update': 'developer',
  'POST developer_api_webhooks/{id}/rotate_secret': 'developer',
  'POST developer_api_webhooks/{id}/disable': 'developer',
  'POST developer_api_webhooks/{id}/enable': 'developer',
  'POST developer_api_webhooks/{id}/delete': 'developer',
  'POST developer_api_webhooks/{id}/test': 'developer',
  'POST developer_api_webhooks/{id}/examine': 'developer',
  'GET developer_api_webhook_events': 'viewer',
  'POST developer_api_webhook_events': 'developer',
  'GET developer_api_webhook_events/{id}': 'viewer',
  'POST developer_api_webhook_events/{id}/replay': 'developer',
  'GET developer_api_webhook_deliveries': 'viewer',
  'GET developer_api_webhook_deliveries/{id}': 'viewer',
  'POST developer_api_webhook_deliveries/replay': 'developer',
  'GET developer_api_webhook_replays': 'viewer',
  'GET developer_api_webhook_replays/{id}': 'viewer',
  'GET developer_api_requests': 'viewer',
  'GET developer_api_requests/{id}': 'viewer',
  'GET developer_api_audit_entries': 'viewer',
  'GET developer_api_audit_entries/verify': 'viewer',
  'GET developer_api_coverage': 'viewer',
  'POST developer_api_coverage/reset': 'developer',
};

const served = personRoutes(routes, consoleRoutes);
const nameOf = ({ route }: PersonRoute) => `${route.method} ${route.path}`;
const named = served.map((one) => [nameOf(one), one] as const);

/** Fixed, so that the matrix is the same in every run. */
const seed = 20_261_115;
const bodies = new Map<string, unknown>([
  // Only an inbox takes a behavior.
  ['updateWebhook', { description: 'x' }],
  ['createFaultPlan', idlePlan],
  ['replayWebhookDeliveries', replayWindow],
  ['advanceClock', { seconds: 60 }],
  ['renameOrganization', { name: 'Renamed' }],
  ['requireTwoFactor', { isRequired: false }],
  ['changeMemberRole', { role: 'viewer' }],
  ['createInvitation', { role: 'viewer' }],
  ['createApplication', { name: 'one more' }],
  ['updateApplication', { fee: { basisPoints: 100, fixedAmount: 1 } }],
  ['createApiKey', { name: 'ci', scopes: ['payments:read'] }],
  ['updateApiKey', { name: 'renamed' }],
]);
/** Query strings of reads that require one. */
const queries: Readonly<Record<string, string>> = {
  search: 'q=x',
  counts: 'resource=payment',
  transfer_preview: 'sourceCurrency=EUR&targetCurrency=JPY&fixedSide=source&amount=100',
  customer_names: 'ids=cus_01m7epxwjmf7za77rhky2f93cc',
  next_actions: 'ids=pay_01m7epxwjmf7za77rhky2f93cc',
};

test('the table has a minimum role for every console route and for no other', () => {
  const names = named.map(([name]) => name);
  expect(names.filter((name) => !(name in expected))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  // They do not return JSON and are registered separately: snapshots.test.ts and a test below cover them.
  expect(Object.keys(expected).filter((name) => !names.includes(name))).toEqual([
    'GET snapshot',
    'GET event_stream',
  ]);
});

test('routes that describe the calling key are not served to people', () => {
  const names = named.map(([name]) => name);
  for (const path of ['status', 'webhook_events/stream'])
    expect(names).not.toContain(`GET developer_api_${path}`);
  // The console has a separate route for this, which requires a higher role than other writes.
  expect(names).not.toContain('POST developer_api_reset');
});

describe.each(databaseKinds)('roles on %s', (kind) => {
  let server: Server;
  let acme: Team;
  let rival: Person;
  let rivalOrgId: string;
  let rivalAppId: string;
  let former: Person;
  /** A member whom the tests change and remove. */
  let target: Person;
  let records: RouteRecords;

  beforeAll(async () => {
    // A separate server: the tests count the rows of all tables some 600 times, and other files fill the shared one.
    server = await openServer(kind);
    [acme, rival, former, target] = await Promise.all([
      createTeam(server),
      newPerson(server, 'Rita'),
      newPerson(server, 'Fred'),
      newPerson(server, 'Tina'),
    ]);
    const at = `${acme.orgId}/${acme.appId}`;
    records = new RouteRecords({
      post: inApp,
      get: async (path, query) =>
        ok(await acme.owner.get(`${at}/${path}${query === undefined ? '' : `?${query}`}`)),
    });
    rivalOrgId = await createOrganization(rival, 'Rival');
    rivalAppId = await createApplication(rival, rivalOrgId);
    await join(former, acme.owner, acme.orgId, 'owner');
    ok(await former.post(`${acme.orgId}/members/${former.memberId}/remove`));
    await join(target, acme.owner, acme.orgId, 'viewer');
  });
  afterAll(async () => {
    await server?.close();
  });

  const placeOf = ({ level }: PersonRoute, orgId = acme.orgId, appId = acme.appId) =>
    level === 'organization' ? orgId : `${orgId}/${appId}`;

  function call(visitor: Visitor, one: PersonRoute, id: string, place = placeOf(one)): Promise<Answer> {
    const { route } = one;
    const query = queries[route.path];
    const path = `${place}/${route.path.replace(/\{\w+\}/, id)}${query === undefined ? '' : `?${query}`}`;
    return route.method === 'GET' ? visitor.get(path) : visitor.post(path, bodyOf(one));
  }

  /** Creates a record as the owner, who may do everything. */
  async function createAsOwner(path: string, body: unknown = {}): Promise<Body> {
    return ok(await acme.owner.post(path, body));
  }
  const inApp = (path: string, body?: unknown) => createAsOwner(`${acme.orgId}/${acme.appId}/${path}`, body);

  /** Creates the record that the route needs, in a state in which its action is allowed. */
  async function recordFor({ route: { path } }: PersonRoute): Promise<string> {
    if (!path.includes('{')) return '';
    if (path.startsWith('members')) return member();
    if (path.startsWith('invitations')) return (await invite(acme.owner, acme.orgId, 'viewer')).id;
    if (path.startsWith('applications')) return application(path);
    if (path.startsWith('api_keys')) {
      return (await inApp('api_keys', { name: 'fresh', scopes: ['payments:read'] })).id;
    }
    // The timeline of a payment.
    return records.idFor(path.startsWith('timeline') ? 'developer_api_payments/{id}' : path);
  }

  async function member(): Promise<string> {
    const { organizations } = (await target.get('session')).body as unknown as { organizations: object[] };
    if (organizations.length === 0) await join(target, acme.owner, acme.orgId, 'developer');
    return target.memberId;
  }

  async function application(path: string): Promise<string> {
    const id = await createApplication(acme.owner, acme.orgId, 'fresh');
    if (path.endsWith('/restore')) await createAsOwner(`${acme.orgId}/applications/${id}/archive`);
    return id;
  }

  /** Expects one audit row with actor, action and IP address. Asynchronous commands also write a row when they finish. */
  async function expectAudited(answer: Answer, { route, level }: PersonRoute, person: Person) {
    const rows = await auditOf(server, answer);
    const action = route.method === 'POST' ? route.command.name : '';
    const [first, ...rest] = rows.filter((row) => row.action === action);
    expect(first).toMatchObject({
      ...{ orgId: acme.orgId, appId: level === 'application' ? acme.appId : null },
      ...{ actorKind: 'person', actorId: person.personId, ip: person.address },
      ...{ requestId: answer.body.requestId, outcome: 'accepted', code: null },
    });
    expect(rest).toEqual([]);
    if (!/test|clock|examine|fork/.test(action)) expect(rows).toHaveLength(1);
  }

  describe.each(named)('%s', (name, one) => {
    const minimum = expected[name] ?? 'owner';
    const { route } = one;

    test.each(roles)('as %s, is allowed or rejected according to the table', async (role) => {
      const id = await recordFor(one);
      const before = await countsOf(server);
      const person = acme[role];
      const answer = await call(person, one, id);
      if (isAtLeast(role, minimum)) {
        // Allowed, and stopped by the wrong name, because later tests need the organization. test/operator/deletion.test.ts deletes one, test/console/snapshots.test.ts resets one.
        if (['deleteOrganization', 'resetOrganizationInConsole'].includes(route.operationId))
          return void expect(answer.code).toBe('organization_name_mismatch');
        expect(answer.status, answer.text).toBeLessThan(300);
        if (route.method === 'POST') await expectAudited(answer, one, person);
        return;
      }
      expect(answer.code, answer.text).toBe('role_missing');
      expect(answer.status).toBe(403);
      expect(answer.body.error.details).toEqual({ role: minimum });
      expect(await countsOf(server), 'nothing changed').toEqual(before);
      expect(await auditOf(server, answer)).toEqual([
        expect.objectContaining({
          ...{ orgId: acme.orgId, appId: one.level === 'application' ? acme.appId : null },
          ...{ actorKind: 'person', actorId: person.personId, ip: person.address },
          action: route.method === 'POST' ? route.command.name : route.operationId,
          ...{ outcome: 'refused', code: 'role_missing' },
        }),
      ]);
    });

    test('does not reveal its existence to signed-out, foreign or removed people, or under a wrong path', async () => {
      const id = await recordFor(one);
      const before = await countsOf(server);
      const nobody = await call(new Visitor(server.app), one, id);
      expect(nobody.code).toBe('session_missing');
      expect(nobody.status).toBe(401);
      const cases: [string, Visitor, string][] = [
        ['a member of another organization', rival, placeOf(one)],
        ['a removed member', former, placeOf(one)],
        ['an unknown organization', acme.owner, placeOf(one, 'org_01m7epxwjmf7za77rhky2f93cc')],
        ['a malformed organization id', acme.owner, placeOf(one, 'org_x')],
        ['an id in capitals', acme.owner, placeOf(one, acme.orgId.toUpperCase())],
        ['an application id as the organization id', acme.owner, placeOf(one, acme.appId)],
      ];
      if (one.level === 'application') {
        cases.push(
          ['an application of another organization', acme.owner, placeOf(one, acme.orgId, rivalAppId)],
          ['their own application in this organization', rival, placeOf(one, acme.orgId, rivalAppId)],
          ['this application in their organization', rival, placeOf(one, rivalOrgId, acme.appId)],
          ['a malformed application id', acme.owner, placeOf(one, acme.orgId, 'app_x')],
          ['an id of another kind', acme.owner, placeOf(one, acme.orgId, acme.orgId)],
        );
      }
      for (const [label, visitor, place] of cases) {
        const answer = await call(visitor, one, id, place);
        expect(answer.code, `${label}: ${answer.text}`).toBe('resource_not_found');
        expect(await auditOf(server, answer), `${label} writes no audit row`).toEqual([]);
      }
      if (route.path.includes('{id}')) {
        const answer = await call(rival, one, id, placeOf(one, rivalOrgId, rivalAppId));
        expect(answer.code, `a foreign record under their own path: ${answer.text}`).toBe(
          'resource_not_found',
        );
      }
      expect(await countsOf(server), 'nothing changed').toEqual(before);
    });
  });

  test('the event stream, which is not in the table, is available to members only', async () => {
    const path = `${acme.orgId}/${acme.appId}/event_stream`;
    expect((await new Visitor(server.app).get(path)).code).toBe('session_missing');
    for (const visitor of [rival, former]) expect((await visitor.get(path)).code).toBe('resource_not_found');
    for (const place of [`${acme.orgId}/${rivalAppId}`, `org_x/${acme.appId}`, `${acme.orgId}/app_x`]) {
      expect((await acme.owner.get(`${place}/event_stream`)).code, place).toBe('resource_not_found');
    }
  });

  test('a write without an Idempotency-Key is rejected after the role check', async () => {
    const path = `${acme.orgId}/applications`;
    const send = (person: Visitor) => person.send('POST', path, { name: 'x' }, {});
    expect((await send(acme.developer)).code).toBe('idempotency_key_missing');
    expect((await send(acme.viewer)).code).toBe('role_missing');
    expect((await send(rival)).code).toBe('resource_not_found');
  });

  test('an API key is not accepted by the console, and a session is not accepted by the API', async () => {
    const { key } = await inApp('api_keys', { name: 'ci', scopes: ['payments:read'] });
    const visitor = new Visitor(server.app);
    const place = `${acme.orgId}/${acme.appId}`;
    const answer = await visitor.get(`${place}/developer_api_payments`, { authorization: `Bearer ${key}` });
    expect(answer.code).toBe('session_missing');
    const cookie = [...acme.owner.cookies].map(([one, value]) => `${one}=${value}`).join('; ');
    const response = await server.app.inject({
      url: '/_api/developer_api_payments',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(response.json().error.code).toBe('api_key_missing');
  });
});

/** A body that both the schema and the resource accept: without null texts and without a customer. */
function bodyOf({ route }: PersonRoute): unknown {
  if (route.method !== 'POST' || !route.body || route.isBodyOptional) return {};
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

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleRoles);
});
