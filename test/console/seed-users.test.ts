import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { applySeed, checkedSeed, SeedProblem } from '../../src/admin/seed.ts';
import type { Seed } from '../../src/admin/seed-schema.ts';
import { idFrom } from '../../src/kernel/ids.ts';
import type { Role } from '../../src/kernel/permissions.ts';
import { memberIdOf } from '../../src/resources/organizations/member-machine.ts';
import type { Server } from '../../src/server.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { runToEnd } from '../support/processes.ts';
import { databaseKinds, openServer, sharedServer } from '../support/server.ts';
import { goodPassword, historyOf, join, newPerson, ok, totp, Visitor } from '../support/visitor.ts';

interface User {
  readonly email: string;
  readonly password?: string;
  readonly role: Role;
  readonly takeOver?: boolean;
}

function seedOf(name: string, ...users: User[]): Seed {
  const withPasswords = users.map((user) => ({ password: goodPassword, ...user }));
  return checkedSeed({ organizations: [{ name, users: withPasswords }] }, 'The seed');
}

const freshName = () => `Seeded ${randomUUID()}`;
const freshEmail = () => `dev-${randomUUID()}@acme.test`;
const otherPassword = 'another horse battery';

describe.each(databaseKinds)('users in the seed file on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  const apply = (seed: Seed) => applySeed(seed, server, Date.now);
  const signIn = (email: string, password = goodPassword, visitor = new Visitor(server.app)) =>
    visitor.post('session/sign_in', { email, password });
  const rows = (text: string, values: readonly unknown[]) =>
    server.database.query<Record<string, unknown>>({ name: '', text }, values);
  const personOf = async (email: string) =>
    (await rows('select id, name, email from persons where email = $1', [email.toLowerCase()]))[0];
  const rolesOf = async (email: string) => {
    const text = `select o.name, m.role, m.status from members m join persons p on p.id = m.person_id
      join organizations o on o.org_id = m.org_id where p.email = $1 order by o.name`;
    return (await rows(text, [email])).map(({ role, status }) => [role, status]);
  };

  test('are created once when the file is applied repeatedly, and can sign in', async () => {
    const [name, email] = [freshName(), freshEmail()];
    const seed = seedOf(name, { email, role: 'owner' });
    await apply(seed);
    const person = await personOf(email);
    const orgs = await rows('select org_id from organizations where name = $1', [name]);
    const orgId = String(orgs[0]?.org_id);
    const before = await historyOf(server, orgId, memberIdOf(idFrom('person', String(person?.id))));
    expect(before.map(({ action, actorKind, actorId }) => [action, actorKind, actorId])).toEqual([
      ['join', 'system', 'seed'],
    ]);
    await apply(seed);
    await Promise.all([apply(seed), apply(seed)]);
    expect(await personOf(email)).toEqual(person);
    expect(await historyOf(server, orgId, memberIdOf(idFrom('person', String(person?.id))))).toEqual(before);
    const accounts = await rows('select id from person_accounts where person_id = $1', [person?.id]);
    expect(accounts).toHaveLength(1);

    const visitor = new Visitor(server.app);
    const signedIn = await signIn(email.toUpperCase(), goodPassword, visitor);
    expect(signedIn.status, signedIn.text).toBe(200);
    expect(signedIn.body).toMatchObject({
      person: { email, name: email.split('@')[0] },
      organizations: [{ id: orgId, name, role: 'owner' }],
    });
    ok(await visitor.post(`${orgId}/organization/rename`, { name: `${name}!` }));
  });

  test('are created once when two nodes start with the file at the same time', async () => {
    const user = { email: freshEmail(), password: goodPassword };
    const { people } = server;
    const declared = await Promise.all([people.declare(user), people.declare(user), people.declare(user)]);
    expect(new Set(declared.map(({ id }) => id)).size).toBe(1);
    expect(declared.map(({ isSeeded }) => isSeeded)).toEqual([true, true, true]);
  });

  test('have the role in the file, also after the file changes', async () => {
    const [name, boss, email] = [freshName(), freshEmail(), freshEmail()];
    const owner = { email: boss, role: 'owner' } as const;
    for (const role of ['viewer', 'admin', 'owner', 'developer'] as const) {
      await apply(seedOf(name, owner, { email, role }));
      expect(await rolesOf(email)).toEqual([[role, 'active']]);
    }
    const [row] = await rows('select owners from organizations where name = $1', [name]);
    expect(row?.owners).toBe(1);
  });

  test('reject a file that removes the last owner of an organization, with a clear message', async () => {
    const [name, email] = [freshName(), freshEmail()];
    await apply(seedOf(name, { email, role: 'owner' }));
    const demoted = apply(seedOf(name, { email, role: 'viewer' }));
    await expect(demoted).rejects.toThrow(SeedProblem);
    await expect(demoted).rejects.toThrow(`Organization "${name}" could not be declared: last_owner.`);
    expect(await rolesOf(email)).toEqual([['owner', 'active']]);
  });

  test('can swap the owner in one change of the file', async () => {
    const [name, one, two] = [freshName(), freshEmail(), freshEmail()];
    await apply(seedOf(name, { email: one, role: 'owner' }, { email: two, role: 'viewer' }));
    await apply(seedOf(name, { email: one, role: 'viewer' }, { email: two, role: 'owner' }));
  });

  test('keep the password that they set in the console when the file is applied again', async () => {
    const [name, email] = [freshName(), freshEmail()];
    await apply(seedOf(name, { email, role: 'owner' }));
    const visitor = new Visitor(server.app);
    ok(await signIn(email, goodPassword, visitor));
    const change = { currentPassword: goodPassword, newPassword: otherPassword };
    ok(await visitor.post('session/password', change));
    await apply(seedOf(name, { email, role: 'owner' }));
    expect((await signIn(email)).code).toBe('sign_in_failed');
    ok(await signIn(email, otherPassword));
    expect((await visitor.get('session')).body.person, 'sessions continue').toMatchObject({ email });
  });

  describe('whose address is already registered', () => {
    const squat = async () => {
      const email = freshEmail();
      return newPerson(server, 'Squatter', { email });
    };

    test('do not become members: the file is rejected with the possible fixes', async () => {
      const squatter = await squat();
      const name = freshName();
      for (const role of ['owner', 'viewer'] as const) {
        const refused = apply(seedOf(name, { email: squatter.email.toUpperCase(), role }));
        await expect(refused).rejects.toThrow(SeedProblem);
        await expect(refused).rejects.toThrow(
          `${role} of organization "${name}", but somebody has already registered this address`,
        );
        await expect(refused).rejects.toThrow('sandbank users invite');
        await expect(refused).rejects.toThrow('"takeOver": true');
      }
      expect((await squatter.get('session')).body).toMatchObject({
        person: { name: 'Squatter' },
        organizations: [],
      });
    });

    test('are taken over with takeOver: password, sessions and second factor are replaced', async () => {
      const squatter = await squat();
      const enabled = ok(await squatter.post('session/two_factor/enable', { password: goodPassword }));
      ok(await squatter.post('session/two_factor/confirm', { code: totp(String(enabled.secret)) }));
      const link = await server.people.createResetLink(squatter.email, null);
      const seed = seedOf(freshName(), {
        ...{ email: squatter.email, password: otherPassword, role: 'owner', takeOver: true },
      });
      await apply(seed);
      expect((await squatter.get('session')).body.person, 'sessions').toBeNull();
      expect((await signIn(squatter.email)).code, 'the old password').toBe('sign_in_failed');
      const used = { token: link?.token, newPassword: goodPassword };
      expect((await squatter.post('session/password_reset', used)).code, 'links').toBe('link_invalid');
      const owner = new Visitor(server.app);
      const signedIn = ok(await signIn(squatter.email, otherPassword, owner));
      expect(signedIn).toMatchObject({
        person: { id: squatter.personId, twoFactor: false },
        organizations: [{ role: 'owner' }],
      });
      ok(await owner.post('session/password', { currentPassword: otherPassword, newPassword: goodPassword }));
      await apply(seed);
      expect((await owner.get('session')).body.person, 'the take-over happens once').not.toBeNull();
      ok(await signIn(squatter.email, goodPassword));
    });

    test('keep the role they were invited with; the file cannot raise it', async () => {
      const [name, boss] = [freshName(), freshEmail()];
      const owner = { email: boss, role: 'owner' } as const;
      await apply(seedOf(name, owner));
      const visitor = new Visitor(server.app);
      const { organizations } = ok(await signIn(boss, goodPassword, visitor));
      const [{ id: orgId } = { id: '' }] = organizations as { id: string }[];
      const invited = await squat();
      await join(invited, visitor, orgId, 'viewer');
      await apply(seedOf(name, owner, { email: invited.email, role: 'viewer' }));
      await expect(apply(seedOf(name, owner, { email: invited.email, role: 'owner' }))).rejects.toThrow(
        SeedProblem,
      );
      expect(await rolesOf(invited.email)).toEqual([['viewer', 'active']]);
    });
  });

  test('may belong to several organizations, with one account', async () => {
    const email = freshEmail();
    await apply(seedOf(`A ${freshName()}`, { email, role: 'owner' }));
    await apply(seedOf(`B ${freshName()}`, { email, role: 'viewer' }));
    expect(await rolesOf(email)).toEqual([
      ['owner', 'active'],
      ['viewer', 'active'],
    ]);
  });

  test('stay removed when they were removed in the console', async () => {
    const [name, boss, email] = [freshName(), freshEmail(), freshEmail()];
    const seed = seedOf(name, { email: boss, role: 'owner' }, { email, role: 'admin' });
    await apply(seed);
    const visitor = new Visitor(server.app);
    const { organizations } = ok(await signIn(boss, goodPassword, visitor));
    const [{ id: orgId } = { id: '' }] = organizations as { id: string }[];
    const person = await personOf(email);
    ok(await visitor.post(`${orgId}/members/${memberIdOf(idFrom('person', String(person?.id)))}/remove`));
    await apply(seed);
    expect(await rolesOf(email)).toEqual([['admin', 'removed']]);
  });

  test.each(['dev@localhost', 'dev@intranet.x'])(
    'with an address that cannot sign in, such as %s, are rejected with their path in the file',
    (email) => {
      expect(() => seedOf('Acme', { email, role: 'owner' })).toThrow('/organizations/0/users/0/email');
    },
  );

  test.each([
    ['short', 'password'],
    ['x'.repeat(11), 'password'],
    ['x'.repeat(129), 'password'],
  ])('with the password %s are rejected with their path in the file', (password, field) => {
    expect(() => seedOf('Acme', { email: 'dev@acme.test', password, role: 'owner' })).toThrow(SeedProblem);
    expect(() => seedOf('Acme', { email: 'dev@acme.test', password, role: 'owner' })).toThrow(
      `/organizations/0/users/0/${field}`,
    );
  });

  test('with an invalid role or address are rejected', () => {
    expect(() => seedOf('Acme', { email: 'dev@acme.test', role: 'root' as Role })).toThrow('/role');
    expect(() => seedOf('Acme', { email: 'nobody', role: 'owner' })).toThrow('/email');
  });
});

