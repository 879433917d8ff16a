import type { ApplicationSettings } from '../../kernel/application-settings.ts';
import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface ApplicationRow extends ApplicationSettings {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'application'>;
  readonly status: 'active' | 'archived';
  readonly version: number;
  readonly name: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

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
  webhookDefaults: 'jsonb',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
