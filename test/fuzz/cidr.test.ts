import assert from 'node:assert/strict';
import { isCidr, isWithin, networkListOf, readNetworks } from '../../src/kernel/networks.ts';
import { addressOf, addressText, isIn } from './engine/addresses.ts';
import { fuzz } from './engine/fuzz-test.ts';

/** The second implementation: an address and a prefix that fits its family. */
function networkOf(text: string) {
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const network = addressOf(address);
  if (network === undefined) return undefined;
  const bits = network.family === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  return length > bits ? undefined : { network, length, bits };
}

fuzz({
  name: 'cidr',
  seeds: [
    '10.0.0.0/8',
    '192.0.2.7',
    'fd00::/8',
    '2001:db8::7',
    '::ffff:10.0.0.0/104',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/8, fd00::/8',
  ],
  dictionary: [
    '/',
    '/0',
    '/8',
    '/32',
    '/33',
    '/128',
    '/129',
    '/008',
    '/+8',
    ':',
    '::',
    '.',
    '%eth0',
    '%0',
    '%',
    ',',
    ' ',
    '::ffff:',
    '[',
    ']',
    'fe80::1',
    '0x',
  ],
  check(text) {
    const expected = networkOf(text);
    assert.equal(isCidr(text), expected !== undefined);
    const list = readNetworks(text);
    if (!expected) return 'problem' in list ? 'rejected' : `list of ${Math.min(3, list.networks.length)}`;

    const { network, length, bits } = expected;
    const networks = networkListOf([text]);
    assert(isWithin(networks, addressText(network)));
    // The first and the last bit of the network part, and the last one of the host part.
    for (const bit of [0, length - 1, length, bits - 1].filter((one) => one >= 0 && one < bits)) {
      const other = { ...network, bits: network.bits ^ (1n << BigInt(bits - 1 - bit)) };
      assert.equal(isWithin(networks, addressText(other)), isIn(other, network, length), addressText(other));
    }
    return `IPv${network.family}${text.includes('/') ? ` /${length % 8 === 0 ? length : '...'}` : ''}${'problem' in list ? ' refused for proxies' : ''}`;
  },
});
