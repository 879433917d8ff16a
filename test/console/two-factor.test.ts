import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { People } from '../../src/identity/people.ts';
import { consoleOf, type Server } from '../../src/server.ts';
import { type Answer, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, openServer } from '../support/server.ts';
import { goodPassword, newcomer, ok, type Person, totp, Visitor } from '../support/visitor.ts';

const stepMs = 30_000;
const ownSecret = 's'.repeat(32);

describe.each(databaseKinds)('the second factor on %s', (kind) => {
  let server: Server;
  let ada: Person;
  let enabled: Answer;
  let secret: string;
  let backupCodes: readonly string[];

  beforeAll(async () => {
    server = await openServer(kind, { secret: ownSecret });
    ada = await newcomer(server);
    enabled = await ada.post('session/two_factor/enable', { password: goodPassword });
    ok(enabled);
    secret = String(enabled.body.secret);
    backupCodes = enabled.body.backupCodes as string[];
  });
  afterAll(() => server?.close());

  /** Somebody who has given the right password and nothing else yet. */
  const halfway = async () => {
    const visitor = new Visitor(server.app);
    const answer = await visitor.post('session/sign_in', { email: ada.email, password: goodPassword });
    return { visitor, answer };
  };
  /** A code that can be accepted, as if time had passed since the last one: each is accepted once. */
  const freshCode = async () => {
    const text = 'update person_two_factors set last_counter = null where person_id = $1';
    await server.database.query({ name: '', text }, [ada.personId]);
    return totp(secret);
  };
  const second = (visitor: Visitor, body: object) => visitor.post('session/two_factor', body);
  /** None of the codes that an authenticator shows about now. */
  const wrongCode = () => {
    const near = [-2, -1, 0, 1, 2].map((step) => totp(secret, Date.now() + step * stepMs));
    return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code));
  };

  test('is pending until a code of it was entered: nobody is asked for one before', async () => {
    expect(enabled.body).toMatchObject({ object: 'two_factor', status: 'pending' });
    expect(secret).toMatch(/^[A-Z2-7]{16,}$/);
    expect(enabled.body.uri).toMatch(/^otpauth:\/\/totp\/Sandbank/);
    expect(String(enabled.body.uri)).toContain(`secret=${secret}`);
    expect(backupCodes.length).toBeGreaterThanOrEqual(8);
    expect(new Set(backupCodes).size).toBe(backupCodes.length);
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: false });
    const { answer } = await halfway();
    expect(answer.body).toMatchObject({ status: 'ok', person: { email: ada.email } });

    const wrong = await ada.post('session/two_factor/confirm', { code: wrongCode() });
    expect(wrong.code).toBe('two_factor_failed');
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: false });
    ok(await ada.post('session/two_factor/confirm', { code: totp(secret) }));
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: true });
  });

  test('cannot be enabled with a wrong password', async () => {
    const grace = await newcomer(server, 'Grace');
    const answer = await grace.post('session/two_factor/enable', { password: 'a wrong horse battery' });
    expect(answer.code).toBe('password_wrong');
    expect(answer.text).not.toContain('otpauth');
    const code = totp(secret);
    expect((await grace.post('session/two_factor/confirm', { code })).code, 'nothing to confirm').toBe(
      'two_factor_failed',
    );
    expect((await grace.get('session')).body.person).toMatchObject({ twoFactor: false });
  });

  test('the answer to the confirmation says that it is on', async () => {
    const linus = await newcomer(server, 'Linus');
    const made = ok(await linus.post('session/two_factor/enable', { password: goodPassword }));
    const confirmed = await linus.post('session/two_factor/confirm', { code: totp(String(made.secret)) });
    expect(confirmed.status).toBe(200);
    expect(confirmed.body.person).toMatchObject({ twoFactor: true });
  });

  test('cannot be replaced while it is on, not even with the password', async () => {
    const again = await ada.post('session/two_factor/enable', { password: goodPassword });
    expect(again.code).toBe('invalid_request');
    expect(again.text).not.toContain('otpauth');
  });

  test('after it the password alone signs nobody in, and whoever is halfway can do nothing else', async () => {
    const { visitor, answer } = await halfway();
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'two_factor_required', person: null, organizations: [] });
    expect((await visitor.get('session')).body.person).toBeNull();
    const tries: [string, object | null][] = [
      ['session/devices', null],
      ['session/profile', { name: 'Eve' }],
      ['session/password', { currentPassword: goodPassword, newPassword: 'another horse battery' }],
      ['session/organizations', { name: 'Eve' }],
      ['session/devices/revoke_others', {}],
      ['session/two_factor/enable', { password: goodPassword }],
      ['session/two_factor/confirm', { code: totp(secret) }],
      ['session/two_factor/disable', { password: goodPassword }],
      ['session/invitations/0123456789abcdef/accept', {}],
      ['org_01m7epxwjmf7za77rhky2f93cc/organization', null],
    ];
    for (const [path, body] of tries) {
      const { code } = body === null ? await visitor.get(path) : await visitor.post(path, body);
      expect(code, path).toBe('session_missing');
    }
    expect(await sessionsOf(server, ada), 'sessions of the person').not.toContain(visitor.address);
  });

  test('a code of now finishes signing in; the cookie of halfway is worth nothing afterwards', async () => {
    const { visitor } = await halfway();
    const copy = visitor.copy();
    expect((await second(visitor, { code: wrongCode() })).code).toBe('two_factor_failed');
    expect((await visitor.get('session')).body.person).toBeNull();
    const signedIn = await second(visitor, { code: await freshCode() });
    expect(signedIn.status, signedIn.text).toBe(200);
    expect(signedIn.body.person).toMatchObject({ email: ada.email, twoFactor: true });
    expect((await visitor.get('session/devices')).status).toBe(200);
    expect((await second(copy, { code: await freshCode() })).code).toBe('two_factor_failed');
    expect((await copy.get('session')).body.person).toBeNull();
  });

  test.each([
    ['{}', {}],
    ['both', { code: '000000', backupCode: 'x' }],
    ['a number', { code: 123456 }],
    ['something long', { code: '0'.repeat(13) }],
    ['trustDevice', { code: '000000', trustDevice: true }],
  ])('%s instead of a code is refused', async (_name, body) => {
    expect((await second(new Visitor(server.app), body)).code).toBe('invalid_request');
  });

  test('a code is worth nothing to whoever has not given the password', async () => {
    const stranger = new Visitor(server.app);
    expect((await second(stranger, { code: totp(secret) })).code).toBe('two_factor_failed');
    expect((await second(stranger, { backupCode: backupCodes[0] })).code).toBe('two_factor_failed');
    expect(stranger.cookies.size).toBe(0);
  });

  test('a code of long ago or of later is wrong', async () => {
    const { visitor } = await halfway();
    for (const away of [-10, 10]) {
      const code = totp(secret, Date.now() + away * stepMs);
      expect((await second(visitor, { code })).code).toBe('two_factor_failed');
    }
  });

  test('a backup code signs in once', async () => {
    const [backupCode] = backupCodes;
    const { visitor } = await halfway();
    expect((await second(visitor, { backupCode: 'aaaaa-bbbbb' })).code).toBe('two_factor_failed');
    const signedIn = await second(visitor, { backupCode });
    expect(signedIn.status, signedIn.text).toBe(200);
    expect((await visitor.get('session')).body.person).toMatchObject({ email: ada.email });
    const again = await halfway();
    expect((await second(again.visitor, { backupCode })).code).toBe('two_factor_failed');
    expect((await again.visitor.get('session')).body.person).toBeNull();
    expect((await second(again.visitor, { backupCode: backupCodes[1] })).status).toBe(200);
  });

  test('one backup code used in two browsers at once signs in one of them', async () => {
    const [, , backupCode] = backupCodes;
    const browsers = await Promise.all([halfway(), halfway()]);
    const answers = await Promise.all(browsers.map(({ visitor }) => second(visitor, { backupCode })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const sessions = await Promise.all(browsers.map(({ visitor }) => visitor.get('session')));
    expect(sessions.filter(({ body }) => body.person !== null)).toHaveLength(1);
  });

  test('the other ones of several browsers are told that the backup code was used', async () => {
    const [, , , backupCode] = backupCodes;
    const browsers = await Promise.all([halfway(), halfway(), halfway()]);
    const answers = await Promise.all(browsers.map(({ visitor }) => second(visitor, { backupCode })));
    const codes = answers.map(({ code }) => code).filter((code) => code !== null);
    expect(codes).toEqual(['two_factor_failed', 'two_factor_failed']);
  });

  describe('a code is accepted once', () => {
    test('also for another sign-in, and neither are the codes of earlier steps after it', async () => {
      const code = await freshCode();
      const [first, again, earlier] = [await halfway(), await halfway(), await halfway()];
      expect((await second(first.visitor, { code })).status).toBe(200);
      const refused = await second(again.visitor, { code });
      expect(refused.code).toBe('two_factor_failed');
      expect(refused.body.error.message).toBe('This code was used already. Wait for the next one.');
      expect((await again.visitor.get('session')).body.person).toBeNull();
      const before = totp(secret, Date.now() - stepMs);
      expect((await second(earlier.visitor, { code: before })).code).toBe('two_factor_failed');
      const next = totp(secret, Date.now() + stepMs);
      expect((await second(again.visitor, { code: next })).status, 'the next code').toBe(200);
    });

    test('the code that confirmed the second factor does not sign in', async () => {
      const eve = await newcomer(server, 'Eve');
      const made = ok(await eve.post('session/two_factor/enable', { password: goodPassword }));
      const code = totp(String(made.secret));
      ok(await eve.post('session/two_factor/confirm', { code }));
      const visitor = new Visitor(server.app);
      ok(await visitor.post('session/sign_in', { email: eve.email, password: goodPassword }));
      expect((await second(visitor, { code })).code).toBe('two_factor_failed');
    });

    test('on several nodes at the same moment one of them accepts it', async () => {
      const { database } = server;
      const people = new People({ database, secret: ownSecret, isTls: false, wallClock: Date.now });
      const other = openApp(server, {
        console: consoleOf({ registration: 'open' }, people, server.operator),
      });
      const browsers = await Promise.all([halfway(), halfway(), halfway(), halfway()]);
      const code = await freshCode();
      const answers = await Promise.all(
        browsers.map(({ visitor }, i) => second(i % 2 ? visitor.at(other) : visitor, { code })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });
  });

  test('a new password ends sign-ins that wait for a second factor', async () => {
    const { visitor } = await halfway();
    const change = { currentPassword: goodPassword, newPassword: 'another horse battery' };
    ok(await ada.post('session/password', change));
    expect((await second(visitor, { code: await freshCode() })).code).toBe('two_factor_failed');
    expect((await second(visitor, { backupCode: backupCodes[5] })).code).toBe('two_factor_failed');
    expect((await visitor.get('session')).body.person).toBeNull();
    ok(
      await ada.post('session/password', {
        currentPassword: change.newPassword,
        newPassword: goodPassword,
      }),
    );
    const { visitor: late } = await halfway();
    const link = await server.people.createResetLink(ada.email, null);
    ok(
      await new Visitor(server.app).post('session/password_reset', {
        token: link?.token,
        newPassword: goodPassword,
      }),
    );
    expect((await second(late, { code: await freshCode() })).code).toBe('two_factor_failed');
    const back = await ada.post('session/sign_in', { email: ada.email, password: goodPassword });
    expect(back.body.status).toBe('two_factor_required');
    ok(await second(ada, { code: await freshCode() }));
  });

  test('codes cannot be guessed: a sign-in bears five, an account ten and then one in two minutes', async () => {
    const { visitor } = await halfway();
    for (let i = 0; i < 5; i += 1) {
      visitor.address = `192.0.2.${i + 1}`;
      expect((await second(visitor, { code: wrongCode() })).code).toBe('two_factor_failed');
    }
    const right = await second(visitor, { code: await freshCode() });
    expect(right.code, 'the right one comes too late').toBe('two_factor_failed');
    const { visitor: next } = await halfway();
    for (let i = 0; i < 4; i += 1)
      expect((await second(next, { code: wrongCode() })).code).toBe('two_factor_failed');
    const { visitor: last } = await halfway();
    const slowed = await second(last, { code: await freshCode() });
    expect(slowed.code, 'even the right one, from an unknown device').toBe('rate_limited');
    expect(Number(slowed.headers['retry-after'])).toBeLessThanOrEqual(120);
    // The owner signs in from a known device, whatever others guess elsewhere.
    ok(await ada.post('session/sign_out'));
    ok(await ada.post('session/sign_in', { email: ada.email, password: goodPassword }));
    ok(await second(ada, { code: await freshCode() }));
    expect((await ada.get('session')).body.person).toMatchObject({ email: ada.email });
  });

  test('is kept encrypted, and so are the backup codes', async () => {
    const rows = await server.database.query<{ row: string }>(
      { name: '', text: 'select row_to_json(t)::text as row from person_two_factors t' },
      [],
    );
    const kept = JSON.stringify(rows);
    for (const plain of [secret, ...backupCodes]) expect(kept).not.toContain(plain);
  });

  test('ends with the password alone being enough, which takes the password', async () => {
    const wrong = await ada.post('session/two_factor/disable', { password: 'a wrong horse battery' });
    expect(wrong.code).toBe('password_wrong');
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: true });
    const off = await ada.post('session/two_factor/disable', { password: goodPassword });
    expect(off.body.person).toMatchObject({ twoFactor: false });
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: false });
    const { answer } = await halfway();
    expect(answer.body).toMatchObject({ status: 'ok', person: { email: ada.email, twoFactor: false } });
    const anew = ok(await ada.post('session/two_factor/enable', { password: goodPassword }));
    expect(anew.secret, 'a new secret').not.toBe(secret);
  });
});

async function sessionsOf(server: Server, { personId }: Person): Promise<readonly (string | null)[]> {
  const rows = await server.database.query<{ address: string | null }>(
    { name: '', text: 'select ip_address as address from person_sessions where person_id = $1' },
    [personId],
  );
  return rows.map(({ address }) => address);
}

test('the codes seen here are those of the list', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleTwoFactor);
});
