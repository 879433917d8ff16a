import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

/** For each endpoint. */
export const examinationsRetainedMax = 20;

export interface ExaminationRow {
  readonly orgId: Id<'organization'>;
  readonly webhookId: Id<'webhook'>;
  readonly id: string;
  /** Wall time. */
  readonly at: Instant;
  /** An ExaminationReport of the examiner. */
  readonly report: object;
}

export const examinationsTable = defineTable<ExaminationRow>('examinations', ['org_id', 'webhook_id', 'id'], {
  orgId: 'text',
  webhookId: 'text',
  id: 'text',
  at: 'timestamptz',
  report: 'jsonb',
});
