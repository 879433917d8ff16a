import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { AddressGuard, AddressRefused } from '../../src/delivery/address-guard.ts';
import { destinationOf } from '../../src/delivery/destination.ts';
import { type Address, addressOf, isIn, unmapped } from './engine/addresses.ts';
import { fuzz } from './engine/fuzz-test.ts';

const networks = (text: string) =>
  text
    .trim()
    .split(/\s+/)
    .map((cidr) => {
      const [address = '', prefix] = cidr.split('/');
      const network = addressOf(address);
      assert(network);
      return { network, prefix: Number(prefix) };
    });

/** The special-purpose registries of IANA, multicast, and the services of providers that the guard knows. */
const refused = networks(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
  192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32 192.80.8.124/32
  ::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20`);
/** In the registries, but reachable from the Internet: the guard may allow them or not. */
const undecided = networks('192.31.196.0/24 192.52.193.0/24 192.175.48.0/24 2620:4f:8000::/48');

const isOneOf = (address: Address, list: typeof refused) =>
  list.some(({ network, prefix }) => isIn(address, network, prefix));

/** Undefined for an address that the guard may allow or refuse. */
function isPublic(text: string): boolean | undefined {
  const address = addressOf(text);
  if (!address) return false;
  if (isOneOf(unmapped(address), undecided)) return undefined;
  return !isOneOf(unmapped(address), refused);
}

let resolved: readonly string[] = [];
const guard = new AddressGuard({
  allowsPrivate: false,
  // The name server: its answer is part of the input.
  resolve: (_host, _options, callback) =>
    callback(
      null,
      resolved.map((address) => ({ address, family: isIP(address) })),
    ),
});

function checkUrl(text: string): string {
  const problem = guard.problemAsWritten(text);
  if (!URL.canParse(text)) {
    assert.match(problem ?? '', /not valid/);
    return 'no URL';
  }
  const url = new URL(text);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const isWeb = ['http:', 'https:'].includes(url.protocol);
  if (!isWeb || url.username || url.password) {
    assert(problem !== null);
    return isWeb ? 'credentials' : 'scheme';
  }
  const address = addressOf(host);
  const expected = address === undefined || isPublic(host);
  if (expected !== undefined) assert.equal(problem === null, expected, problem ?? `${host} is allowed`);

  const ip = address && unmapped(address);
  const isLoopback = ip ? isOneOf(ip, networks('127.0.0.0/8 ::1/128')) : /(^|\.)localhost\.?$/.test(host);
  assert.equal(destinationOf(text).isLoopback, isLoopback, 'loopback');
  return `${address ? `IPv${address.family}` : 'name'} ${problem === null ? 'allowed' : 'refused'}`;
}

fuzz({
  name: 'address-guard',
  seeds: [
    ...[
      'https://example.com/hook\n93.184.216.34',
      'http://127.0.0.1:3000/\n127.0.0.1',
      'http://[::1]/\n::1',
      'http://0x7f.1/\n10.0.0.1 93.184.216.34',
    ],
    ...[
      'http://[::ffff:169.254.169.254]/\n::ffff:10.0.0.1',
      'http://[2606:4700::1111]/\n2606:4700::1111 fe80::1',
      'http://[64:ff9b::10.0.0.1]/\n2002:a00:1::',
    ],
    ...[
      'http://user:pass@example.com/\n',
      'ftp://example.com/\n',
      'http://2130706433/\n100.100.100.200',
      'http://192.88.99.1/\n3fff::1',
      'http://api.localhost./\n2001:20::1',
      'http://[::ffff:127.0.0.1]:80/\n::',
    ],
  ],
  dictionary: [
    ...[
      'http://',
      'https://',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '#',
      '?',
      '[',
      ']',
      '.',
      '\n',
      ' ',
      '::',
      '::ffff:',
      '%00',
      '%2e',
      '%25eth0',
      '%eth0',
      '。',
      '．',
      '①',
      '⑯',
    ],
    ...[
      '127.1',
      '0177.0.0.1',
      '0x7f000001',
      '169.254.169.254',
      'localhost',
      '10.0.0.1',
      '192.0.0.192',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '168.63.129.16',
    ],
    ...[
      'fd00:ec2::254',
      'fe80::1',
      '2001:db8::1',
      '2001::1',
      '2002:7f00:1::',
      '64:ff9b::7f00:1',
      '3fff::',
      '5f00::',
      '2620:4f:8000::1',
      '100::1',
      '::7f00:1',
      'ff02::1',
    ],
  ],
  async check(input) {
    const [url = '', answer = ''] = input.split('\n', 2);
    const outcome = checkUrl(url);
    resolved = answer
      .split(' ')
      .filter((address) => address !== '')
      .slice(0, 8);
    // `family` restricts the addresses to those that the connection requests.
    for (const family of [0, 4, 6]) {
      const requested = resolved.filter((address) => family === 0 || isIP(address) === family);
      guard.lookup('example.com', { all: true, family }, (error, found) => {
        const allowed = error
          ? []
          : (found as unknown as { address: string }[]).map(({ address }) => address);
        if (error) assert(error instanceof AddressRefused);
        else assert(allowed.length > 0);
        for (const address of requested) {
          const expected = isPublic(address);
          if (expected !== undefined) assert.equal(allowed.includes(address), expected, address);
        }
      });
    }
    const problem = await guard.problemOf('https://example.com/');
    const decided = resolved.map(isPublic);
    if (!decided.includes(undefined))
      assert.equal(problem === null, resolved.length === 0 || decided.includes(true), problem ?? 'allowed');
    return `${outcome}, ${problem === null ? 'reachable' : 'not reachable'}`;
  },
});
