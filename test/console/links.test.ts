import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '../../src/kernel/permissions.ts';
import { consoleOf, type Server } from '../../src/server.ts';
import { seenCodes } from '../support/api-client.ts';
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

const newPassword = 'a new horse battery';

/** A link is valid only while its creator may still create it, and while nothing it depends on has changed. */
describe.each(databaseKinds)('links on %s', (kind) => {
  let server: Server;
  let acme: House;

  beforeAll(async () => {
    server = await sharedServer(kind);
    acme = await house(server);
  });

  const stranger = () => new Visitor(server.app);
  const newMember = async (role: Role): Promise<Person> => {
    const person = await newcomer(server, role);
    await join(person, acme.owner, acme.orgId, role);
    return person;
  };
  const setRole = async (by: Person, { memberId }: Person, role: Role, orgId = acme.orgId) =>
    ok(await by.post(`${orgId}/members/${memberId}/role`, { role }));
  const remove = async (by: Person, { memberId }: Person, orgId = acme.orgId) =>
    ok(await by.post(`${orgId}/members/${memberId}/remove`));

  describe('for a new password', () => {
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

    test('ends when its target joins another organization, also after leaving this one', async () => {
      const carl = await newMember('viewer');
      const [token, spare] = [await linkFor(acme.owner, carl), await linkFor(acme.owner, carl)];
      const own = await found(carl, 'Own');
      expect(await use(token)).toBe('link_invalid');
      await remove(carl, carl);
      expect(await use(spare)).toBe('link_invalid');
      expect((await carl.get(`${own}/organization`)).status, 'the session of the target').toBe(200);
    });

    test('ends when its target leaves, and stays ended when the target comes back', async () => {
      const carl = await newMember('viewer');
      const token = await linkFor(acme.owner, carl);
      await remove(acme.owner, carl);
      await join(carl, acme.owner, acme.orgId, 'viewer');
      expect(await use(token)).toBe('link_invalid');
    });

    test('ends when its creator is no longer an owner, and stays ended afterwards', async () => {
      const [carl, second] = [await newMember('viewer'), await newMember('owner')];
      const [first, later] = [await linkFor(second, carl), await linkFor(second, carl)];
      await setRole(acme.owner, second, 'admin');
      expect(await use(first)).toBe('link_invalid');
      await setRole(acme.owner, second, 'owner');
      expect(await use(later)).toBe('link_invalid');
    });

    test('ends when its creator is removed', async () => {
      const [carl, second] = [await newMember('viewer'), await newMember('owner')];
      const token = await linkFor(second, carl);
      await remove(acme.owner, second);
      expect(await use(token)).toBe('link_invalid');
    });

    test('ends when the password changes', async () => {
      const carl = await newMember('viewer');
      const token = await linkFor(acme.owner, carl);
      const change = { currentPassword: goodPassword, newPassword: 'a third horse battery' };
      ok(await carl.post('session/password', change));
      expect(await use(token)).toBe('link_invalid');
    });

    test('ends when another link is used, also when several are used at once', async () => {
      const carl = await newMember('viewer');
      const tokens = [await linkFor(acme.owner, carl), await linkFor(acme.owner, carl)];
      const codes = await Promise.all(tokens.map(use));
      expect(codes.toSorted()).toEqual(['link_invalid', null]);
      const operators = await Promise.all([1, 2].map(() => server.people.createResetLink(carl.email, null)));
      const answers = await Promise.all(operators.map((link) => use(link?.token ?? '')));
      expect(answers.toSorted()).toEqual(['link_invalid', null]);
    });

    test('of the operator ends by use and by a new password, not by memberships', async () => {
      const carl = await newMember('viewer');
      const link = await server.people.createResetLink(carl.email, null);
      await found(carl, 'Own');
      expect(await use(link?.token ?? '')).toBeNull();
      const next = await server.people.createResetLink(carl.email, null);
      ok(await carl.post('session/sign_in', { email: carl.email, password: newPassword }));
      ok(await carl.post('session/password', { currentPassword: newPassword, newPassword: goodPassword }));
      expect(await use(next?.token ?? '')).toBe('link_invalid');
    });

    test('still works when nothing it depends on has changed', async () => {
      const carl = await newMember('viewer');
      const shared = await found(acme.owner, 'Also owned');
      await join(carl, acme.owner, shared, 'admin');
      const token = await linkFor(acme.owner, carl);
      await found(acme.owner, 'Unrelated');
      expect(await use(token)).toBeNull();
    });

    test('are at most twenty for a person: the oldest end first', async () => {
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

  describe('of an invitation', () => {
    const look = async (token: string) => (await stranger().get(`session/invitations/${token}`)).code;
    const accept = async (person: Visitor, token: string) =>
      (await person.post(`session/invitations/${token}/accept`)).code;
    const openIds = async () =>
      (await acme.owner.get(`${acme.orgId}/invitations`)).body.data.map(({ id }) => id);

    test('ends when its creator is removed: nobody lets themselves back in', async () => {
      const admin = await newMember('admin');
      const { id, token } = await invite(admin, acme.orgId, 'admin');
      expect(await openIds()).toContain(id);
      await remove(acme.owner, admin);
      expect(await look(token)).toBe('resource_not_found');
      expect(await accept(admin, token)).toBe('resource_not_found');
      const other = await newcomer(server, 'Other');
      expect(await accept(other, token)).toBe('resource_not_found');
      const signUp = { name: 'X', email: `x-${randomUUID()}@example.test`, password: goodPassword };
      const signedUp = await stranger().post('session/sign_up', { ...signUp, invitation: token });
      expect(signedUp.code).toBe('resource_not_found');
      expect(await openIds()).not.toContain(id);
      await join(admin, acme.owner, acme.orgId, 'admin');
      expect(await accept(other, token), 'it stays ended').toBe('resource_not_found');
    });

    test('ends when the role of its creator changes', async () => {
      const admin = await newMember('admin');
      const { id, token } = await invite(admin, acme.orgId, 'admin');
      await setRole(acme.owner, admin, 'viewer');
      expect(await look(token)).toBe('resource_not_found');
      expect(await accept(await newcomer(server, 'Other'), token)).toBe('resource_not_found');
      expect(await openIds()).not.toContain(id);
      await setRole(acme.owner, admin, 'admin');
      expect(await look(token), 'it stays ended').toBe('resource_not_found');
    });

    test('lets nobody back in who was removed after it was created, whoever created it', async () => {
      const { token } = await invite(acme.owner, acme.orgId, 'admin');
      const dora = await newMember('developer');
      await remove(acme.owner, dora);
      expect(await accept(dora, token)).toBe('resource_not_found');
      expect(await accept(await newcomer(server, 'Other'), token)).toBeNull();
    });

    test('accepted while its creator is being removed: one of the two comes first', async () => {
      for (let round = 0; round < 5; round += 1) {
        const [admin, other] = [await newMember('admin'), await newcomer(server, 'Other')];
        const { token } = await invite(admin, acme.orgId, 'viewer');
        const [code] = await Promise.all([accept(other, token), remove(acme.owner, admin)]);
        expect([null, 'resource_not_found']).toContain(code);
      }
    });

    describe('where registration is closed', () => {
      let app: FastifyInstance;
      beforeAll(() => {
        app = openApp(server, {
          console: consoleOf({ registration: 'closed' }, server.people, server.operator),
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

      test('makes one account, however many sign up with it at once', async () => {
        const before = await countsOf(server);
        const { token } = await invite(acme.owner, acme.orgId, 'viewer');
        const { visitors, answers } = await signUps(token, 5);
        expect(answers.map(({ code }) => code).toSorted()).toEqual([
          null,
          ...Array(4).fill('resource_not_found'),
        ]);
        expect(answers.find(({ code }) => code !== null)?.body.error.message).toBe(
          'This invitation was used or has ended. Ask for a new one.',
        );
        const after = await countsOf(server);
        for (const table of ['persons', 'person_accounts', 'person_sessions'])
          expect(after[table], table).toBe((before[table] ?? 0) + 1);
        expect(visitors.filter(({ cookies }) => cookies.size > 0)).toHaveLength(1);
      });

      test('an address that a loser has tried can be used again', async () => {
        const { token } = await invite(acme.owner, acme.orgId, 'viewer');
        const email = `again-${randomUUID()}@example.test`;
        const asked = { ...signUp(token), email };
        const answers = await Promise.all([
          new Visitor(app).post('session/sign_up', asked),
          new Visitor(app).post('session/sign_up', signUp(token)),
        ]);
        if (answers[0]?.code === null) return;
        const { token: next } = await invite(acme.owner, acme.orgId, 'viewer');
        ok(await new Visitor(app).post('session/sign_up', { ...asked, invitation: next }));
      });
    });

    test('makes one account also where anybody may sign up', async () => {
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

    test('of the release before is open while its creator may still create it', async () => {
      const admin = await newMember('admin');
      const [kept, ended] = [
        await invite(acme.owner, acme.orgId, 'owner'),
        await invite(admin, acme.orgId, 'viewer'),
      ];
      const run = (text: string) => server.database.query({ name: '', text }, []);
      await run('update invitations set creator_id = null, creator_version = null');
      expect(await look(kept.token), 'without a creator').toBe('resource_not_found');
      await setRole(acme.owner, admin, 'viewer');
      const file = new URL('../../migrations/0013_links_and_sign_in.sql', import.meta.url);
      const [backfill = ''] = /update invitations i set[^;]+/.exec(await readFile(file, 'utf8')) ?? [];
      await run(backfill);
      expect(await look(kept.token)).toBeNull();
      expect(await look(ended.token)).toBe('resource_not_found');
      expect(await openIds()).toEqual(expect.arrayContaining([kept.id]));
      expect(await openIds()).not.toContain(ended.id);
    });

    test('an account of a sign-up that was cut off before it joined is removed', async () => {
      const cutOff = await newcomer(server, 'Cut');
      const member = await newMember('viewer');
      const provisional = async (until: string) => {
        const text = `update persons set provisional_until = now() + $2::interval where id = any($1)`;
        await server.database.query({ name: '', text }, [[cutOff.personId, member.personId], until]);
      };
      await provisional('1 minute');
      await server.people.reap();
      expect((await cutOff.get('session')).body.person, 'may still be under way').not.toBeNull();
      await provisional('-1 second');
      await server.people.reap();
      expect((await cutOff.get('session')).body.person).toBeNull();
      expect((await member.get('session')).body.person, 'joined in time').not.toBeNull();
    });
  });
});

test('no other codes are seen here', () => {
  expect([...seenCodes].sort()).toEqual(['link_invalid', 'resource_not_found']);
});
