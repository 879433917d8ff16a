import { afterAll, beforeAll, expect, test } from 'vitest';
import { verify } from '../../src/admin/verify.ts';
import type { Id } from '../../src/kernel/ids.ts';
import { selectList } from '../../src/kernel/table.ts';
import { type AuditRow, auditTable } from '../../src/resources/audit/table.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { openServer } from '../support/server.ts';
import { tenant } from '../support/tenant.ts';
import { createTeam } from '../support/visitor.ts';

const token = 'x'.repeat(40);
let server: Server;

beforeAll(async () => {
  server = await openServer('pglite', { operatorToken: token });
});
afterAll(() => server?.close());

async function trailOf(orgId: string, { headers }: Answer): Promise<readonly Partial<AuditRow>[]> {
  const text = `select ${selectList(auditTable, 'a')} from audit a where org_id = $1 and request_id = $2 order by id`;
  return server.database.query<AuditRow>({ name: '', text }, [orgId, headers['request-id']]);
}

const forkOf = (answer: Answer) =>
  (answer.body as unknown as { organization: { id: string } }).organization.id;

test('a fork by the operator writes an audit row in the source and one in the fork', async () => {
  const { orgId } = await tenant(server);
  const operator = new ApiClient(server.app, token);
  const answer = await operator.post(`/_operator/organizations/${orgId}/fork`, { name: 'Copy' });
  expect(answer.status, answer.text).toBe(201);
  const by = { actorKind: 'system', actorId: 'operator', ip: '127.0.0.1', outcome: 'accepted' };
  const organization = (id: string) => ({ resource: 'organization', resourceId: id });
  expect(await trailOf(orgId, answer)).toMatchObject([
    { action: 'organizations.fork', ...by, ...organization(orgId) },
  ]);
  const id = forkOf(answer);
  expect(await trailOf(id, answer)).toMatchObject([
    { action: 'organizations.import', ...by, ...organization(id) },
  ]);
});

test('a fork of an organization that changes after the request has arrived is verified as sound', async () => {
  const { orgId, client } = await tenant(server);
  // The id of a request is generated when it arrives; the fork may wait in its queue for half a minute then.
  const { headers } = await client.get('developer_api_status');
  const payment = await client.post('developer_api_payments', { amount: 700, currency: 'EUR' });
  expect(payment.status, payment.text).toBe(201);
  const request = { id: headers['request-id'] as Id<'request'>, ip: '127.0.0.1' };
  const fork = await server.operator.fork(request, orgId, { name: 'Copy' });
  expect(fork).toHaveProperty('organization.name', 'Copy');
  const { checks } = await verify(server.database);
  expect(checks.flatMap(({ differences }) => differences)).toEqual([]);
});

test('a fork by a person names that person in both audit trails', async () => {
  const { admin, orgId } = await createTeam(server);
  const answer = await admin.post(`${orgId}/fork`, { name: 'Copy' });
  expect(answer.status, answer.text).toBe(201);
  const by = { actorKind: 'person', actorId: admin.personId, ip: admin.address, outcome: 'accepted' };
  expect(await trailOf(orgId, answer)).toMatchObject([
    { action: 'organizations.fork', ...by, resourceId: orgId },
    { action: 'organizations.fork_made', ...by, resourceId: orgId },
  ]);
  expect(await trailOf(forkOf(answer), answer)).toMatchObject([
    { action: 'organizations.import', ...by },
    { action: 'members.declare', ...by, resourceId: admin.memberId },
  ]);
});
