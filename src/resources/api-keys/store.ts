import type { WebhookDefaults } from '../../kernel/application-settings.ts';
import { assert } from '../../kernel/assert.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Scope } from '../../kernel/permissions.ts';
import {
  type GroupedStatement,
  type Instant,
  type Reader,
  type Statement,
  selectList,
} from '../../kernel/table.ts';
import {
  type ActivePlan,
  activePlans,
  activePlansRevision,
  type RequestFault,
} from '../fault-plans/table.ts';
import { type ApiKeyRow, apiKeysTable } from './table.ts';

/** A key with its organization and application: everything that a request needs to know about its caller. */
export interface KeyOwner {
  readonly orgId: Id<'organization'>;
  readonly orgName: string;
  readonly appId: Id<'application'>;
  readonly appName: string;
  readonly feeBasisPoints: number;
  readonly feeFixed: bigint;
  readonly provider: string | null;
  readonly fxMarginBasisPoints: number;
  readonly fxRates: Readonly<Record<string, string>>;
  readonly webhookDefaults: WebhookDefaults;
  readonly keyId: Id<'api_key'>;
  readonly keyName: string;
  readonly replaces: Id<'api_key'> | null;
  /** `archived`: the key is active, and its application is archived. */
  readonly status: ApiKeyRow['status'] | 'archived';
  readonly scopes: readonly Scope[];
  readonly allowedCidrs: readonly string[];
  readonly expiresAt: Instant | null;
  readonly mayReset: boolean;
  /** The active fault plans for its requests; null when there are none, as in nearly every application. */
  readonly faultPlans: readonly ActivePlan<RequestFault>[] | null;
  /** Identifies this state of all these rows: the transactions that wrote them. */
  readonly revision: string;
}

const owners = `from api_keys k
    join applications a on a.org_id = k.org_id and a.id = k.app_id
    join organizations o on o.org_id = k.org_id and o.id = k.org_id`;
const revision = `concat_ws(' ', k.xmin, a.xmin, o.xmin, ${activePlansRevision('requests', 'k.org_id', 'k.app_id')})`;

const ownerByHash: GroupedStatement = {
  name: 'api_key_owner_by_hash',
  types: ['bytea'],
  text: `select h.n::integer as n, k.* from unnest($1::bytea[]) with ordinality as h(hash, n) cross join lateral (
    select k.hash, k.org_id as "orgId", o.name as "orgName", k.app_id as "appId", a.name as "appName",
      a.fee_basis_points as "feeBasisPoints", a.fee_fixed as "feeFixed", a.provider,
      a.fx_margin_basis_points as "fxMarginBasisPoints", a.fx_rates as "fxRates",
      a.webhook_defaults as "webhookDefaults", k.id as "keyId",
      k.name as "keyName", k.replaces, k.may_reset as "mayReset",
      case when a.status = 'active' or k.status = 'revoked' then k.status else 'archived' end as status, k.scopes, k.allowed_cidrs as "allowedCidrs", k.expires_at as "expiresAt",
      ${activePlans('requests', 'k.org_id', 'k.app_id')} as "faultPlans", ${revision} as revision
    ${owners}
    where k.hash = h.hash offset 0) k`,
};

/** Finds keys whose owner has changed, or that exist now and did not, or the reverse: their positions in the arrays, from 1. */
const changedOwners: Statement = {
  name: 'api_key_owners_changed',
  text: `select h.n::integer as n from unnest($1::bytea[], $2::text[]) with ordinality as h(hash, revision, n)
    where (select ${revision} ${owners} where k.hash = h.hash) is distinct from h.revision`,
};

export async function findKeyOwner(
  reader: Pick<Reader, 'first'>,
  hash: Uint8Array,
): Promise<KeyOwner | undefined> {
  const found = await reader.first<KeyOwner & { readonly hash: Uint8Array }>(ownerByHash, [hash]);
  if (found === undefined) return undefined;
  const { hash: foundHash, ...owner } = found;
  // Defence in depth: even if the database layer is wrong, a row admits only the key whose hash it contains.
  assert(Buffer.compare(foundHash, hash) === 0, 'the database returned another API key than requested');
  return owner;
}

/** A key as it was read: the revision of its owner, or null when there was no such key. */
export interface KnownKey {
  readonly hash: Uint8Array;
  readonly revision: string | null;
}

/** Those of the keys that would be read differently now. */
export async function findChangedKeys<Key extends KnownKey>(
  reader: Pick<Reader, 'rows'>,
  keys: readonly Key[],
): Promise<readonly Key[]> {
  const changed = await reader.rows<{ readonly n: number }>(changedOwners, [
    keys.map(({ hash }) => hash),
    keys.map(({ revision: known }) => known),
  ]);
  return changed.map(({ n }) => {
    const key = keys[n - 1];
    assert(key, `the database returned key ${n}, which was not requested`);
    return key;
  });
}

const anyKey: Statement = {
  name: 'any_api_key',
  text: 'select last_four as "lastFour" from api_keys limit 1',
};

/** Any key at all. On the first start there is none, and no client can call. */
export async function findAnyKey(
  reader: Pick<Reader, 'rows'>,
): Promise<{ readonly lastFour: string } | undefined> {
  const [key] = await reader.rows<{ lastFour: string }>(anyKey, []);
  return key;
}

export interface UsedKey extends ApiKeyRow {
  readonly lastUsedAt: Instant | null;
  readonly lastUsedIp: string | null;
}

const keysOf: Statement = {
  name: 'api_keys_of_application',
  text: `select ${selectList(apiKeysTable, 'k')}, u.last_used_at as "lastUsedAt", u.last_used_ip as "lastUsedIp"
    from api_keys k left join lateral (
      select s.last_used_at, s.last_used_ip from api_key_uses s where s.org_id = k.org_id and s.id = k.id offset 0) u on true
    where k.org_id = $1 and k.app_id = $2 order by k.created_at desc, k.id desc limit 500`,
};

/** All keys of an application, newest first, including revoked and expired keys. */
export function findKeys(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
): PromiseLike<readonly UsedKey[]> {
  return reader.rows<UsedKey>(keysOf, [orgId, appId]);
}

const activeKeysOf: Statement = {
  name: 'api_keys_active',
  text: `select count(*)::integer as count from api_keys k
    where k.org_id = $1 and k.app_id = $2 and k.status = 'active' and (k.expires_at is null or k.expires_at > $3)`,
};

export async function countActiveKeys(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  appId: Id<'application'>,
  now: Instant,
): Promise<number> {
  const [row] = await reader.rows<{ count: number }>(activeKeysOf, [
    orgId,
    appId,
    new Date(now).toISOString(),
  ]);
  return row?.count ?? 0;
}
