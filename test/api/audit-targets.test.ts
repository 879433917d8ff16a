import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { personRoutes } from '../../src/http/console-routes.ts';
import { type Id, type IdKind, idFrom, idPrefixes } from '../../src/kernel/ids.ts';
import type { ApiWriteRoute, ServedRoute } from '../../src/kernel/route.ts';
import { clockIdOf } from '../../src/kernel/time.ts';
import { consoleRoutes, routes } from '../../src/resources/index.ts';
import type { Server } from '../../src/server.ts';
import type { Answer } from '../support/api-client.ts';
import {
  bodyOf,
  createPopulatedTenant,
  kindOf,
  type PopulatedTenant,
  pathOf,
} from '../support/populated-tenant.ts';
import { openServer } from '../support/server.ts';
import type { KeyHolder } from '../support/tenant.ts';
import { auditOf, createTeam, invite, ok, type Team } from '../support/visitor.ts';

const suffix = '01m7epxwjmf7za77rhky2f93cc';
const noTarget = { resource: null, resourceId: null };
const writes = routes.filter((route): route is ApiWriteRoute => route.method === 'POST');
const withId = writes.filter(({ path }) => path.includes('{id}'));

/** The record that an id refers to, by the id prefix. */
function named(id: string) {
  const resource = (Object.keys(idPrefixes) as IdKind[]).find((kind) =>
    id.startsWith(`${idPrefixes[kind]}_`),
  );
  return { resource: resource ?? null, resourceId: id };
}

/** The target record of a write without an id in its path. */
function ownRecord(path: string, orgId: string, appId: Id<'application'>) {
  if (path.startsWith('developer_api_clock/')) return named(clockIdOf(appId));
  return /^(developer_api_)?(coverage\/)?reset$|^fork$|^organization\//.test(path) ? named(orgId) : noTarget;
}

let server: Server;

async function expectTarget(answer: Answer, target: object, about: string): Promise<void> {
  const rows = await auditOf(server, answer);
  expect(rows, `${about}: ${answer.text}`).toEqual([
    expect.objectContaining({ outcome: 'refused', code: answer.code, ...target }),
  ]);
}

beforeAll(async () => {
  server = await openServer('pglite');
});
afterAll(() => server?.close());

describe('the audit row of a rejected write by an API key', () => {
  let acme: PopulatedTenant;
  let other: PopulatedTenant;
  let reader: KeyHolder;

  beforeAll(async () => {
    [acme, other] = [await createPopulatedTenant(server), await createPopulatedTenant(server)];
    reader = await acme.addKey({ scopes: ['payments:read'] });
  });

  const targetOf = ({ path }: ApiWriteRoute) =>
    path.includes('{id}') ? named(acme.ids[kindOf({ path })] ?? '') : ownRecord(path, acme.orgId, acme.appId);

  test('names the record in the path when the key lacks the scope for the route', async () => {
    for (const route of writes) {
      const answer = await reader.client.post(pathOf(route, acme.ids), bodyOf(route, acme.ids));
      expect(answer.code, route.operationId).toBe('scope_missing');
      await expectTarget(answer, targetOf(route), route.operationId);
    }
  });

  test('names the record when the body is invalid or unreadable', async () => {
    for (const route of writes) {
      const path = pathOf(route, acme.ids);
      const invalid = await acme.client.post(path, { noSuchField: 1 });
      expect(invalid.code, route.operationId).toBe('invalid_request');
      await expectTarget(invalid, targetOf(route), route.operationId);
    }
    const unreadable = await acme.client.post(
      `developer_api_payments/${acme.ids.payments}/advance`,
      undefined,
      {
        raw: '{',
      },
    );
    expect(unreadable.code).toBe('malformed_json');
    await expectTarget(unreadable, named(acme.ids.payments ?? ''), 'malformed JSON');
  });

  test('names the record when the command rejects the write', async () => {
    const idempotencyKey = randomUUID();
    ok(await acme.client.post('developer_api_customers', { name: 'Ada' }, { idempotencyKey }));
    for (const route of writes) {
      const reused = await acme.client.post(pathOf(route, acme.ids), bodyOf(route, acme.ids), {
        idempotencyKey,
      });
      expect(reused.code, route.operationId).toBe('idempotency_key_reused');
      await expectTarget(reused, targetOf(route), route.operationId);
    }
    const { payments = '', webhooks = '', webhook_events: event = '' } = acme.ids;
    const post = (path: string, body?: unknown) => acme.client.post(`developer_api_${path}`, body);
    const refused: [code: string, answer: Answer, id: string][] = [
      [
        'invalid_state_transition',
        await post(`payments/${payments}/advance`, { action: 'capture' }),
        payments,
      ],
      ['invalid_state_transition', await post(`payments/${payments}/refund`, { amount: 999_999 }), payments],
      [
        'webhook_url_not_allowed',
        await post(`webhooks/${webhooks}/update`, { url: 'ftp://x.test/' }),
        webhooks,
      ],
      [
        'webhook_not_found',
        await post(`webhook_events/${event}/replay`, { webhookId: `whk_${suffix}` }),
        event,
      ],
      [
        'clock_moves_back',
        await post('clock/advance', { to: '2020-01-01T00:00:00Z' }),
        clockIdOf(acme.appId),
      ],
    ];
    for (const [code, answer, id] of refused) {
      expect(answer.code, answer.text).toBe(code);
      await expectTarget(answer, named(id), code);
    }
  });

  test('names no record for an unknown id, an id of another organization or of another resource', async () => {
    expect(withId.length).toBeGreaterThan(10);
    for (const route of withId) {
      const kind = kindOf(route);
      const foreign = other.ids[kind] ?? '';
      const otherId = kind === 'customers' ? acme.ids.payments : acme.ids.customers;
      for (const id of [foreign, `${foreign.slice(0, 3)}_${suffix}`, otherId ?? '', 'nonsense']) {
        const path = pathOf(route, { [kind]: id });
        const absent = await acme.client.post(path, bodyOf(route, acme.ids));
        expect(absent.code, route.operationId).toBe('resource_not_found');
        await expectTarget(absent, noTarget, `${route.operationId} ${id}`);
        await expectTarget(
          await reader.client.post(path),
          noTarget,
          `${route.operationId} ${id} without the scope`,
        );
      }
    }
    expect(
      await server.database.query(
        { name: '', text: `select id from audit where org_id = $1 and outcome = 'refused'` },
        [other.orgId],
      ),
    ).toEqual([]);
  });

  test('can be queried by record', async () => {
    const id = acme.ids.transfers ?? '';
    const refused = await acme.client.post(`developer_api_transfers/${id}/advance`, { action: 'complete' });
    expect(refused.code).toBe('invalid_state_transition');
    const found = await server.database.query<{ code: string | null }>(
      {
        name: '',
        text: 'select code from audit where org_id = $1 and resource_id = $2 order by id desc limit 1',
      },
      [acme.orgId, id],
    );
    expect(found).toEqual([{ code: 'invalid_state_transition' }]);
  });
});