test('a restart with the file on the same database changes no account', async () => {
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const email = freshEmail();
  const seed = seedOf('Acme', { email, role: 'owner' });
  const secret = 's'.repeat(32);
  const first = await openServer('pglite', { databaseUrl, secret });
  await applySeed(seed, first, Date.now);
  const visitor = new Visitor(first.app);
  ok(await visitor.post('session/sign_in', { email, password: goodPassword }));
  const change = { currentPassword: goodPassword, newPassword: otherPassword };
  ok(await visitor.post('session/password', change));
  await first.close();
  const second = await openServer('pglite', { databaseUrl, secret });
  await applySeed(seed, second, Date.now);
  expect((await visitor.at(second.app).get('session')).body.person, 'the session continues').toMatchObject({
    email,
  });
  const again = (password: string) => new Visitor(second.app).post('session/sign_in', { email, password });
  expect((await again(goodPassword)).code).toBe('sign_in_failed');
  ok(await again(otherPassword));
  await second.close();
});

test('a database seeded by the previous release restarts with the same file', async () => {
  const databaseUrl = await migratedDatabase(inject('postgresUrl'));
  const email = freshEmail();
  const [first, changed] = [seedOf('Acme', { email, role: 'owner' }), freshEmail()];
  const secret = 's'.repeat(32);
  const server = await openServer('pglite', { databaseUrl, secret });
  await applySeed(first, server, Date.now);
  const run = (text: string) => server.database.query<{ n: number }>({ name: '', text }, []);
  // That release did not set `seeded_at`; the migration sets it from the membership history.
  await run('update persons set seeded_at = null');
  await newPerson(server, 'Somebody');
  const sql = await readFile(new URL('../../migrations/0013_links_and_sign_in.sql', import.meta.url), 'utf8');
  const [backfill = ''] = /update persons p set[^;]+/.exec(sql) ?? [];
  await run(backfill);
  expect(await run('select count(*)::integer as n from persons where seeded_at is null')).toEqual([{ n: 1 }]);
  await applySeed(first, server, Date.now);
  const next = seedOf('Acme', { email: changed, role: 'owner' }, { email, role: 'viewer' });
  await applySeed(next, server, Date.now);
  await server.close();
});

/** Runs the built server in a real process. */
test('a short password stops the start with a one-line error before anything is created', async () => {
  const directory = await mkdtemp(joinPath(tmpdir(), 'sandbank-seed-users-'));
  const seed = joinPath(directory, 'seed.json');
  const users = [{ email: 'dev@acme.test', password: 'short', role: 'owner' }];
  await writeFile(seed, JSON.stringify({ organizations: [{ name: 'Acme', users }] }));
  const { code, stderr } = await runToEnd({ seed, dataDir: joinPath(directory, 'data') });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^Error: Sandbank did not start\. The seed file .*seed\.json is not accepted: .*password/,
  );
  expect(stderr).not.toContain('    at ');
  expect(stderr).not.toContain('"short"');
  await rm(directory, { recursive: true });
});
