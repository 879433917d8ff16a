import { defineTable } from '../../kernel/table.ts';
import type { DisputeRow } from './machine.ts';

export const disputesTable = defineTable<DisputeRow>('disputes', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  paymentId: 'text',
  amount: 'bigint',
  currency: 'text',
  reason: 'text',
  stage: 'text',
  evidence: 'jsonb',
  respondBy: 'timestamptz',
  closedAt: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
