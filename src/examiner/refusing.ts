import type { Bench, Exchange, SendingCase } from './case.ts';
import { type Message, signatureOf, type Wish } from './forge.ts';
import { type Mending, mustRefuse } from './judge.ts';

const minuteMs = 60_000;
const farMs = 10 * minuteMs;

const verifyLine =
  "const event = new Webhook(process.env.WEBHOOK_SECRET).verify(rawBody, headers); // from 'standardwebhooks'";
const early = 'If you answer before you verify, turn it round: verifying takes microseconds.';
const verifyFirst = `Verify the signature of every request before you believe anything in it, and answer 401 when it is not good. ${early}`;

type Headers = Readonly<Record<string, string>>;
type Spoil = (bench: Bench) => readonly Message[];

/** A case whose requests must be refused. */
function refusing(why: string, spoil: Spoil, mending: Mending): SendingCase {
  return {
    why,
    expected: '4xx',
    run: async (bench) => {
      const exchanges: Exchange[] = [];
      for (const message of spoil(bench)) {
        const untold = bench.forge.secrets
          .map((secret) => signatureOf(secret, message))
          // A message that carries the right digest, under whatever version, tells nothing when it is echoed.
          .filter((good) => !message.headers['webhook-signature']?.includes(good.replace(/^v1,/, '')));
        exchanges.push(await bench.ask({ ...message, untold }));
      }
      return exchanges;
    },
    judge: mustRefuse(mending),
  };
}

