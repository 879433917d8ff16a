import { beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { seenCodes } from '../support/api-client.ts';
import { Authenticator, origin } from '../support/authenticator.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { goodPassword, newPerson, ok, type Person, Visitor } from '../support/visitor.ts';

describe.each(databaseKinds)('passkeys on %s', (kind) => {
  let server: Server;
  beforeAll(async () => {
    server = await sharedServer(kind);
  });

  const browser = (visitor: Visitor = new Visitor(server.app)) => {
    visitor.headers = { ...visitor.headers, host: 'localhost', origin };
    return visitor;
  };
  const optionsOf = async (visitor: Visitor, path: string, body: object = {}) =>
    ok(await visitor.post(path, body)).options as never;
  const add = async (person: Person, name = 'Laptop') => {
    const authenticator = new Authenticator();
    const options = await optionsOf(browser(person) as Person, 'session/passkeys/options', {
      password: goodPassword,
    });
    const answer = await person.post('session/passkeys', { name, response: authenticator.create(options) });
    return { authenticator, answer };
  };
  const signIn = async (authenticator: Authenticator, isVerified = true, at = origin) => {
    const visitor = browser();
    const options = await optionsOf(visitor, 'session/passkey_options');
    const response = authenticator.get(options, isVerified, at);
    return { visitor, response, answer: await visitor.post('session/passkey', { response }) };
  };

  test('a person adds a passkey with the password, signs in with it alone, and removes it', async () => {
    const ada = await newPerson(server, 'Ada');
    const { authenticator, answer } = await add(ada);
    expect(answer.status, answer.text).toBe(200);
    const [passkey] = ok(await ada.get('session/passkeys')).data;
    expect(passkey).toMatchObject({ object: 'passkey', name: 'Laptop' });
    expect(Object.keys(passkey ?? {}), 'no key material').not.toContain('publicKey');
    for (let i = 0; i < 2; i += 1) {
      const signedIn = await signIn(authenticator);
      expect(signedIn.answer.body.person, signedIn.answer.text).toMatchObject({ email: ada.email });
      expect((await signedIn.visitor.get('session')).body.person).toMatchObject({ email: ada.email });
    }
    const eve = await newPerson(server, 'Eve');
    expect((await eve.post(`session/passkeys/${passkey?.id}/remove`)).code).toBe('resource_not_found');
    ok(await ada.post(`session/passkeys/${passkey?.id}/remove`));
    expect((await signIn(authenticator)).answer.code).toBe('passkey_failed');
    const events = ok(await ada.get('session/history')).data as unknown as readonly { action: string }[];
    expect(events.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['add_passkey', 'remove_passkey', 'sign_in']),
    );
  });

  test('a wrong password, challenge, signature or origin, and an unverified person are rejected', async () => {
    const ada = await newPerson(server, 'Ada');
    const { authenticator } = await add(ada);
    const wrong = await ada.post('session/passkeys/options', { password: 'a wrong horse' });
    expect(wrong.code).toBe('password_wrong');
    const replayed = await signIn(authenticator);
    ok(replayed.answer);
    const again = await replayed.visitor.post('session/passkey', { response: replayed.response });
    expect(again.code, 'a challenge works once').toBe('passkey_failed');
    expect((await signIn(authenticator, false)).answer.code, 'without a PIN').toBe('passkey_failed');
    expect((await signIn(authenticator, true, 'http://evil.test')).answer.code).toBe('passkey_failed');
    expect((await signIn(new Authenticator())).answer.code, 'an unknown passkey').toBe('passkey_failed');
    const unasked = await browser().post('session/passkey', {
      response: authenticator.get({ challenge: 'x', rpId: 'localhost' }),
    });
    expect(unasked.code).toBe('passkey_failed');
  });

  test('a password reset by a link removes the passkeys', async () => {
    const ada = await newPerson(server, 'Ada');
    const { authenticator } = await add(ada);
    const link = await server.people.createResetLink(ada.email, null);
    ok(
      await browser().post('session/password_reset', {
        ...{ token: link?.token, newPassword: 'another horse battery' },
      }),
    );
    expect((await signIn(authenticator)).answer.code).toBe('passkey_failed');
  });

  test('an account that a seed takes over loses its passkeys', async () => {
    const ada = await newPerson(server, 'Ada');
    const { authenticator } = await add(ada);
    await server.people.declare({ email: ada.email, password: 'another horse battery', takeOver: true });
    expect((await signIn(authenticator)).answer.code).toBe('passkey_failed');
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consolePasskeys);
});
