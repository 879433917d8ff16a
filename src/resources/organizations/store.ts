import type { Reader } from '../../kernel/route.ts';
import { defineTable, type Statement, selectList } from '../../kernel/table.ts';
import type { OrganizationRow } from './machine.ts';

export const organizationsTable = defineTable<OrganizationRow>('organizations', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  status: 'text',
  version: 'integer',
  name: 'text',
  owners: 'integer',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

const named: Statement = {
  name: 'organizations_named',
  text: `select ${selectList(organizationsTable, 'o')} from organizations o where o.id = $1 or o.name = $1
    order by o.id limit 10`,
};

/** By name or id, for whoever runs the server. There is no index for names: it is asked at a terminal. */
export function findOrganizations(
  reader: Pick<Reader, 'rows'>,
  nameOrId: string,
): PromiseLike<readonly OrganizationRow[]> {
  return reader.rows<OrganizationRow>(named, [nameOrId]);
}
