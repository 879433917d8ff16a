import { createHash, createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { apiVersion } from '../kernel/envelope.ts';
import { eventPayload } from '../kernel/event.ts';
import { formatId } from '../kernel/ids.ts';
import type { Instant } from '../kernel/table.ts';

type Data = Readonly<Record<string, unknown>>;

/** The event that is sent over and over again, each time as another one. */
export interface ExampleEvent {
  readonly type: string;
  readonly data: Data;
}

/** A message as it is before somebody spoils it. */
export interface Message {
  readonly id: string;
  readonly sentAt: Instant;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** HMAC by a hash function, SHA-256 without a key, or HMAC-SHA256 with a key of no bytes. */
export type Algorithm = 'sha256' | 'sha1' | 'sha512' | 'unkeyed' | 'empty key';

export interface Wish {
  readonly type?: string;
  readonly sequence?: number;
  /** Changes the record in the event. */
  readonly data?: (data: Data) => Data;
  /** Changes the text of the event before it is signed. */
  readonly text?: (payload: string) => string;
  readonly sentAt?: Instant;
  /** Who signs, in this order; the endpoint's own secrets unless told. */
  readonly signers?: readonly string[];
}

export interface ForgeSettings {
  readonly examinationId: string;
  readonly event: ExampleEvent;
  /** Those that sign for the endpoint, the newest first. */
  readonly secrets: readonly string[];
  readonly newSuffix: () => string;
  /** A secret that the receiver does not have. */
  readonly strangeSecret: string;
  /** For the payload. */
  readonly wallClock: () => Instant;
  /** For the signature. */
  readonly realTime: () => Instant;
}

/**
 * Makes events and signs them as the real ones are. Every one is new, with an id of its own and about a record of its own,
 * so that neither an earlier run nor an earlier case is in the memory of a receiver that drops what it has seen.
 */
export class Forge {
  readonly strange: string;
  readonly secrets: readonly string[];
  readonly #settings: ForgeSettings;

  constructor(settings: ForgeSettings) {
    this.#settings = settings;
    this.secrets = settings.secrets;
    this.strange = settings.strangeSecret;
  }

  get now(): Instant {
    return this.#settings.realTime();
  }

  message(wish: Wish = {}): Message {
    const { event, newSuffix } = this.#settings;
    const id = formatId('event', newSuffix());
    const data = { ...event.data, ...this.#newRecord() };
    const payload = eventPayload({
      id,
      requestId: formatId('request', newSuffix()),
      type: wish.type ?? event.type,
      createdAt: this.#settings.wallClock(),
      sequence: wish.sequence ?? 1,
      data: JSON.stringify(wish.data?.(data) ?? data),
    });
    return this.signed(id, wish.text?.(payload) ?? payload, wish);
  }

  /** The headers are those of the Standard Webhooks, beside those that Sandbank sends with every event. */
  signed(id: string, body: string, { sentAt = this.now, signers = this.secrets }: Wish = {}): Message {
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

  /** What the newest secret of the endpoint signs for a message: without a version, in base64. */
  digest({ id, sentAt, body }: Message, algorithm: Algorithm = 'sha256'): string {
    const [secret = ''] = this.secrets;
    const content = `${id}.${Math.floor(sentAt / 1_000)}.${body}`;
    if (algorithm === 'unkeyed') return createHash('sha256').update(content).digest('base64');
    const key = algorithm === 'empty key' ? '' : Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const hash = algorithm === 'empty key' ? 'sha256' : algorithm;
    return createHmac(hash, key).update(content).digest('base64');
  }

  /** As long as a signature, and of the right form. */
  madeUp(): string {
    return signatureOf(this.strange, { id: 'made up', sentAt: this.now, body: '' });
  }

  get plainHeaders(): Readonly<Record<string, string>> {
    return {
      'user-agent': `Sandbank/${apiVersion}`,
      'accept-encoding': 'identity',
      'sandbank-examination': this.#settings.examinationId,
    };
  }

  /** The record that the event is about, under a new id of the same kind. */
  #newRecord(): Data {
    const { id } = this.#settings.event.data;
    const prefix = typeof id === 'string' ? /^([a-z]{3})_[0-9a-z]{26}$/.exec(id)?.[1] : undefined;
    return prefix === undefined ? {} : { id: `${prefix}_${this.#settings.newSuffix()}` };
  }
}

export function signatureOf(secret: string, { id, sentAt, body }: Omit<Message, 'headers'>): string {
  return new Webhook(secret).sign(id, new Date(sentAt), body);
}
