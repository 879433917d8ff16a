import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Server } from '../../src/server.ts';
import { provokedBy } from '../api/codes.ts';
import { type Answer, seenCodes } from '../support/api-client.ts';
import { decidedOn, openServer } from '../support/server.ts';
import { goodPassword, newcomer, ok, type Person, totp, Visitor } from '../support/visitor.ts';

const stepMs = 30_000;

describe.each(decidedOn('postgres'))('the second factor on %s', (kind) => {
  let server: Server;
  let ada: Person;
  let enabled: Answer;
  let secret: string;
  let backupCodes: readonly string[];

  beforeAll(async () => {
    server = await openServer(kind);
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
    const signedIn = await second(visitor, { code: totp(secret) });
    expect(signedIn.status, signedIn.text).toBe(200);
    expect(signedIn.body.person).toMatchObject({ email: ada.email, twoFactor: true });
    expect((await visitor.get('session/devices')).status).toBe(200);
    expect((await second(copy, { code: totp(secret) })).code).toBe('two_factor_failed');
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

  test('codes cannot be guessed: each sign-in bears five, and each address a hundred', async () => {
    const { visitor } = await halfway();
    for (let i = 0; i < 5; i += 1) {
      visitor.address = `192.0.2.${i + 1}`;
      expect((await second(visitor, { code: wrongCode() })).code).toBe('two_factor_failed');
    }
    const right = await second(visitor, { code: totp(secret) });
    expect(right.code, 'the right one comes too late').toBe('two_factor_failed');
    const crowd = Object.assign(new Visitor(server.app), { address: '192.0.2.77' });
    const answers = await Promise.all(Array.from({ length: 102 }, () => second(crowd, { code: '000000' })));
    expect(answers.filter(({ code }) => code === 'rate_limited')).toHaveLength(2);
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
  expect([...seenCodes].sort()).toEqual(provokedBy.consoleTwoFactor);
});
