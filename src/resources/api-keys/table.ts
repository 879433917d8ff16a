import type { Id } from '../../kernel/ids.ts';
import type { Scope } from '../../kernel/permissions.ts';
import { defineTable, type Instant } from '../../kernel/table.ts';

export interface ApiKeyRow {
  readonly orgId: Id<'organization'>;
  readonly id: Id<'api_key'>;
  readonly appId: Id<'application'>;
  readonly status: 'active' | 'revoked';
  readonly version: number;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Instant | null;
  /** Whether the key may reset the organization. That also requires all write scopes. */
  readonly mayReset: boolean;
  /** The key that this key replaces. */
  readonly replaces: Id<'api_key'> | null;
  /** The key that replaces this key. */
  readonly replacedBy: Id<'api_key'> | null;
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

/** `sbk_sandbox_` and 32 base62 characters: about 190 bits of entropy, so an unsalted hash is safe to store. */
export const apiKeyPrefix = 'sbk_sandbox_';
export const apiKeyPattern = /^sbk_sandbox_[0-9A-Za-z]{32}$/;

/** A newly generated key. The command stores its hash; only the response contains the key. */
export interface NewApiKey {
  readonly key: string;
  readonly hash: Uint8Array;
}
