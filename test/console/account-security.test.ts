import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { ApiClient, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import {
  auditOf,
  createTeam,
  goodPassword,
  invite,
  newPerson,
  ok,
  type Person,
  type Team,
  totp,
  Visitor,
} from '../support/visitor.ts';

const freshEmail = () => `new-${randomUUID()}@example.test`;

describe.each(databaseKinds)('account security on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  const signIn = async (email: string, password = goodPassword) => {
    const visitor = new Visitor(server.app);
    return { visitor, answer: await visitor.post('session/sign_in', { email, password }) };
  };
  const isSignedIn = async (visitor: Visitor) => (await visitor.get('session')).body.person !== null;
  const turnOn = async (person: Visitor) => {
    const pending = ok(await person.post('session/two_factor/enable', { password: goodPassword }));
    ok(await person.post('session/two_factor/confirm', { code: totp(String(pending.secret)) }));
    return pending.backupCodes as readonly string[];
  };

  test('a new second factor ends the sessions that began without it', async () => {
    const ada = await newPerson(server, 'Ada');
    const { visitor: other } = await signIn(ada.email);
    await turnOn(ada);
    expect(await isSignedIn(ada)).toBe(true);
    expect(await isSignedIn(other)).toBe(false);
  });

  describe('new backup codes', () => {
    test('replace the old ones, which stop working', async () => {
      const ada = await newPerson(server, 'Ada');
      const [oldCode] = await turnOn(ada);
      const answer = await ada.post('session/two_factor/backup_codes', { password: goodPassword });
      const [newCode, ...others] = ok(answer).backupCodes as readonly string[];
      expect(others.length).toBeGreaterThan(3);
      expect([newCode, ...others]).not.toContain(oldCode);
      const { visitor } = await signIn(ada.email);
      expect((await visitor.post('session/two_factor', { backupCode: oldCode })).code).toBe(
        'two_factor_failed',
      );
      ok(await visitor.post('session/two_factor', { backupCode: newCode }));
      expect(await isSignedIn(visitor)).toBe(true);
    });

    test('need the password, and a second factor', async () => {
      const ada = await newPerson(server, 'Ada');
      const post = (password: string) => ada.post('session/two_factor/backup_codes', { password });
      expect((await post(goodPassword)).status).toBeGreaterThanOrEqual(400);
      const [code] = await turnOn(ada);
      expect((await post('a wrong horse')).code).toBe('password_wrong');
      const { visitor } = await signIn(ada.email);
      ok(await visitor.post('session/two_factor', { backupCode: code }));
    });
  });

  describe('a new email address', () => {
    test('signs in, the old one does not, and the sessions elsewhere have ended', async () => {
      const ada = await newPerson(server, 'Ada');
      const { visitor: other } = await signIn(ada.email);
      const link = await server.people.createResetLink(ada.email, null);
      const email = freshEmail();
      const answer = await ada.post('session/email', { email: email.toUpperCase(), password: goodPassword });
      expect(ok(answer).person).toMatchObject({ email });
      expect(await isSignedIn(ada)).toBe(true);
      expect(await isSignedIn(other)).toBe(false);
      expect((await signIn(ada.email)).answer.code).toBe('sign_in_failed');
      expect((await signIn(email)).answer.status).toBe(200);
      const reset = { token: link?.token, newPassword: 'another horse battery' };
      expect((await other.post('session/password_reset', reset)).code).toBe('link_invalid');
    });

    test('needs the password and a free, valid address', async () => {
      const ada = await newPerson(server, 'Ada');
      const eve = await newPerson(server, 'Eve');
      const change = (email: string, password = goodPassword) =>
        ada.post('session/email', { email, password });
      const wrong = await change(freshEmail(), 'a wrong horse');
      expect([wrong.code, wrong.body.error.param]).toEqual(['password_wrong', '/password']);
      const taken = await change(eve.email.toUpperCase());
      expect([taken.code, taken.body.error.param]).toEqual(['email_taken', '/email']);
      expect((await change('nowhere')).code).toBe('invalid_request');
      expect((await signIn(ada.email)).answer.status).toBe(200);
    });

    test('does not belong to the seed any more', async () => {
      const email = freshEmail();
      const { id } = await server.people.declare({ email, password: goodPassword });
      const { visitor } = await signIn(email);
      const victim = freshEmail();
      ok(await visitor.post('session/email', { email: victim, password: goodPassword }));
      expect(await server.people.declare({ email: victim, password: goodPassword })).toMatchObject({
        id,
        isSeeded: false,
      });
    });
  });

  describe('an organization that requires two-factor sign-in', () => {
    let acme: Team;
    let key: string;
    const require = (by: Person, isRequired: boolean) =>
      by.post(`${acme.orgId}/organization/two_factor`, { isRequired });

    beforeAll(async () => {
      acme = await createTeam(server);
      const created = await acme.owner.post(`${acme.orgId}/${acme.appId}/api_keys`, {
        ...{ name: 'ci', scopes: ['payments:read'] },
      });
      key = String(ok(created).key);
    });

    test('needs an owner who has it', async () => {
      expect((await require(acme.admin, true)).code).toBe('role_missing');
      const refused = await require(acme.owner, true);
      expect([refused.status, refused.code]).toEqual([403, 'two_factor_required']);
      expect((await auditOf(server, refused))[0]).toMatchObject({ outcome: 'refused' });
      expect((await acme.viewer.get(`${acme.orgId}/members`)).status).toBe(200);
    });

    test('gives members without it no access with the next request, until they turn it on', async () => {
      await turnOn(acme.owner);
      const url = await server.listen();
      const cookie = [...acme.viewer.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const request = get(`${url}/console/api/${acme.orgId}/${acme.appId}/event_stream`, {
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
      });
      const [stream] = (await once(request, 'response')) as [IncomingMessage];
      expect(stream.statusCode).toBe(200);
      stream.resume();
      const ended = once(stream, 'end');
      expect(ok(await require(acme.owner, true))).toMatchObject({ requiresTwoFactor: true });
      await ended;
      for (const path of [
        'members',
        'organization',
        'audit',
        'snapshot',
        `${acme.appId}/developer_api_payments`,
      ]) {
        const refused = await acme.admin.get(`${acme.orgId}/${path}`);
        expect([refused.status, refused.code], path).toEqual([403, 'two_factor_required']);
      }
      expect((await acme.admin.post(`${acme.orgId}/applications`, { name: 'x' })).code).toBe(
        'two_factor_required',
      );
      const { organizations } = (await acme.admin.get('session')).body;
      expect(organizations).toContainEqual(
        expect.objectContaining({ id: acme.orgId, requiresTwoFactor: true }),
      );
      expect((await acme.owner.get(`${acme.orgId}/members`)).status).toBe(200);
      expect((await new ApiClient(server.app, key).get('developer_api_payments')).status).toBe(200);

      await turnOn(acme.admin);
      expect((await acme.admin.get(`${acme.orgId}/members`)).status).toBe(200);
      ok(await acme.admin.post('session/two_factor/disable', { password: goodPassword }));
      expect((await acme.admin.get(`${acme.orgId}/members`)).code).toBe('two_factor_required');
    });

    test('accepts invited people, who have no access before they turn it on, and strangers learn nothing', async () => {
      const { token } = await invite(acme.owner, acme.orgId, 'viewer');
      const guest = await newPerson(server, 'Guest', { invitation: token });
      expect((await guest.get(`${acme.orgId}/members`)).code).toBe('two_factor_required');
      await turnOn(guest);
      expect((await guest.get(`${acme.orgId}/members`)).status).toBe(200);
      const stranger = await newPerson(server, 'Stranger');
      expect((await stranger.get(`${acme.orgId}/members`)).code).toBe('resource_not_found');
    });

    test('is open to its members again when an owner ends the requirement', async () => {
      ok(await require(acme.owner, false));
      expect((await acme.viewer.get(`${acme.orgId}/members`)).status).toBe(200);
    });
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleAccountSecurity);
});
