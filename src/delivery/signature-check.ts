import { createHmac, timingSafeEqual } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** What a receiver got, as it got it. */
export interface Delivered {
  readonly secret: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
}

export interface Finding {
  readonly isProblem: boolean;
  readonly words: string;
}

export interface Examination {
  readonly isValid: boolean;
  readonly findings: readonly Finding[];
}

const toleranceSeconds = 300;
const secretPattern = /^(whsec_)?[A-Za-z0-9+/]+={0,2}$/;
const timestampPattern = /^\d{1,15}$/;

/**
 * Says whether a signature is right, and when it is not, why. What people get wrong is known: the body was parsed and
 * written again, the secret was not decoded, the timestamp is another one. Each of these is tried, and the one that makes
 * the signature fit is named.
 */
export function examineSignature(delivered: Delivered, wallNow: number): Examination {
  const findings = [...aboutSecret(delivered), ...aboutTimestamp(delivered, wallNow)];
  const { given, problems } = signaturesIn(delivered.signature);
  findings.push(...problems);
  const isReadable = secretPattern.test(delivered.secret) && timestampPattern.test(delivered.timestamp);
  const expected = isReadable ? expectedOf(delivered) : undefined;
  const isSigned = expected !== undefined && given.some((one) => isSame(one, expected));
  if (isSigned) findings.push(fine('The signature fits the secret, the id, the timestamp and the body.'));
  else if (expected !== undefined && given.length > 0)
    findings.push(problem('No signature fits.'), ...likelyReasons(delivered, given));
  return { isValid: findings.every(({ isProblem }) => !isProblem), findings };
}

function expectedOf({ secret, id, timestamp, body }: Delivered): string {
  return new Webhook(secret).sign(id, new Date(Number(timestamp) * 1_000), body).slice('v1,'.length);
}

function aboutSecret({ secret }: Delivered): readonly Finding[] {
  if (!secretPattern.test(secret))
    return [
      problem('The secret is not one: it is whsec_ and base64, as the answer to the create showed it.'),
    ];
  if (!secret.startsWith('whsec_'))
    return [fine('The secret has no whsec_ before it. That is accepted here; some libraries want it.')];
  return [];
}

function aboutTimestamp({ timestamp }: Delivered, wallNow: number): readonly Finding[] {
  if (!timestampPattern.test(timestamp))
    return [problem('The timestamp is not a number: webhook-timestamp holds seconds since 1970.')];
  const age = Math.floor(wallNow / 1_000) - Number(timestamp);
  if (Math.abs(age) <= toleranceSeconds) return [];
  if (Math.abs(Math.floor(wallNow) - Number(timestamp)) <= toleranceSeconds * 1_000)
    return [problem('The timestamp is in milliseconds; webhook-timestamp holds seconds.')];
  const when = age > 0 ? `${age} seconds old` : `${-age} seconds in the future`;
  return [
    problem(
      `The timestamp is ${when}, and libraries refuse what is more than ${toleranceSeconds} away. Use --at to look at an old request.`,
    ),
  ];
}

/** The header holds one signature for each secret that signs, with spaces between them. */
function signaturesIn(header: string): {
  readonly given: readonly string[];
  readonly problems: readonly Finding[];
} {
  const parts = header.split(' ').filter((part) => part !== '');
  const given = parts.flatMap((part) => (part.startsWith('v1,') ? [part.slice('v1,'.length)] : []));
  if (parts.length === 0) return { given, problems: [problem('There is no signature.')] };
  if (given.length > 0) return { given, problems: [] };
  return {
    given,
    problems: [
      problem('No part of the signature begins with "v1,": pass the whole webhook-signature header.'),
    ],
  };
}

/** What people do to a request before they verify it, each with the sentence that tells them. */
function likelyReasons(delivered: Delivered, given: readonly string[]): readonly Finding[] {
  const { secret, id, timestamp, body } = delivered;
  const fits = (changed: Partial<Delivered>) => {
    const expected = expectedOf({ ...delivered, ...changed });
    return given.some((one) => isSame(one, expected));
  };
  const bare = secret.replace(/^whsec_/, '');
  const text = `${id}.${timestamp}.${body}`;
  const parsed = parse(body);
  const tries: readonly (readonly [boolean, string])[] = [
    ...[JSON.stringify(parsed), JSON.stringify(parsed, null, 2), JSON.stringify(parsed, null, 4)].map(
      (written) =>
        [
          written !== undefined && written !== body && fits({ body: written }),
          'The body was parsed and written again: its spaces are others. Verify the bytes as they came.',
        ] as const,
    ),
    [fits({ body: body.replace(/\r?\n$/, '') }), 'The body has a line break at its end that was not sent.'],
    [fits({ body: `${body}\n` }), 'The body lacks a line break that was sent at its end.'],
    [fits({ body: body.replaceAll('\r\n', '\n') }), 'Line breaks in the body were turned into CRLF.'],
    [
      fits({ body: body.replace(/^\ufeff/, '') }),
      'The body begins with a byte order mark that was not sent.',
    ],
    [
      given.some((one) => isSame(one, hmac(Buffer.from(bare), text))),
      'It was signed with the base64 text of the secret; the secret must be decoded first.',
    ],
    [
      given.some((one) => isSame(one, hmac(Buffer.from(secret), text))),
      'It was signed with the secret as text; what stands behind whsec_ must be decoded from base64 first.',
    ],
    [
      given.some((one) => isSame(one, hmac(Buffer.from(bare, 'base64'), body))),
      'It was made of the body alone; id, timestamp and body are signed, with dots between them.',
    ],
    [
      given.some((one) =>
        isSame(one, createHmac('sha256', Buffer.from(bare, 'base64')).update(text).digest('hex')),
      ),
      'It is in hexadecimal; signatures are in base64.',
    ],
  ];
  const found = tries.filter(([isIt]) => isIt).map(([, words]) => problem(words));
  if (found.length > 0) return [...new Map(found.map((one) => [one.words, one])).values()];
  return [
    problem(
      'The secret may be that of another endpoint, or one that was rotated away; or the body was changed on the way, for example parsed and written again. Compare it with requestBody of the delivery.',
    ),
  ];
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function hmac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64');
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function fine(words: string): Finding {
  return { isProblem: false, words };
}

function problem(words: string): Finding {
  return { isProblem: true, words };
}
