import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, openEngine, sharedServer } from '../support/server.ts';
import {
  auditOf,
  createOrganization,
  createTeam,
  historyOf,
  join,
  newPerson,
  ok,
  type Person,
  type Team,
} from '../support/visitor.ts';

describe.each(databaseKinds)('members on %s', (kind) => {
  let server: Server;
  let acme: Team;
  /** People whom the tests add, change and remove. */
  let [ben, cleo]: [Person, Person] = [] as unknown as [Person, Person];

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, ben, cleo] = await Promise.all([
      createTeam(server),
      newPerson(server, 'Ben'),
      newPerson(server, 'Cleo'),
    ]);
  });

  const setRole = (by: Person, { memberId }: Person, role: string, orgId = acme.orgId) =>
    by.post(`${orgId}/members/${memberId}/role`, { role });
  const remove = (by: Person, { memberId }: Person, orgId = acme.orgId) =>
    by.post(`${orgId}/members/${memberId}/remove`);
  const listed = async (by: Person, orgId = acme.orgId) => ok(await by.get(`${orgId}/members`)).data;
  const roleOf = async (person: Person, by: Person = acme.owner, orgId = acme.orgId) =>
    (await listed(by, orgId)).find(({ id }) => id === person.memberId)?.role;
  const ownersOf = async (orgId: string) => {
    const text = `select o.owners, (select count(*)::integer from members m where m.org_id = o.org_id
        and m.status = 'active' and m.role = 'owner') as counted from organizations o where o.org_id = $1`;
    const [row] = await server.database.query<{ owners: number; counted: number }>({ name: '', text }, [
      orgId,
    ]);
    expect(row?.owners, 'the stored count matches the members').toBe(row?.counted);
    return row?.owners;
  };
  /** Gives a person this role, whether or not the person is a member. */
  const ensureRole = async (person: Person, role: Role, orgId = acme.orgId, by = acme.owner) => {
    const now = await roleOf(person, by, orgId);
    if (now === undefined) await join(person, by, orgId, role);
    else if (now !== role) ok(await setRole(by, person, role, orgId));
  };

  async function expectAuditRow(
    answer: Answer,
    by: Person,
    action: string,
    member: Person,
    more: object = { outcome: 'accepted', code: null },
  ): Promise<void> {
    expect(await auditOf(server, answer)).toEqual([
      {
        ...{ orgId: acme.orgId, appId: null, actorKind: 'person', actorId: by.personId },
        ...{ id: expect.stringMatching(/^aud_/), at: expect.any(Number), action },
        ...{ requestId: answer.headers['request-id'], ip: by.address },
        ...{ resource: 'member', resourceId: member.memberId },
        ...more,
      },
    ]);
  }
  const refusal = (code: string) => ({ outcome: 'refused', code });

  test('are listed in the order of joining, with name, e-mail address and role', async () => {
    for (const person of [acme.owner, acme.viewer]) {
      const members = await listed(person);
      expect(members.slice(0, 4).map(({ role }) => role)).toEqual(['owner', 'admin', 'developer', 'viewer']);
      expect(members[0]).toEqual({
        ...{ object: 'member', sandbox: true, status: 'active', role: 'owner' },
        ...{ id: acme.owner.memberId, personId: acme.owner.personId, email: acme.owner.email },
        ...{ name: 'Olga', twoFactor: false, createdAt: expect.any(String) },
      });
    }
  });

  test('a new role takes effect with the next request and writes an audit row and a history row', async () => {
    await ensureRole(ben, 'viewer');
    expect((await ben.post(`${acme.orgId}/applications`, { name: 'mine' })).code).toBe('role_missing');
    const raised = await setRole(acme.admin, ben, 'developer');
    expect(raised.body).toMatchObject({ object: 'member', id: ben.memberId, role: 'developer' });
    await expectAuditRow(raised, acme.admin, 'members.change_role', ben);
    expect((await ben.post(`${acme.orgId}/applications`, { name: 'mine' })).status).toBe(201);
    const lowered = await setRole(acme.admin, ben, 'viewer');
    expect((await ben.post(`${acme.orgId}/applications`, { name: 'mine' })).code).toBe('role_missing');
    const history = await historyOf(server, acme.orgId, ben.memberId);
    expect(history.slice(-2)).toEqual([
      expect.objectContaining({
        ...{ action: 'change_role', actorKind: 'person', actorId: acme.admin.personId },
        ...{ requestId: raised.headers['request-id'], fromStatus: 'active', toStatus: 'active' },
      }),
      expect.objectContaining({ action: 'change_role', requestId: lowered.headers['request-id'] }),
    ]);
  });

  test('setting the current role changes nothing but writes an audit row', async () => {
    await ensureRole(ben, 'viewer');
    const before = await historyOf(server, acme.orgId, ben.memberId);
    const same = await setRole(acme.admin, ben, 'viewer');
    expect(same.status).toBe(200);
    await expectAuditRow(same, acme.admin, 'members.change_role', ben);
    expect(await historyOf(server, acme.orgId, ben.memberId)).toEqual(before);
  });

  test('admins can neither create, change nor remove owners', async () => {
    await ensureRole(ben, 'owner');
    for (const [answer, action, member] of [
      [await setRole(acme.admin, ben, 'viewer'), 'members.change_role', ben],
      [await setRole(acme.admin, ben, 'owner'), 'members.change_role', ben],
      [await setRole(acme.admin, acme.viewer, 'owner'), 'members.change_role', acme.viewer],
      [await setRole(acme.admin, acme.admin, 'owner'), 'members.change_role', acme.admin],
      [await remove(acme.admin, ben), 'members.remove', ben],
    ] as const) {
      expect(answer.code).toBe('role_missing');
      expect(answer.body.error.details).toEqual({ role: 'owner' });
      await expectAuditRow(answer, acme.admin, action, member, refusal('role_missing'));
    }
    expect(await roleOf(ben)).toBe('owner');
    expect(await roleOf(acme.viewer)).toBe('viewer');
    expect(await ownersOf(acme.orgId)).toBe(2);
    await ensureRole(ben, 'viewer');
    expect(await ownersOf(acme.orgId)).toBe(1);
  });

  test('admins can create admins and lower their own role', async () => {
    await ensureRole(ben, 'viewer');
    ok(await setRole(acme.admin, ben, 'admin'));
    ok(await setRole(ben, ben, 'developer'));
    expect((await setRole(ben, ben, 'admin')).code).toBe('role_missing');
    expect(await roleOf(ben)).toBe('developer');
  });

  test.each(['viewer', 'developer'] as const)(
    'a %s cannot change or remove members, but may leave',
    async (role) => {
      await ensureRole(ben, role);
      await ensureRole(cleo, 'viewer');
      expect((await setRole(ben, cleo, 'admin')).code).toBe('role_missing');
      expect((await setRole(ben, ben, 'admin')).code).toBe('role_missing');
      const removed = await remove(ben, cleo);
      expect(removed.code).toBe('role_missing');
      expect(removed.body.error.details).toEqual({ role: 'admin' });
      expect(await roleOf(cleo)).toBe('viewer');
      const left = await remove(ben, ben);
      expect(left.body).toMatchObject({ object: 'member', status: 'removed' });
      await expectAuditRow(left, ben, 'members.remove', ben);
      expect((await ben.get(`${acme.orgId}/organization`)).code).toBe('resource_not_found');
      expect((await ben.get('session')).body.organizations).toEqual([]);
    },
  );

  test('a removed person loses access immediately, is no longer listed, and can be invited again', async () => {
    await ensureRole(ben, 'admin');
    const removed = await remove(acme.owner, ben);
    await expectAuditRow(removed, acme.owner, 'members.remove', ben);
    expect((await ben.get(`${acme.orgId}/members`)).code).toBe('resource_not_found');
    expect((await ben.post(`${acme.orgId}/invitations`, { role: 'viewer' })).code).toBe('resource_not_found');
    expect(await roleOf(ben)).toBeUndefined();
    for (const answer of [
      await remove(acme.owner, ben),
      await setRole(acme.owner, ben, 'owner'),
      await acme.owner.post(`${acme.orgId}/members/${ben.memberId}/reset_link`),
    ])
      expect(answer.code).toBe('resource_not_found');
    await join(ben, acme.owner, acme.orgId, 'viewer');
    expect(await roleOf(ben), 'not the previous role').toBe('viewer');
    const actions = (await historyOf(server, acme.orgId, ben.memberId)).map(({ action }) => action);
    expect(actions.slice(-2)).toEqual(['remove', 'rejoin']);
    expect((await listed(acme.owner)).filter(({ id }) => id === ben.memberId)).toHaveLength(1);
  });

  test('joining writes an audit row that names the invited person', async () => {
    await ensureRole(cleo, 'viewer');
    ok(await remove(cleo, cleo));
    const created = ok(await acme.admin.post(`${acme.orgId}/invitations`, { role: 'developer' }));
    const token = String(created.url).split('/').at(-1);
    const accepted = await cleo.post(`session/invitations/${token}/accept`);
    await expectAuditRow(accepted, cleo, 'invitations.accept', cleo);
    const [, last] = (await historyOf(server, acme.orgId, created.id)).map(({ action, actorId }) => [
      action,
      actorId,
    ]);
    expect(last).toEqual(['accept', cleo.personId]);
  });

  test('the last owner can neither leave, lower their role nor be removed', async () => {
    const orgId = await createOrganization(ben, 'Alone');
    for (const answer of [
      await remove(ben, ben, orgId),
      await setRole(ben, ben, 'admin', orgId),
      await setRole(ben, ben, 'viewer', orgId),
    ])
      expect(answer.code).toBe('last_owner');
    await join(cleo, ben, orgId, 'admin');
    expect((await remove(ben, ben, orgId)).code).toBe('last_owner');
    ok(await setRole(ben, cleo, 'owner', orgId));
    ok(await remove(ben, ben, orgId));
    expect((await remove(cleo, cleo, orgId)).code).toBe('last_owner');
    expect(await ownersOf(orgId)).toBe(1);
  });

  test('two owners who concurrently leave, step down or remove each other leave exactly one owner', async () => {
    const orgId = await createOrganization(ben, 'Two');
    await join(cleo, ben, orgId, 'owner');
    // A second engine on the same database, as a second node has.
    const other = openApp(server, { engine: openEngine(server.database, { vault: server.vault }) });
    const ways: ((own: Person, one: Person) => Promise<Answer>)[] = [
      (own) => remove(own, own, orgId),
      (own) => setRole(own, own, 'viewer', orgId),
      (own, one) => remove(own, one, orgId),
      (own, one) => setRole(own, one, 'developer', orgId),
    ];
    for (const [round, way] of [...ways, ...ways, ...ways].entries()) {
      const onOtherNode = Object.assign(cleo.at(other), cleo);
      const second = round % 2 === 0 ? cleo : (onOtherNode as Person);
      const next = ways[(round + Math.floor(round / ways.length)) % ways.length] ?? way;
      const answers = await Promise.all([way(ben, cleo), next(second, ben)]);
      const codes = answers.map(({ code }) => code);
      for (const code of codes)
        expect([null, 'last_owner', 'role_missing', 'resource_not_found']).toContain(code);
      expect(codes, 'one of them succeeds').toContain(null);
      expect(await ownersOf(orgId), `round ${round}`).toBe(1);
      const owner = (await ben.get(`${orgId}/members`)).status === 200 ? ben : cleo;
      const current = (await roleOf(owner, owner, orgId)) === 'owner' ? owner : owner === ben ? cleo : ben;
      for (const person of [ben, cleo]) await ensureRole(person, 'owner', orgId, current);
    }
  });

  test('another organization and its members are not found', async () => {
    const orgId = await createOrganization(ben, 'Apart');
    expect((await setRole(acme.owner, ben, 'viewer', orgId)).code).toBe('resource_not_found');
    expect((await remove(acme.owner, ben, orgId)).code).toBe('resource_not_found');
    const stranger = await newPerson(server, 'Stranger');
    for (const id of [stranger.memberId, stranger.personId, 'mem_x', 'x'.repeat(300)]) {
      const answer = await acme.owner.post(`${acme.orgId}/members/${id}/role`, { role: 'viewer' });
      expect(answer.code, id).toBe('resource_not_found');
    }
  });

  test.each([{}, { role: 'root' }, { role: 'owner', force: true }])(
    'rejects an unknown role or field: %j',
    async (body) => {
      const answer = await acme.owner.post(`${acme.orgId}/members/${acme.viewer.memberId}/role`, body);
      expect(answer.code).toBe('invalid_request');
    },
  );
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleMembers);
});
