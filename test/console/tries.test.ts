import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { People } from '../../src/identity/people.ts';
import { Tries } from '../../src/identity/tries.ts';
import { consoleOf, type Server } from '../../src/server.ts';
import { provokedBy } from '../api/codes.ts';
import { type Answer, seenCodes } from '../support/api-client.ts';
import { decidedOn, openApp, openServer } from '../support/server.ts';
import { goodPassword, newcomer, ok, type Person, Visitor } from '../support/visitor.ts';

const wrong = 'a wrong horse battery';
const windowMs = 15 * 60_000;
const ofAccountMax = 10;
const ofAddressMax = 100;

const limited = (answers: readonly Answer[]) => answers.filter(({ code }) => code === 'rate_limited');

describe.each(decidedOn('postgres'))('guessing a password on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let wallNow = Date.now();
  let [ada, grace]: Person[] = [];

  beforeAll(async () => {
    server = await openServer(kind);
    const { database } = server;
    const wallClock = () => wallNow;
    const people = new People({ database, secret: 'x'.repeat(32), isTls: false, wallClock });
    app = openApp(server, {
      wallClock,
      console: consoleOf({ registration: 'open' }, people, server.operator),
    });
    [ada, grace] = await Promise.all([newcomer({ app }, 'Ada'), newcomer({ app }, 'Grace')]);
  });
  afterAll(() => server?.close());

  const known = (person: Person | undefined): Person => {
    if (!person) throw new Error('nobody has signed up');
    return person;
  };
  const at = (address: string) => Object.assign(new Visitor(app), { address });
  const guess = (email: string, password = wrong, visitor = new Visitor(app)) =>
    visitor.post('session/sign_in', { email, password });

  test('ten tries in a quarter of an hour for one account, however many come at once and from wherever', async () => {
    const { email } = known(ada);
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, i) => guess(i % 2 ? email : email.toUpperCase())),
    );
    const tried = answers.filter(({ code }) => code === 'sign_in_failed');
    expect(tried).toHaveLength(ofAccountMax);
    expect(limited(answers)).toHaveLength(25 - ofAccountMax);
    for (const { status, headers } of limited(answers)) {
      expect(status).toBe(429);
      expect(Number(headers['retry-after'])).toBe(windowMs / 1000);
    }
    // Not even the right password is looked at now, and nobody learns that it was the right one.
    expect((await guess(email, goodPassword)).code).toBe('rate_limited');
    const wrongKey = { currentPassword: goodPassword, newPassword: wrong };
    expect((await known(ada).post('session/password', wrongKey)).code, 'who is signed in').toBe(
      'rate_limited',
    );
    expect((await known(ada).get('session')).body.person, 'stays signed in').not.toBeNull();
    expect((await guess(known(grace).email, goodPassword)).status, 'others go on').toBe(200);

    wallNow += windowMs / 3;
    const later = await guess(email, goodPassword);
    expect(Number(later.headers['retry-after'])).toBe((windowMs * 2) / 3000);
    wallNow += (windowMs * 2) / 3 - 1;
    expect((await guess(email, goodPassword)).code).toBe('rate_limited');
    wallNow += 1;
    expect((await guess(email, goodPassword)).status, 'after the window').toBe(200);
  });

  /** Tries that cost nothing: they are counted, but no password is looked at. */
  const count = async (email: string, times: number) => {
    const tries = new Tries(server.database);
    for (let i = 0; i < times; i += 1)
      expect(await tries.take(email, `192.0.2.${i}`, wallNow)).toBeUndefined();
  };

  test('a right password clears the account', async () => {
    const { email } = known(ada);
    wallNow += windowMs;
    await count(email, ofAccountMax - 1);
    expect((await guess(email, goodPassword)).status, 'the tenth').toBe(200);
    expect((await guess(email)).code, 'the first again').toBe('sign_in_failed');
    await count(email, ofAccountMax - 1);
    expect((await guess(email)).code).toBe('rate_limited');
  });

  test('who is signed in may not guess the password either: all ways to it are counted together', async () => {
    wallNow += windowMs;
    const person = known(grace);
    await count(person.email, ofAccountMax - 4);
    const asked = (currentPassword: string): [string, object][] => [
      ['session/password', { currentPassword, newPassword: goodPassword }],
      ['session/two_factor/enable', { password: currentPassword }],
      ['session/two_factor/disable', { password: currentPassword }],
    ];
    for (const [path, body] of asked(wrong))
      expect((await person.post(path, body)).code, path).toBe('password_wrong');
    expect((await guess(person.email)).code).toBe('sign_in_failed');
    for (const [path, body] of asked(goodPassword))
      expect((await person.post(path, body)).code, path).toBe('rate_limited');
    expect((await guess(person.email, goodPassword)).code).toBe('rate_limited');
  });

  test('a hundred tries from one address, whatever for; other addresses go on', async () => {
    wallNow += windowMs;
    const crowd = at('192.0.2.1');
    const email = `nobody-${randomUUID()}@example.test`;
    for (let i = 0; i < ofAddressMax; i += 10) {
      const token = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () =>
          crowd.post('session/password_reset', { token, newPassword: goodPassword }),
        ),
      );
      for (const { code } of answers) expect(['link_invalid', 'rate_limited']).toContain(code);
    }
    const refused = await guess(known(ada).email, goodPassword, crowd);
    expect(refused.code).toBe('rate_limited');
    expect(refused.headers['retry-after']).toBe(String(windowMs / 1000));
    const signUp = { name: 'X', email, password: goodPassword };
    expect((await crowd.post('session/sign_up', signUp)).code).toBe('rate_limited');
    expect((await guess(known(ada).email, goodPassword, at('192.0.2.2'))).status).toBe(200);
    wallNow += windowMs;
    expect((await guess(known(ada).email, goodPassword, crowd)).status).toBe(200);
  });

  test('people who sign in rightly do not use up the tries of their address', async () => {
    wallNow += windowMs;
    const office = at('192.0.2.3');
    for (let i = 0; i < 2; i += 1) ok(await guess(known(ada).email, goodPassword, office));
    const rows = await server.database.query<{ tries: number }>(
      { name: '', text: 'select tries from sign_in_tries where since >= $1 and tries > 0' },
      [new Date(wallNow).toISOString()],
    );
    expect(rows).toEqual([]);
  });

  test('who chose a new password with a good link has not used up a try', async () => {
    wallNow += windowMs;
    const made = await server.people.resetToken(known(ada).email);
    const asked = { token: made?.token, newPassword: goodPassword };
    ok(await at('192.0.2.4').post('session/password_reset', asked));
    const rows = await server.database.query<{ tries: number }>(
      { name: '', text: 'select tries from sign_in_tries where since >= $1 and tries > 0' },
      [new Date(wallNow).toISOString()],
    );
    expect(rows).toEqual([]);
  });

  test('what lies behind the window is forgotten', async () => {
    wallNow += windowMs;
    await guess(known(ada).email);
    const kept = async () =>
      (await server.database.query({ name: '', text: 'select subject from sign_in_tries' }, [])).length;
    expect(await kept()).toBeGreaterThan(0);
    const { database } = server;
    const later = () => wallNow + windowMs;
    await new People({ database, secret: 'x'.repeat(32), isTls: false, wallClock: later }).reap();
    expect(await kept()).toBe(0);
  });

  test('neither addresses nor passwords are kept with the count', async () => {
    await guess(known(ada).email, wrong, at('192.0.2.9'));
    const rows = await server.database.query<{ row: string }>(
      { name: '', text: 'select row_to_json(t)::text as row from sign_in_tries t' },
      [],
    );
    const kept = JSON.stringify(rows);
    for (const text of [known(ada).email, '192.0.2.9', wrong]) expect(kept).not.toContain(text);
  });
});

test('the codes seen here are those of the list', () => {
  expect([...seenCodes].sort()).toEqual(provokedBy.consoleTries);
});
