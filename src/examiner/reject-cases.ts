import { minuteMs } from '../kernel/time.ts';
import type { ActiveCase, Exchange, TestContext } from './case.ts';
import { type Advice, mustReject } from './judge.ts';
import { type Message, type Overrides, signatureOf } from './request-factory.ts';

const farMs = 10 * minuteMs;

const verifyLine =
  "const event = new Webhook(process.env.WEBHOOK_SECRET).verify(rawBody, headers); // from 'standardwebhooks'";
const early = 'If you answer before you verify, swap the two: verifying takes microseconds.';
const verifyFirst = `Verify the signature of every request before you trust its content, and answer 401 when it is not valid. ${early}`;

type Headers = Readonly<Record<string, string>>;
type Mutate = (context: TestContext) => readonly Message[];

/** A case that expects the receiver to reject all its requests. */
function rejectCase(why: string, mutate: Mutate, advice: Advice): ActiveCase {
  return {
    why,
    expected: '4xx',
    run: async (context) => {
      const exchanges: Exchange[] = [];
      for (const message of mutate(context)) {
        const unsentSignatures = context.factory.secrets
          .map((secret) => signatureOf(secret, message))
          // A response that echoes a digest from the request itself does not leak anything.
          .filter((good) => !message.headers['webhook-signature']?.includes(good.replace(/^v1,/, '')));
        exchanges.push(await context.send({ ...message, unsentSignatures }));
      }
      return exchanges;
    },
    judge: mustReject(advice),
  };
}

/** A valid message with changed headers. */
const withHeaders = (
  { factory }: TestContext,
  change: (headers: Headers) => Headers,
  overrides: Overrides = {},
): Message => {
  const message = factory.message(overrides);
  return { ...message, headers: change(message.headers) };
};

const without =
  (name: string) =>
  (headers: Headers): Headers =>
    Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));

const signedWith = (signature: string) => (headers: Headers) => ({
  ...headers,
  'webhook-signature': signature,
});

/** Valid messages whose signature is replaced; each replacement gets the message and its valid digest. */
const signedBy = (
  { factory }: TestContext,
  signatures: readonly ((message: Message, digest: string) => string)[],
): readonly Message[] =>
  signatures.map((signature) => {
    const message = factory.message();
    return {
      ...message,
      headers: signedWith(signature(message, factory.digest(message)))(message.headers),
    };
  });

/** Replaces every base64 character with another one. */
const altered = (text: string): string =>
  text.replace(/[A-Za-z0-9+/]/g, (character) => (character === 'A' ? 'B' : 'A'));

const wholeAdvice =
  'Compare the whole signature, in constant time, with the one computed from your secret: an attacker can guess a part.';
const wholeExample =
  'const isValid = received.length === expected.length && crypto.timingSafeEqual(received, expected);';

