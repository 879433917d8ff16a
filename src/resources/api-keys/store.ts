import type { Reader } from '../../kernel/route.ts';
import type { Scope } from '../../kernel/scopes.ts';
import { defineTable, type Instant, type Statement } from '../../kernel/table.ts';
import type { ApiKeyRow } from './machine.ts';

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
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
});

/** A key with the names of what it belongs to: all that a request needs to know about its caller. */
export interface KeyOwner {
  readonly orgId: string;
  readonly orgName: string;
  readonly appId: string;
  readonly appName: string;
  readonly feeBasisPoints: number;
  readonly feeFixed: bigint;
  readonly provider: string | null;
  readonly fxMarginBasisPoints: number;
  readonly fxRates: Readonly<Record<string, string>>;
  readonly keyId: string;
  readonly keyName: string;
  readonly status: ApiKeyRow['status'];
  readonly scopes: readonly Scope[];
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Instant | null;
}

const ownerByHash: Statement = {
  name: 'api_key_owner_by_hash',
  text: `select k.org_id as "orgId", o.name as "orgName", k.app_id as "appId", a.name as "appName",
      a.fee_basis_points as "feeBasisPoints", a.fee_fixed as "feeFixed", a.provider,
      a.fx_margin_basis_points as "fxMarginBasisPoints", a.fx_rates as "fxRates", k.id as "keyId",
      k.name as "keyName", k.status, k.scopes, k.allowed_cidrs as "allowedCidrs", k.expires_at as "expiresAt"
    from api_keys k
    join applications a on a.org_id = k.org_id and a.id = k.app_id
    join organizations o on o.org_id = k.org_id and o.id = k.org_id
    where k.hash = $1`,
};

export async function findKeyOwner(
  reader: Pick<Reader, 'rows'>,
  hash: Uint8Array,
): Promise<KeyOwner | undefined> {
  const [owner] = await reader.rows<KeyOwner>(ownerByHash, [Buffer.from(hash)]);
  return owner;
}

const anyKey: Statement = {
  name: 'any_api_key',
  text: 'select last_four as "lastFour" from api_keys limit 1',
};

/** Whether anybody could call at all; a first start has no key yet. */
export async function findAnyKey(
  reader: Pick<Reader, 'rows'>,
): Promise<{ readonly lastFour: string } | undefined> {
  const [key] = await reader.rows<{ lastFour: string }>(anyKey, []);
  return key;
}
