import { createHmac, timingSafeEqual } from 'node:crypto';

/** What of a request is signed, and with what. */
export interface SignedMessage {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const toleranceSeconds = 5 * 60;
const versionPrefix = 'v1,';
const secretPrefix = 'whsec_';

/**
 * The check of a receiver by the text of the Standard Webhooks specification, with nothing but node:crypto, so that the
 * library that signs is not its own witness. The places in `webhook-signature` whose signature the secret has made: empty
 * when the message is not of its owner, or too old, or from the future.
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
  if (!secret.startsWith(secretPrefix)) throw new Error(`a secret begins with ${secretPrefix}`);
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`, 'utf8').digest();
  return signatures.split(' ').flatMap((signature, place) => {
    if (!signature.startsWith(versionPrefix)) return [];
    const given = Buffer.from(signature.slice(versionPrefix.length), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected) ? [place] : [];
  });
}
