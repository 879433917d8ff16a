import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant, type SearchedTexts } from '../../kernel/table.ts';

export interface CustomerRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'customer'>;
  readonly appId: Id<'application'>;
  readonly status: 'active' | 'archived';
  readonly version: number;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

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

export const customerTexts: SearchedTexts = {
  description: 'the start of the id, or any part of the name, email or reference',
  ids: ['id'],
  texts: ['name', 'email', 'reference'],
};
