import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, test } from 'vitest';
import { consoleOf } from '../../src/assembly/http.ts';
import { hashWith } from '../../src/identity/password.ts';
import { People } from '../../src/identity/people.ts';
import { networkOf, SignInThrottle, signInBudgets } from '../../src/identity/sign-in-throttle.ts';
import type { Server } from '../../src/server.ts';
import { type Answer, seenCodes } from '../support/api-client.ts';
import { expectedErrorCodes } from '../support/error-codes.ts';
import { databaseKinds, openApp, sharedServer } from '../support/server.ts';
import { goodPassword, newPerson, ok, type Person, Visitor } from '../support/visitor.ts';

const wrong = 'a wrong horse battery';
const hourMs = 3_600_000;

const count = (answers: readonly Answer[], code: string) =>
  answers.filter((answer) => answer.code === code).length;
const retryAfter = ({ headers }: Answer) => Number(headers['retry-after']);

describe.each(databaseKinds)('password guessing on %s', (kind) => {
  let server: Server;
  let app: FastifyInstance;
  let people: People;
  let wallNow = Date.now();

  beforeAll(async () => {
    server = await sharedServer(kind);
    const { database } = server;
    const wallClock = () => wallNow;
    people = new People({
      database,
      secret: 'x'.repeat(32),
      isTls: false,
      passkeyHost: 'localhost',
      wallClock,
    });
    app = openApp(server, {
      wallClock,
      console: consoleOf({ registration: 'open' }, people, server.operator, server.vault),
    });
  });

  const at = (address: string) => Object.assign(new Visitor(app), { address });
  const elsewhere = () => new Visitor(app);
  const signIn = ({ email }: { email: string }, password: string, visitor = elsewhere()) =>
    visitor.post('session/sign_in', { email, password });
  /** Counts failures without checking a password, which would cost CPU. */
  const fail = async (email: string, times: number, addressOf: (i: number) => string) => {
    const throttle = new SignInThrottle(server.database);
    for (let i = 0; i < times; i += 1)
      expect(await throttle.take(signInBudgets(email, addressOf(i), undefined), wallNow)).toBeUndefined();
  };
  const everywhere = (i: number) => `192.0.2.${i}`;

  test('from one network is limited to a burst of ten, then one a minute; the right password works from elsewhere', async () => {
    const ada = await newPerson({ app }, 'Ada');
    const attacker = at('192.0.2.1');
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        signIn({ email: i % 2 ? ada.email : ada.email.toUpperCase() }, wrong, attacker),
      ),
    );
    expect(count(answers, 'sign_in_failed')).toBe(10);
    expect(count(answers, 'rate_limited')).toBe(15);
    for (const answer of answers.filter(({ code }) => code === 'rate_limited')) {
      expect(answer.status).toBe(429);
      expect(retryAfter(answer)).toBe(60);
    }
    expect((await signIn(ada, goodPassword, attacker)).code, 'not checked').toBe('rate_limited');
    expect((await signIn(ada, goodPassword)).status, 'an unknown device elsewhere').toBe(200);
    wallNow += 59_000;
    expect(retryAfter(await signIn(ada, wrong, attacker))).toBe(1);
    wallNow += 1_000;
    const later = await Promise.all([1, 2, 3].map(() => signIn(ada, wrong, attacker)));
    expect(count(later, 'sign_in_failed'), 'one more').toBe(1);
    expect(count(later, 'rate_limited')).toBe(2);
    wallNow += hourMs;
    expect((await signIn(ada, goodPassword, attacker)).status, 'afterwards').toBe(200);
  });

  test('from many networks is limited to a burst of thirty, then one in twenty seconds; a known device is not affected', async () => {
    const ada = await newPerson({ app }, 'Ada');
    await fail(ada.email, 30, everywhere);
    const slowed = await signIn(ada, goodPassword);
    expect(slowed.code, 'an unknown device').toBe('rate_limited');
    expect(retryAfter(slowed)).toBe(20);
    expect(slowed.body.error.message).toBe('Too many attempts failed for this account or from your network.');
    ok(await ada.post('session/sign_out'));
    expect((await signIn(ada, goodPassword, ada)).status, 'the browser that signed up').toBe(200);
    expect((await ada.get('session')).body.person).toMatchObject({ email: ada.email });
    wallNow += 20_000;
    expect((await signIn(ada, goodPassword)).status, 'an unknown device, after Retry-After').toBe(200);
  });

  test('rejected attempts use no budget, so further attempts do not extend the wait', async () => {
    const ada = await newPerson({ app }, 'Ada');
    await fail(ada.email, 30, everywhere);
    wallNow += 10_000;
    for (let i = 0; i < 20; i += 1) expect((await signIn(ada, wrong)).code).toBe('rate_limited');
    expect(retryAfter(await signIn(ada, wrong))).toBe(10);
  });

  test('a known device has a separate budget of ten failures and is slowed down only by its own', async () => {
    const ada = await newPerson({ app }, 'Ada');
    for (let i = 0; i < 10; i += 1) expect((await signIn(ada, wrong, ada)).code).toBe('sign_in_failed');
    const slowed = await signIn(ada, goodPassword, ada);
    expect(slowed.code).toBe('rate_limited');
    expect(retryAfter(slowed)).toBe(30);
    expect((await signIn(ada, goodPassword)).status, 'others').toBe(200);
    wallNow += 30_000;
    ok(await signIn(ada, goodPassword, ada));
    expect((await signIn(ada, wrong, ada)).code, 'the right password resets the budget').toBe(
      'sign_in_failed',
    );
    expect((await signIn(ada, goodPassword, ada)).status).toBe(200);
  });

  test.each([
    [
      'changed elsewhere',
      async (ada: Person) => {
        const visitor = elsewhere();
        ok(await signIn(ada, goodPassword, visitor));
        ok(await visitor.post('session/password', { currentPassword: goodPassword, newPassword: wrong }));
      },
    ],
    [
      'reset by a link',
      async (ada: Person) => {
        const link = await people.createResetLink(ada.email, null);
        const reset = { token: link?.token, newPassword: wrong };
        ok(await elsewhere().post('session/password_reset', reset));
      },
    ],
  ])('a device is no longer known when the password was %s', async (_how, change) => {
    const ada = await newPerson({ app }, 'Ada');
    await change(ada);
    await fail(ada.email, 30, everywhere);
    expect((await signIn(ada, wrong, ada)).code, 'the password was changed to this one').toBe('rate_limited');
    wallNow += 20_000;
    ok(await signIn(ada, wrong, ada));
    await fail(ada.email, 1, everywhere);
    expect((await signIn(ada, wrong, ada)).status, 'known again').toBe(200);
  });

  test('the browser that changed the password stays known', async () => {
    const ada = await newPerson({ app }, 'Ada');
    ok(await ada.post('session/password', { currentPassword: goodPassword, newPassword: wrong }));
    await fail(ada.email, 30, everywhere);
    expect((await signIn(ada, wrong, ada)).status).toBe(200);
  });

  test('the cookie of a known device cannot be forged, altered or used for another account', async () => {
    const [ada, mallory] = [await newPerson({ app }, 'Ada'), await newPerson({ app }, 'Mallory')];
    const [[name, value] = ['', '']] = [...ada.cookies].filter(([key]) => key.endsWith('.device'));
    const own = [...mallory.cookies].find(([key]) => key === name)?.[1] ?? '';
    const [issued = '', id = '', mac = ''] = value.split('.');
    expect(mac).toHaveLength(43);
    await fail(ada.email, 30, everywhere);
    const forged = [
      own,
      `${issued}.${id}.${'A'.repeat(43)}`,
      `${issued}.${'B'.repeat(16)}.${mac}`,
      `${(Number.parseInt(issued, 36) + 1).toString(36)}.${id}.${mac}`,
      `${Array(5).fill(own).join('~')}~${value}`,
      'x'.repeat(4_000),
      '~~~',
    ];
    for (const cookie of forged) {
      const thief = new Visitor(app, new Map([[name, cookie]]));
      expect((await signIn(ada, goodPassword, thief)).code, cookie).toBe('rate_limited');
    }
    const shared = new Visitor(app, new Map([[name, `${own}~${value}`]]));
    expect((await signIn(ada, goodPassword, shared)).status, 'a browser that two people use').toBe(200);
    const [line = ''] = shared.setCookies.filter((cookie) => cookie.startsWith(name));
    expect(line).toMatch(/; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(line).toContain(own);
    wallNow += 181 * 24 * hourMs;
    await fail(ada.email, 30, everywhere);
    const old = new Visitor(app, new Map([[name, value]]));
    expect((await signIn(ada, goodPassword, old)).code, 'it expires after half a year').toBe('rate_limited');
  });

  test('requests with invalid links and sign-ups do not use up the sign-in budget', async () => {
    wallNow += hourMs;
    const ada = await newPerson({ app }, 'Ada');
    const network = at('192.0.2.7');
    for (let i = 0; i < 11; i += 1) {
      const token = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () =>
          network.post('session/password_reset', { token, newPassword: goodPassword }),
        ),
      );
      for (const { code } of answers) expect(['link_invalid', 'rate_limited']).toContain(code);
    }
    const signUp = { name: 'X', email: ada.email, password: goodPassword };
    for (let i = 0; i < 11; i += 1) await network.post('session/sign_up', signUp);
    expect((await network.post('session/two_factor', { code: '000000' })).code).toBe('two_factor_failed');
    expect((await signIn(ada, goodPassword, network)).status).toBe(200);
  });

  test('unauthenticated requests from one network have a separate limit', async () => {
    const network = at('192.0.2.8');
    const reset = { token: randomUUID(), newPassword: goodPassword };
    const answers = await Promise.all(
      Array.from({ length: 150 }, () => network.post('session/password_reset', reset)),
    );
    expect(count(answers, 'rate_limited')).toBeGreaterThan(0);
    expect(count(answers, 'link_invalid')).toBeGreaterThanOrEqual(100);
    expect((await at('192.0.2.9').post('session/password_reset', reset)).code).toBe('link_invalid');
  });

  test('probing for registered addresses is limited to a burst of ten, then one a minute', async () => {
    wallNow += hourMs;
    const ada = await newPerson({ app }, 'Ada');
    const prober = at('2001:db8:1:2:3::4');
    const signUp = { name: 'X', email: ada.email, password: goodPassword };
    for (let i = 0; i < 10; i += 1) {
      prober.address = `2001:db8:1:2:3::${i}`;
      expect((await prober.post('session/sign_up', signUp)).code).toBe('email_taken');
    }
    const slowed = await prober.post('session/sign_up', signUp);
    expect(slowed.code).toBe('rate_limited');
    expect(retryAfter(slowed)).toBe(60);
    expect((await at('2001:db8:1:3::1').post('session/sign_up', signUp)).code).toBe('email_taken');
    wallNow += 60_000;
    const email = `new-${randomUUID()}@example.test`;
    expect((await prober.post('session/sign_up', { ...signUp, email })).status, 'an available address').toBe(
      201,
    );
    const again = await prober.post('session/sign_up', signUp);
    expect(again.code, 'an available address uses no budget').toBe('email_taken');
  });

  test('a session has a separate budget: guesses elsewhere do not slow it down, and its own are limited', async () => {
    const grace = await newPerson({ app }, 'Grace');
    await fail(grace.email, 30, everywhere);
    const requestsWith = (currentPassword: string): [string, object][] => [
      ['session/password', { currentPassword, newPassword: goodPassword }],
      ['session/two_factor/enable', { password: currentPassword }],
      ['session/two_factor/disable', { password: currentPassword }],
    ];
    ok(await grace.post(...(requestsWith(goodPassword)[0] ?? ['', {}])));
    for (let i = 0; i < 10; i += 1) {
      const [path, body] = requestsWith(wrong)[i % 3] ?? ['', {}];
      expect((await grace.post(path, body)).code, path).toBe('password_wrong');
    }
    for (const [path, body] of requestsWith(goodPassword)) {
      const slowed = await grace.post(path, body);
      expect(slowed.code, path).toBe('rate_limited');
      expect(retryAfter(slowed)).toBe(30);
    }
  });

  test('one network is limited to a burst of a hundred failures over all accounts, then one in five seconds', async () => {
    wallNow += hourMs;
    const ada = await newPerson({ app }, 'Ada');
    for (let i = 0; i < 100; i += 1)
      await fail(`nobody-${i}@example.test`, 1, () => `2001:db8:ffff:1::${i.toString(16)}`);
    const sameNetwork = at('2001:db8:ffff:1:aaaa::1');
    const slowed = await signIn(ada, goodPassword, sameNetwork);
    expect(slowed.code).toBe('rate_limited');
    expect(retryAfter(slowed)).toBe(5);
    ada.address = sameNetwork.address;
    expect((await signIn(ada, goodPassword, ada)).status, 'a known device there').toBe(200);
    expect((await signIn(ada, goodPassword, at('2001:db8:ffff:2::1'))).status).toBe(200);
  });

  const budgets = () =>
    server.database.query<{ subject: string; fullAt: number }>(
      { name: '', text: 'select subject, full_at as "fullAt" from sign_in_budgets' },
      [],
    );

  test('a successful sign-in and a password reset with a valid link use no budget', async () => {
    wallNow += 24 * hourMs;
    await people.reap();
    expect(await budgets()).toEqual([]);
    const ada = await newPerson({ app }, 'Ada');
    const link = await people.createResetLink(ada.email, null);
    ok(await elsewhere().post('session/password_reset', { token: link?.token, newPassword: goodPassword }));
    for (let i = 0; i < 3; i += 1) ok(await signIn(ada, goodPassword, at('192.0.2.3')));
    const used = (await budgets()).filter(({ fullAt }) => fullAt > wallNow);
    expect(used, 'only the sign-up used budget').toHaveLength(1);
  });

  test('refilled budgets are removed', async () => {
    await signIn(await newPerson({ app }, 'Ada'), wrong);
    await people.reap();
    expect((await budgets()).length).toBeGreaterThan(0);
    wallNow += 24 * hourMs;
    await people.reap();
    expect(await budgets()).toEqual([]);
  });

  test('budgets store neither addresses nor passwords', async () => {
    const ada = await newPerson({ app }, 'Ada');
    await signIn(ada, wrong, at('192.0.2.9'));
    for (const { subject } of await budgets()) expect(subject).toMatch(/^[0-9a-f]{64}$/);
  });

  test('too many concurrent password checks are rejected before they queue up', async () => {
    const ada = await newPerson({ app }, 'Ada');
    hashWith({ cost: 2 ** 14, blockSize: 8, parallelization: 1 });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        signIn({ email: `nobody-${i}@example.test` }, wrong, at(`198.51.100.${i}`)),
      ),
    );
    expect(count(answers, 'rate_limited')).toBeGreaterThan(0);
    expect(count(answers, 'sign_in_failed')).toBeGreaterThanOrEqual(32);
    for (const answer of answers.filter(({ code }) => code === 'rate_limited'))
      expect(retryAfter(answer)).toBe(3);
    expect((await signIn(ada, goodPassword)).status).toBe(200);
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('provokes exactly the expected error codes', () => {
  expect([...seenCodes].sort()).toEqual(expectedErrorCodes.consoleTries);
});
