import type { RetryProfile } from '../../kernel/retry.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export const webhookStates = ['enabled', 'disabled'] as const;

/** Why an endpoint is disabled: somebody asked, its receiver answered 410, or nothing but failure came of it for days. */
export const disabledReasons = ['requested', 'gone', 'failing'] as const;

export interface WebhookRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: (typeof webhookStates)[number];
  readonly version: number;
  readonly url: string;
  readonly description: string | null;
  /** `*`, `payment.*` or exact. */
  readonly eventTypes: readonly string[];
  readonly retryProfile: RetryProfile;
  readonly concurrencyMax: number;
  /** The newest first. */
  readonly secrets: readonly StoredSecret[];
  readonly disabledReason: (typeof disabledReasons)[number] | null;
  /** Since when it has been enabled, or disabled. */
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

/** How an endpoint has been doing, by the clock of its application. */
export interface WebhookHealth {
  readonly orgId: string;
  readonly webhookId: string;
  /** The process that sends to it, and the wall time until which it is believed to live. */
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

/** A secret of an endpoint as it is kept: encrypted, and with an end when it was rotated away. */
export interface StoredSecret {
  readonly sealed: string;
  /** Its last four characters, so that people can tell which one it is. */
  readonly hint: string;
  readonly expiresAt: Instant | null;
}
