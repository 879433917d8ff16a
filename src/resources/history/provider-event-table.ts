import type { NoticeOutcome } from '../../kernel/provider.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

/** What a provider said, in its own words and with its own ids, apart from the records. */
export interface ProviderEventRow {
  readonly orgId: string;
  readonly id: string;
  readonly paymentId: string | null;
  readonly transferId: string | null;
  readonly provider: string;
  readonly providerTransactionId: string;
  readonly providerEventId: string;
  readonly type: string;
  readonly payload: string;
  readonly outcome: NoticeOutcome;
  readonly action: string;
  readonly requestId: string;
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