describe('the audit row of a rejected write by a person', () => {
  let acme: Team;
  let ids: Readonly<Record<string, string>>;
  const ofConsole = personRoutes([], consoleRoutes).filter(({ route }) => route.method === 'POST');

  beforeAll(async () => {
    acme = await createTeam(server);
    const { owner, orgId, appId } = acme;
    const key = ok(await owner.post(`${orgId}/${appId}/api_keys`, { name: 'ci', scopes: ['payments:read'] }));
    const invitation = await invite(owner, orgId, 'viewer');
    ids = { members: acme.admin.memberId, applications: appId, api_keys: key.id, invitations: invitation.id };
  });

  const at = (within: string) => (within === 'organization' ? acme.orgId : `${acme.orgId}/${acme.appId}`);
  const filled = ({ path }: ServedRoute, id: string) => path.replace('{id}', id);
  const targetOf = (route: ServedRoute) =>
    route.path.includes('{id}')
      ? named(ids[kindOf(route)] ?? '')
      : ownRecord(route.path, acme.orgId, idFrom('application', acme.appId));

  test('names the record in the path for every kind of rejection', async () => {
    expect(ofConsole.length).toBeGreaterThan(12);
    for (const { route, level } of ofConsole) {
      const path = `${at(level)}/${filled(route, ids[kindOf(route)] ?? '')}`;
      const invalid = await acme.owner.post(path, { noSuchField: 1 });
      expect(invalid.code, route.operationId).toBe('invalid_request');
      await expectTarget(invalid, targetOf(route), route.operationId);
      const forbidden = await acme.viewer.post(path);
      expect(forbidden.code, route.operationId).toBe('role_missing');
      await expectTarget(forbidden, targetOf(route), route.operationId);
    }
  });

  test('names no record for an unknown id', async () => {
    for (const { route, level } of ofConsole.filter((one) => one.route.path.includes('{id}'))) {
      const unknown = `${(ids[kindOf(route)] ?? '').slice(0, 3)}_${suffix}`;
      const answer = await acme.viewer.post(`${at(level)}/${filled(route, unknown)}`);
      expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
      await expectTarget(answer, noTarget, route.operationId);
    }
  });

  test('names a removed member, although the request returns 404', async () => {
    const { memberId } = acme.developer;
    ok(await acme.owner.post(`${acme.orgId}/members/${memberId}/remove`));
    const again = await acme.owner.post(`${acme.orgId}/members/${memberId}/remove`);
    expect(again.code).toBe('resource_not_found');
    await expectTarget(again, named(memberId), 'a removed member');
  });
});
