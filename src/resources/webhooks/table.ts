import type { RetryProfile } from '../../kernel/application-settings.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export const webhookStates = ['enabled', 'disabled', 'deleted'] as const;

/** Why an endpoint is disabled: by request, because its receiver responded with 410, or because it failed for days. */
export const disabledReasons = ['requested', 'gone', 'failing'] as const;

/** The statuses that an inbox can respond with. All of them allow a body. */
export const inboxStatuses = [
  200, 201, 202, 301, 400, 401, 403, 404, 408, 409, 410, 422, 429, 500, 502, 503, 504,
] as const;

/** What an inbox does with a delivery: respond with a status, immediately or after a delay, or never respond. */
export type InboxBehavior = InboxResponse | { readonly type: 'timeout' };

export interface InboxResponse {
  readonly type: 'respond';
  readonly responseStatus: (typeof inboxStatuses)[number];
  readonly delayMs: number;
}

/** Responds immediately, like a receiver that works. */
export const defaultInbox: InboxResponse = { type: 'respond', responseStatus: 200, delayMs: 0 };

export interface WebhookRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'webhook'>;
  readonly appId: Id<'application'>;
  readonly status: (typeof webhookStates)[number];
  readonly version: number;
  readonly url: string;
  readonly description: string | null;
  /** `*`, `payment.*` or exact. */
  readonly eventTypes: readonly string[];
  readonly retryProfile: RetryProfile;
  readonly concurrencyMax: number;
  /** Newest first. */
  readonly secrets: readonly StoredSecret[];
  /** Sent with every attempt; null for none. */
  readonly headers: StoredHeaders | null;
  readonly disabledReason: (typeof disabledReasons)[number] | null;
  /** The behavior of an inbox, which this server hosts itself; null for other endpoints. The URL of an inbox is not used to send. */
  readonly inbox: InboxBehavior | null;
  /** When the endpoint was last enabled or disabled. */
  readonly since: Instant;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const webhooksTable = defineTable<WebhookRow>('webhooks', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  url: 'text',
  description: 'text',
  eventTypes: 'jsonb',
  retryProfile: 'text',
  concurrencyMax: 'integer',
  secrets: 'jsonb',
  headers: 'jsonb',
  disabledReason: 'text',
  inbox: 'jsonb',
  since: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

/** The health of an endpoint, by the application clock. */
export interface WebhookHealth {
  readonly orgId: Id<'organization'>;
  readonly webhookId: Id<'webhook'>;
  /** The process that sends to the endpoint, and the end of its lease in wall time. */
  readonly sender: string | null;
  readonly senderUntil: Instant | null;
  readonly failingSince: Instant | null;
  readonly lastSuccessAt: Instant | null;
  readonly lastFailureAt: Instant | null;
}

export const webhookHealthTable = defineTable<WebhookHealth>('webhook_health', ['org_id', 'webhook_id'], {
  orgId: 'text',
  webhookId: 'text',
  sender: 'text',
  senderUntil: 'timestamptz',
  failingSince: 'timestamptz',
  lastSuccessAt: 'timestamptz',
  lastFailureAt: 'timestamptz',
});

/** Custom headers. Their values may be credentials, so they are encrypted. */
export interface StoredHeaders {
  readonly names: readonly string[];
  /** The headers as JSON, encrypted. */
  readonly sealed: string;
}

/** A stored webhook secret: encrypted, and with an expiry after rotation. */
export interface StoredSecret {
  readonly sealed: string;
  /** Its last four characters, so that people can identify it. */
  readonly hint: string;
  readonly expiresAt: Instant | null;
}
