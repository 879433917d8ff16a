import { readHeader } from '../../sdk/received-headers.ts';
import { keyOf } from '../../sdk/signature.ts';
import {
  isSigned,
  type SignedRequest,
  signaturesIn,
  timestampProblem,
} from '../../sdk/signature-diagnosis.ts';
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
    return isId('webhook', webhookId) && signedHeaders(headers, this.#settings.realTime()) !== undefined;
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
    if (active === undefined) return undefined;
    const signed = signedHeaders(headers, realTime());
    if (!signed) return undefined;
    const keys = (await Promise.all(active.map(keyOf))).filter((key) => key !== undefined);
    // Not `verifyWebhook`, whose diagnosis of an invalid signature costs a dozen times as much.
    return (await isSigned({ ...signed, body }, keys)) ? eventIn(body) : undefined;
  }
}

const toleranceSeconds = 300;

/** Undefined if a header is missing, or the timestamp is not current. */
function signedHeaders(
  headers: InboxRequest['headers'],
  now: Instant,
): Omit<SignedRequest, 'body'> | undefined {
  const [id, timestamp, header] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    readHeader(headers, name),
  );
  if (!id || !timestamp || !header) return undefined;
  if (timestampProblem(timestamp, now, toleranceSeconds) !== undefined) return undefined;
  return { id, timestamp, signatures: signaturesIn(header) };
}

/** What is signed is an event, unless somebody who knows the secret signs something else. */
function eventIn(body: Uint8Array): { readonly id: string; readonly type: string } | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(body)) as { readonly id: string; readonly type: string };
  } catch {
    return undefined;
  }
}
