import { defineTable, type Instant } from '../../kernel/table.ts';

export interface OrganizationRow {
  readonly orgId: string;
  readonly id: string;
  readonly status: 'active';
  readonly version: number;
  readonly name: string;
  /** How many members are owners. The last one can neither leave nor step down. */
  readonly owners: number;
  /** By the real time; null for an organization that stays. */
  readonly expiresAt: Instant | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const organizationsTable = defineTable<OrganizationRow>('organizations', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  status: 'text',
  version: 'integer',
  name: 'text',
  owners: 'integer',
  expiresAt: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
