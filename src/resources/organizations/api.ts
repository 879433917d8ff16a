import type { Resource } from '../../kernel/command.ts';
import { instantToText } from '../../kernel/list.ts';
import { type OrganizationRow, organizationMachine } from './machine.ts';
import { organizationsTable } from './store.ts';

/** Organizations come from the seed file; the API shows a key its own through `developer_api_status`. */
export const organizationResource: Resource<OrganizationRow> = {
  name: 'organization',
  table: organizationsTable,
  machine: organizationMachine,
  emitsEvents: false,
  present: (row) => ({
    object: 'organization',
    sandbox: true,
    status: row.status,
    id: row.id,
    name: row.name,
    createdAt: instantToText(row.createdAt),
    updatedAt: instantToText(row.updatedAt),
  }),
};
