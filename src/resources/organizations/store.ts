import type { Id } from '../../kernel/ids.ts';
import { type Instant, type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { type OrganizationRow, organizationsTable } from './table.ts';

const named: Statement = {
  name: 'organizations_named',
  text: `select ${selectList(organizationsTable, 'o')} from organizations o where o.id = $1 or o.name = $1
    order by o.id limit 10`,
};

/** Finds organizations by name or id, for the operator. Names have no index: it runs only on the command line and at startup. */
export function findOrganizations(
  reader: Pick<Reader, 'rows'>,
  nameOrId: string,
): PromiseLike<readonly OrganizationRow[]> {
  return reader.rows<OrganizationRow>(named, [nameOrId]);
}

const newest: Statement = {
  name: 'organizations_newest',
  text: `select ${selectList(organizationsTable, 'o')} from organizations o
    where $1::timestamptz is null or (o.created_at, o.id) < ($1::timestamptz, $2::text)
    order by o.created_at desc, o.id desc limit $3`,
};

/**
 * Organizations after the given one, newest first, for the operator. No index serves this query: an id from a seed file does not
 * contain its creation time, and a server has a few thousand organizations at most.
 */
export function findNewestOrganizations(
  reader: Pick<Reader, 'rows'>,
  after: Pick<OrganizationRow, 'id' | 'createdAt'> | undefined,
  limit: number,
): PromiseLike<readonly OrganizationRow[]> {
  const at = after === undefined ? null : new Date(after.createdAt).toISOString();
  return reader.rows<OrganizationRow>(newest, [at, after?.id ?? null, limit]);
}

const expired: Statement = {
  name: 'organizations_expired',
  text: `select o.id from organizations o where o.expires_at <= $1::timestamptz order by o.expires_at, o.id limit $2`,
};

/** Expired organizations, oldest first. No index serves this query: a worker runs it every ten minutes. */
export async function findExpiredOrganizations(
  reader: Pick<Reader, 'rows'>,
  now: Instant,
  limit: number,
): Promise<readonly Id<'organization'>[]> {
  const rows = await reader.rows<{ id: Id<'organization'> }>(expired, [new Date(now).toISOString(), limit]);
  return rows.map(({ id }) => id);
}
