import type { Id } from '../../kernel/ids.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface OrganizationRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'organization'>;
  readonly status: 'active';
  readonly version: number;
  readonly name: string;
  /** The number of members with the role owner. The last owner can neither leave nor change role. */
  readonly owners: number;
  /** Members without a second factor have no access. */
  readonly requiresTwoFactor: boolean;
  /** Wall time; null if the organization does not expire. */
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
  requiresTwoFactor: 'boolean',
  expiresAt: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
