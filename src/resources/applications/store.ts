import { defineTable } from '../../kernel/table.ts';
import type { ApplicationRow } from './machine.ts';

export const applicationsTable = defineTable<ApplicationRow>('applications', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  status: 'text',
  version: 'integer',
  name: 'text',
  feeBasisPoints: 'integer',
  feeFixed: 'bigint',
  provider: 'text',
  fxMarginBasisPoints: 'integer',
  fxRates: 'jsonb',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
