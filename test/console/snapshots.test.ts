import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import { consoleOf } from '../../src/assembly/http.ts';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';
import { ApiClient } from '../support/api-client.ts';
import { databaseKinds, openApp, openServer } from '../support/server.ts';
import { auditOf, createTeam, ok, type Team, Visitor } from '../support/visitor.ts';

interface Forked extends Body {
  readonly organization: { readonly id: string; readonly name: string };
  readonly apiKeys: readonly { readonly key?: string }[];
}

describe.each(databaseKinds)('whole organizations in the console on %s', (kind) => {
  let server: Server;
  let acme: Team;

  beforeAll(async () => {
    // A separate server, because the tests verify the whole database.
    server = await openServer(kind);
    acme = await createTeam(server);
    const at = `${acme.orgId}/${acme.appId}`;
    ok(await acme.owner.post(`${at}/api_keys`, { name: 'ci', scopes: ['payments:read'] }));
    ok(await acme.owner.post(`${at}/developer_api_webhooks`, { url: 'http://127.0.0.1:9/' }));
    ok(await acme.owner.post(`${at}/developer_api_payments`, { amount: 100, currency: 'EUR' }));
  });
  afterAll(() => server?.close());

  const snapshotFor = (person: Visitor) =>
    server.app.inject({
      url: `/console/api/${acme.orgId}/snapshot`,
      headers: {
        ...person.headers,
        cookie: [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });

  test('an admin downloads a snapshot without secrets, and the audit trail has their name', async () => {
    for (const person of [acme.admin, acme.owner]) {
      const response = await snapshotFor(person);
      expect(response.statusCode, response.body).toBe(200);
      expect(response.headers['content-type']).toBe('application/jsonl');
      expect(response.body).toContain('"hasSecrets":false');
      expect(response.body).toContain('{"table":"payments"');
      expect(response.body).not.toContain('whsec_');
      const rows = await server.database.query(
        {
          name: '',
          text: `select action, actor_kind, outcome from audit where request_id = $1 and actor_id = $2`,
        },
        [response.headers['request-id'], person.personId],
      );
      expect(rows).toEqual([{ action: 'organizations.export', actor_kind: 'person', outcome: 'accepted' }]);
    }
  });

  test('401, 403: without a session, and for roles below admin', async () => {
    for (const person of [acme.viewer, acme.developer]) {
      const refused = await snapshotFor(person);
      expect(refused.statusCode).toBe(403);
      expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'role_missing' } });
    }
    expect((await snapshotFor(new Visitor(server.app))).statusCode).toBe(401);
  });

  test('the person who forks an organization is the only member of the copy, as its owner', async () => {
    const idempotencyKey = randomUUID();
    const path = `${acme.orgId}/fork`;
    const answer = await acme.admin.post(path, { name: 'Copy' }, { 'idempotency-key': idempotencyKey });
    expect(answer.status, answer.text).toBe(201);
    const fork = answer.body as unknown as Forked;
    expect(fork).toMatchObject({ object: 'import', organization: { name: 'Copy' } });
    const members = ok(await acme.admin.get(`${fork.organization.id}/members`)).data;
    expect(members.map(({ role }) => role)).toEqual(['owner']);
    expect((await acme.owner.get(`${fork.organization.id}/members`)).code).toBe('resource_not_found');
    const client = new ApiClient(server.app, fork.apiKeys[0]?.key ?? '');
    expect((await client.get('developer_api_payments')).body.data).toHaveLength(1);

    const again = await acme.admin.post(path, { name: 'Copy' }, { 'idempotency-key': idempotencyKey });
    expect(again.text).toBe(answer.text);
    const { organizations } = (await acme.admin.get('session')).body as unknown as { organizations: Body[] };
    expect(organizations.filter(({ name }) => name === 'Copy')).toHaveLength(1);
    const [row] = await server.database.query<{ body: string; sealed: string }>(
      {
        name: '',
        text: `select i.body, s.sealed_body as sealed from idempotency i join idempotency_secrets s using (org_id, app_id, key)
          where i.key = $1`,
      },
      [idempotencyKey],
    );
    expect(row?.sealed).toMatch(/^sealed\.v1\./);
    expect(row?.body).not.toMatch(/sbk_sandbox_|whsec_/);
    expect((await verify(server.database)).isSound).toBe(true);
  });

  test('where registration is closed, only an owner can fork, as with any new organization', async () => {
    const { orgId, admin, owner } = await createTeam(server);
    const closed = openApp(server, {
      console: consoleOf({ registration: 'closed' }, server.people, server.operator, server.vault),
    });
    const refused = await admin.at(closed).post(`${orgId}/fork`, { name: 'Copy of a guest' });
    expect(refused).toMatchObject({ status: 403, code: 'registration_closed' });
    expect((await owner.at(closed).post(`${orgId}/fork`, { name: 'Copy of the owner' })).status).toBe(201);
    const { organizations } = (await admin.get('session')).body as unknown as { organizations: Body[] };
    expect(organizations).toHaveLength(1);
  });

  test('an admin resets the organization; a developer cannot', async () => {
    const { name } = ok(await acme.admin.get(`${acme.orgId}/organization`)) as unknown as { name: string };
    const reset = (by: Visitor, body: object) => by.post(`${acme.orgId}/reset`, body);
    expect((await reset(acme.developer, { name })).code).toBe('role_missing');
    for (const wrong of ['', 'Another', `${name} `, name.toUpperCase()])
      expect((await reset(acme.admin, { name: wrong })).status, wrong).toBeGreaterThanOrEqual(400);
    expect((await reset(acme.admin, {})).code).toBe('invalid_request');
    expect((await reset(acme.admin, { name: 'Another' })).code).toBe('organization_name_mismatch');
    const answer = await reset(acme.admin, { name });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.deleted).toMatchObject({ payments: 1 });
    const rows = await auditOf(server, answer);
    expect(rows).toEqual([
      expect.objectContaining({ action: 'organizations.reset', actorId: acme.admin.personId }),
    ]);
    const at = `${acme.orgId}/${acme.appId}`;
    expect(ok(await acme.viewer.get(`${at}/developer_api_payments`)).data).toEqual([]);
    expect(ok(await acme.viewer.get(`${at}/developer_api_webhooks`)).data).toHaveLength(1);
    expect((await verify(server.database)).isSound).toBe(true);
  });
});
