/**
 * Ids are TypeIDs: a prefix that names the kind, then a UUIDv7 in Crockford base32, so that ids sort by the
 * time they were made. This file is the registry of prefixes and the codec; the bytes come from outside, because
 * randomness and clocks do.
 */
export const idPrefixes = {
  payment: 'pay',
  refund: 'rfd',
  dispute: 'dsp',
  transfer: 'trf',
  customer: 'cus',
  event: 'evt',
  webhook: 'whk',
  delivery: 'dlv',
  replay: 'rpl',
  fault_plan: 'flt',
  examination: 'exm',
  provider_event: 'pev',
  ledger_entry: 'lge',
  settlement_line: 'stl',
  request: 'req',
  organization: 'org',
  application: 'app',
  clock: 'clk',
  api_key: 'key',
  person: 'usr',
  session: 'ses',
  member: 'mem',
  invitation: 'inv',
  audit: 'aud',
} as const;

export type IdKind = keyof typeof idPrefixes;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const suffixLength = 26;
// 128 bits in 26 characters of 5 bits leave two bits spare, so the first character never passes 7.
const suffixPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export function formatId(kind: IdKind, suffix: string): string {
  return `${idPrefixes[kind]}_${suffix}`;
}

export function isId(kind: IdKind, text: string): boolean {
  const prefix = idPrefixes[kind];
  return (
    text.length === prefix.length + 1 + suffixLength &&
    text.startsWith(prefix) &&
    text[prefix.length] === '_' &&
    suffixPattern.test(text.slice(prefix.length + 1))
  );
}

const timeLength = 10;

/** When an id was made, to the millisecond: the first 48 bits of a UUIDv7, which are the first ten characters. */
export function idTimestamp(id: string): number {
  const suffix = id.slice(-suffixLength);
  let instant = 0;
  for (let i = 0; i < timeLength; i += 1) instant = instant * 32 + alphabet.indexOf(suffix[i] ?? '0');
  return instant;
}

/** The least id that could be made at an instant: a span of time is a span of ids, and needs no index of its own. */
export function firstIdAt(kind: IdKind, instant: number): string {
  let time = '';
  let rest = Math.min(Math.max(0, Math.floor(instant)), 2 ** 48 - 1);
  for (let i = 0; i < timeLength; i += 1) {
    time = (alphabet[rest % 32] ?? '0') + time;
    rest = Math.floor(rest / 32);
  }
  return formatId(kind, time.padEnd(suffixLength, '0'));
}

/** For JSON schemas, which take the pattern as text. */
export function idPattern(kind: IdKind): string {
  return `^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
}

/** The 128 bits of a suffix. */
export function decodeSuffix(suffix: string): bigint {
  let bits = 0n;
  for (const sign of suffix) bits = (bits << 5n) | BigInt(alphabet.indexOf(sign));
  return bits;
}

/** Sixteen bytes as base32, most significant bit first, two zero bits in front. */
export function encodeSuffix(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 2;
  for (let i = 0; i < 16; i += 1) {
    buffer = ((buffer << 8) | (bytes[i] ?? 0)) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(buffer >> bits) & 31];
    }
  }
  return text;
}
