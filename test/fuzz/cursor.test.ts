import assert from 'node:assert/strict';
import { type IdKind, idPrefixes } from '../../src/kernel/ids.ts';
import {
  decodeCursor,
  decodeVersion,
  encodeCursor,
  encodeVersion,
  pageQueryOf,
} from '../../src/kernel/list.ts';
import { paymentsTable } from '../../src/resources/payments/table.ts';
import { fuzz } from './engine/fuzz-test.ts';
import { pick } from './engine/random.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const kinds = Object.keys(idPrefixes) as IdKind[];

/** The second implementation of base64url: only its alphabet, no padding, and zeros in the unused bits. */
function decoded(text: string): string | undefined {
  let bits = '';
  for (const letter of text) {
    const value = alphabet.indexOf(letter);
    if (value === -1) return undefined;
    bits += value.toString(2).padStart(6, '0');
  }
  const unused = bits.length % 8;
  if (unused >= 6 || /1/.test(bits.slice(bits.length - unused))) return undefined;
  return String.fromCharCode(
    ...(bits.slice(0, bits.length - unused).match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)),
  );
}

const ids = [
  'pay_01m7epxwjmf7za77rhky2f93cc',
  'evt_7zzzzzzzzzzzzzzzzzzzzzzzzz',
  'aud_00000000000000000000000000',
];

fuzz({
  name: 'cursor',
  seeds: [
    ...ids.map(encodeCursor),
    encodeVersion(1),
    encodeVersion(999_999_999),
    ...ids,
    'v1',
    '',
    'cGF5XzAx',
    `${encodeCursor(ids[0] ?? '')}=`,
  ],
  dictionary: [
    ...Object.values(idPrefixes).map((prefix) => `${prefix}_`),
    '=',
    '==',
    '-',
    '_',
    '+',
    '/',
    '%3D',
    'v',
    '01m7epxwjmf7za77rhky2f93cc',
    '\n',
    '8',
    'i',
  ],
  lengthMax: 200,
  generate: (random, input) =>
    Buffer.from(pick(random, [input, decoded(input) ?? '', ...ids]).slice(0, 60), 'latin1').toString(
      pick(random, ['base64', 'base64url', 'latin1']),
    ),
  check(cursor) {
    const text = decoded(cursor);
    const id = /^([a-z]{3})_[0-7][0-9a-hjkmnp-tv-z]{25}$/s.exec(text ?? '');
    const kind = kinds.find((one) => idPrefixes[one] === id?.[1]);
    for (const one of kinds) assert.equal(decodeCursor(one, cursor), one === kind ? text : undefined, one);

    const page = pageQueryOf(paymentsTable, 'payment', [], 'org_1', { cursor });
    if (kind === 'payment') {
      assert(page !== 'invalid_cursor');
      assert.deepEqual(page.conditions, [{ column: 'id', operator: '<', value: text }]);
    } else assert.equal(page, 'invalid_cursor');

    const version = /^v([1-9][0-9]{0,8})$/.exec(text ?? '')?.[1];
    assert.equal(decodeVersion(cursor), version === undefined ? undefined : Number(version));
    return kind ?? (version === undefined ? 'no cursor' : 'version');
  },
});
