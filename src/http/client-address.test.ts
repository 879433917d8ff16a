import { describe, expect, test } from 'vitest';
import { networkListOf } from '../kernel/networks.ts';
import { clientAddressOf } from './client-address.ts';

const trusted = networkListOf(['10.0.0.0/8', 'fd00::/8', '127.0.0.1']);

describe('without trusted proxies', () => {
  test.each([
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['2001:db8::1', undefined, '2001:db8::1'],
    [undefined, '198.51.100.7', ''],
  ])('%s with %s is %s', (peer, forwarded, address) => {
    expect(clientAddressOf(peer, forwarded, undefined)).toBe(address);
  });
});

describe('with trusted proxies', () => {
  test.each([
    ['a peer that is not trusted', '192.0.2.1', '198.51.100.7', '192.0.2.1'],
    ['one proxy', '10.0.0.1', '198.51.100.7', '198.51.100.7'],
    ['no header', '10.0.0.1', undefined, '10.0.0.1'],
    ['a preceding claim of the client', '10.0.0.1', '203.0.113.9, 198.51.100.7', '198.51.100.7'],
    ['a trusted address claimed by the client', '10.0.0.1', '10.0.0.9, 198.51.100.7', '198.51.100.7'],
    ['two proxies', '10.0.0.1', '198.51.100.7, 10.0.0.2', '198.51.100.7'],
    ['a client within the trusted networks', '10.0.0.1', '10.9.9.9', '10.9.9.9'],
    ['an IPv6 proxy', 'fd00::1', '2001:db8::7', '2001:db8::7'],
    ['a mapped peer', '::ffff:10.0.0.1', '::ffff:198.51.100.7', '198.51.100.7'],
    ['a mapped address in hexadecimal', '10.0.0.1', '::ffff:c633:6407', '198.51.100.7'],
    ['a mapped address without abbreviation', '10.0.0.1', '0:0:0:0:0:FFFF:198.51.100.7', '198.51.100.7'],
    ['another text of an IPv6 address', '10.0.0.1', '2001:DB8:0:0::0007', '2001:db8::7'],
    ['an address with a zone', '10.0.0.1', '198.51.100.7, fe80::1%eth0', '10.0.0.1'],
    ['a peer with a zone', 'fd00::1%eth0', '198.51.100.7', '198.51.100.7'],
    ['a port', '10.0.0.1', '198.51.100.7:51234', '198.51.100.7'],
    ['an IPv6 address with a port', '10.0.0.1', '[2001:db8::7]:51234', '2001:db8::7'],
    ['something that is not an address', '10.0.0.1', '198.51.100.7, unknown', '10.0.0.1'],
    ['nothing', '10.0.0.1', '', '10.0.0.1'],
    ['markup', '127.0.0.1', '<script>', '127.0.0.1'],
  ])('%s', (_what, peer, forwarded, address) => {
    expect(clientAddressOf(peer, forwarded, trusted)).toBe(address);
  });

  test('several headers are one list', () => {
    expect(clientAddressOf('10.0.0.1', ['203.0.113.9', '198.51.100.7'], trusted)).toBe('198.51.100.7');
  });

  test('a long list is read from its end', () => {
    const claims = Array(5_000).fill('203.0.113.9').join(',');
    expect(clientAddressOf('10.0.0.1', `${claims}, 198.51.100.7`, trusted)).toBe('198.51.100.7');
    const proxies = Array(5_000).fill('10.0.0.3').join(',');
    expect(clientAddressOf('10.0.0.1', proxies, trusted)).toBe('10.0.0.3');
  });
});