export const rejectCases = {
  missing_signature: rejectCase(
    'Your URL is not a secret. Anybody who finds it could mark an order as paid.',
    (context) => [withHeaders(context, without('webhook-signature'))],
    { advice: verifyFirst, example: verifyLine },
  ),
  wrong_signature: rejectCase(
    'A signature that is not verified does not protect anything.',
    (context) => [withHeaders(context, signedWith(context.factory.forgedSignature()))],
    { advice: verifyFirst, example: verifyLine },
  ),
  other_secret: rejectCase(
    'Other endpoints and other customers have secrets too. Accept only signatures of your secret.',
    ({ factory }) => [factory.message({ signers: [factory.unknownSecret] })],
    {
      advice: `Compare with the signature computed from your secret only. ${early}`,
      example: verifyLine,
    },
  ),
  tampered_body: rejectCase(
    'A man in the middle could change the amount of a validly signed event.',
    ({ factory }) => {
      const message = factory.message();
      const { sequence, data, ...rest } = JSON.parse(message.body) as { sequence: number; data: object };
      return [
        { ...message, body: JSON.stringify({ ...rest, sequence, data: { ...data, amount: 99_999_999 } }) },
      ];
    },
    {
      advice: `The signature covers the id, the timestamp and the whole body: compute it over the raw bytes. ${early}`,
      example: "const signed = [headers['webhook-id'], headers['webhook-timestamp'], rawBody].join('.');",
    },
  ),
  malformed_signature: rejectCase(
    'Anybody can send any header. A verification that assumes a length or format may be bypassed, or may throw.',
    (context) => [
      ...['v1,', 'nonsense', 'v1,c2hvcnQ=', 'v1,%%%', 'v9,'].map((signature) =>
        withHeaders(context, signedWith(signature)),
      ),
      ...signedBy(context, [(_message, digest) => digest, (_message, digest) => `v1,${digest.slice(0, 20)}`]),
    ],
    {
      advice:
        'Split the header at its spaces, skip every signature that does not begin with `v1,`, and compare the others completely, in constant time. A signature of another length is invalid.',
      example: wholeExample,
    },
  ),
  partial_signature: rejectCase(
    'If only a part of the signature is compared, an attacker can forge it by guessing a few characters.',
    (context) =>
      signedBy(context, [
        (_message, digest) => `v1,${digest.slice(0, 22)}${altered(digest.slice(22))}`,
        (_message, digest) => `v1,${altered(digest.slice(0, 22))}${digest.slice(22)}`,
        (_message, digest) => `v1,${digest.slice(0, 38)}${altered(digest.slice(38))}`,
      ]),
    { advice: wholeAdvice, example: wholeExample },
  ),
  other_algorithm: rejectCase(
    'A receiver that accepts any hash accepts one that needs no secret, or one that is broken.',
    (context) =>
      signedBy(
        context,
        (['sha1', 'sha512', 'unkeyed', 'empty key'] as const).map(
          (algorithm) => (message) => `v1,${context.factory.digest(message, algorithm)}`,
        ),
      ),
    {
      advice:
        'A `v1` signature is HMAC-SHA256 with your secret. Accept no other hash, and no hash without the secret.',
      example: "const good = crypto.createHmac('sha256', key).update(signed).digest();",
    },
  ),
  unknown_version: rejectCase(
    'The version names the signature algorithm. Ignoring it allows downgrade attacks later.',
    (context) =>
      signedBy(context, [(_message, digest) => `v9,${digest}`, (_message, digest) => `v2,${digest}`]),
    {
      advice: 'Skip every signature that does not begin with `v1,`, even when the rest of it is valid.',
      example: "const given = header.split(' ').filter((one) => one.startsWith('v1,'));",
    },
  ),
  missing_id: rejectCase(
    'The id is part of the signed content, and it identifies duplicates.',
    (context) => [withHeaders(context, without('webhook-id'))],
    {
      advice:
        'Reject a request that lacks one of the three headers. Do not use the id from the body instead: the signature covers the header.',
      example: "if (!headers['webhook-id']) return response.writeHead(400).end();",
    },
  ),
  missing_timestamp: rejectCase(
    'Without a timestamp a replayed request cannot be distinguished from a new event.',
    (context) => [withHeaders(context, without('webhook-timestamp'))],
    {
      advice: 'Reject a request that lacks one of the three headers.',
      example: "if (!headers['webhook-timestamp']) return response.writeHead(400).end();",
    },
  ),
  stale_timestamp: rejectCase(
    'The signature of a recorded request stays valid forever. Only its timestamp reveals a replay.',
    ({ factory }) => [factory.message({ sentAt: factory.now - farMs })],
    {
      advice:
        'Reject requests that were signed more than five minutes ago. Every attempt has a new signature, so late retries still pass; if they do not, check the clock of your server.',
      example:
        'if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return response.writeHead(400).end();',
    },
  ),
  future_timestamp: rejectCase(
    'A timestamp in the future would let an attacker replay a recorded request for a long time.',
    ({ factory }) => [factory.message({ sentAt: factory.now + farMs })],
    {
      advice: 'Reject requests with a timestamp more than five minutes ahead as well.',
      example:
        'if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return response.writeHead(400).end();',
    },
  ),
} as const;
