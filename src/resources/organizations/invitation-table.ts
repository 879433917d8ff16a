import type { Role } from '../../kernel/permissions.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface InvitationRow {
  readonly orgId: string;
  readonly id: string;
  /** Null is for whoever has the link. */
  readonly email: string | null;
  readonly role: Role;
  readonly status: 'pending' | 'accepted' | 'revoked';
  readonly version: number;
  /** Of what the link carries. */
  readonly hash: Uint8Array;
  /** The person who created it, or `operatorId`; null for one that a node of an earlier release created. */
  readonly creatorId: string | null;
  /** The version of the creator's membership: it is valid only while the membership has not changed. */
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
