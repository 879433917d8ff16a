import type { Reader } from '../../kernel/route.ts';
import { defineTable, type Statement } from '../../kernel/table.ts';
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
  webhookDefaults: 'jsonb',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

const countOf: Statement = {
  name: 'applications_count',
  text: 'select count(*)::integer as count from applications a where a.org_id = $1',
};

export async function countApplications(reader: Pick<Reader, 'rows'>, orgId: string): Promise<number> {
  const [row] = await reader.rows<{ count: number }>(countOf, [orgId]);
  return row?.count ?? 0;
}
