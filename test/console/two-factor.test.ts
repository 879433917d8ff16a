import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleOf } from '../../src/assembly/http.ts';
import { People } from '../../src/identity/people.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, openServer } from '../support/server.ts';
import { goodPassword, newPerson, ok, type Person, totp, Visitor } from '../support/visitor.ts';

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
    ada = await newPerson(server);
    enabled = await ada.post('session/two_factor/enable', { password: goodPassword });
    ok(enabled);
    secret = String(enabled.body.secret);
    backupCodes = enabled.body.backupCodes as string[];
  });
  afterAll(() => server?.close());

  /** A sign-in with the right password that still waits for the second factor. */
  const startSignIn = async () => {
    const visitor = new Visitor(server.app);
    const answer = await visitor.post('session/sign_in', { email: ada.email, password: goodPassword });
    return { visitor, answer };
  };
  /** A valid code. Each code is accepted once, so this clears the counter of the last one, as time would. */
  const freshCode = async () => {
    const text = 'update person_two_factors set last_counter = null where person_id = $1';
    await server.database.query({ name: '', text }, [ada.personId]);
    return totp(secret);
  };
  const sendFactor = (visitor: Visitor, body: object) => visitor.post('session/two_factor', body);
  /** A code that no authenticator shows around this time. */
  const wrongCode = () => {
    const near = [-2, -1, 0, 1, 2].map((step) => totp(secret, Date.now() + step * stepMs));
    return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !near.includes(code));
  };

  test('is pending, and not required to sign in, until a code confirms it', async () => {
    expect(enabled.body).toMatchObject({ object: 'two_factor', status: 'pending' });
    expect(secret).toMatch(/^[A-Z2-7]{16,}$/);
    expect(enabled.body.uri).toMatch(/^otpauth:\/\/totp\/Sandbank/);
    expect(String(enabled.body.uri)).toContain(`secret=${secret}`);
    expect(backupCodes.length).toBeGreaterThanOrEqual(8);
    expect(new Set(backupCodes).size).toBe(backupCodes.length);
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: false });
    const { answer } = await startSignIn();
    expect(answer.body).toMatchObject({ status: 'ok', person: { email: ada.email } });

    const wrong = await ada.post('session/two_factor/confirm', { code: wrongCode() });
    expect(wrong.code).toBe('two_factor_failed');
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: false });
    ok(await ada.post('session/two_factor/confirm', { code: totp(secret) }));
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: true });
  });

  test('cannot be enabled with a wrong password', async () => {
    const grace = await newPerson(server, 'Grace');
    const answer = await grace.post('session/two_factor/enable', { password: 'a wrong horse battery' });
    expect(answer.code).toBe('password_wrong');
    expect(answer.text).not.toContain('otpauth');
    const code = totp(secret);
    expect((await grace.post('session/two_factor/confirm', { code })).code, 'nothing to confirm').toBe(
      'two_factor_failed',
    );
    expect((await grace.get('session')).body.person).toMatchObject({ twoFactor: false });
  });

  test('the response to the confirmation shows it as enabled', async () => {
    const linus = await newPerson(server, 'Linus');
    const enabling = ok(await linus.post('session/two_factor/enable', { password: goodPassword }));
    const confirmed = await linus.post('session/two_factor/confirm', { code: totp(String(enabling.secret)) });
    expect(confirmed.status).toBe(200);
    expect(confirmed.body.person).toMatchObject({ twoFactor: true });
  });

  test('cannot be replaced while it is enabled, not even with the password', async () => {
    const again = await ada.post('session/two_factor/enable', { password: goodPassword });
    expect(again.code).toBe('invalid_request');
    expect(again.text).not.toContain('otpauth');
  });

  test('makes the password insufficient: a pending sign-in can do nothing else', async () => {
    const { visitor, answer } = await startSignIn();
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ status: 'two_factor_required', person: null, organizations: [] });
    expect((await visitor.get('session')).body.person).toBeNull();
    const requests: [string, object | null][] = [
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
    for (const [path, body] of requests) {
      const { code } = body === null ? await visitor.get(path) : await visitor.post(path, body);
      expect(code, path).toBe('session_missing');
    }
    expect(await sessionsOf(server, ada), "the person's sessions").not.toContain(visitor.address);
  });

  test('a current code completes the sign-in, and the pending cookie is invalid afterwards', async () => {
    const { visitor } = await startSignIn();
    const copy = visitor.copy();
    expect((await sendFactor(visitor, { code: wrongCode() })).code).toBe('two_factor_failed');
    expect((await visitor.get('session')).body.person).toBeNull();
    const signedIn = await sendFactor(visitor, { code: await freshCode() });
    expect(signedIn.status, signedIn.text).toBe(200);
    expect(signedIn.body.person).toMatchObject({ email: ada.email, twoFactor: true });
    expect((await visitor.get('session/devices')).status).toBe(200);
    expect((await sendFactor(copy, { code: await freshCode() })).code).toBe('two_factor_failed');
    expect((await copy.get('session')).body.person).toBeNull();
  });

  test.each([
    ['{}', {}],
    ['both', { code: '000000', backupCode: 'x' }],
    ['a number', { code: 123456 }],
    ['something long', { code: '0'.repeat(13) }],
    ['trustDevice', { code: '000000', trustDevice: true }],
  ])('%s instead of a code is rejected', async (_name, body) => {
    expect((await sendFactor(new Visitor(server.app), body)).code).toBe('invalid_request');
  });

  test('a code without the password does not sign in', async () => {
    const stranger = new Visitor(server.app);
    expect((await sendFactor(stranger, { code: totp(secret) })).code).toBe('two_factor_failed');
    expect((await sendFactor(stranger, { backupCode: backupCodes[0] })).code).toBe('two_factor_failed');
    expect(stranger.cookies.size).toBe(0);
  });

  test('a code from the past or the future is rejected', async () => {
    const { visitor } = await startSignIn();
    for (const away of [-10, 10]) {
      const code = totp(secret, Date.now() + away * stepMs);
      expect((await sendFactor(visitor, { code })).code).toBe('two_factor_failed');
    }
  });

  test('a backup code signs in once', async () => {
    const [backupCode] = backupCodes;
    const { visitor } = await startSignIn();
    expect((await sendFactor(visitor, { backupCode: 'aaaaa-bbbbb' })).code).toBe('two_factor_failed');
    const signedIn = await sendFactor(visitor, { backupCode });
    expect(signedIn.status, signedIn.text).toBe(200);
    expect((await visitor.get('session')).body.person).toMatchObject({ email: ada.email });
    const again = await startSignIn();
    expect((await sendFactor(again.visitor, { backupCode })).code).toBe('two_factor_failed');
    expect((await again.visitor.get('session')).body.person).toBeNull();
    expect((await sendFactor(again.visitor, { backupCode: backupCodes[1] })).status).toBe(200);
  });

  test('one backup code used concurrently in two browsers signs in one of them', async () => {
    const [, , backupCode] = backupCodes;
    const browsers = await Promise.all([startSignIn(), startSignIn()]);
    const answers = await Promise.all(browsers.map(({ visitor }) => sendFactor(visitor, { backupCode })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const sessions = await Promise.all(browsers.map(({ visitor }) => visitor.get('session')));
    expect(sessions.filter(({ body }) => body.person !== null)).toHaveLength(1);
  });

  test('the other concurrent browsers get an error for the used backup code', async () => {
    const [, , , backupCode] = backupCodes;
    const browsers = await Promise.all([startSignIn(), startSignIn(), startSignIn()]);
    const answers = await Promise.all(browsers.map(({ visitor }) => sendFactor(visitor, { backupCode })));
    const codes = answers.map(({ code }) => code).filter((code) => code !== null);
    expect(codes).toEqual(['two_factor_failed', 'two_factor_failed']);
  });

  describe('a code is accepted once', () => {
    test('over all sign-ins, and codes of earlier steps are rejected after it', async () => {
      const code = await freshCode();
      const [first, again, earlier] = [await startSignIn(), await startSignIn(), await startSignIn()];
      expect((await sendFactor(first.visitor, { code })).status).toBe(200);
      const refused = await sendFactor(again.visitor, { code });
      expect(refused.code).toBe('two_factor_failed');
      expect(refused.body.error.message).toBe('This code was already used. Wait for the next one.');
      expect((await again.visitor.get('session')).body.person).toBeNull();
      const before = totp(secret, Date.now() - stepMs);
      expect((await sendFactor(earlier.visitor, { code: before })).code).toBe('two_factor_failed');
      const next = totp(secret, Date.now() + stepMs);
      expect((await sendFactor(again.visitor, { code: next })).status, 'the next code').toBe(200);
    });

    test('the code that confirmed the second factor does not sign in', async () => {
      const eve = await newPerson(server, 'Eve');
      const enabling = ok(await eve.post('session/two_factor/enable', { password: goodPassword }));
      const code = totp(String(enabling.secret));
      ok(await eve.post('session/two_factor/confirm', { code }));
      const visitor = new Visitor(server.app);
      ok(await visitor.post('session/sign_in', { email: eve.email, password: goodPassword }));
      expect((await sendFactor(visitor, { code })).code).toBe('two_factor_failed');
    });

    test('when several nodes get it concurrently', async () => {
      const { database } = server;
      const people = new People({
        database,
        secret: ownSecret,
        isTls: false,
        passkeyHost: 'localhost',
        wallClock: Date.now,
      });
      const other = openApp(server, {
        console: consoleOf({ registration: 'open' }, people, server.operator, server.vault),
      });
      const browsers = await Promise.all([startSignIn(), startSignIn(), startSignIn(), startSignIn()]);
      const code = await freshCode();
      const answers = await Promise.all(
        browsers.map(({ visitor }, i) => sendFactor(i % 2 ? visitor.at(other) : visitor, { code })),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });
  });

  test('a new password ends pending sign-ins', async () => {
    const { visitor } = await startSignIn();
    const change = { currentPassword: goodPassword, newPassword: 'another horse battery' };
    ok(await ada.post('session/password', change));
    expect((await sendFactor(visitor, { code: await freshCode() })).code).toBe('two_factor_failed');
    expect((await sendFactor(visitor, { backupCode: backupCodes[5] })).code).toBe('two_factor_failed');
    expect((await visitor.get('session')).body.person).toBeNull();
    ok(
      await ada.post('session/password', {
        currentPassword: change.newPassword,
        newPassword: goodPassword,
      }),
    );
    const { visitor: late } = await startSignIn();
    const link = await server.people.createResetLink(ada.email, null);
    ok(
      await new Visitor(server.app).post('session/password_reset', {
        token: link?.token,
        newPassword: goodPassword,
      }),
    );
    expect((await sendFactor(late, { code: await freshCode() })).code).toBe('two_factor_failed');
    const back = await ada.post('session/sign_in', { email: ada.email, password: goodPassword });
    expect(back.body.status).toBe('two_factor_required');
    ok(await sendFactor(ada, { code: await freshCode() }));
  });

  test('code guesses are limited to five for each sign-in, and to ten for each account, then one in two minutes', async () => {
    const { visitor } = await startSignIn();
    for (let i = 0; i < 5; i += 1) {
      visitor.address = `192.0.2.${i + 1}`;
      expect((await sendFactor(visitor, { code: wrongCode() })).code).toBe('two_factor_failed');
    }
    const right = await sendFactor(visitor, { code: await freshCode() });
    expect(right.code, 'the right code is too late').toBe('two_factor_failed');
    const { visitor: next } = await startSignIn();
    for (let i = 0; i < 4; i += 1)
      expect((await sendFactor(next, { code: wrongCode() })).code).toBe('two_factor_failed');
    const { visitor: last } = await startSignIn();
    const slowed = await sendFactor(last, { code: await freshCode() });
    expect(slowed.code, 'even the right code, from an unknown device').toBe('rate_limited');
    expect(Number(slowed.headers['retry-after'])).toBeLessThanOrEqual(120);
    // Guesses elsewhere do not lock the owner out of a known device.
    ok(await ada.post('session/sign_out'));
    ok(await ada.post('session/sign_in', { email: ada.email, password: goodPassword }));
    ok(await sendFactor(ada, { code: await freshCode() }));
    expect((await ada.get('session')).body.person).toMatchObject({ email: ada.email });
  });

  test('is stored encrypted, and so are the backup codes', async () => {
    const rows = await server.database.query<{ row: string }>(
      { name: '', text: 'select row_to_json(t)::text as row from person_two_factors t' },
      [],
    );
    const stored = JSON.stringify(rows);
    for (const plain of [secret, ...backupCodes]) expect(stored).not.toContain(plain);
  });

  test('can be disabled with the password, after which the password alone signs in', async () => {
    const wrong = await ada.post('session/two_factor/disable', { password: 'a wrong horse battery' });
    expect(wrong.code).toBe('password_wrong');
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: true });
    const off = await ada.post('session/two_factor/disable', { password: goodPassword });
    expect(off.body.person).toMatchObject({ twoFactor: false });
    expect((await ada.get('session')).body.person).toMatchObject({ twoFactor: false });
    const { answer } = await startSignIn();
    expect(answer.body).toMatchObject({ status: 'ok', person: { email: ada.email, twoFactor: false } });
    const reenabled = ok(await ada.post('session/two_factor/enable', { password: goodPassword }));
    expect(reenabled.secret, 'a new secret').not.toBe(secret);
  });
});

async function sessionsOf(server: Server, { personId }: Person): Promise<readonly (string | null)[]> {
  const rows = await server.database.query<{ address: string | null }>(
    { name: '', text: 'select ip_address as address from person_sessions where person_id = $1' },
    [personId],
  );
  return rows.map(({ address }) => address);
}

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleTwoFactor);
});
