import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { applySeed } from '../../src/admin/seed.ts';
import type { Server } from '../../src/server.ts';
import { run } from '../support/command.ts';
import { migratedDatabase } from '../support/postgres.ts';
import { openServer } from '../support/server.ts';
import { goodPassword, Visitor } from '../support/visitor.ts';

const email = 'dev@acme.test';
const users = [{ email, password: goodPassword, role: 'developer' as const }];
const seed = { organizations: [{ name: 'Acme', users }] };
const tokenIn = (link: string) => link.split('/').at(-1);

async function expectInvited(visitor: Visitor, link: string): Promise<void> {
  expect(link).toMatch(/^https:\/\/pay\.acme\.test\/console\/invitation\/[\w-]{32}$/);
  const body = { name: 'Grace', email: 'grace@acme.test', password: goodPassword };
  expect((await visitor.post('session/sign_up', body)).status).toBe(403);
  const joined = await visitor.post('session/sign_up', { ...body, invitation: tokenIn(link) });
  expect(joined.status, joined.text).toBe(201);
  expect(joined.body.organizations).toMatchObject([{ name: 'Acme', role: 'owner' }]);
}

async function expectReset(visitor: Visitor, { database }: Server, url: string): Promise<void> {
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:4000\/console\/reset\//);
  const rows = await database.query(
    {
      name: '',
      text: `select actor_kind as kind, actor_id as actor, resource, outcome from audit where action = 'members.reset_link'`,
    },
    [],
  );
  expect(rows).toEqual([{ kind: 'system', actor: 'operator', resource: 'member', outcome: 'accepted' }]);
  const body = { token: tokenIn(url), newPassword: 'another long password' };
  expect((await visitor.post('session/password_reset', body)).status).toBe(200);
  expect((await visitor.post('session/password_reset', body)).body.error.code).toBe('link_invalid');
  expect((await visitor.post('session/sign_in', { email, password: goodPassword })).status).toBe(401);
  expect((await visitor.post('session/sign_in', { email, password: body.newPassword })).status).toBe(200);
}

const invite = ['invite', '--organization', 'Acme', '--url', 'https://pay.acme.test/'];
const reset = ['reset-link', '--email', 'Dev@Acme.test', '--json'];
const urlIn = (json: string) => (JSON.parse(json) as { url: string }).url;

async function createLink(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await run(['users', ...args], { env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trimEnd();
}

/** The embedded database admits one process at a time: the commands run while the server is stopped. */
test('sandbank users creates links in a data directory, valid after the server starts', async () => {
  const data = await mkdtemp(join(tmpdir(), 'sandbank-users-'));
  const server = await openServer('pglite', { dataDirectory: data });
  await applySeed(seed, server, Date.now);
  await server.close();
  const link = await createLink([...invite, '--data', data]);
  const url = urlIn(await createLink([...reset, '--data', data]));
  const started = await openServer('pglite', { dataDirectory: data, registration: 'closed' });
  await expectInvited(new Visitor(started.app), link);
  await expectReset(new Visitor(started.app), started, url);
  await started.close();
  await rm(data, { recursive: true });
});

describe('sandbank users on PostgreSQL, next to a running server', () => {
  let server: Server;
  let env: Record<string, string>;
  beforeAll(async () => {
    const databaseUrl = await migratedDatabase(inject('postgresUrl'));
    const secret = randomBytes(32).toString('hex');
    env = { DATABASE_URL: databaseUrl, SANDBANK_SECRET: secret };
    server = await openServer('postgres', { databaseUrl, secret, registration: 'closed' });
    await applySeed(seed, server, Date.now);
  });
  afterAll(() => server?.close());

  test('a link from invite admits a new person although sign-up is closed', async () => {
    await expectInvited(new Visitor(server.app), await createLink(invite, env));
  });

  test('a link from reset-link sets a new password, once', async () => {
    await expectReset(new Visitor(server.app), server, urlIn(await createLink(reset, env)));
  });

  test.each<[readonly string[], number, string]>([
    [['invite'], 2, '--organization is missing'],
    [['invite', '--organization', 'Nobody'], 1, 'No link was created. There is no organization "Nobody".'],
    [
      ['invite', '--organization', 'Acme', '--role', 'admn'],
      2,
      '"admn" is not a valid value for --role. Did you mean admin?',
    ],
    [
      ['invite', '--organization', 'Acme', '--role', 'king'],
      2,
      'Allowed values: viewer, developer, admin, owner.',
    ],
    [['reset-link'], 2, '--email is missing'],
    [['reset-link', '--email', 'nobody@acme.test'], 1, 'Nobody has signed up with nobody@acme.test.'],
    [['remove'], 2, "Unknown command 'remove'."],
    [['invite', '--colour', 'red'], 2, "Unknown option '--colour'."],
  ])('%j is rejected with exit code %i and one line', async (argv, code, message) => {
    const result = await run(['users', ...argv], { env });
    expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) });
    expect(result.stderr).toMatch(/^Error: [^\n]+\n$/);
  });
});

test('sandbank users creates no database where there is none', async () => {
  const nowhere = join(tmpdir(), `sandbank-nowhere-${randomBytes(8).toString('hex')}`);
  const { code, stderr } = await run(['users', 'reset-link', '--email', email, '--data', nowhere]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`There is no database in ${nowhere}`)]);
});
