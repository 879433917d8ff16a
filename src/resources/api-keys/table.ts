import type { Scope } from '../../kernel/permissions.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface ApiKeyRow {
  readonly orgId: string;
  readonly id: string;
  readonly appId: string;
  readonly status: 'active' | 'revoked';
  readonly version: number;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Instant | null;
  /** Whether it may reset the organization, which takes all write scopes as well. */
  readonly mayReset: boolean;
  /** The key that this one was made to take over from. */
  readonly replaces: string | null;
  /** The key that takes over from this one. */
  readonly replacedBy: string | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export const apiKeysTable = defineTable<ApiKeyRow>('api_keys', ['org_id', 'id'], {
  orgId: 'text',
  id: 'text',
  appId: 'text',
  status: 'text',
  version: 'integer',
  name: 'text',
  hash: 'bytea',
  lastFour: 'text',
  scopes: 'jsonb',
  allowedCidrs: 'jsonb',
  expiresAt: 'timestamptz',
  mayReset: 'boolean',
  replaces: 'text',
  replacedBy: 'text',
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});
