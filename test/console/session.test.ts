import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/kernel/limits.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, sharedServer } from '../support/server.ts';
import { countsOf, goodPassword, newPerson, ok, type Person, Visitor } from '../support/visitor.ts';

const otherPassword = 'another horse battery';
const freshEmail = () => `fresh-${randomUUID()}@example.test`;
const signUpBody = () => ({ name: 'Ada', email: freshEmail(), password: goodPassword });

/** Status and body without the request id. */
function contentOf({ status, text, body }: Answer): [number, string] {
  return [status, text.replaceAll(body.requestId, '')];
}

describe.each(databaseKinds)('the session on %s', (kind) => {
  let server: Server;
  /** For tests that do not change the person. */
  let ada: Person;

  beforeAll(async () => {
    server = await sharedServer(kind);
    ada = await newPerson(server);
  });

  const stranger = () => new Visitor(server.app);
  const signIn = async ({ email }: { email: string }, password = goodPassword) => {
    const visitor = stranger();
    ok(await visitor.post('session/sign_in', { email, password }));
    return visitor;
  };
  const isSignedIn = async (visitor: Visitor) =>
    (await visitor.get('session/devices')).code !== 'session_missing';

  test('a new visitor gets a session without a person and without an error', async () => {
    const answer = await stranger().get('session');
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      object: 'session',
      status: 'ok',
      person: null,
      organizations: [],
      registration: 'open',
      hasEnded: false,
    });
  });

  test('a browser with the cookie of an ended session gets to know that it ended, until it signs out', async () => {
    const laptop = await signIn(ada);
    const phone = await signIn(ada);
    const { data } = ok(await phone.get('session/devices'));
    const ended = data.filter(({ isCurrent }) => !isCurrent);
    for (const { id } of ended.filter(({ ip }) => ip === laptop.address))
      ok(await phone.post(`session/devices/${id}/revoke`));
    expect((await laptop.get('session')).body).toMatchObject({ person: null, hasEnded: true });
    expect((await phone.get('session')).body).toMatchObject({ hasEnded: false });
    ok(await phone.post('session/sign_out'));
    expect((await phone.get('session')).body).toMatchObject({ person: null, hasEnded: false });
  });

  test('a person is signed in after sign-up, and can sign out and in again', async () => {
    const grace = await newPerson(server, 'Grace');
    const session = await grace.get('session');
    expect(session.body.person).toEqual({
      id: expect.stringMatching(/^usr_[0-9a-z]{26}$/),
      email: grace.email,
      name: 'Grace',
      twoFactor: false,
    });
    const created = await grace.post('session/organizations', { name: 'Acme' });
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({ object: 'organization', name: 'Acme', status: 'active' });
    const again = await grace.get('session');
    expect(again.body.organizations).toEqual([
      { id: created.body.id, name: 'Acme', role: 'owner', requiresTwoFactor: false },
    ]);
    expect((await grace.post('session/sign_out')).body.person).toBeNull();
    expect((await grace.get('session')).body.person).toBeNull();
    const back = await grace.post('session/sign_in', { email: grace.email, password: goodPassword });
    expect(back.status, back.text).toBe(200);
    expect((await grace.get('session')).body.person).toMatchObject({ email: grace.email });
  });

  describe('signing up', () => {
    test.each([
      ['/name', { name: '' }],
      ['/name', { name: 'x'.repeat(limits.nameLengthMax + 1) }],
      ['/name', { name: undefined }],
      ['/name', { name: 7 }],
      ['/email', { email: 'ada' }],
      ['/email', { email: 'ada@two@example.test' }],
      ['/email', { email: `${'x'.repeat(limits.emailLengthMax)}@example.test` }],
      ['/email', { email: undefined }],
      ['/password', { password: 'x'.repeat(limits.passwordLengthMin - 1) }],
      ['/password', { password: 'x'.repeat(limits.passwordLengthMax + 1) }],
      ['/password', { password: undefined }],
      ['/password', { password: 123_456_789_012 }],
      ['/invitation', { invitation: 'not a token' }],
      ['/admin', { admin: true }],
    ])('rejects an invalid %s without creating an account: %j', async (param, wrong) => {
      const before = await countsOf(server);
      const answer = await stranger().post('session/sign_up', { ...signUpBody(), ...wrong });
      expect(answer.code, answer.text).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
      expect(await countsOf(server)).toEqual(before);
    });

    test.each(['ada@localhost', 'ada@example.t', 'ädä@example.test'])(
      'an unsupported address such as %s is rejected with its field',
      async (email) => {
        const answer = await stranger().post('session/sign_up', { ...signUpBody(), email });
        expect(answer.code).toBe('invalid_request');
        expect(answer.body.error.param).toBe('/email');
      },
    );

    test('accepts passwords of 12 and of 128 characters, and compares every character', async () => {
      const longest = goodPassword.repeat(7).slice(0, limits.passwordLengthMax);
      const shortest = goodPassword.slice(0, limits.passwordLengthMin);
      const [long, short] = [signUpBody(), signUpBody()];
      expect((await stranger().post('session/sign_up', { ...long, password: longest })).status).toBe(201);
      expect((await stranger().post('session/sign_up', { ...short, password: shortest })).status).toBe(201);
      const cut = { email: long.email, password: longest.slice(1) };
      expect((await stranger().post('session/sign_in', cut)).code).toBe('sign_in_failed');
      await signIn(long, longest);
    });

    test('stores an address in lower case and rejects it in any other case', async () => {
      const email = freshEmail();
      const first = await stranger().post('session/sign_up', { ...signUpBody(), email: email.toUpperCase() });
      expect(first.status, first.text).toBe(201);
      expect(first.body.person).toMatchObject({ email });
      for (const again of [email, email.toUpperCase(), email.replace('fresh', 'FreSh')]) {
        const answer = await stranger().post('session/sign_up', { ...signUpBody(), email: again });
        expect(answer.code, answer.text).toBe('email_taken');
        expect(answer.status).toBe(422);
      }
      const upperCase = stranger();
      const back = await upperCase.post('session/sign_in', {
        email: email.toUpperCase(),
        password: goodPassword,
      });
      expect(back.body.person).toMatchObject({ email });
    });

    test('a sign-up with a registered address does not sign in', async () => {
      const visitor = stranger();
      const { code } = await visitor.post('session/sign_up', { ...signUpBody(), email: ada.email });
      expect(code).toBe('email_taken');
      expect(visitor.cookies.size).toBe(0);
    });

    test('one of several concurrent sign-ups with one address succeeds', async () => {
      const email = freshEmail();
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => stranger().post('session/sign_up', { ...signUpBody(), email })),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    });

    test('the other concurrent sign-ups get email_taken', async () => {
      const email = freshEmail();
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => stranger().post('session/sign_up', { ...signUpBody(), email })),
      );
      expect(answers.map(({ code }) => code).sort()).toEqual(['email_taken', 'email_taken', null]);
    });
  });

  describe('signing in', () => {
    test('a wrong password and an unknown address get the same response', async () => {
      const visitor = stranger();
      const wrong = await visitor.post('session/sign_in', { email: ada.email, password: otherPassword });
      const unknown = await visitor.post('session/sign_in', { email: freshEmail(), password: otherPassword });
      expect(wrong.code).toBe('sign_in_failed');
      expect(wrong.status).toBe(401);
      expect(contentOf(unknown)).toEqual(contentOf(wrong));
      const headersOf = ({ headers }: Answer) => {
        const { 'request-id': _id, date: _date, ...rest } = headers;
        return rest;
      };
      expect(headersOf(unknown)).toEqual(headersOf(wrong));
      expect(visitor.cookies.size).toBe(0);
    });

    test.each([
      ['/email', { email: 'ada', password: goodPassword }],
      ['/email', { password: goodPassword }],
      ['/password', { email: 'ada@example.test' }],
      ['/password', { email: 'ada@example.test', password: '' }],
      ['/password', { email: 'ada@example.test', password: 'x'.repeat(limits.passwordLengthMax + 1) }],
      ['/rememberMe', { email: 'ada@example.test', password: goodPassword, rememberMe: false }],
    ])('rejects an invalid %s: %j', async (param, body) => {
      const answer = await stranger().post('session/sign_in', body);
      expect(answer.code, answer.text).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
    });

    test('a forged, truncated or malformed cookie does not sign in and causes no error', async () => {
      const [[name, value] = ['', '']] = [...ada.cookies];
      const [token = ''] = decodeURIComponent(value).split('.');
      const forged = encodeURIComponent(`${token}.${Buffer.alloc(32, 7).toString('base64')}`);
      const invalidCookies = [
        value.slice(0, -8),
        value.slice(8),
        token,
        forged,
        '',
        '%',
        '%E0%A4%A',
        '"',
        'null',
        '=;=',
      ];
      for (const cookie of invalidCookies) {
        const thief = new Visitor(server.app, new Map([[name, cookie]]));
        expect((await thief.get('session')).body.person, cookie).toBeNull();
        expect(await isSignedIn(thief), cookie).toBe(false);
      }
      expect(await isSignedIn(ada)).toBe(true);
    });

    test('an expired session does not sign in', async () => {
      const visitor = await signIn(ada);
      const [current] = (await visitor.get('session/devices')).body.data.filter(({ isCurrent }) => isCurrent);
      const text = `update person_sessions set expires_at = now() - interval '1 second' where id = $1`;
      await server.database.query({ name: '', text }, [current?.id]);
      expect((await visitor.get('session')).body.person).toBeNull();
      expect(await isSignedIn(visitor)).toBe(false);
    });

    test.each([
      ['POST', 'session/sign_in', 'malformed_json'],
      ['POST', 'session/sign_up', 'malformed_json'],
    ] as const)('%s %s accepts only JSON', async (method, path, code) => {
      const send = (payload: string, type: string) =>
        server.app.inject({
          method,
          url: `/console/api/${path}`,
          headers: { 'sec-fetch-site': 'same-origin', 'content-type': type },
          payload,
        });
      expect((await send('{"email":', 'application/json')).json().error.code).toBe(code);
      const form = await send('email=ada@example.test', 'application/x-www-form-urlencoded');
      expect(form.json().error.code).toBe('unsupported_media_type');
      const plain = await send(JSON.stringify({ email: ada.email, password: goodPassword }), 'text/plain');
      expect(plain.statusCode).toBe(415);
    });
  });

  describe('signing out', () => {
    test('ends the session on the server, so a copy of the cookie is invalid', async () => {
      const visitor = await signIn(ada);
      const copy = visitor.copy();
      expect(await isSignedIn(copy)).toBe(true);
      ok(await visitor.post('session/sign_out'));
      expect([...visitor.cookies.keys()], 'the device is still known').toEqual([
        expect.stringMatching(/\.device$/),
      ]);
      expect(await isSignedIn(copy)).toBe(false);
      expect((await copy.get('session')).body.person).toBeNull();
      expect(await isSignedIn(ada), 'other sessions of the person').toBe(true);
    });

    test('twice or without a session is not an error', async () => {
      expect((await stranger().post('session/sign_out')).status).toBe(200);
    });
  });

  describe('the profile', () => {
    test('shows the latest name', async () => {
      const visitor = await signIn(ada);
      const renamed = await visitor.post('session/profile', { name: 'Ada Lovelace' });
      expect(renamed.body.person).toMatchObject({ name: 'Ada Lovelace', email: ada.email });
      expect((await ada.get('session')).body.person).toMatchObject({ name: 'Ada Lovelace' });
    });

    test.each([
      ['/name', { name: '' }],
      ['/name', {}],
      ['/email', { name: 'Ada', email: 'new@example.test' }],
      ['/twoFactorEnabled', { name: 'Ada', twoFactorEnabled: true }],
    ])('accepts only a name: %s', async (param, body) => {
      const answer = await ada.post('session/profile', body);
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
    });
  });

  test.each([
    ['session/profile', { name: 'Nobody' }],
    ['session/password', { currentPassword: goodPassword, newPassword: otherPassword }],
    ['session/email', { email: 'new@example.test', password: goodPassword }],
    ['session/devices/revoke_others', {}],
    ['session/devices/ses_01m7epxwjmf7za77rhky2f93cc/revoke', {}],
    ['session/two_factor/enable', { password: goodPassword }],
    ['session/two_factor/confirm', { code: '000000' }],
    ['session/two_factor/backup_codes', { password: goodPassword }],
    ['session/two_factor/disable', { password: goodPassword }],
    ['session/organizations', { name: 'Nobody' }],
    ['session/invitations/0123456789abcdef/accept', {}],
  ])('%s requires a signed-in person', async (path, body) => {
    const before = await countsOf(server);
    expect((await stranger().post(path, body)).code).toBe('session_missing');
    expect(await countsOf(server)).toEqual(before);
  });

  describe('a new password', () => {
    test('ends all other sessions, and the old password no longer signs in', async () => {
      const eve = await newPerson(server, 'Eve');
      const other = await signIn(eve);
      const old = eve.copy();
      const changed = await eve.post('session/password', {
        currentPassword: goodPassword,
        newPassword: otherPassword,
      });
      expect(changed.status, changed.text).toBe(200);
      expect(changed.body.person).toMatchObject({ email: eve.email });
      expect(await isSignedIn(eve), 'the browser that changed it').toBe(true);
      expect(await isSignedIn(other), 'another browser').toBe(false);
      expect(await isSignedIn(old), 'a copy of the cookie from before').toBe(false);
      const before = { email: eve.email, password: goodPassword };
      expect((await stranger().post('session/sign_in', before)).code).toBe('sign_in_failed');
      await signIn(eve, otherPassword);
    });

    test('requires the current password', async () => {
      const answer = await ada.post('session/password', {
        currentPassword: otherPassword,
        newPassword: otherPassword,
      });
      expect(answer.code).toBe('password_wrong');
      expect(answer.status).toBe(422);
      await signIn(ada);
    });

    test.each([
      ['/newPassword', 'x'.repeat(limits.passwordLengthMin - 1)],
      ['/newPassword', 'x'.repeat(limits.passwordLengthMax + 1)],
    ])('keeps to the bounds: %s', async (param, newPassword) => {
      const answer = await ada.post('session/password', { currentPassword: goodPassword, newPassword });
      expect(answer.code).toBe('invalid_request');
      expect(answer.body.error.param).toBe(param);
    });
  });

  describe('the list of sessions', () => {
    let mia: Person;
    let phone: Visitor;
    beforeAll(async () => {
      mia = await newPerson(server, 'Mia');
      phone = stranger();
      phone.headers['user-agent'] = 'A phone';
      ok(await phone.post('session/sign_in', { email: mia.email, password: goodPassword }));
    });

    const devicesOf = async (visitor: Visitor) => ok(await visitor.get('session/devices')).data;

    test('shows browser and address of each session and marks the current one, without tokens', async () => {
      const answer = await mia.get('session/devices');
      expect(answer.body).toMatchObject({ object: 'list', hasMore: false, nextCursor: null });
      expect(answer.body.data).toHaveLength(2);
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/);
      const shown = { object: 'device_session', sandbox: true, status: 'active' };
      const times = { createdAt: time, lastSeenAt: time, expiresAt: time };
      const id = expect.stringMatching(/^ses_/);
      const list = expect(answer.body.data);
      list.toContainEqual({
        ...{ ...shown, ...times, id },
        ...{ ip: phone.address, userAgent: 'A phone', isCurrent: false },
      });
      list.toContainEqual({
        ...{ ...shown, ...times, id },
        ...{ ip: mia.address, userAgent: expect.any(String), isCurrent: true },
      });
      const stored = await server.database.query<{ token: string }>(
        { name: '', text: 'select token from person_sessions' },
        [],
      );
      for (const { token } of stored) expect(answer.text).not.toContain(token);
      for (const cookie of [...mia.cookies.values(), ...phone.cookies.values()])
        expect(answer.text).not.toContain(cookie);
    });

    test("does not end or reveal another person's session", async () => {
      const [foreign] = await devicesOf(ada);
      const answer = await mia.post(`session/devices/${foreign?.id}/revoke`);
      expect(answer.code).toBe('resource_not_found');
      for (const id of ['ses_01m7epxwjmf7za77rhky2f93cc', 'x', '%00', mia.personId]) {
        expect((await mia.post(`session/devices/${id}/revoke`)).status, id).toBeGreaterThanOrEqual(400);
      }
      expect(await isSignedIn(ada)).toBe(true);
    });

    test('ends one session, all other sessions, or the current one', async () => {
      const tablet = await signIn(mia);
      const laptop = await signIn(mia);
      const devices = await devicesOf(phone);
      expect(devices).toHaveLength(4);
      const [current] = (await devicesOf(tablet)).filter(({ isCurrent }) => isCurrent);
      ok(await mia.post(`session/devices/${current?.id}/revoke`));
      expect(await isSignedIn(tablet)).toBe(false);
      expect((await mia.post(`session/devices/${current?.id}/revoke`)).code).toBe('resource_not_found');
      expect(await isSignedIn(laptop)).toBe(true);
      ok(await mia.post('session/devices/revoke_others'));
      expect(await isSignedIn(laptop)).toBe(false);
      expect(await isSignedIn(phone)).toBe(false);
      const left = await devicesOf(mia);
      expect(left.map(({ isCurrent }) => isCurrent)).toEqual([true]);
      ok(await mia.post(`session/devices/${left[0]?.id}/revoke`));
      expect(await isSignedIn(mia)).toBe(false);
    });
  });

  test('an organization requires a name, and only its creator is a member', async () => {
    for (const body of [{}, { name: '' }, { name: 'x'.repeat(201) }, { name: 'Acme', owner: 'usr_x' }]) {
      expect((await ada.post('session/organizations', body)).code).toBe('invalid_request');
    }
    const created = ok(await ada.post('session/organizations', { name: 'Acme' }));
    const grace = await newPerson(server, 'Grace');
    expect((await grace.get('session')).body.organizations).toEqual([]);
    expect((await grace.get(`${created.id}/organization`)).code).toBe('resource_not_found');
  });
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleSession);
});
