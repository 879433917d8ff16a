import { describe, expect, test } from 'vitest';
import { cookieOf, KnownDevices } from './known-devices.ts';

const secret = 'a secret of at least thirty-two characters';
const settings = { secret, isTls: false, cookiePrefix: 'sandbank-1' };
const devices = new KnownDevices(settings);
const now = Date.UTC(2026, 0, 1);
const dayMs = 86_400_000;
const ada = { id: 'usr_ada', passwordHash: 'hash 1' };

/** The Cookie header that a browser sends after it received this Set-Cookie header. */
const sent = (setCookie: string) => setCookie.split(';')[0] ?? '';
const remembered = (owner = ada, cookies?: string, at = now) => sent(devices.remember(cookies, owner, at));

describe('a device', () => {
  test('is known to the account that signed in on it', () => {
    const cookies = remembered();
    expect(devices.find(cookies, ada, now)).toMatch(/^[A-Za-z0-9_-]{16}$/);
    expect(devices.find(`theme=dark; ${cookies}; x=y`, ada, now)).toBe(devices.find(cookies, ada, now));
  });

  test('has an id that is not used for another one', () => {
    expect(devices.find(remembered(), ada, now)).not.toBe(devices.find(remembered(), ada, now));
  });

  test.each<[what: string, cookies: string | undefined]>([
    ['no cookie', undefined],
    ['an empty cookie', 'sandbank-1.device='],
    ['another cookie', remembered().replace('sandbank-1', 'sandbank-2')],
    ['a signature that was changed', `${remembered().slice(0, -1)}!`],
    ['a signature that is too short', remembered().slice(0, -1)],
    ['something in front', remembered().replace('=', '=x')],
  ])('is not known by %s', (_what, cookies) => {
    expect(devices.find(cookies, ada, now)).toBeUndefined();
  });

  test('is not known by the cookie of another device with its id', () => {
    const [one, other] = [remembered(), remembered()].map((cookies) => cookies.split('.'));
    const mixed = [...(one?.slice(0, 2) ?? []), other?.[2], one?.[3]].join('.');
    expect(one).toHaveLength(4);
    expect(devices.find(mixed, ada, now)).toBeUndefined();
  });

  test('is not known to another account, after a new password, or with another secret', () => {
    const cookies = remembered();
    expect(devices.find(cookies, { ...ada, id: 'usr_bob' }, now)).toBeUndefined();
    expect(devices.find(cookies, { ...ada, passwordHash: 'hash 2' }, now)).toBeUndefined();
    expect(devices.find(cookies, { ...ada, passwordHash: null }, now)).toBeUndefined();
    const other = new KnownDevices({ ...settings, secret: 'another secret of thirty-two letters' });
    expect(other.find(cookies, ada, now)).toBeUndefined();
  });

  test.each([
    ['at once', 0, true],
    ['one millisecond before 180 days', 180 * dayMs - 1, true],
    ['after 180 days', 180 * dayMs, false],
    ['by a clock that is a day behind', -dayMs, true],
    ['by a clock that is more than a day behind', -dayMs - 1, false],
  ])('%s: known after %s ms is %s', (_what, ms, isKnown) => {
    expect(devices.find(remembered(), ada, now + ms) !== undefined).toBe(isKnown);
  });

  test('cannot extend its time by itself', () => {
    const later = (now + 100 * dayMs).toString(36);
    const forged = remembered().replace(now.toString(36), later);
    expect(devices.find(forged, ada, now + 100 * dayMs)).toBeUndefined();
  });

  test('keeps its id, and gets new time, when the account signs in again', () => {
    const first = remembered();
    const again = remembered(ada, first, now + 100 * dayMs);
    expect(devices.find(again, ada, now + 270 * dayMs)).toBe(devices.find(first, ada, now));
  });
});

describe('a browser that several accounts use', () => {
  const owner = (i: number) => ({ id: `usr_${i}`, passwordHash: 'hash' });

  test('remembers five, and a sixth replaces the oldest', () => {
    let cookies: string | undefined;
    for (let i = 1; i <= 5; i += 1) cookies = remembered(owner(i), cookies);
    for (let i = 1; i <= 5; i += 1) expect(devices.find(cookies, owner(i), now)).toBeDefined();
    cookies = remembered(owner(1), cookies);
    cookies = remembered(owner(6), cookies);
    const known = [1, 2, 3, 4, 5, 6].filter((i) => devices.find(cookies, owner(i), now) !== undefined);
    expect(known).toEqual([1, 3, 4, 5, 6]);
  });

  test('reads no more than five entries', () => {
    const many = Array.from({ length: 6 }, (_, i) => remembered(owner(i)).split('=')[1]);
    const cookies = `sandbank-1.device=${many.join('~')}`;
    expect(devices.find(cookies, owner(4), now)).toBeDefined();
    expect(devices.find(cookies, owner(5), now)).toBeUndefined();
  });

  test('forgets entries that are too old or unreadable', () => {
    const old = remembered(owner(1), undefined, now - 180 * dayMs);
    expect(remembered(ada, old)).not.toContain('~');
    expect(remembered(ada, 'sandbank-1.device=x~y')).not.toContain('~');
  });
});

test.each([
  [false, 'sandbank-1.device=<value>; Max-Age=15552000; Path=/; HttpOnly; SameSite=Strict'],
  [true, 'sandbank-1.device=<value>; Max-Age=15552000; Path=/; HttpOnly; Secure; SameSite=Strict'],
])('the cookie with TLS %s is %s', (isTls, expected) => {
  const cookie = new KnownDevices({ ...settings, isTls }).remember(undefined, ada, now);
  expect(cookie.replace(/=[^;]+/, '=<value>')).toBe(expected);
});

test.each([
  ['a=1; b=2', 'b', '2'],
  ['a=1;b = 2 ', 'b', '2'],
  ['b=1; b=2', 'b', '1'],
  ['b=x=y', 'b', 'x=y'],
  ['b=', 'b', ''],
  ['=b', '', 'b'],
  ['bb=1', 'b', undefined],
  ['b', 'b', undefined],
  ['', 'b', undefined],
  [undefined, 'b', undefined],
])('of the cookies %j, %s is %j', (cookies, name, value) => {
  expect(cookieOf(cookies, name)).toBe(value);
});
