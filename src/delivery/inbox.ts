import { SignatureError } from '../../sdk/errors.ts';
import { isSigned } from '../../sdk/signature-diagnosis.ts';
import { eventIn, keysOf, signedHeadersOf } from '../../sdk/webhooks.ts';
import type { Vault } from '../engine/vault.ts';
import { isId } from '../kernel/ids.ts';
import type { Instant, Reader } from '../kernel/table.ts';
import { findInboxes } from '../resources/webhooks/store.ts';
import type { WebhookRow } from '../resources/webhooks/table.ts';
import { belongsTo, openSecrets } from './signature.ts';

export interface InboxDependencies {
  readonly reader: Pick<Reader, 'rows'>;
  readonly vault: Vault;
  readonly wallClock: () => Instant;
  /** For the age of a signature; see attempt.ts. */
  readonly realTime: () => Instant;
}

/** A request to an inbox, as received. */
export interface InboxRequest {
  readonly webhookId: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
}

/** A delivery whose signature is valid. */
export interface InboxDelivery {
  readonly webhook: WebhookRow;
  readonly eventId: string;
  readonly eventType: string;
}

/**
 * Receives the deliveries to endpoints that this server hosts. It stores nothing: the delivery attempt already stores the request, and
 * the response of the inbox is a receipt. See docs/decisions/0021-the-inbox-stores-nothing.md.
 */
export class Inbox {
  readonly #settings: InboxDependencies;

  constructor(settings: InboxDependencies) {
    this.#settings = settings;
  }

  /** Whether the body of a request is worth reading: its sender is not known before. */
  isPlausible({ webhookId, headers }: Omit<InboxRequest, 'body'>): boolean {
    const now = this.#settings.realTime();
    return isId('webhook', webhookId) && unlessInvalid(() => signedHeadersOf(headers, { now })) !== undefined;
  }

  /** Verifies a request as a user's receiver would, with the SDK. Undefined when there is no such inbox or the signature is not valid. */
  async accept({ webhookId, headers, body }: InboxRequest): Promise<InboxDelivery | undefined> {
    if (!isId('webhook', webhookId)) return undefined;
    for (const webhook of await findInboxes(this.#settings.reader, webhookId)) {
      const event = await this.#verified(webhook, headers, body);
      if (event) return { webhook, eventId: event.id, eventType: event.type };
    }
    return undefined;
  }

  async #verified(
    { orgId, id, secrets }: WebhookRow,
    headers: InboxRequest['headers'],
    body: Uint8Array,
  ): Promise<{ readonly id: string; readonly type: string } | undefined> {
    const { vault, wallClock, realTime } = this.#settings;
    const active = openSecrets(vault, secrets, belongsTo(orgId, id), wallClock());
    if (active === undefined || active.length === 0) return undefined;
    const signed = unlessInvalid(() => signedHeadersOf(headers, { now: realTime() }));
    // Not `verifyWebhook`, whose diagnosis of an invalid signature costs a dozen times as much.
    if (!signed || !(await isSigned({ ...signed, body }, await keysOf(active)))) return undefined;
    return unlessInvalid(() => eventIn(body));
  }
}

function unlessInvalid<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SignatureError) return undefined;
    throw error;
  }
}
