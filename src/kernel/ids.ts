/**
 * Ids are TypeIDs: a prefix that names the kind, then a UUIDv7 in Crockford base32, so that ids sort by creation time. This file
 * has the prefix registry and the codec. The caller supplies the bytes, because randomness and time are inputs.
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

declare const kindOfId: unique symbol;

/** An id of one kind. It is a string at run time, but a customer's id does not compile where a payment's is expected. */
export type Id<Kind extends IdKind> = string & { readonly [kindOfId]: Kind };

/** Replaces an application id at the organization level, in columns and fields that cannot be null. */
export const noApplication = '' as Id<'application'>;

export const idAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const suffixLength = 26;
// 128 bits in 26 characters of 5 bits leave two bits spare, so the first character is at most 7.
const suffixPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export function formatId<Kind extends IdKind>(kind: Kind, suffix: string): Id<Kind> {
  return `${idPrefixes[kind]}_${suffix}` as Id<Kind>;
}

export function isId<Kind extends IdKind>(kind: Kind, text: string): text is Id<Kind> {
  const prefix = idPrefixes[kind];
  return (
    text.length === prefix.length + 1 + suffixLength &&
    text.startsWith(prefix) &&
    text[prefix.length] === '_' &&
    suffixPattern.test(text.slice(prefix.length + 1))
  );
}

/**
 * Converts an id from a caller to an id of the expected kind. A malformed id becomes an id that no record has, so the caller gets
 * the same response as for any missing record.
 */
export function idFrom<Kind extends IdKind>(kind: Kind, text: string | undefined): Id<Kind> {
  return text !== undefined && isId(kind, text) ? text : formatId(kind, '');
}

const timeLength = 10;

/** The creation time of an id in milliseconds: the first 48 bits of a UUIDv7, which are the first ten characters. */
export function idTimestamp(id: string): number {
  const suffix = id.slice(-suffixLength);
  let instant = 0;
  for (let i = 0; i < timeLength; i += 1) instant = instant * 32 + idAlphabet.indexOf(suffix[i] ?? '0');
  return instant;
}

/** The smallest possible id at an instant: a time range is an id range, and needs no separate index. */
export function firstIdAt<Kind extends IdKind>(kind: Kind, instant: number): Id<Kind> {
  let time = '';
  let rest = Math.min(Math.max(0, Math.floor(instant)), 2 ** 48 - 1);
  for (let i = 0; i < timeLength; i += 1) {
    time = (idAlphabet[rest % 32] ?? '0') + time;
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
  for (const digit of suffix) bits = (bits << 5n) | BigInt(idAlphabet.indexOf(digit));
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
      text += idAlphabet[(buffer >> bits) & 31];
    }
  }
  return text;
}
