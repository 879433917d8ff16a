import type { Id } from '../../kernel/ids.ts';
import type { Role } from '../../kernel/permissions.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface InvitationRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'invitation'>;
  /** Null: any person with the link can accept. */
  readonly email: string | null;
  readonly role: Role;
  readonly status: 'pending' | 'accepted' | 'revoked';
  readonly version: number;
  /** The hash of the token in the link. */
  readonly hash: Uint8Array;
  /** The person who created it, or `operatorId`; null if a node of an earlier release created it. */
  readonly creatorId: string | null;
  /** The version of the creator's membership: a later change of the membership invalidates the invitation. */
  readonly creatorVersion: number | null;
  /** Wall time. */
  readonly expiresAt: Instant;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const invitationsTable = defineTable<InvitationRow>('invitations', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  email: 'text',
  role: 'text',
  status: 'text',
  version: 'integer',
  hash: 'bytea',
  creatorId: 'text',
  creatorVersion: 'integer',
  expiresAt: 'timestamptz',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
