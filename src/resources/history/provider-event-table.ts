import type { Id } from '../../kernel/ids.ts';
import type { NoticeOutcome } from '../../kernel/provider.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

/** A raw provider event with the provider's own ids, stored apart from the records. */
export interface ProviderEventRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'provider_event'>;
  readonly paymentId: Id<'payment'> | null;
  readonly transferId: Id<'transfer'> | null;
  readonly provider: string;
  readonly providerTransactionId: string;
  readonly providerEventId: string;
  readonly type: string;
  readonly payload: string;
  readonly outcome: NoticeOutcome;
  readonly action: string;
  readonly requestId: Id<'request'>;
  readonly receivedAt: Instant;
}

export const providerEventsTable = defineTable<ProviderEventRow>('provider_events', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  paymentId: 'text',
  transferId: 'text',
  provider: 'text',
  providerTransactionId: 'text',
  providerEventId: 'text',
  type: 'text',
  payload: 'json',
  outcome: 'text',
  action: 'text',
  requestId: 'text',
  receivedAt: 'timestamptz',
});
