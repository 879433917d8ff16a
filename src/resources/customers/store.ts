import { defineTable } from '../../kernel/table.ts';
import type { CustomerRow } from './machine.ts';

export const customersTable = defineTable<CustomerRow>('customers', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  name: 'text',
  email: 'text',
  phone: 'text',
  reference: 'text',
  metadata: 'jsonb',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
