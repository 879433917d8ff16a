import { beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { ApiClient, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { auditOf, createTeam, ok, type Team, type Visitor } from '../support/visitor.ts';

const reset = 'developer_api_reset';
const customers = 'developer_api_customers';

/** A reset deletes the records of all applications, so a key needs a permission that only owners and admins grant. */
describe.each(databaseKinds)('resets by API keys on %s', (kind) => {
  let server: Server;
  let acme: Team;
  let place: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await createTeam(server);
    place = `${acme.orgId}/${acme.appId}/api_keys`;
  });

  const client = (key: unknown) => new ApiClient(server.app, String(key));
  const create = (by: Visitor, more: object = {}) =>
    by.post(place, { name: 'ci', scopes: [...scopes], ...more });
  const granted = async () => ok(await create(acme.admin, { mayReset: true }));

  test.each(['developer', 'admin', 'owner'] as const)(
    'a key with all scopes that a %s creates cannot reset unless it is permitted to',
    async (role) => {
      const created = ok(await create(acme[role]));
      const customer = ok(await client(created.key).post(customers, { name: 'Ada' }));
      const refused = await client(created.key).post(reset);
      expect(refused.status, refused.text).toBe(403);
      expect(refused.code).toBe('reset_not_permitted');
      expect((await client(created.key).get(`${customers}/${customer.id}`)).status).toBe(200);
      expect(created.mayReset).toBe(false);
      const [row] = await auditOf(server, refused);
      expect(row).toMatchObject({
        action: 'organizations.reset',
        outcome: 'refused',
        code: 'reset_not_permitted',
      });
      expect(ok(await client(created.key).get('developer_api_status')).apiKey).toMatchObject({
        mayReset: false,
      });
    },
  );

  test('a developer cannot grant the permission, change or rotate a key that has it, but can revoke it', async () => {
    expect((await create(acme.developer, { mayReset: true })).code).toBe('role_missing');
    const plain = ok(await create(acme.developer));
    const on = (id: string, action: string, body: object, by: Visitor) =>
      by.post(`${place}/${id}/${action}`, body);
    expect((await on(plain.id, 'update', { mayReset: true }, acme.developer)).code).toBe('role_missing');
    ok(await on(plain.id, 'update', { mayReset: false, name: 'renamed' }, acme.developer));
    const strong = await granted();
    for (const [action, body] of [
      ['update', { name: 'mine' }],
      ['update', { mayReset: false }],
      ['update', { allowedCidrs: [] }],
      ['rotate', {}],
    ] as const)
      expect((await on(strong.id, action, body, acme.developer)).code, action).toBe('role_missing');
    ok(await on(strong.id, 'revoke', {}, acme.developer));
  });

  test.each(['admin', 'owner'] as const)(
    'an %s grants it, rotation retains it, and an update ends it',
    async (role) => {
      const created = ok(await create(acme[role], { mayReset: true }));
      expect(created.mayReset).toBe(true);
      const rotated = ok(await acme[role].post(`${place}/${created.id}/rotate`));
      expect(rotated.mayReset).toBe(true);
      const listed = ok(await acme.viewer.get(place)).data.find(({ id }) => id === rotated.id);
      expect(listed?.mayReset).toBe(true);
      expect((await client(rotated.key).post(reset)).status).toBe(200);
      ok(await acme[role].post(`${place}/${rotated.id}/update`, { mayReset: false }));
      expect((await client(rotated.key).post(reset)).code).toBe('reset_not_permitted');
      const again = ok(await acme[role].post(`${place}/${rotated.id}/update`, { mayReset: true }));
      expect(again.mayReset).toBe(true);
    },
  );

  test('the permission does not replace the scopes', async () => {
    const created = ok(await create(acme.owner, { mayReset: true, scopes: ['payments:write'] }));
    expect((await client(created.key).post(reset)).code).toBe('scope_missing');
  });

  test('a stored response to a reset is not replayed to a key without the permission', async () => {
    const strong = await granted();
    const idempotencyKey = 'reset-once';
    ok(await client(strong.key).post(reset, {}, { idempotencyKey }));
    const plain = ok(await create(acme.developer));
    const foreign = await client(plain.key).post(reset, {}, { idempotencyKey });
    expect(foreign.code).toBe('reset_not_permitted');
    expect(foreign.headers['idempotent-replayed']).toBeUndefined();
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.resetPermission);
});
