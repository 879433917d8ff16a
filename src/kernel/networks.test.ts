import { describe, expect, test } from 'vitest';
import { isCidr, isWithin, networkListOf } from './networks.ts';

describe('a network', () => {
  test.each(['10.0.0.0/8', '192.0.2.7', '::/0', '2001:db8::7', '::ffff:10.0.0.0/104'])(
    'may be %s',
    (text) => {
      expect(isCidr(text)).toBe(true);
    },
  );

  // A zone names an interface of one machine, and the list of networks would ignore it.
  test.each([
    'fe80::1%eth0/64',
    'fe80::1%eth0',
    '::%0',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/+8',
    '10.0/8',
    '',
  ])('may not be %j', (text) => {
    expect(isCidr(text)).toBe(false);
  });
});

test('an address with a zone, as sockets show link-local peers, is within its network', () => {
  expect(isWithin(networkListOf(['fe80::/10']), 'fe80::1%eth0')).toBe(true);
});
