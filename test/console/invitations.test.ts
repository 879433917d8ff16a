import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { consoleOf } from '../../src/assembly/http.ts';
import { limits } from '../../src/kernel/limits.ts';
import { roles } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import {
  countsOf,
  createOrganization,
  createTeam,
  goodPassword,
  invite,
  join,
  newPerson,
  ok,
  type Person,
  type Team,
  tokenOf,
  Visitor,
} from '../support/visitor.ts';

const unknownToken = 'A'.repeat(32);
const dayMs = 86_400_000;

describe.each(databaseKinds)('invitations on %s', (kind) => {
  let server: Server;
  let acme: Team;
  let rival: Person;
  let rivalOrgId: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, rival] = await Promise.all([createTeam(server), newPerson(server, 'Rita')]);
    rivalOrgId = await createOrganization(rival, 'Rival');
  });

  const stranger = () => new Visitor(server.app);
  const preview = (token: string, visitor = stranger()) => visitor.get(`session/invitations/${token}`);
  const accept = (visitor: Visitor, token: string) => visitor.post(`session/invitations/${token}/accept`);
  const later = (ms: number): FastifyInstance => openApp(server, { wallClock: () => Date.now() + ms });
  const leave = async (person: Person) =>
    ok(await person.post(`${acme.orgId}/members/${person.memberId}/remove`));
  const roleOf = async (person: Visitor, orgId = acme.orgId) => {
    const own = (await person.get('session')).body.organizations as { id: string; role: string }[];
    return own.find(({ id }) => id === orgId)?.role;
  };

  test('the link is shown once, to its creator, and stored as a hash', async () => {
    const created = await acme.admin.post(`${acme.orgId}/invitations`, {
      role: 'viewer',
      email: 'New@Example.test',
    });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({
      object: 'invitation',
      status: 'pending',
      role: 'viewer',
      email: 'new@example.test',
    });
    const token = tokenOf(created.body.url);
    expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(created.body.url).toContain(`/console/invitation/${token}`);
    expect(Date.parse(String(created.body.expiresAt)) - Date.parse(created.body.createdAt)).toBe(
      limits.invitationDays * dayMs,
    );
    const listed = await acme.admin.get(`${acme.orgId}/invitations`);
    expect(listed.body.data.map(({ id }) => id)).toContain(created.body.id);
    expect(listed.text).not.toContain(token);
    // Without ids, whose random letters can spell anything.
    expect(listed.text.replaceAll(/[a-z]+_[0-9a-z]{26}/g, '')).not.toContain('hash');
    const shown = await preview(token);
    expect(shown.body).toMatchObject({
      ...{ object: 'invitation', status: 'pending', role: 'viewer', email: 'new@example.test' },
      organizationName: expect.stringContaining('Team'),
    });
    expect(shown.text, 'the link does not reveal ids').not.toContain(acme.orgId);
  });

  test('a link without an address makes one person a member, once', async () => {
    const { id, token } = await invite(acme.owner, acme.orgId, 'developer');
    const answer = await accept(rival, token);
    expect(answer.status, answer.text).toBe(200);
    expect(await roleOf(rival)).toBe('developer');
    expect((await rival.get(`${acme.orgId}/organization`)).status).toBe(200);
    for (const visitor of [rival, acme.viewer, stranger()])
      expect((await preview(token, visitor)).code).toBe('resource_not_found');
    expect((await accept(rival, token)).code).toBe('resource_not_found');
    const signUp = { name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword };
    const before = await countsOf(server);
    const late = await stranger().post('session/sign_up', { ...signUp, invitation: token });
    expect(late.code).toBe('resource_not_found');
    expect(await countsOf(server), 'no account is created').toEqual(before);
    const revoked = await acme.owner.post(`${acme.orgId}/invitations/${id}/revoke`);
    expect(revoked.code).toBe('invalid_state_transition');
    await leave(rival);
  });

  test('one of several people who accept a link concurrently becomes a member', async () => {
    const people = await Promise.all([
      newPerson(server, 'One'),
      newPerson(server, 'Two'),
      newPerson(server, 'Three'),
    ]);
    const { token } = await invite(acme.owner, acme.orgId, 'viewer');
    const answers = await Promise.all(people.map((person) => accept(person, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'resource_not_found')).toHaveLength(2);
    const joined = await Promise.all(people.map((person) => roleOf(person)));
    expect(joined.filter((role) => role !== undefined)).toEqual(['viewer']);
  });

  test('a link for an address works only for that person, in any case of the address', async () => {
    const { token } = await invite(acme.owner, acme.orgId, 'viewer', rival.email.toUpperCase());
    const other = await accept(acme.viewer, token);
    expect(other.code).toBe('invitation_for_another');
    const signUp = { name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword };
    const before = await countsOf(server);
    const thief = stranger();
    const stolen = await thief.post('session/sign_up', { ...signUp, invitation: token });
    expect(stolen.code).toBe('invitation_for_another');
    expect(stolen.body.error.param).toBe('/email');
    expect(await countsOf(server), 'no account is created').toEqual(before);
    expect(thief.cookies.size).toBe(0);
    ok(await accept(rival, token));
    expect(await roleOf(rival)).toBe('viewer');
    await leave(rival);
  });

  test('a person who signs up with a link is a member immediately', async () => {
    const email = `new-${randomUUID()}@example.test`;
    const { token } = await invite(acme.admin, acme.orgId, 'admin', email);
    const person = await newPerson(server, 'New', { email, invitation: token });
    expect(await roleOf(person)).toBe('admin');
    expect((await preview(token)).code).toBe('resource_not_found');
  });

  test('a revoked link is invalid and cannot be revoked again', async () => {
    const { id, token } = await invite(acme.admin, acme.orgId, 'viewer');
    const revoked = await acme.admin.post(`${acme.orgId}/invitations/${id}/revoke`);
    expect(revoked.body).toMatchObject({ object: 'invitation', status: 'revoked' });
    expect((await preview(token)).code).toBe('resource_not_found');
    expect((await accept(rival, token)).code).toBe('resource_not_found');
    expect(await roleOf(rival)).toBeUndefined();
    const again = await acme.admin.post(`${acme.orgId}/invitations/${id}/revoke`);
    expect(again.code).toBe('invalid_state_transition');
    const listed = await acme.admin.get(`${acme.orgId}/invitations`);
    expect(listed.body.data.map((one) => one.id)).not.toContain(id);
  });

  test('a link expires after its number of days', async () => {
    const { id, token } = await invite(acme.admin, acme.orgId, 'viewer');
    const almost = later(limits.invitationDays * dayMs - 60_000);
    const after = later(limits.invitationDays * dayMs + 60_000);
    expect((await preview(token, new Visitor(almost))).status).toBe(200);
    expect((await preview(token, new Visitor(after))).code).toBe('resource_not_found');
    expect((await accept(rival.at(after), token)).code).toBe('resource_not_found');
    const ids = async (app: FastifyInstance) =>
      (await acme.admin.at(app).get(`${acme.orgId}/invitations`)).body.data.map((one) => one.id);
    expect(await ids(almost)).toContain(id);
    expect(await ids(after)).not.toContain(id);
    const signUp = { name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword };
    const late = await new Visitor(after).post('session/sign_up', { ...signUp, invitation: token });
    expect(late.code).toBe('resource_not_found');
    ok(await accept(rival.at(almost), token));
    await leave(rival);
  });

  test('accepting a link as a member keeps the role, and the link stays valid for another person', async () => {
    const { token } = await invite(acme.owner, acme.orgId, 'owner');
    for (const member of [acme.viewer, acme.admin]) {
      const before = await roleOf(member);
      ok(await accept(member, token));
      expect(await roleOf(member)).toBe(before);
    }
    const { token: lower } = await invite(acme.owner, acme.orgId, 'viewer');
    ok(await accept(acme.owner, lower));
    expect(await roleOf(acme.owner)).toBe('owner');
    expect((await preview(token)).status).toBe(200);
  });

  test.each(roles)('role %s: an admin may invite any role but owner, an owner any role', async (role) => {
    const byAdmin = await acme.admin.post(`${acme.orgId}/invitations`, { role });
    if (role === 'owner') {
      expect(byAdmin.code).toBe('role_missing');
      expect(byAdmin.body.error.details).toEqual({ role: 'owner' });
    } else expect(byAdmin.status).toBe(201);
    expect((await acme.owner.post(`${acme.orgId}/invitations`, { role })).status).toBe(201);
  });

  test.each([
    ['/role', { role: 'root' }],
    ['/role', {}],
    ['/email', { role: 'viewer', email: 'nobody' }],
    ['/expiresAt', { role: 'viewer', expiresAt: '2100-01-01T00:00:00Z' }],
  ])('rejects an invalid or missing %s', async (param, body) => {
    const answer = await acme.owner.post(`${acme.orgId}/invitations`, body);
    expect(answer.code).toBe('invalid_request');
    expect(answer.body.error.param).toBe(param);
  });

  test('unknown and malformed links are rejected without a server error', async () => {
    for (const token of [unknownToken, 'x', '%00', '..%2F..%2Fsession', 'a'.repeat(5_000), "'; select 1"]) {
      const path = encodeURI(decodeURI(token));
      expect((await preview(path)).status, token).toBeGreaterThanOrEqual(400);
      expect((await preview(path)).status, token).toBeLessThan(500);
      expect((await accept(rival, path)).status, token).toBeLessThan(500);
    }
    expect((await preview(unknownToken)).code).toBe('resource_not_found');
  });

  test('an invitation of another organization cannot be revoked', async () => {
    const { id, token } = await invite(rival, rivalOrgId, 'viewer');
    expect((await acme.owner.post(`${acme.orgId}/invitations/${id}/revoke`)).code).toBe('resource_not_found');
    expect((await acme.owner.post(`${rivalOrgId}/invitations/${id}/revoke`)).code).toBe('resource_not_found');
    expect((await preview(token)).status).toBe(200);
  });

  test('pending invitations have a limit, and revoking one frees a slot', async () => {
    const orgId = await createOrganization(rival, 'Full');
    const created = await Promise.all(
      Array.from({ length: limits.invitationsPendingMax }, () => invite(rival, orgId, 'viewer')),
    );
    const overLimit = await rival.post(`${orgId}/invitations`, { role: 'viewer' });
    expect(overLimit.code).toBe('limit_reached');
    ok(await rival.post(`${orgId}/invitations/${created[0]?.id}/revoke`));
    await invite(rival, orgId, 'viewer');
  });

  describe('a password reset link', () => {
    let carl: Person;
    const newPassword = 'a new horse battery';
    beforeAll(async () => {
      carl = await newPerson(server, 'Carl');
      await join(carl, acme.owner, acme.orgId, 'developer');
    });
    const linkFor = (by: Visitor, { memberId }: Person) =>
      by.post(`${acme.orgId}/members/${memberId}/reset_link`);
    const choose = (token: string, password = newPassword) =>
      stranger().post('session/password_reset', { token, newPassword: password });

    test('is created by an owner and works once: earlier sessions end, and using it does not sign in', async () => {
      const created = await linkFor(acme.owner, carl);
      expect(created.status, created.text).toBe(201);
      const token = tokenOf(created.body.url);
      expect(created.body.url).toContain(`/console/reset/${token}`);
      const left = Date.parse(String(created.body.expiresAt)) - Date.now();
      expect(Math.round(left / 3_600_000)).toBe(24);
      expect((await carl.get('session')).body.person, 'creating it changes nothing yet').not.toBeNull();

      for (const wrong of ['short', 'x'.repeat(limits.passwordLengthMax + 1)]) {
        const refused = await choose(token, wrong);
        expect(refused.code).toBe('invalid_request');
        expect(refused.body.error.param).toBe('/newPassword');
      }
      const visitor = stranger();
      const chosen = await visitor.post('session/password_reset', { token, newPassword });
      expect(chosen.status, chosen.text).toBe(200);
      expect(chosen.body).toMatchObject({ object: 'session', person: null });
      expect(visitor.cookies.size).toBe(0);
      expect((await carl.get('session')).body.person, 'earlier sessions').toBeNull();
      expect((await choose(token)).code).toBe('link_invalid');
      const old = { email: carl.email, password: goodPassword };
      expect((await stranger().post('session/sign_in', old)).code).toBe('sign_in_failed');
      ok(await carl.post('session/sign_in', { email: carl.email, password: newPassword }));
    });

    test('expires after a day', async () => {
      const token = tokenOf(ok(await linkFor(acme.owner, carl)).url);
      const text = `update password_reset_links set expires_at = now() - interval '1 second'`;
      await server.database.query({ name: '', text }, []);
      expect((await choose(token)).code).toBe('link_invalid');
    });

    test.each([unknownToken, 'x'.repeat(100)])('is invalid when it was never issued: %s', async (token) => {
      expect((await choose(token)).code).toBe('link_invalid');
    });

    test('is rejected with its field when it is malformed', async () => {
      const answer = await choose('not a token');
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe('/token');
    });

    test('cannot be created by an admin', async () => {
      const answer = await linkFor(acme.admin, carl);
      expect(answer.code).toBe('role_missing');
      expect(answer.body.error.details).toEqual({ role: 'owner' });
    });

    test('cannot be created for a member of an organization that the owner does not own', async () => {
      const elsewhere = await createOrganization(carl, 'Elsewhere');
      const refused = await linkFor(acme.owner, carl);
      expect(refused.code).toBe('reset_not_allowed');
      expect(refused.text).not.toContain('/console/reset/');
      // An admin of the other organization could take over its owner's account. An owner of both gains nothing.
      await join(acme.owner, carl, elsewhere, 'admin');
      expect((await linkFor(acme.owner, carl)).code).toBe('reset_not_allowed');
      ok(await carl.post(`${elsewhere}/members/${acme.owner.memberId}/role`, { role: 'owner' }));
      expect((await linkFor(acme.owner, carl)).status).toBe(201);
    });

    test('can be created for members only', async () => {
      expect((await linkFor(acme.owner, rival)).code).toBe('resource_not_found');
      const former = await newPerson(server, 'Former');
      await join(former, acme.owner, acme.orgId, 'viewer');
      await leave(former);
      expect((await linkFor(acme.owner, former)).code).toBe('resource_not_found');
    });

    test('is different each time, also for concurrent requests', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => linkFor(acme.owner, acme.viewer)));
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
      expect(new Set(answers.map(({ body }) => body.url)).size).toBe(6);
    });

    test('is returned as a reset_link', async () => {
      expect((await linkFor(acme.owner, acme.viewer)).body.object).toBe('reset_link');
    });
  });

  describe('where registration is closed', () => {
    let app: FastifyInstance;
    beforeAll(() => {
      app = openApp(server, {
        console: consoleOf({ registration: 'closed' }, server.people, server.operator, server.vault),
      });
    });
    const signUp = () => ({ name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword });

    test('nobody can sign up without an invitation, and the session reports it', async () => {
      const before = await countsOf(server);
      expect((await new Visitor(app).get('session')).body.registration).toBe('closed');
      const answer = await new Visitor(app).post('session/sign_up', signUp());
      expect(answer.code).toBe('registration_closed');
      expect(answer.status).toBe(403);
      const unknownInvitation = await new Visitor(app).post('session/sign_up', {
        ...signUp(),
        invitation: unknownToken,
      });
      expect(unknownInvitation.code).toBe('resource_not_found');
      expect(await countsOf(server)).toEqual(before);
    });

    test('an invited person can sign up but cannot create an organization', async () => {
      const { token } = await invite(acme.owner.at(app), acme.orgId, 'admin');
      const guest = await newPerson({ app }, 'Guest', { invitation: token });
      expect(await roleOf(guest)).toBe('admin');
      const refused = await guest.post('session/organizations', { name: 'Mine' });
      expect(refused.code).toBe('registration_closed');
      expect((await acme.owner.at(app).post('session/organizations', { name: 'Second' })).status).toBe(201);
    });

    test('existing people can sign in', async () => {
      const { email } = acme.viewer;
      ok(await new Visitor(app).post('session/sign_in', { email, password: goodPassword }));
    });
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleInvitations);
});
