import { defineTable } from '../../kernel/table.ts';
import type { RefundRow } from './machine.ts';

export const refundsTable = defineTable<RefundRow>('refunds', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  paymentId: 'text',
  amount: 'bigint',
  currency: 'text',
  reason: 'text',
  metadata: 'jsonb',
  endedAt: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
