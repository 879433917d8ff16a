import { createHash, createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { apiVersion } from '../kernel/envelope.ts';
import { eventPayload } from '../kernel/event.ts';
import { formatId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';

type Data = Readonly<Record<string, unknown>>;

/** The template of all events that an examination sends. */
export interface ExampleEvent {
  readonly type: string;
  readonly data: Data;
}

/** A signed message, before a case mutates it. */
export interface Message {
  readonly id: string;
  readonly sentAt: Instant;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** HMAC with the named hash function, SHA-256 without a key, or HMAC-SHA256 with an empty key. */
export type Algorithm = 'sha256' | 'sha1' | 'sha512' | 'unkeyed' | 'empty key';

export interface Overrides {
  readonly type?: string;
  readonly sequence?: number;
  /** Changes the record in the event. */
  readonly data?: (data: Data) => Data;
  /** Changes the serialized event before it is signed. */
  readonly text?: (payload: string) => string;
  readonly sentAt?: Instant;
  /** The signing secrets in header order; default: the endpoint's secrets. */
  readonly signers?: readonly string[];
}

export interface RequestFactorySettings {
  readonly examinationId: string;
  readonly event: ExampleEvent;
  /** The endpoint's signing secrets, the newest first. */
  readonly secrets: readonly string[];
  readonly newSuffix: () => string;
  /** A secret that the receiver does not have. */
  readonly unknownSecret: string;
  /** For the payload. */
  readonly wallClock: () => Instant;
  /** For the signature. */
  readonly realTime: () => Instant;
}

/**
 * Creates events and signs them like real ones. Each event has a new event id and a new record id, so that a receiver
 * with deduplication does not drop it because of an earlier run or an earlier case.
 */
export class RequestFactory {
  readonly unknownSecret: string;
  readonly secrets: readonly string[];
  readonly #settings: RequestFactorySettings;

  constructor(settings: RequestFactorySettings) {
    this.#settings = settings;
    this.secrets = settings.secrets;
    this.unknownSecret = settings.unknownSecret;
  }

  get now(): Instant {
    return this.#settings.realTime();
  }

  message(overrides: Overrides = {}): Message {
    const { event, newSuffix } = this.#settings;
    const id = formatId('event', newSuffix());
    const data = { ...event.data, ...this.#newRecord() };
    const payload = eventPayload({
      id,
      requestId: formatId('request', newSuffix()),
      type: overrides.type ?? event.type,
      createdAt: this.#settings.wallClock(),
      sequence: overrides.sequence ?? 1,
      data: JSON.stringify(overrides.data?.(data) ?? data),
    });
    return this.signed(id, overrides.text?.(payload) ?? payload, overrides);
  }

  /** The Standard Webhooks headers plus those that Sandbank sends with every event. */
  signed(id: string, body: string, { sentAt = this.now, signers = this.secrets }: Overrides = {}): Message {
    return {
      id,
      sentAt,
      body,
      headers: {
        ...this.plainHeaders,
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt / 1_000)),
        'webhook-signature': signers.map((secret) => signatureOf(secret, { id, sentAt, body })).join(' '),
      },
    };
  }

  /** The digest of a message under the endpoint's newest secret: base64, without a version prefix. */
  digest({ id, sentAt, body }: Message, algorithm: Algorithm = 'sha256'): string {
    const [secret = ''] = this.secrets;
    const content = `${id}.${Math.floor(sentAt / 1_000)}.${body}`;
    if (algorithm === 'unkeyed') return createHash('sha256').update(content).digest('base64');
    const key = algorithm === 'empty key' ? '' : Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const hash = algorithm === 'empty key' ? 'sha256' : algorithm;
    return createHmac(hash, key).update(content).digest('base64');
  }

  /** A well-formed signature of another message. */
  forgedSignature(): string {
    return signatureOf(this.unknownSecret, { id: 'forged', sentAt: this.now, body: '' });
  }

  get plainHeaders(): Readonly<Record<string, string>> {
    return {
      'user-agent': `Sandbank/${apiVersion}`,
      'accept-encoding': 'identity',
      'sandbank-examination': this.#settings.examinationId,
    };
  }

  /** Gives the event's record a new id with the same prefix. */
  #newRecord(): Data {
    const { id } = this.#settings.event.data;
    const prefix = typeof id === 'string' ? /^([a-z]{3})_[0-9a-z]{26}$/.exec(id)?.[1] : undefined;
    return prefix === undefined ? {} : { id: `${prefix}_${this.#settings.newSuffix()}` };
  }
}

export function signatureOf(secret: string, { id, sentAt, body }: Omit<Message, 'headers'>): string {
  return new Webhook(secret).sign(id, new Date(sentAt), body);
}
