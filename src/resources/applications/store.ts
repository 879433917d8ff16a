import type { Id } from '../../kernel/ids.ts';
import type { Reader, Statement } from '../../kernel/table.ts';
import type { ApplicationRow } from './table.ts';

const countOf: Statement = {
  name: 'applications_count',
  text: 'select count(*)::integer as count from applications a where a.org_id = $1',
};

export async function countApplications(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
): Promise<number> {
  const [row] = await reader.rows<{ count: number }>(countOf, [orgId]);
  return row?.count ?? 0;
}

const idsOf: Statement = {
  name: 'applications_ids',
  text: `select a.id, a.status from applications a where a.org_id = $1 order by a.created_at, a.id limit 1000`,
};

/** Oldest first, archived ones too. */
export async function findApplicationIds(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
): Promise<readonly Id<'application'>[]> {
  return (await reader.rows<Pick<ApplicationRow, 'id'>>(idsOf, [orgId])).map(({ id }) => id);
}

/** The oldest application that is not archived. */
export async function findFirstApplication(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
): Promise<string | undefined> {
  const all = await reader.rows<Pick<ApplicationRow, 'id' | 'status'>>(idsOf, [orgId]);
  return all.find(({ status }) => status === 'active')?.id;
}
