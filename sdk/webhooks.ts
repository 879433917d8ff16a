import { SignatureError } from './errors.ts';
import type { SandbankEvent } from './generated/shapes.ts';
import { type OptionNames, rejectUnknownOptions } from './options.ts';
import { type ReceivedHeaders, readHeader } from './received-headers.ts';
import { bytesOf, type HmacKey, isSignedBy, keyOf, signatureOf } from './signature.ts';

export interface VerifyOptions {
  /** How far the timestamp may be from now; 300 by default. */
  readonly toleranceSeconds?: number | undefined;
  /** The current time, in milliseconds or as a date. For tests. */
  readonly now?: number | Date | undefined;
}

export interface WebhookVerification {
  /**
   * Verifies that the owner of the secret sent the request a moment ago, and returns its event. Throws a SignatureError
   * otherwise. During a secret rotation, pass the old and the new secret.
   */
  verify(
    rawBody: string | Uint8Array | ArrayBuffer,
    headers: ReceivedHeaders,
    secrets: string | readonly string[],
    options?: VerifyOptions,
  ): Promise<SandbankEvent>;
}

const verifyOptionNames: OptionNames<VerifyOptions> = { toleranceSeconds: true, now: true };
const toleranceSecondsDefault = 300;

export const verifyWebhook: WebhookVerification['verify'] = async (
  rawBody,
  headers,
  secrets,
  options = {},
) => {
  rejectUnknownOptions('webhooks.verify()', options, verifyOptionNames);
  const keys = await keysOf(secrets);
  const body = bodyOf(rawBody);
  const id = needed(headers, 'webhook-id');
  const timestamp = needed(headers, 'webhook-timestamp');
  const signatures = needed(headers, 'webhook-signature');
  checkTime(timestamp, options);
  if (!(await isAnySigned(keys, `${id}.${timestamp}.`, body, signatures)))
    throw new SignatureError('signature', await reasonFor(keys, `${id}.${timestamp}.`, body, signatures));
  return eventIn(body);
};

export interface SignedWebhook {
  readonly body: string;
  readonly headers: {
    'content-type': string;
    'webhook-id': string;
    'webhook-timestamp': string;
    'webhook-signature': string;
  };
}

/** Signs a request as the server does, for the tests of a receiver. With several secrets it has several signatures. */
export async function signWebhook(
  event: string | object,
  secrets: string | readonly string[],
  options: { readonly id?: string; readonly timestamp?: number | Date } = {},
): Promise<SignedWebhook> {
  const body = typeof event === 'string' ? event : JSON.stringify(event);
  const id = options.id ?? (event as { id?: string }).id ?? 'evt_test';
  const timestamp = String(Math.floor(Number(options.timestamp ?? Date.now()) / 1_000));
  const keys = await keysOf(secrets);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signatures = await Promise.all(keys.map(async (key) => `v1,${await signatureOf(key, signed)}`));
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    },
  };
}

async function keysOf(secrets: string | readonly string[]): Promise<HmacKey[]> {
  const list = typeof secrets === 'string' ? [secrets] : [...(secrets ?? [])];
  if (list.length === 0)
    throw new SignatureError(
      'secret',
      'There is no secret to verify with: give the whsec_... of the endpoint.',
    );
  return Promise.all(
    list.map(async (secret) => {
      const key = await keyOf(secret);
      if (key) return key;
      throw new SignatureError(
        'secret',
        'A secret is not one: it is whsec_ and base64, as the answer to the create of the endpoint showed it.',
      );
    }),
  );
}

function bodyOf(rawBody: unknown): Uint8Array {
  const bytes = bytesOf(rawBody);
  if (bytes) return bytes;
  throw new SignatureError(
    'body',
    `The body is ${rawBody === null ? 'null' : `of the type ${typeof rawBody}`}, so it was parsed already. The signature is over the bytes as they came: give the raw body, a string or bytes. In Express that is express.raw({ type: 'application/json' }) on this route, with Fetch it is await request.text(), in Next.js a route handler's request.text().`,
  );
}

function needed(headers: ReceivedHeaders, name: string): string {
  const value = readHeader(headers, name);
  if (value !== undefined && value !== '') return value;
  throw new SignatureError(
    'headers',
    `The header ${name} is missing. Give all headers of the request as they came; a proxy in front may drop those it does not know.`,
  );
}

function checkTime(
  timestamp: string,
  { toleranceSeconds = toleranceSecondsDefault, now = Date.now() }: VerifyOptions,
): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new SignatureError(
      'timestamp',
      `webhook-timestamp is not a number of seconds since 1970: ${timestamp}.`,
    );
  const age = Math.floor(Number(now) / 1_000) - Number(timestamp);
  if (Math.abs(age) <= toleranceSeconds) return;
  const when = age > 0 ? `${age} seconds old` : `${-age} seconds in the future`;
  throw new SignatureError(
    'timestamp',
    `The request is ${when}, and ${toleranceSeconds} are allowed: it may be an old one that someone sends again. If it is not, compare the clock of this machine; to look at a kept request, give the option now.`,
  );
}

async function isAnySigned(
  keys: readonly HmacKey[],
  prefix: string,
  body: Uint8Array,
  header: string,
): Promise<boolean> {
  const head = new TextEncoder().encode(prefix);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  const given = header.split(' ').flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : []));
  for (const key of keys)
    for (const signature of given) if (await isSignedBy(key, signature, signed)) return true;
  return false;
}

/** What people do to a body before they verify it, each tried, so that the message can name it. */
async function reasonFor(
  keys: readonly HmacKey[],
  prefix: string,
  body: Uint8Array,
  header: string,
): Promise<string> {
  const text = new TextDecoder().decode(body);
  const written = rewritten(text).map((other) => new TextEncoder().encode(other));
  for (const other of written) {
    if (await isAnySigned(keys, prefix, other, header))
      return 'The signature fits the same JSON written otherwise: the body was parsed and written again, or its line breaks were changed. Give the raw body, the bytes as they came.';
  }
  if (!/(?:^| )v1,/.test(header))
    return 'webhook-signature has no part that begins with "v1,". Give the header as it came.';
  return 'No signature fits. Either the secret is that of another endpoint or was rotated away, or the body is not the raw one: give the bytes as they came, not JSON that was parsed and written again.';
}

function rewritten(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    return [JSON.stringify(value), text.trimEnd(), text.replaceAll('\r\n', '\n')].filter(
      (other) => other !== text,
    );
  } catch {
    return [];
  }
}

function eventIn(body: Uint8Array): SandbankEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as SandbankEvent;
  } catch {
    throw new SignatureError('body', 'The signature is right, but the body is not JSON.');
  }
}
