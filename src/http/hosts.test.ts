import { expect, test } from 'vitest';
import { hostCheck } from './hosts.ts';

const check = hostCheck(
  () => 'https://Sandbank.example:8443/path',
  ['Internal.example', '*.Test.example', '192.0.2.7', 'FD00:0:0::7'],
);

test.each<[what: string, host: string | undefined, isServed: boolean]>([
  ['no Host header, as in HTTP/1.0', undefined, true],
  ['an empty host', '', false],
  ['localhost', 'localhost', true],
  ['localhost with a port', 'localhost:4000', true],
  ['localhost in capitals', 'LOCALHOST:4000', true],
  ['localhost with a trailing dot', 'localhost.:4000', true],
  ['the IPv4 loopback', '127.0.0.1:4000', true],
  ['the IPv6 loopback', '[::1]:4000', true],
  ['the public URL', 'sandbank.example:8443', true],
  ['the public URL without its port', 'sandbank.example', true],
  ['a name below the public URL', 'www.sandbank.example', false],
  ['an allowed name', 'internal.example', true],
  ['an allowed name in capitals', 'INTERNAL.EXAMPLE:80', true],
  ['an allowed IPv4 address', '192.0.2.7', true],
  ['an allowed IPv6 address', '[fd00::7]:4000', true],
  ['an allowed IPv6 address without abbreviation', '[fd00:0:0:0:0:0:0:7]:4000', true],
  ['an IPv4 address in brackets', '[192.0.2.7]', false],
  ['another IPv6 address', '[fd00::8]', false],
  ['an allowed IPv6 address without brackets', 'fd00::7', false],
  ['a name below a wildcard', 'a.test.example', true],
  ['a name two levels below a wildcard', 'a.b.TEST.example:80', true],
  ['the name of the wildcard itself', 'test.example', false],
  ['a name that only ends like the wildcard', 'eviltest.example', false],
  ['an unknown name', 'evil.example', false],
  ['an unknown name that begins like an allowed one', 'localhost.evil.example', false],
  ['two ports', 'localhost:80:80', false],
  ['a port of six digits', 'localhost:123456', false],
  ['a port that is not a number', 'localhost:http', false],
  ['a path', 'localhost/x', false],
  ['credentials', 'x@localhost', false],
  ['a space', 'localhost ', false],
])('%s: %s', (_what, host, isServed) => {
  expect(check(host, undefined)).toBe(isServed);
});

test.each([
  ['192.0.2.9', '192.0.2.9:4000', true],
  ['::ffff:192.0.2.9', '192.0.2.9:4000', true],
  ['2001:DB8::9', '[2001:db8::9]:4000', true],
  ['192.0.2.9', '192.0.2.10', false],
])('a connection to %s with host %s: served is %s', (localAddress, host, isServed) => {
  expect(check(host, localAddress)).toBe(isServed);
});

test('a public URL that is not a URL admits nothing', () => {
  expect(hostCheck(() => 'sandbank', [])('sandbank', undefined)).toBe(false);
});

test('the public URL is read for every request', () => {
  let publicUrl = 'http://first.example';
  const current = hostCheck(() => publicUrl, []);
  expect([current('first.example', undefined), current('second.example', undefined)]).toEqual([true, false]);
  publicUrl = 'http://second.example';
  expect([current('first.example', undefined), current('second.example', undefined)]).toEqual([false, true]);
});
