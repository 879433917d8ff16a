import { defineTable } from '../../kernel/table.ts';
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
