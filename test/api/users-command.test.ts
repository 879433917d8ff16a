import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { applySeed } from '../../src/seed.ts';
import type { Server } from '../../src/server.ts';
import { usersCommand, usersUsage } from '../../src/users-command.ts';
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

/** The embedded database admits one process at a time: the commands run while the server is stopped. */
test('sandbank users creates links in a data directory that work after the start', async () => {
  const data = await mkdtemp(join(tmpdir(), 'sandbank-users-'));
  const server = await openServer('pglite', { dataDirectory: data });
  await applySeed(seed, server, Date.now);
  await server.close();
  const link = await usersCommand([...invite, '--data', data], {});
  const url = urlIn(await usersCommand([...reset, '--data', data], {}));
  const started = await openServer('pglite', { dataDirectory: data, registration: 'closed' });
  await expectInvited(new Visitor(started.app), link);
  await expectReset(new Visitor(started.app), started, url);
  await started.close();
  await rm(data, { recursive: true });
});

describe('sandbank users on PostgreSQL, beside a running server', () => {
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
    await expectInvited(new Visitor(server.app), await usersCommand(invite, env));
  });

  test('a link from reset-link sets a new password, once', async () => {
    await expectReset(new Visitor(server.app), server, urlIn(await usersCommand(reset, env)));
  });

  test.each([
    [['invite'], '--organization is missing'],
    [['invite', '--organization', 'Nobody'], 'There is no organization "Nobody".'],
    [['invite', '--organization', 'Acme', '--role', 'king'], '--role must be one of viewer'],
    [['reset-link'], '--email is missing'],
    [['reset-link', '--email', 'nobody@acme.test'], 'Nobody has signed up with nobody@acme.test.'],
    [['remove'], 'users knows invite and reset-link, not "remove".'],
    [['invite', '--colour', 'red'], 'users --help lists the flags'],
  ])('%j is refused in one sentence', async (argv, message) => {
    await expect(usersCommand(argv, env)).rejects.toThrow(message);
  });
});

test('sandbank users creates no database where there is none', async () => {
  const nowhere = join(tmpdir(), `sandbank-nowhere-${randomBytes(8).toString('hex')}`);
  const created = usersCommand(['reset-link', '--email', email, '--data', nowhere], {});
  await expect(created).rejects.toThrow(`There is no database in ${nowhere}`);
});

test('sandbank users without a command shows its usage', async () => {
  expect(await usersCommand([], {})).toBe(usersUsage);
});
