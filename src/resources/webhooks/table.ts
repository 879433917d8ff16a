import type { RetryProfile } from '../../kernel/application-settings.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export const webhookStates = ['enabled', 'disabled'] as const;

/** Why an endpoint is disabled: by request, because its receiver responded with 410, or because it failed for days. */
export const disabledReasons = ['requested', 'gone', 'failing'] as const;

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
  readonly disabledReason: (typeof disabledReasons)[number] | null;
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
  disabledReason: 'text',
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

/** A stored webhook secret: encrypted, and with an expiry after rotation. */
export interface StoredSecret {
  readonly sealed: string;
  /** Its last four characters, so that people can identify it. */
  readonly hint: string;
  readonly expiresAt: Instant | null;
}
