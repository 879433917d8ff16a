import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Role } from '../../src/kernel/roles.ts';
import { memberIdOf } from '../../src/resources/members/machine.ts';
import { applySeed, checkedSeed, type Seed, SeedProblem } from '../../src/seed.ts';
import type { Server } from '../../src/server.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { runToEnd } from '../support/processes.ts';
import { decidedOn, openServer } from '../support/server.ts';
import { goodPassword, historyOf, newcomer, ok, Visitor } from '../support/visitor.ts';

interface User {
  readonly email: string;
  readonly password?: string;
  readonly role: Role;
}

function seedOf(name: string, ...users: User[]): Seed {
  const whole = users.map((user) => ({ password: goodPassword, ...user }));
  return checkedSeed({ organizations: [{ name, users: whole }] }, 'The seed');
}

const freshName = () => `Seeded ${randomUUID()}`;
const freshEmail = () => `dev-${randomUUID()}@acme.test`;
const otherPassword = 'another horse battery';

describe.each(decidedOn('pglite'))('users of the seed file on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await openServer(kind);
  });
  afterAll(() => server?.close());

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

  test('are made once, however often it is applied, and can sign in', async () => {
    const [name, email] = [freshName(), freshEmail()];
    const seed = seedOf(name, { email, role: 'owner' });
    await apply(seed);
    const person = await personOf(email);
    const orgs = await rows('select org_id from organizations where name = $1', [name]);
    const orgId = String(orgs[0]?.org_id);
    const before = await historyOf(server, orgId, memberIdOf(String(person?.id)));
    expect(before.map(({ action, actorKind, actorId }) => [action, actorKind, actorId])).toEqual([
      ['join', 'system', 'seed'],
    ]);
    await apply(seed);
    await Promise.all([apply(seed), apply(seed)]);
    expect(await personOf(email)).toEqual(person);
    expect(await historyOf(server, orgId, memberIdOf(String(person?.id)))).toEqual(before);
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

  test('are made once when two nodes start with the file at the same time', async () => {
    const user = { email: freshEmail(), password: goodPassword };
    const { people } = server;
    const ids = await Promise.all([people.declare(user), people.declare(user), people.declare(user)]);
    expect(new Set(ids).size).toBe(1);
  });

  test('have the role that the file says, also when it says another one later', async () => {
    const [name, boss, email] = [freshName(), freshEmail(), freshEmail()];
    const owner = { email: boss, role: 'owner' } as const;
    for (const role of ['viewer', 'admin', 'owner', 'developer'] as const) {
      await apply(seedOf(name, owner, { email, role }));
      expect(await rolesOf(email)).toEqual([[role, 'active']]);
    }
    const [row] = await rows('select owners from organizations where name = $1', [name]);
    expect(row?.owners).toBe(1);
  });

  test('an organization keeps an owner: a file that takes away the last one is refused in a sentence', async () => {
    const [name, email] = [freshName(), freshEmail()];
    await apply(seedOf(name, { email, role: 'owner' }));
    const demoted = apply(seedOf(name, { email, role: 'viewer' }));
    await expect(demoted).rejects.toThrow(SeedProblem);
    await expect(demoted).rejects.toThrow(`Organization "${name}" could not be declared: last_owner.`);
    expect(await rolesOf(email)).toEqual([['owner', 'active']]);
  });

  test('one owner can follow another in one change of the file', async () => {
    const [name, one, two] = [freshName(), freshEmail(), freshEmail()];
    await apply(seedOf(name, { email: one, role: 'owner' }, { email: two, role: 'viewer' }));
    await apply(seedOf(name, { email: one, role: 'viewer' }, { email: two, role: 'owner' }));
  });

  test('keep the password that they chose in the console, whatever the file says', async () => {
    const [name, email] = [freshName(), freshEmail()];
    await apply(seedOf(name, { email, role: 'owner' }));
    const visitor = new Visitor(server.app);
    ok(await signIn(email, goodPassword, visitor));
    const change = { currentPassword: goodPassword, newPassword: otherPassword };
    ok(await visitor.post('session/password', change));
    await apply(seedOf(name, { email, role: 'owner' }));
    expect((await signIn(email)).code).toBe('sign_in_failed');
    ok(await signIn(email, otherPassword));
    expect((await visitor.get('session')).body.person, 'sessions go on').toMatchObject({ email });
  });

  test('who has signed up before becomes a member, and keeps name and password', async () => {
    const email = freshEmail();
    const person = await newcomer(server, 'Ada Lovelace', { email });
    await apply(
      seedOf(freshName(), { email: email.toUpperCase(), password: otherPassword, role: 'developer' }),
    );
    expect((await person.get('session')).body).toMatchObject({
      person: { id: person.personId, name: 'Ada Lovelace' },
      organizations: [{ role: 'developer' }],
    });
    expect((await signIn(email, otherPassword)).code).toBe('sign_in_failed');
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

  test('who was removed in the console is not brought back by the file', async () => {
    const [name, boss, email] = [freshName(), freshEmail(), freshEmail()];
    const seed = seedOf(name, { email: boss, role: 'owner' }, { email, role: 'admin' });
    await apply(seed);
    const visitor = new Visitor(server.app);
    const { organizations } = ok(await signIn(boss, goodPassword, visitor));
    const [{ id: orgId } = { id: '' }] = organizations as { id: string }[];
    const person = await personOf(email);
    ok(await visitor.post(`${orgId}/members/${memberIdOf(String(person?.id))}/remove`));
    await apply(seed);
    expect(await rolesOf(email)).toEqual([['admin', 'removed']]);
  });

  test.each(['dev@localhost', 'dev@intranet.x'])(
    'with an address that nobody could sign in with, such as %s, are refused, with the place in the file',
    (email) => {
      expect(() => seedOf('Acme', { email, role: 'owner' })).toThrow('/organizations/0/users/0/email');
    },
  );

  test.each([
    ['short', 'password'],
    ['x'.repeat(11), 'password'],
    ['x'.repeat(129), 'password'],
  ])('with the password %s are refused, with the place in the file', (password, word) => {
    expect(() => seedOf('Acme', { email: 'dev@acme.test', password, role: 'owner' })).toThrow(SeedProblem);
    expect(() => seedOf('Acme', { email: 'dev@acme.test', password, role: 'owner' })).toThrow(
      `/organizations/0/users/0/${word}`,
    );
  });

  test('with a role or an address that is none are refused', () => {
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
  expect((await visitor.at(second.app).get('session')).body.person, 'the session goes on').toMatchObject({
    email,
  });
  const again = (password: string) => new Visitor(second.app).post('session/sign_in', { email, password });
  expect((await again(goodPassword)).code).toBe('sign_in_failed');
  ok(await again(otherPassword));
  await second.close();
});

/** From the build, as the process that users run. */
test('a short password stops the start with a sentence, before anything is made', async () => {
  const directory = await mkdtemp(joinPath(tmpdir(), 'sandbank-seed-users-'));
  const seed = joinPath(directory, 'seed.json');
  const users = [{ email: 'dev@acme.test', password: 'short', role: 'owner' }];
  await writeFile(seed, JSON.stringify({ organizations: [{ name: 'Acme', users }] }));
  const { code, stderr } = await runToEnd({ seed, dataDir: joinPath(directory, 'data') });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Sandbank did not start\. The seed file .*seed\.json is not accepted: .*password/);
  expect(stderr).not.toContain('    at ');
  expect(stderr).not.toContain('"short"');
  await rm(directory, { recursive: true });
});
