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

/** `sbk_sandbox_` and 32 base62 characters: about 190 bits, so a plain hash is enough to keep it by. */
export const apiKeyPrefix = 'sbk_sandbox_';
export const apiKeyPattern = /^sbk_sandbox_[0-9A-Za-z]{32}$/;

/** A key that was just made: the command keeps its hash, and its answer shows it, once. */
export interface NewApiKey {
  readonly key: string;
  readonly hash: Uint8Array;
}
