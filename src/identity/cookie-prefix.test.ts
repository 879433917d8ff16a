import { expect, test } from 'vitest';
import { cookiePrefixOf, sessionKey } from './cookie-prefix.ts';

const [first, second] = [
  'a secret of at least thirty-two characters',
  'another secret of thirty-two letters',
];

test('the session key is derived from the secret and does not contain it', () => {
  expect(sessionKey(first)).toMatch(/^[0-9a-f]{64}$/);
  expect(sessionKey(first)).toBe(sessionKey(first));
  expect(sessionKey(first)).not.toBe(sessionKey(second));
});

test('two servers on one host use different cookies, and one server always the same', () => {
  expect(cookiePrefixOf(first, false)).toMatch(/^sandbank-[0-9a-f]{8}$/);
  expect(cookiePrefixOf(first, false)).toBe(cookiePrefixOf(first, false));
  expect(cookiePrefixOf(first, false)).not.toBe(cookiePrefixOf(second, false));
});

test('the prefix does not reveal the session key', () => {
  expect(sessionKey(first)).not.toContain(cookiePrefixOf(first, false).slice('sandbank-'.length));
});

test('over TLS the cookies are bound to the host', () => {
  expect(cookiePrefixOf(first, true)).toBe(`__Host-${cookiePrefixOf(first, false)}`);
});
