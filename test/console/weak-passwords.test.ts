import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { countsOf, goodPassword, newPerson, ok, type Person, Visitor } from '../support/visitor.ts';

const weak = ['password1234', 'P@ssw0rd2024!', 'qwertyuiop12', 'the lovelace engine'];

describe.each(databaseKinds)('a weak password on %s', (kind) => {
  let server: Server;
  let ada: Person;
  beforeAll(async () => {
    server = await sharedServer(kind);
    ada = await newPerson(server, 'Ada Lovelace', { email: `lovelace-${randomUUID()}@example.test` });
  });

  test.each(weak)('does not create an account: %s', async (password) => {
    const before = await countsOf(server);
    const email = `fresh-${randomUUID()}@example.test`;
    const visitor = new Visitor(server.app);
    const answer = await visitor.post('session/sign_up', { name: 'Ada Lovelace', email, password });
    expect([answer.status, answer.code], answer.text).toEqual([422, 'password_too_weak']);
    expect(answer.body.error.param).toBe('/password');
    expect(await countsOf(server)).toEqual(before);
  });

  test.each(weak)('does not replace another one: %s', async (newPassword) => {
    const answer = await ada.post('session/password', { currentPassword: goodPassword, newPassword });
    expect([answer.code, answer.body.error.param]).toEqual(['password_too_weak', '/newPassword']);
    ok(await new Visitor(server.app).post('session/sign_in', { email: ada.email, password: goodPassword }));
  });

  test.each(weak)('does not use up a reset link: %s', async (newPassword) => {
    const link = await server.people.createResetLink(ada.email, null);
    const visitor = new Visitor(server.app);
    const answer = await visitor.post('session/password_reset', { token: link?.token, newPassword });
    expect([answer.code, answer.body.error.param]).toEqual(['password_too_weak', '/newPassword']);
    ok(await visitor.post('session/password_reset', { token: link?.token, newPassword: goodPassword }));
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleWeakPasswords);
});
