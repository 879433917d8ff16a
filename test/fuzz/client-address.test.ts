import assert from 'node:assert/strict';
import { clientAddressOf } from '../../src/http/client-address.ts';
import { networkListOf } from '../../src/kernel/networks.ts';
import { type Address, addressOf, isIn, unmapped } from './engine/addresses.ts';
import { fuzz } from './engine/fuzz-test.ts';

const proxies = ['10.0.0.0/8', 'fd00::/8', '127.0.0.1/32'];
const trusted = networkListOf(proxies);

function known(text: string): Address {
  const address = addressOf(text);
  assert(address, `"${text}" is not an address`);
  return unmapped(address);
}

const isTrusted = (address: Address) =>
  proxies.some((proxy) => {
    const [network = '', prefix] = proxy.split('/');
    return isIn(address, known(network), Number(prefix));
  });

/** The address in a hop, with an optional port. */
function hopOf(hop: string): Address | undefined {
  const text = hop.trim();
  const bracketed = /^\[(.*)\](:[0-9]{1,5})?$/.exec(text)?.[1];
  const withPort = /^([^:]*):[0-9]{1,5}$/.exec(text)?.[1];
  const address = addressOf(bracketed ?? withPort ?? text);
  return address && unmapped(address);
}

/** The second implementation: from the peer to the left, as long as the address is a trusted proxy that reports another address. */
function expectedOf(peer: Address, hops: readonly string[]): Address {
  const hop = hops.at(-1);
  if (hop === undefined || !isTrusted(peer)) return peer;
  const next = hopOf(hop);
  return next ? expectedOf(next, hops.slice(0, -1)) : peer;
}

fuzz({
  name: 'client-address',
  seeds: [
    ...[
      '10.0.0.1\n198.51.100.7',
      '::ffff:10.0.0.1\n203.0.113.9, 198.51.100.7:51234, 10.0.0.2',
      'fd00::1\n[2001:db8::7]:443',
    ],
    ...[
      '192.0.2.1\n10.0.0.1',
      '127.0.0.1\n::ffff:c633:6407, fd00::2',
      '10.0.0.1\nunknown, 10.0.0.3',
      '10.0.0.1\n',
    ],
  ],
  dictionary: [
    ', ',
    ',',
    ' ',
    '\n',
    '10.0.0.1',
    'fd00::1',
    '::ffff:',
    '[',
    ']',
    ':443',
    '%eth0',
    '%',
    '::',
    ':',
    '.',
    '"',
    'unknown',
    '_x',
    'for=',
    '127.0.0.1',
  ],
  check(input) {
    const [peer = '', header = ''] = input.split('\n', 2);
    const address = addressOf(peer);
    // Sockets report only addresses.
    if (address === undefined) return 'no peer';
    const hops = header.split(',').slice(-32);
    const shown = clientAddressOf(peer, header, trusted);
    const expected = expectedOf(unmapped(address), hops);
    assert.deepEqual(known(shown), expected);
    // Limits and logs compare texts.
    assert.equal(shown, clientAddressOf(shown, undefined, trusted), 'another text of the same address');
    assert.deepEqual(known(clientAddressOf(peer, header, undefined)), unmapped(address));
    assert.equal(clientAddressOf(peer, header.split(','), trusted), shown, 'several headers are one list');
    return `IPv${expected.family}, ${isTrusted(expected) ? 'a proxy' : 'a client'} at hop ${Math.min(
      3,
      hops.findLastIndex((hop) => !isTrusted(hopOf(hop) ?? expected)),
    )}`;
  },
});
