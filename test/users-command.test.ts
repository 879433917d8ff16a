import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applySeed } from '../src/seed.ts';
import type { Server } from '../src/server.ts';
import { usersCommand, usersUsage } from '../src/users-command.ts';
import { openServer } from './support/server.ts';
import { goodPassword, Visitor } from './support/visitor.ts';

/** A data directory with one organization and one person, as a server leaves it that was stopped. */
describe('sandbank users', () => {
  let data: string;
  const email = 'dev@acme.test';
  const asked = (...argv: string[]) => usersCommand([...argv, '--data', data], {});

  async function withServer<Result>(
    work: (visitor: Visitor, server: Server) => Promise<Result>,
  ): Promise<Result> {
    const server = await openServer('pglite', { dataDirectory: data, registration: 'closed' });
    try {
      return await work(new Visitor(server.app), server);
    } finally {
      await server.close();
    }
  }

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'sandbank-users-'));
    const server = await openServer('pglite', { dataDirectory: data });
    const users = [{ email, password: goodPassword, role: 'developer' as const }];
    await applySeed({ organizations: [{ name: 'Acme', users }] }, server, Date.now);
    await server.close();
  });
  afterAll(() => rm(data, { recursive: true, force: true }));

  test('a link from invite lets a stranger in, although nobody may sign up', async () => {
    const link = await asked('invite', '--organization', 'Acme', '--url', 'https://pay.acme.test/');
    expect(link).toMatch(/^https:\/\/pay\.acme\.test\/console\/invitation\/[\w-]{32}$/);
    const invitation = link.split('/').at(-1);
    await withServer(async (visitor) => {
      const body = { name: 'Grace', email: 'grace@acme.test', password: goodPassword };
      expect((await visitor.post('session/sign_up', body)).status).toBe(403);
      const joined = await visitor.post('session/sign_up', { ...body, invitation });
      expect(joined.status, joined.text).toBe(201);
      expect(joined.body.organizations).toMatchObject([{ name: 'Acme', role: 'owner' }]);
    });
  });

  test('a link from reset-link gives a person a new password, once', async () => {
    const { url } = JSON.parse(await asked('reset-link', '--email', 'Dev@Acme.test', '--json')) as {
      url: string;
    };
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:4000\/console\/reset\//);
    const token = url.split('/').at(-1);
    await withServer(async (visitor, { database }) => {
      const rows = await database.query(
        {
          name: '',
          text: `select actor_kind as kind, actor_id as actor, resource, outcome from audit where action = 'members.reset_link'`,
        },
        [],
      );
      expect(rows).toEqual([{ kind: 'system', actor: 'operator', resource: 'member', outcome: 'accepted' }]);
      const body = { token, newPassword: 'another long password' };
      expect((await visitor.post('session/password_reset', body)).status).toBe(200);
      expect((await visitor.post('session/password_reset', body)).body.error.code).toBe('link_invalid');
      expect((await visitor.post('session/sign_in', { email, password: goodPassword })).status).toBe(401);
      expect((await visitor.post('session/sign_in', { email, password: body.newPassword })).status).toBe(200);
    });
  });

  test.each([
    [['invite'], '--organization is missing'],
    [['invite', '--organization', 'Nobody'], 'There is no organization "Nobody".'],
    [['invite', '--organization', 'Acme', '--role', 'king'], '--role must be one of viewer'],
    [['reset-link'], '--email is missing'],
    [['reset-link', '--email', 'nobody@acme.test'], 'Nobody has signed up with nobody@acme.test.'],
    [['remove'], 'users knows invite and reset-link, not "remove".'],
    [['invite', '--colour', 'red'], 'users --help lists the flags'],
  ])('%j is told in one sentence', async (argv, words) => {
    await expect(asked(...argv)).rejects.toThrow(words);
  });

  test('a directory without a database is not made into one', async () => {
    const nowhere = join(data, 'nowhere');
    const made = usersCommand(['reset-link', '--email', email, '--data', nowhere], {});
    await expect(made).rejects.toThrow(`There is no database in ${nowhere}`);
  });

  test('without a command it says what it can do', async () => {
    expect(await usersCommand([], {})).toBe(usersUsage);
  });
});
