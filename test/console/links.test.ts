import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { consoleOf } from '../../src/assembly/http.ts';
import type { Role } from '../../src/kernel/permissions.ts';
import type { Server } from '../../src/server.ts';
import { seenCodes } from '../support/api-client.ts';
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

const newPassword = 'a new horse battery';

/** A link is valid only while its creator may still create it, and while nothing it depends on has changed. */
describe.each(databaseKinds)('links on %s', (kind) => {
  let server: Server;
  let acme: Team;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await createTeam(server);
  });

  const stranger = () => new Visitor(server.app);
  const newMember = async (role: Role): Promise<Person> => {
    const person = await newPerson(server, role);
    await join(person, acme.owner, acme.orgId, role);
    return person;
  };
  const setRole = async (by: Person, { memberId }: Person, role: Role, orgId = acme.orgId) =>
    ok(await by.post(`${orgId}/members/${memberId}/role`, { role }));
  const remove = async (by: Person, { memberId }: Person, orgId = acme.orgId) =>
    ok(await by.post(`${orgId}/members/${memberId}/remove`));

  describe('for a password reset', () => {
    const linkFor = async (by: Person, { memberId }: Person, orgId = acme.orgId) =>
      tokenOf(ok(await by.post(`${orgId}/members/${memberId}/reset_link`)).url);
    const use = async (token: string) =>
      (await stranger().post('session/password_reset', { token, newPassword })).code;

    test('is stored as a hash, with its creator', async () => {
      const carl = await newMember('viewer');
      const token = await linkFor(acme.owner, carl);
      const rows = await server.database.query<{ row: string; creator: string | null }>(
        {
          name: '',
          text: `select row_to_json(l)::text as row, creator_id as creator from password_reset_links l where person_id = $1`,
        },
        [carl.personId],
      );
      expect(rows.map(({ creator }) => creator)).toEqual([acme.owner.personId]);
      expect(JSON.stringify(rows)).not.toContain(token);
    });

    test('becomes invalid when its target joins another organization, also after leaving this one', async () => {
      const carl = await newMember('viewer');
      const [token, spare] = [await linkFor(acme.owner, carl), await linkFor(acme.owner, carl)];
      const own = await createOrganization(carl, 'Own');
      expect(await use(token)).toBe('link_invalid');
      await remove(carl, carl);
      expect(await use(spare)).toBe('link_invalid');
      expect((await carl.get(`${own}/organization`)).status, 'the session of the target').toBe(200);
    });

    test('becomes invalid when its target leaves, and stays invalid when the target returns', async () => {
      const carl = await newMember('viewer');
      const token = await linkFor(acme.owner, carl);
      await remove(acme.owner, carl);
      await join(carl, acme.owner, acme.orgId, 'viewer');
      expect(await use(token)).toBe('link_invalid');
    });

    test('becomes invalid when its creator is no longer an owner, and stays invalid afterwards', async () => {
      const [carl, second] = [await newMember('viewer'), await newMember('owner')];
      const [first, later] = [await linkFor(second, carl), await linkFor(second, carl)];
      await setRole(acme.owner, second, 'admin');
      expect(await use(first)).toBe('link_invalid');
      await setRole(acme.owner, second, 'owner');
      expect(await use(later)).toBe('link_invalid');
    });

    test('becomes invalid when its creator is removed', async () => {
      const [carl, second] = [await newMember('viewer'), await newMember('owner')];
      const token = await linkFor(second, carl);
      await remove(acme.owner, second);
      expect(await use(token)).toBe('link_invalid');
    });

    test('becomes invalid when the password changes', async () => {
      const carl = await newMember('viewer');
      const token = await linkFor(acme.owner, carl);
      const change = { currentPassword: goodPassword, newPassword: 'a third horse battery' };
      ok(await carl.post('session/password', change));
      expect(await use(token)).toBe('link_invalid');
    });

    test('becomes invalid when another link is used, also when several are used concurrently', async () => {
      const carl = await newMember('viewer');
      const tokens = [await linkFor(acme.owner, carl), await linkFor(acme.owner, carl)];
      const codes = await Promise.all(tokens.map(use));
      expect(codes.toSorted()).toEqual(['link_invalid', null]);
      const operators = await Promise.all([1, 2].map(() => server.people.createResetLink(carl.email, null)));
      const answers = await Promise.all(operators.map((link) => use(link?.token ?? '')));
      expect(answers.toSorted()).toEqual(['link_invalid', null]);
    });

    test('from the operator becomes invalid by use and by a new password, not by membership changes', async () => {
      const carl = await newMember('viewer');
      const link = await server.people.createResetLink(carl.email, null);
      await createOrganization(carl, 'Own');
      expect(await use(link?.token ?? '')).toBeNull();
      const next = await server.people.createResetLink(carl.email, null);
      ok(await carl.post('session/sign_in', { email: carl.email, password: newPassword }));
      ok(await carl.post('session/password', { currentPassword: newPassword, newPassword: goodPassword }));
      expect(await use(next?.token ?? '')).toBe('link_invalid');
    });

    test('still works when nothing it depends on has changed', async () => {
      const carl = await newMember('viewer');
      const shared = await createOrganization(acme.owner, 'Also owned');
      await join(carl, acme.owner, shared, 'admin');
      const token = await linkFor(acme.owner, carl);
      await createOrganization(acme.owner, 'Unrelated');
      expect(await use(token)).toBeNull();
    });

    test('has a limit of twenty for each person: the oldest becomes invalid first', async () => {
      const carl = await newMember('viewer');
      const first = await linkFor(acme.owner, carl);
      for (let i = 0; i < 20; i += 1) await server.people.createResetLink(carl.email, null);
      expect(await use(first)).toBe('link_invalid');
      const rows = await server.database.query(
        { name: '', text: 'select 1 from password_reset_links where person_id = $1' },
        [carl.personId],
      );
      expect(rows).toHaveLength(20);
    });
  });

  describe('for an invitation', () => {
    const preview = async (token: string) => (await stranger().get(`session/invitations/${token}`)).code;
    const accept = async (person: Visitor, token: string) =>
      (await person.post(`session/invitations/${token}/accept`)).code;
    const openIds = async () =>
      (await acme.owner.get(`${acme.orgId}/invitations`)).body.data.map(({ id }) => id);

    test('becomes invalid when its creator is removed, so that a removed admin cannot rejoin with it', async () => {
      const admin = await newMember('admin');
      const { id, token } = await invite(admin, acme.orgId, 'admin');
      expect(await openIds()).toContain(id);
      await remove(acme.owner, admin);
      expect(await preview(token)).toBe('resource_not_found');
      expect(await accept(admin, token)).toBe('resource_not_found');
      const other = await newPerson(server, 'Other');
      expect(await accept(other, token)).toBe('resource_not_found');
      const signUp = { name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword };
      const signedUp = await stranger().post('session/sign_up', { ...signUp, invitation: token });
      expect(signedUp.code).toBe('resource_not_found');
      expect(await openIds()).not.toContain(id);
      await join(admin, acme.owner, acme.orgId, 'admin');
      expect(await accept(other, token), 'it stays invalid').toBe('resource_not_found');
    });

    test('becomes invalid when the role of its creator changes', async () => {
      const admin = await newMember('admin');
      const { id, token } = await invite(admin, acme.orgId, 'admin');
      await setRole(acme.owner, admin, 'viewer');
      expect(await preview(token)).toBe('resource_not_found');
      expect(await accept(await newPerson(server, 'Other'), token)).toBe('resource_not_found');
      expect(await openIds()).not.toContain(id);
      await setRole(acme.owner, admin, 'admin');
      expect(await preview(token), 'it stays invalid').toBe('resource_not_found');
    });

    test('does not readmit a person who was removed after it was created', async () => {
      const { token } = await invite(acme.owner, acme.orgId, 'admin');
      const dora = await newMember('developer');
      await remove(acme.owner, dora);
      expect(await accept(dora, token)).toBe('resource_not_found');
      expect(await accept(await newPerson(server, 'Other'), token)).toBeNull();
    });

    test('is either accepted or rejected while its creator is being removed', async () => {
      for (let round = 0; round < 5; round += 1) {
        const [admin, other] = [await newMember('admin'), await newPerson(server, 'Other')];
        const { token } = await invite(admin, acme.orgId, 'viewer');
        const [code] = await Promise.all([accept(other, token), remove(acme.owner, admin)]);
        expect([null, 'resource_not_found']).toContain(code);
      }
    });

    describe('where registration is closed', () => {
      let app: FastifyInstance;
      beforeAll(() => {
        app = openApp(server, {
          console: consoleOf({ registration: 'closed' }, server.people, server.operator, server.vault),
        });
      });
      const signUp = (invitation: string) => {
        const email = `x-${randomUUID()}@example.test`;
        return { name: 'X', email, password: goodPassword, invitation };
      };
      const signUps = async (token: string, count: number) => {
        const visitors = Array.from({ length: count }, () => new Visitor(app));
        const answers = await Promise.all(
          visitors.map((visitor) => visitor.post('session/sign_up', signUp(token))),
        );
        return { visitors, answers };
      };

      test('creates one account when several people sign up with it concurrently', async () => {
        const before = await countsOf(server);
        const { token } = await invite(acme.owner, acme.orgId, 'viewer');
        const { visitors, answers } = await signUps(token, 5);
        expect(answers.map(({ code }) => code).toSorted()).toEqual([
          null,
          ...Array(4).fill('resource_not_found'),
        ]);
        expect(answers.find(({ code }) => code !== null)?.body.error.message).toBe(
          'This invitation was used or has expired. Ask for a new one.',
        );
        const after = await countsOf(server);
        for (const table of ['persons', 'person_accounts', 'person_sessions'])
          expect(after[table], table).toBe((before[table] ?? 0) + 1);
        expect(visitors.filter(({ cookies }) => cookies.size > 0)).toHaveLength(1);
      });

      test('leaves the address of a rejected sign-up available', async () => {
        const { token } = await invite(acme.owner, acme.orgId, 'viewer');
        const email = `again-${randomUUID()}@example.test`;
        const signUpBody = { ...signUp(token), email };
        const answers = await Promise.all([
          new Visitor(app).post('session/sign_up', signUpBody),
          new Visitor(app).post('session/sign_up', signUp(token)),
        ]);
        if (answers[0]?.code === null) return;
        const { token: next } = await invite(acme.owner, acme.orgId, 'viewer');
        ok(await new Visitor(app).post('session/sign_up', { ...signUpBody, invitation: next }));
      });
    });

    test('creates one account also where registration is open', async () => {
      const { token } = await invite(acme.owner, acme.orgId, 'viewer');
      const before = await countsOf(server);
      const answers = await Promise.all(
        Array.from({ length: 3 }, () =>
          stranger().post('session/sign_up', {
            ...{ name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword },
            invitation: token,
          }),
        ),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect((await countsOf(server)).persons).toBe((before.persons ?? 0) + 1);
    });

    test('from the previous release stays pending while its creator may still create it', async () => {
      const admin = await newMember('admin');
      const [valid, invalid] = [
        await invite(acme.owner, acme.orgId, 'owner'),
        await invite(admin, acme.orgId, 'viewer'),
      ];
      const run = (text: string) => server.database.query({ name: '', text }, []);
      await run('update invitations set creator_id = null, creator_version = null');
      expect(await preview(valid.token), 'a link without a creator is invalid').toBe('resource_not_found');
      await setRole(acme.owner, admin, 'viewer');
      const file = new URL('../../migrations/0013_links_and_sign_in.sql', import.meta.url);
      const [backfill = ''] = /update invitations i set[^;]+/.exec(await readFile(file, 'utf8')) ?? [];
      await run(backfill);
      expect(await preview(valid.token)).toBeNull();
      expect(await preview(invalid.token)).toBe('resource_not_found');
      expect(await openIds()).toEqual(expect.arrayContaining([valid.id]));
      expect(await openIds()).not.toContain(invalid.id);
    });

    test('removes the account of a sign-up that was interrupted before it joined', async () => {
      const interrupted = await newPerson(server, 'Cut');
      const member = await newMember('viewer');
      const provisional = async (until: string) => {
        const text = `update persons set provisional_until = now() + $2::interval where id = any($1)`;
        await server.database.query({ name: '', text }, [[interrupted.personId, member.personId], until]);
      };
      await provisional('1 minute');
      await server.people.reap();
      expect(
        (await interrupted.get('session')).body.person,
        'the sign-up may still be in progress',
      ).not.toBeNull();
      await provisional('-1 second');
      await server.people.reap();
      expect((await interrupted.get('session')).body.person).toBeNull();
      expect((await member.get('session')).body.person, 'joined in time').not.toBeNull();
    });
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(['link_invalid', 'resource_not_found']);
});
