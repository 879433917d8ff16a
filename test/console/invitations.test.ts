import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import { roles } from '../../src/kernel/permissions.ts';
import { consoleOf, type Server } from '../../src/server.ts';
import { seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import {
  countsOf,
  found,
  goodPassword,
  type House,
  house,
  invite,
  join,
  newcomer,
  ok,
  type Person,
  tokenOf,
  Visitor,
} from '../support/visitor.ts';

const unknownToken = 'A'.repeat(32);
const dayMs = 86_400_000;

describe.each(databaseKinds)('invitations on %s', (kind) => {
  let server: Server;
  let acme: House;
  let rival: Person;
  let rivalOrgId: string;

  beforeAll(async () => {
    server = await sharedServer(kind);
    [acme, rival] = await Promise.all([house(server), newcomer(server, 'Rita')]);
    rivalOrgId = await found(rival, 'Rival');
  });

  const stranger = () => new Visitor(server.app);
  const look = (token: string, visitor = stranger()) => visitor.get(`session/invitations/${token}`);
  const accept = (visitor: Visitor, token: string) => visitor.post(`session/invitations/${token}/accept`);
  const later = (ms: number): FastifyInstance => openApp(server, { wallClock: () => Date.now() + ms });
  const leave = async (person: Person) =>
    ok(await person.post(`${acme.orgId}/members/${person.memberId}/remove`));
  const roleOf = async (person: Visitor, orgId = acme.orgId) => {
    const own = (await person.get('session')).body.organizations as { id: string; role: string }[];
    return own.find(({ id }) => id === orgId)?.role;
  };

  test('the link is shown once, to whoever makes it, and is kept as a hash', async () => {
    const made = await acme.admin.post(`${acme.orgId}/invitations`, {
      role: 'viewer',
      email: 'New@Example.test',
    });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({
      object: 'invitation',
      status: 'pending',
      role: 'viewer',
      email: 'new@example.test',
    });
    const token = tokenOf(made.body.url);
    expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(made.body.url).toContain(`/console/invitation/${token}`);
    expect(Date.parse(String(made.body.expiresAt)) - Date.parse(made.body.createdAt)).toBe(
      limits.invitationDays * dayMs,
    );
    const listed = await acme.admin.get(`${acme.orgId}/invitations`);
    expect(listed.body.data.map(({ id }) => id)).toContain(made.body.id);
    expect(listed.text).not.toContain(token);
    expect(listed.text).not.toContain('hash');
    const shown = await look(token);
    expect(shown.body).toMatchObject({
      ...{ object: 'invitation', status: 'pending', role: 'viewer', email: 'new@example.test' },
      organizationName: expect.stringContaining('House'),
    });
    expect(shown.text, 'whoever has the link learns no ids').not.toContain(acme.orgId);
  });

  test('a link for anybody makes whoever has it a member, once', async () => {
    const { id, token } = await invite(acme.owner, acme.orgId, 'developer');
    const answer = await accept(rival, token);
    expect(answer.status, answer.text).toBe(200);
    expect(await roleOf(rival)).toBe('developer');
    expect((await rival.get(`${acme.orgId}/organization`)).status).toBe(200);
    for (const visitor of [rival, acme.viewer, stranger()])
      expect((await look(token, visitor)).code).toBe('resource_not_found');
    expect((await accept(rival, token)).code).toBe('resource_not_found');
    const signUp = { name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword };
    const before = await countsOf(server);
    const late = await stranger().post('session/sign_up', { ...signUp, invitation: token });
    expect(late.code).toBe('resource_not_found');
    expect(await countsOf(server), 'nobody is made').toEqual(before);
    const revoked = await acme.owner.post(`${acme.orgId}/invitations/${id}/revoke`);
    expect(revoked.code).toBe('invalid_state_transition');
    await leave(rival);
  });

  test('of many who use one link at once, one becomes a member', async () => {
    const people = await Promise.all([
      newcomer(server, 'One'),
      newcomer(server, 'Two'),
      newcomer(server, 'Three'),
    ]);
    const { token } = await invite(acme.owner, acme.orgId, 'viewer');
    const answers = await Promise.all(people.map((person) => accept(person, token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ code }) => code === 'resource_not_found')).toHaveLength(2);
    const joined = await Promise.all(people.map((person) => roleOf(person)));
    expect(joined.filter((role) => role !== undefined)).toEqual(['viewer']);
  });

  test('a link for an address is for that person alone, however the address is written', async () => {
    const { token } = await invite(acme.owner, acme.orgId, 'viewer', rival.email.toUpperCase());
    const other = await accept(acme.viewer, token);
    expect(other.code).toBe('invitation_for_another');
    const signUp = { name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword };
    const before = await countsOf(server);
    const thief = stranger();
    const stolen = await thief.post('session/sign_up', { ...signUp, invitation: token });
    expect(stolen.code).toBe('invitation_for_another');
    expect(stolen.body.error.param).toBe('/email');
    expect(await countsOf(server), 'nobody is made').toEqual(before);
    expect(thief.cookies.size).toBe(0);
    ok(await accept(rival, token));
    expect(await roleOf(rival)).toBe('viewer');
    await leave(rival);
  });

  test('who signs up with a link is a member at once', async () => {
    const email = `new-${randomUUID()}@example.test`;
    const { token } = await invite(acme.admin, acme.orgId, 'admin', email);
    const person = await newcomer(server, 'New', { email, invitation: token });
    expect(await roleOf(person)).toBe('admin');
    expect((await look(token)).code).toBe('resource_not_found');
  });

  test('a revoked link is worth nothing, and cannot be revoked again', async () => {
    const { id, token } = await invite(acme.admin, acme.orgId, 'viewer');
    const revoked = await acme.admin.post(`${acme.orgId}/invitations/${id}/revoke`);
    expect(revoked.body).toMatchObject({ object: 'invitation', status: 'revoked' });
    expect((await look(token)).code).toBe('resource_not_found');
    expect((await accept(rival, token)).code).toBe('resource_not_found');
    expect(await roleOf(rival)).toBeUndefined();
    const again = await acme.admin.post(`${acme.orgId}/invitations/${id}/revoke`);
    expect(again.code).toBe('invalid_state_transition');
    const listed = await acme.admin.get(`${acme.orgId}/invitations`);
    expect(listed.body.data.map((one) => one.id)).not.toContain(id);
  });

  test('a link ends after its days', async () => {
    const { id, token } = await invite(acme.admin, acme.orgId, 'viewer');
    const almost = later(limits.invitationDays * dayMs - 60_000);
    const after = later(limits.invitationDays * dayMs + 60_000);
    expect((await look(token, new Visitor(almost))).status).toBe(200);
    expect((await look(token, new Visitor(after))).code).toBe('resource_not_found');
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

  test('who is a member keeps the role, and the link stays good for somebody else', async () => {
    const { token } = await invite(acme.owner, acme.orgId, 'owner');
    for (const member of [acme.viewer, acme.admin]) {
      const before = await roleOf(member);
      ok(await accept(member, token));
      expect(await roleOf(member)).toBe(before);
    }
    const { token: lower } = await invite(acme.owner, acme.orgId, 'viewer');
    ok(await accept(acme.owner, lower));
    expect(await roleOf(acme.owner)).toBe('owner');
    expect((await look(token)).status).toBe(200);
  });

  test.each(roles)('an admin invites as %s only if that is no owner; an owner as anything', async (role) => {
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
  ])('needs a right %s', async (param, body) => {
    const answer = await acme.owner.post(`${acme.orgId}/invitations`, body);
    expect(answer.code).toBe('invalid_request');
    expect(answer.body.error.param).toBe(param);
  });

  test('links that never were lead nowhere', async () => {
    for (const token of [unknownToken, 'x', '%00', '..%2F..%2Fsession', 'a'.repeat(5_000), "'; select 1"]) {
      const path = encodeURI(decodeURI(token));
      expect((await look(path)).status, token).toBeGreaterThanOrEqual(400);
      expect((await look(path)).status, token).toBeLessThan(500);
      expect((await accept(rival, path)).status, token).toBeLessThan(500);
    }
    expect((await look(unknownToken)).code).toBe('resource_not_found');
  });

  test("nobody revokes another organization's invitation", async () => {
    const { id, token } = await invite(rival, rivalOrgId, 'viewer');
    expect((await acme.owner.post(`${acme.orgId}/invitations/${id}/revoke`)).code).toBe('resource_not_found');
    expect((await acme.owner.post(`${rivalOrgId}/invitations/${id}/revoke`)).code).toBe('resource_not_found');
    expect((await look(token)).status).toBe(200);
  });

  test('there are as many open ones as there may be, and revoking makes room', async () => {
    const orgId = await found(rival, 'Crowd');
    const made = await Promise.all(
      Array.from({ length: limits.invitationsPendingMax }, () => invite(rival, orgId, 'viewer')),
    );
    const crowded = await rival.post(`${orgId}/invitations`, { role: 'viewer' });
    expect(crowded.code).toBe('limit_reached');
    ok(await rival.post(`${orgId}/invitations/${made[0]?.id}/revoke`));
    await invite(rival, orgId, 'viewer');
  });

  describe('a link to choose a new password', () => {
    let carl: Person;
    const newPassword = 'a new horse battery';
    beforeAll(async () => {
      carl = await newcomer(server, 'Carl');
      await join(carl, acme.owner, acme.orgId, 'developer');
    });
    const linkFor = (by: Visitor, { memberId }: Person) =>
      by.post(`${acme.orgId}/members/${memberId}/reset_link`);
    const choose = (token: string, password = newPassword) =>
      stranger().post('session/password_reset', { token, newPassword: password });

    test('is made by an owner and works once; sessions of before end, and nobody is signed in by it', async () => {
      const made = await linkFor(acme.owner, carl);
      expect(made.status, made.text).toBe(201);
      const token = tokenOf(made.body.url);
      expect(made.body.url).toContain(`/console/reset/${token}`);
      const left = Date.parse(String(made.body.expiresAt)) - Date.now();
      expect(Math.round(left / 3_600_000)).toBe(24);
      expect((await carl.get('session')).body.person, 'making it changes nothing yet').not.toBeNull();

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
      expect((await carl.get('session')).body.person, 'sessions of before').toBeNull();
      expect((await choose(token)).code).toBe('link_invalid');
      const old = { email: carl.email, password: goodPassword };
      expect((await stranger().post('session/sign_in', old)).code).toBe('sign_in_failed');
      ok(await carl.post('session/sign_in', { email: carl.email, password: newPassword }));
    });

    test('ends after a day', async () => {
      const token = tokenOf(ok(await linkFor(acme.owner, carl)).url);
      const text = `update password_reset_links set expires_at = now() - interval '1 second'`;
      await server.database.query({ name: '', text }, []);
      expect((await choose(token)).code).toBe('link_invalid');
    });

    test.each([unknownToken, 'x'.repeat(100)])('that was made up is worth nothing: %s', async (token) => {
      expect((await choose(token)).code).toBe('link_invalid');
    });

    test('that has not the form of one is refused with its field', async () => {
      const answer = await choose('not a token');
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe('/token');
    });

    test('is made by no admin', async () => {
      const answer = await linkFor(acme.admin, carl);
      expect(answer.code).toBe('role_missing');
      expect(answer.body.error.details).toEqual({ role: 'owner' });
    });

    test('is made for nobody who belongs to an organization that the owner does not own', async () => {
      const elsewhere = await found(carl, 'Elsewhere');
      const refused = await linkFor(acme.owner, carl);
      expect(refused.code).toBe('reset_not_allowed');
      expect(refused.text).not.toContain('/console/reset/');
      // As its admin the owner still could take over the account and with it the other house; as its owner there is nothing to win.
      await join(acme.owner, carl, elsewhere, 'admin');
      expect((await linkFor(acme.owner, carl)).code).toBe('reset_not_allowed');
      ok(await carl.post(`${elsewhere}/members/${acme.owner.memberId}/role`, { role: 'owner' }));
      expect((await linkFor(acme.owner, carl)).status).toBe(201);
    });

    test('is made for members only', async () => {
      expect((await linkFor(acme.owner, rival)).code).toBe('resource_not_found');
      const former = await newcomer(server, 'Former');
      await join(former, acme.owner, acme.orgId, 'viewer');
      await leave(former);
      expect((await linkFor(acme.owner, former)).code).toBe('resource_not_found');
    });

    test('is another one each time, also for owners who ask at once', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => linkFor(acme.owner, acme.viewer)));
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(201));
      expect(new Set(answers.map(({ body }) => body.url)).size).toBe(6);
    });

    test('is answered as a reset_link', async () => {
      expect((await linkFor(acme.owner, acme.viewer)).body.object).toBe('reset_link');
    });
  });

  describe('where registration is closed', () => {
    let app: FastifyInstance;
    beforeAll(() => {
      app = openApp(server, {
        console: consoleOf({ registration: 'closed' }, server.people, server.operator),
      });
    });
    const signUp = () => ({ name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword });

    test('nobody signs up by themselves, and the session says so', async () => {
      const before = await countsOf(server);
      expect((await new Visitor(app).get('session')).body.registration).toBe('closed');
      const answer = await new Visitor(app).post('session/sign_up', signUp());
      expect(answer.code).toBe('registration_closed');
      expect(answer.status).toBe(403);
      const madeUp = await new Visitor(app).post('session/sign_up', {
        ...signUp(),
        invitation: unknownToken,
      });
      expect(madeUp.code).toBe('resource_not_found');
      expect(await countsOf(server)).toEqual(before);
    });

    test('an invitation still lets people sign up, as members who found no organizations', async () => {
      const { token } = await invite(acme.owner.at(app), acme.orgId, 'admin');
      const guest = await newcomer({ app }, 'Guest', { invitation: token });
      expect(await roleOf(guest)).toBe('admin');
      const refused = await guest.post('session/organizations', { name: 'Mine' });
      expect(refused.code).toBe('registration_closed');
      expect((await acme.owner.at(app).post('session/organizations', { name: 'Second' })).status).toBe(201);
    });

    test('people who are there sign in', async () => {
      const { email } = acme.viewer;
      ok(await new Visitor(app).post('session/sign_in', { email, password: goodPassword }));
    });
  });
});

test('the codes seen here are those of the list', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleInvitations);
});
