import { hash } from 'node:crypto';
import type { BlockList } from 'node:net';
import type { Committed } from '../engine/batch-trail.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import { isWithin, networkListOf } from '../kernel/networks.ts';
import { type Needed, scopesNeeded } from '../kernel/permissions.ts';
import type { Principal } from '../kernel/route.ts';
import type { Reader } from '../kernel/table.ts';
import { findKeyOwner, type KeyOwner } from '../resources/api-keys/store.ts';
import { apiKeyPattern } from '../resources/api-keys/table.ts';
import type { ActivePlan, RequestFault } from '../resources/fault-plans/table.ts';
import { KeyCache } from './key-cache.ts';

export interface Caller {
  readonly principal: Principal;
  readonly status: KeyOwner['status'];
  readonly expiresAt: number | null;
  /** The networks from which the key may be used; undefined for all. */
  readonly allowed: BlockList | undefined;
  readonly faultPlans: readonly ActivePlan<RequestFault>[] | null;
}

const bearer = /^Bearer +(\S+)$/i;

/** Finds the caller of an API key. The key is hashed immediately and stored nowhere. */
export class Authenticator {
  readonly #reader: Pick<Reader, 'first'>;
  readonly #cache: KeyCache<Caller>;
  readonly #loading = new Map<string, Promise<Caller | undefined>>();

  constructor(reader: Pick<Reader, 'first' | 'rows'>) {
    this.#reader = reader;
    this.#cache = new KeyCache(reader);
  }

  /** Returns synchronously, without a promise, while the key is cached, which is nearly always. */
  find(authorization: string | undefined, nowMs: number): Caller | Refusal | Promise<Caller | Refusal> {
    if (authorization === undefined) return refuse('api_key_missing');
    const key = bearer.exec(authorization)?.[1];
    if (key === undefined) return refuse('api_key_missing');
    if (!apiKeyPattern.test(key)) return refuse('api_key_invalid');
    const digest = hash('sha256', key, 'base64');
    const cached = this.#cache.find(digest, nowMs);
    if (cached && !(cached instanceof Promise)) return cached.caller ?? refuse('api_key_invalid');
    const found = cached
      ? cached.then((confirmed) => (confirmed ? confirmed.caller : this.#load(digest, nowMs)))
      : this.#load(digest, nowMs);
    return found.then((caller) => caller ?? refuse('api_key_invalid'));
  }

  #load(digest: string, nowMs: number): Promise<Caller | undefined> {
    const loading = this.#loading.get(digest);
    if (loading) return loading;
    const load = findKeyOwner(this.#reader, Buffer.from(digest, 'base64'))
      .then((owner) => {
        const caller = owner && toCaller(owner);
        if (this.#loading.get(digest) === load)
          this.#cache.add(digest, owner?.revision ?? null, caller, nowMs);
        return caller;
      })
      .finally(() => {
        if (this.#loading.get(digest) === load) this.#loading.delete(digest);
      });
    this.#loading.set(digest, load);
    return load;
  }

  /** Applies the commits of this node immediately. */
  onCommit({ changes, deleted }: Pick<Committed, 'changes' | 'deleted'>): void {
    if (deleted !== null) this.#invalidate(({ principal }) => principal.orgId === deleted);
    for (const { resource, row } of changes) {
      if (resource === 'api_key' && row.appId !== undefined) this.forget(row.appId);
      if (resource === 'application') this.forget(row.id);
    }
  }

  /** Invalidates the keys of an application after a change on this node, so that the next request sees the change. */
  forget(appId: string): void {
    this.#invalidate(({ principal }) => principal.appId === appId);
  }

  #invalidate(matches: (caller: Caller) => boolean): void {
    this.#cache.drop(matches);
    // The owners of pending lookups are not known yet, and their results may be from before the change.
    this.#loading.clear();
  }
}

const archivedMessage =
  'The application of the API key is archived. Restore it in the console, or use a key of another application.';

/** Checks a known key in the documented order: the key itself, the client address, the claimed organization. */
export function refuseCaller(
  caller: Caller,
  request: { ip: string; organization: string | string[] | undefined },
  nowMs: number,
): Refusal | undefined {
  const { principal, status, expiresAt, allowed } = caller;
  if (status === 'revoked') return refuse('api_key_revoked');
  if (status === 'archived') return refuse('api_key_revoked', { message: archivedMessage });
  if (expiresAt !== null && expiresAt <= nowMs) return refuse('api_key_expired');
  if (allowed && !isWithin(allowed, request.ip)) return refuse('ip_not_allowed');
  if (request.organization !== undefined && request.organization !== principal.orgId) {
    return refuse('organization_mismatch', { param: 'Sandbank-Organization' });
  }
  return undefined;
}

export function refuseScope(principal: Principal, needed: Needed): Refusal | undefined {
  const scope = scopesNeeded(needed).find((name) => !principal.scopes.has(name));
  if (scope === undefined) return undefined;
  return refuse('scope_missing', {
    message: `The API key "${principal.name}" does not have the scope ${scope}. Use a key that has it.`,
    details: { scope },
  });
}

function toCaller(owner: KeyOwner): Caller {
  const { orgId, orgName, appId, appName, keyId, keyName, scopes, status, expiresAt, allowedCidrs } = owner;
  const { faultPlans, replaces, mayReset } = owner;
  const { feeBasisPoints, feeFixed, provider, fxMarginBasisPoints, fxRates, webhookDefaults } = owner;
  return {
    principal: {
      orgId,
      orgName,
      appId,
      appName,
      settings: { feeBasisPoints, feeFixed, provider, fxMarginBasisPoints, fxRates, webhookDefaults },
      actor: { kind: 'api_key', id: keyId, ...(replaces === null ? {} : { replaces }) },
      name: keyName,
      scopes: new Set(scopes),
      role: null,
      mayReset,
    },
    status,
    expiresAt,
    allowed: allowedCidrs.length === 0 ? undefined : networkListOf(allowedCidrs),
    faultPlans,
  };
}
