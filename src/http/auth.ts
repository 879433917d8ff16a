import { hash } from 'node:crypto';
import type { BlockList } from 'node:net';
import type { Committed } from '../engine/batch.ts';
import { type Refusal, refuse } from '../kernel/errors.ts';
import type { ActivePlan, RequestFault } from '../kernel/fault.ts';
import { isWithin, networkListOf } from '../kernel/networks.ts';
import { type Needed, scopesNeeded } from '../kernel/permissions.ts';
import type { Principal, Reader } from '../kernel/route.ts';
import { findKeyOwner, type KeyOwner } from '../resources/api-keys/store.ts';
import { apiKeyPattern } from '../resources/api-keys/table.ts';

/**
 * What is known of a key, with the terms and fault plans of its application. The node that changes any of it forgets at once; the
 * others know within half a second, and nothing has to reach them for that. An announcement would be quicker, on one more
 * connection for every node, and would still need this bound for when it is not heard.
 */
interface Known {
  readonly caller: Caller | undefined;
  readonly loadedAt: number;
}

export interface Caller {
  readonly principal: Principal;
  readonly status: KeyOwner['status'];
  readonly expiresAt: number | null;
  /** Undefined when the key may be used from everywhere. */
  readonly allowed: BlockList | undefined;
  readonly faultPlans: readonly ActivePlan<RequestFault>[] | null;
}

/** What every node promises is a second. */
const knownForMs = 500;
const knownMax = 10_000;
const bearer = /^Bearer +(\S+)$/i;

/** Finds whom a key stands for. The key itself is hashed at once and kept nowhere. */
export class Authenticator {
  readonly #reader: Pick<Reader, 'rows'>;
  readonly #known = new Map<string, Known>();
  readonly #loading = new Map<string, Promise<Caller | undefined>>();

  constructor(reader: Pick<Reader, 'rows'>) {
    this.#reader = reader;
  }

  /** Answers at once, without a promise, while the key is known: that is nearly always. */
  find(authorization: string | undefined, nowMs: number): Caller | Refusal | Promise<Caller | Refusal> {
    if (authorization === undefined) return refuse('api_key_missing');
    const key = bearer.exec(authorization)?.[1];
    if (key === undefined) return refuse('api_key_missing');
    if (!apiKeyPattern.test(key)) return refuse('api_key_invalid');
    const digest = hash('sha256', key, 'base64');
    const known = this.#known.get(digest);
    if (known && nowMs - known.loadedAt < knownForMs) return known.caller ?? refuse('api_key_invalid');
    return this.#load(digest, nowMs).then((caller) => caller ?? refuse('api_key_invalid'));
  }

  #load(digest: string, nowMs: number): Promise<Caller | undefined> {
    const loading = this.#loading.get(digest);
    if (loading) return loading;
    const load = findKeyOwner(this.#reader, Buffer.from(digest, 'base64'))
      .then((owner) => {
        const caller = owner && toCaller(owner);
        if (this.#known.size >= knownMax) this.#known.clear();
        if (this.#loading.get(digest) === load) this.#known.set(digest, { caller, loadedAt: nowMs });
        return caller;
      })
      .finally(() => {
        if (this.#loading.get(digest) === load) this.#loading.delete(digest);
      });
    this.#loading.set(digest, load);
    return load;
  }

  /** Its own commits are known to a node at once. */
  onCommit({ changes, deleted }: Pick<Committed, 'changes' | 'deleted'>): void {
    if (deleted !== null) this.#forgetWhere(({ principal }) => principal.orgId === deleted);
    for (const { resource, row } of changes) {
      if (resource === 'api_key' && row.appId !== undefined) this.forget(row.appId);
      if (resource === 'application') this.forget(row.id);
    }
  }

  /** What goes with the keys of an application has changed on this node: the very next request must know. */
  forget(appId: string): void {
    this.#forgetWhere(({ principal }) => principal.appId === appId);
  }

  #forgetWhere(isMeant: (caller: Caller) => boolean): void {
    for (const [digest, { caller }] of this.#known) if (caller && isMeant(caller)) this.#known.delete(digest);
    // Whose they are is not known yet, and what they will say may be from before the change.
    this.#loading.clear();
  }
}

/** The checks on a known key, in their documented order: the key itself, where it comes from, whom it claims to be. */
export function refuseCaller(
  caller: Caller,
  request: { ip: string; organization: string | string[] | undefined },
  nowMs: number,
): Refusal | undefined {
  const { principal, status, expiresAt, allowed } = caller;
  if (status === 'revoked') return refuse('api_key_revoked');
  if (expiresAt !== null && expiresAt <= nowMs) return refuse('api_key_expired');
  if (allowed && !isWithin(allowed, request.ip)) return refuse('ip_not_allowed');
  if (request.organization !== undefined && request.organization !== principal.orgId) {
    return refuse('organization_mismatch', { param: 'Sandbank-Organization' });
  }
  return undefined;
}

export function refuseScope(principal: Principal, needed: Needed): Refusal | undefined {
  const scope = scopesNeeded(needed).find((one) => !principal.scopes.has(one));
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
