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

/** For JSON schemas, which take the pattern as text. */
export function idPattern(kind: IdKind): string {
  return `^${idPrefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
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

const instantLength = 10;

/** The least id that can be minted at an instant: the first ten characters are milliseconds, the rest is chance. */
export function firstIdAt(kind: IdKind, instant: number): string {
  let rest = Math.max(0, Math.floor(instant));
  let text = '';
  for (let i = 0; i < instantLength; i += 1) {
    text = `${alphabet[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return `${idPrefixes[kind]}_${text}${'0'.repeat(suffixLength - instantLength)}`;
}

/** When an id was minted, by the wall clock of its node. */
export function mintedAt(id: string): number {
  const start = id.indexOf('_') + 1;
  let instant = 0;
  for (const letter of id.slice(start, start + instantLength))
    instant = instant * 32 + Math.max(0, alphabet.indexOf(letter));
  return instant;
}
