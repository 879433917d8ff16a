import type { Id } from '../../kernel/ids.ts';
import type { Role } from '../../kernel/permissions.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface MemberRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'member'>;
  readonly personId: Id<'person'>;
  readonly role: Role;
  readonly status: 'active' | 'removed';
  readonly version: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const membersTable = defineTable<MemberRow>('members', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  personId: 'text',
  role: 'text',
  status: 'text',
  version: 'integer',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
