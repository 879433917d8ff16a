import { SignatureError } from './errors.ts';
import type { SandbankEvent } from './generated/shapes.ts';
import { type OptionNames, rejectUnknownOptions } from './options.ts';
import { type ReceivedHeaders, readHeader } from './received-headers.ts';
import { bytesOf, type HmacKey, keyOf, signatureOf } from './signature.ts';
import {
  invalidSecret,
  isSigned,
  mistakesIn,
  noVersion,
  signaturesIn,
  timestampProblem,
} from './signature-diagnosis.ts';

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
  const secretList = listOf(secrets);
  const keys = await keysOf(secretList);
  const body = bodyOf(rawBody);
  const id = needed(headers, 'webhook-id');
  const timestamp = needed(headers, 'webhook-timestamp');
  const header = needed(headers, 'webhook-signature');
  checkTime(timestamp, options);
  const signatures = signaturesIn(header);
  if (signatures.length === 0) throw new SignatureError('signature', noVersion);
  const request = { id, timestamp, body, signatures };
  if (!(await isSigned(request, keys)))
    throw new SignatureError(
      'signature',
      ['No signature matches.', ...(await mistakesIn(request, secretList))].join(' '),
    );
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
  const keys = await keysOf(listOf(secrets));
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

function listOf(secrets: string | readonly string[]): readonly string[] {
  return typeof secrets === 'string' ? [secrets] : (secrets ?? []);
}

async function keysOf(secrets: readonly string[]): Promise<HmacKey[]> {
  if (secrets.length === 0)
    throw new SignatureError('secret', 'No webhook secret. Pass the whsec_... secret of the endpoint.');
  return Promise.all(
    secrets.map(async (secret) => {
      const key = await keyOf(secret);
      if (key) return key;
      throw new SignatureError('secret', invalidSecret);
    }),
  );
}

function bodyOf(rawBody: unknown): Uint8Array {
  const bytes = bytesOf(rawBody);
  if (bytes) return bytes;
  throw new SignatureError(
    'body',
    `The body is ${rawBody === null ? 'null' : `of the type ${typeof rawBody}`}, so it was already parsed. The signature covers the raw bytes: pass the raw body, as a string or bytes. In Express that is express.raw({ type: 'application/json' }) on this route, with Fetch it is await request.text(), in Next.js a route handler's request.text().`,
  );
}

function needed(headers: ReceivedHeaders, name: string): string {
  const value = readHeader(headers, name);
  if (value !== undefined && value !== '') return value;
  throw new SignatureError(
    'headers',
    `The header ${name} is missing. Pass all request headers unchanged; a proxy in front may drop headers that it does not know.`,
  );
}

function checkTime(
  timestamp: string,
  { toleranceSeconds = toleranceSecondsDefault, now = Date.now() }: VerifyOptions,
): void {
  const problem = timestampProblem(timestamp, Number(now), toleranceSeconds);
  if (problem !== undefined)
    throw new SignatureError('timestamp', `${problem} To check a stored request, pass the option now.`);
}

function eventIn(body: Uint8Array): SandbankEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as SandbankEvent;
  } catch {
    throw new SignatureError('body', 'The signature is valid, but the body is not JSON.');
  }
}