/** A good message whose headers are changed. */
const withHeaders = ({ forge }: Bench, change: (headers: Headers) => Headers, wish: Wish = {}): Message => {
  const message = forge.message(wish);
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

/** Good messages with another signature each, made of the message and its good digest. */
const signedBy = (
  { forge }: Bench,
  signatures: readonly ((message: Message, digest: string) => string)[],
): readonly Message[] =>
  signatures.map((signature) => {
    const message = forge.message();
    return {
      ...message,
      headers: signedWith(signature(message, forge.digest(message)))(message.headers),
    };
  });

/** The same character class, another character. */
const altered = (text: string): string =>
  text.replace(/[A-Za-z0-9+/]/g, (character) => (character === 'A' ? 'B' : 'A'));

const wholeAdvice =
  'Compare the whole signature, in constant time, with the one that your secret gives: a comparison of a part can be guessed.';
const wholeExample = 'const isGood = given.length === good.length && crypto.timingSafeEqual(given, good);';

export const refusingCases = {
  missing_signature: refusing(
    'Your URL is no secret. Whoever finds it could tell your shop that an order was paid.',
    (bench) => [withHeaders(bench, without('webhook-signature'))],
    { advice: verifyFirst, example: verifyLine },
  ),
  wrong_signature: refusing(
    'A signature that is there but not checked protects no better than none.',
    (bench) => [withHeaders(bench, signedWith(bench.forge.madeUp()))],
    { advice: verifyFirst, example: verifyLine },
  ),
  other_secret: refusing(
    'Other endpoints, and other customers, have secrets too. Only your own may sign for you.',
    ({ forge }) => [forge.message({ signers: [forge.strange] })],
    {
      advice: `Compare with the signature that your own secret gives, and with nothing else. ${early}`,
      example: verifyLine,
    },
  ),
  tampered_body: refusing(
    'Whoever stands between could change the amount of an event that was signed in earnest.',
    ({ forge }) => {
      const message = forge.message();
      const { sequence, data, ...rest } = JSON.parse(message.body) as { sequence: number; data: object };
      return [
        { ...message, body: JSON.stringify({ ...rest, sequence, data: { ...data, amount: 99_999_999 } }) },
      ];
    },
    {
      advice: `The signature covers the id, the timestamp and the whole body: compute it over the bytes that came. ${early}`,
      example: "const signed = [headers['webhook-id'], headers['webhook-timestamp'], rawBody].join('.');",
    },
  ),
  malformed_signature: refusing(
    'Headers come from anybody. A comparison that is clever about length or form may be fooled, or may throw.',
    (bench) => [
      ...['v1,', 'nonsense', 'v1,c2hvcnQ=', 'v1,%%%', 'v9,'].map((signature) =>
        withHeaders(bench, signedWith(signature)),
      ),
      ...signedBy(bench, [(_message, digest) => digest, (_message, digest) => `v1,${digest.slice(0, 20)}`]),
    ],
    {
      advice:
        'Take the header apart at its spaces, pass over what does not begin with `v1,`, and compare what is left whole, in constant time. Signatures of another length are simply wrong.',
      example: wholeExample,
    },
  ),
  partial_signature: refusing(
    'Somebody who can guess some characters, and try again, forges a signature of which only a part is compared.',
    (bench) =>
      signedBy(bench, [
        (_message, digest) => `v1,${digest.slice(0, 22)}${altered(digest.slice(22))}`,
        (_message, digest) => `v1,${altered(digest.slice(0, 22))}${digest.slice(22)}`,
        (_message, digest) => `v1,${digest.slice(0, 38)}${altered(digest.slice(38))}`,
      ]),
    { advice: wholeAdvice, example: wholeExample },
  ),
  other_algorithm: refusing(
    'A receiver that takes any hash takes one that anybody can compute, or one that was broken long ago.',
    (bench) =>
      signedBy(
        bench,
        (['sha1', 'sha512', 'unkeyed', 'empty key'] as const).map(
          (algorithm) => (message) => `v1,${bench.forge.digest(message, algorithm)}`,
        ),
      ),
    {
      advice:
        'A `v1` signature is HMAC-SHA256 with your secret. Compute that one and no other: neither another hash, nor one without the secret.',
      example: "const good = crypto.createHmac('sha256', key).update(signed).digest();",
    },
  ),
  unknown_version: refusing(
    'The version says how a signature was made. One that is ignored today is a downgrade tomorrow.',
    (bench) => signedBy(bench, [(_message, digest) => `v9,${digest}`, (_message, digest) => `v2,${digest}`]),
    {
      advice: 'Pass over every signature that does not begin with `v1,`, also when the rest of it is right.',
      example: "const given = header.split(' ').filter((one) => one.startsWith('v1,'));",
    },
  ),
  missing_id: refusing(
    'The id is part of what is signed, and it is what you know duplicates by.',
    (bench) => [withHeaders(bench, without('webhook-id'))],
    {
      advice:
        'Refuse a request that lacks one of the three headers. The id in the body is no replacement: what is signed is the header.',
      example: "if (!headers['webhook-id']) return response.writeHead(400).end();",
    },
  ),
  missing_timestamp: refusing(
    'Without a timestamp nobody can tell a new event from one that was recorded and is sent again.',
    (bench) => [withHeaders(bench, without('webhook-timestamp'))],
    {
      advice: 'Refuse a request that lacks one of the three headers.',
      example: "if (!headers['webhook-timestamp']) return response.writeHead(400).end();",
    },
  ),
  stale_timestamp: refusing(
    'A request that somebody recorded stays well signed for ever. Only its age gives it away.',
    ({ forge }) => [forge.message({ sentAt: forge.now - farMs })],
    {
      advice:
        'Refuse what was signed more than five minutes ago. Every attempt is signed anew, so late retries are not hit by it; if they are, the clock of your server is wrong.',
      example:
        'if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return response.writeHead(400).end();',
    },
  ),
  future_timestamp: refusing(
    'A timestamp that lies ahead would keep a recorded request fresh for as long as somebody likes.',
    ({ forge }) => [forge.message({ sentAt: forge.now + farMs })],
    {
      advice: 'Refuse what claims to be signed more than five minutes ahead as well.',
      example:
        'if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return response.writeHead(400).end();',
    },
  ),
} as const;
