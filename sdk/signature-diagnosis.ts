import { type HmacKey, isSignedBy, keyOf, keyOfBytes } from './signature.ts';

/** Why a webhook request does not verify, for `webhooks.verify()` and for `sandbank webhooks verify`. */

export const invalidSecret =
  'The secret is not valid. It is whsec_ followed by base64, as shown when the webhook was created.';
export const noVersion =
  'No part of the signature starts with "v1,". Pass the whole webhook-signature header.';

/** The problem with a timestamp; undefined when it is within the tolerance. */
export function timestampProblem(
  timestamp: string,
  nowMs: number,
  toleranceSeconds: number,
): string | undefined {
  if (/^\d{13,15}$/.test(timestamp))
    return 'The timestamp is in milliseconds. webhook-timestamp contains seconds since 1970.';
  if (!/^\d{1,12}$/.test(timestamp))
    return `webhook-timestamp is not a number of seconds since 1970: ${timestamp}.`;
  const age = Math.floor(nowMs / 1_000) - Number(timestamp);
  if (Math.abs(age) <= toleranceSeconds) return undefined;
  const when = age > 0 ? `${age} seconds old` : `${-age} seconds in the future`;
  return `The timestamp is ${when}, and at most ${toleranceSeconds} are allowed. The request may be a replay; otherwise check the clock of this machine.`;
}

/** A request with more signatures is not from Sandbank, and must not cost more. */
const signaturesMax = 4;

/** The signatures of version 1. The header contains one signature per active secret, separated by spaces. */
export function signaturesIn(header: string): readonly string[] {
  return header
    .split(' ')
    .flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : []))
    .slice(0, signaturesMax);
}

export interface SignedRequest {
  readonly id: string;
  readonly timestamp: string;
  readonly body: Uint8Array;
  readonly signatures: readonly string[];
}

export async function isSigned(request: SignedRequest, keys: readonly HmacKey[]): Promise<boolean> {
  const head = new TextEncoder().encode(`${request.id}.${request.timestamp}.`);
  const signed = new Uint8Array(head.length + request.body.length);
  signed.set(head);
  signed.set(request.body, head.length);
  return isAnySigned(request.signatures, keys, signed);
}

async function isAnySigned(
  signatures: readonly string[],
  keys: readonly HmacKey[],
  signed: Uint8Array,
): Promise<boolean> {
  for (const key of keys)
    for (const signature of signatures) if (await isSignedBy(key, signature, signed)) return true;
  return false;
}

/**
 * Explains why no signature matches. It applies each common mistake to the request, and reports those that make a signature
 * match. If none does, it reports the usual causes that cannot be verified.
 */
export async function mistakesIn(
  request: SignedRequest,
  secrets: readonly string[],
): Promise<readonly string[]> {
  const { signatures } = request;
  const keys = (await Promise.all(secrets.map(keyOf))).filter((key) => key !== undefined);
  const encoder = new TextEncoder();
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(request.body);
  const withBody = (body: string) => isSigned({ ...request, signatures, body: encoder.encode(body) }, keys);
  const withSecret = async (bytesOf: (secret: string) => string) =>
    isSigned(
      { ...request, signatures },
      await Promise.all(secrets.map((secret) => keyOfBytes(encoder.encode(bytesOf(secret))))),
    );
  const found: string[] = [];
  const attempt = async (isMatch: Promise<boolean>, message: string) => {
    if (await isMatch) found.push(message);
  };
  for (const body of serializedAgain(text))
    if (await withBody(body)) {
      found.push(
        'The body was parsed and serialized again, which changed its whitespace. Pass the raw body, byte for byte.',
      );
      break;
    }
  await attempt(withBody(text.trimEnd()), 'The body ends with a line break or a space that was not sent.');
  await attempt(withBody(`${text}\n`), 'The body lacks the line break that was sent at its end.');
  await attempt(withBody(text.replaceAll('\r\n', '\n')), 'Line breaks in the body were converted to CRLF.');
  await attempt(
    withBody(text.replace(/^\ufeff/, '')),
    'The body starts with a byte order mark that was not sent.',
  );
  await attempt(
    withSecret((secret) => secret.replace(/^whsec_/, '')),
    'It was signed with the base64 text of the secret. Decode the secret first.',
  );
  await attempt(
    withSecret((secret) => secret),
    'It was signed with the secret as text. Decode the part after whsec_ from base64 first.',
  );
  await attempt(
    isAnySigned(signatures, keys, request.body),
    'It signs the body alone. Sign id, timestamp and body, separated by dots.',
  );
  await attempt(
    isSigned({ ...request, signatures: signatures.map(base64OfHex) }, keys),
    'It is hexadecimal. Signatures are base64.',
  );
  return found.length > 0
    ? found
    : [
        'Either the secret belongs to another endpoint or was rotated, or the body was changed, for example parsed and serialized again. Compare it with requestBody of the delivery.',
      ];
}

function serializedAgain(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return [0, 2, 4].map((spaces) => JSON.stringify(value, null, spaces)).filter((other) => other !== text);
  } catch {
    return [];
  }
}

function base64OfHex(signature: string): string {
  if (!/^[\da-f]{64}$/.test(signature)) return '!';
  return btoa(
    (signature.match(/../g) ?? []).map((byte) => String.fromCharCode(Number(`0x${byte}`))).join(''),
  );
}
