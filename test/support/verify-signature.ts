import { createHmac, timingSafeEqual } from 'node:crypto';

/** The signed parts of a request. */
export interface SignedMessage {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const toleranceSeconds = 5 * 60;
const versionPrefix = 'v1,';
const secretPrefix = 'whsec_';

/**
 * Verifies a signature according to the Standard Webhooks specification, with node:crypto only, so that the signing library does not
 * verify itself. Returns the positions in `webhook-signature` whose signature matches the secret: none when the signature is wrong, or
 * when the message is too old or from the future.
 */
export function signaturesOf(
  { headers, body }: SignedMessage,
  secret: string,
  wallNow = Date.now(),
): readonly number[] {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name] ?? ''),
  );
  if (!id || !timestamp || !signatures || id.includes('.') || !/^\d+$/.test(timestamp)) return [];
  if (Math.abs(wallNow / 1_000 - Number(timestamp)) > toleranceSeconds) return [];
  if (!secret.startsWith(secretPrefix)) throw new Error(`a secret must begin with ${secretPrefix}`);
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest();
  return signatures.split(' ').flatMap((signature, position) => {
    if (!signature.startsWith(versionPrefix)) return [];
    const given = Buffer.from(signature.slice(versionPrefix.length), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected) ? [position] : [];
  });
}
