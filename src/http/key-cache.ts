import type { Reader } from '../kernel/table.ts';
import { findChangedKeys, type KnownKey } from '../resources/api-keys/store.ts';

/** The documented bound on every node is one second. */
const trustedMs = 500;
const keysMax = 10_000;
/** PostgreSQL compares 400 in 6 ms. */
const confirmedTogetherMax = 1_000;
/** A key counts as in use until it was confirmed this often without being used: for one to two seconds. */
const unusedConfirmationsMax = 4;

/** A key as the database had it, with its caller; without one when there is no such key. */
interface CachedKey<Caller> extends KnownKey {
  readonly digest: string;
  readonly caller: Caller | undefined;
  confirmedAt: number;
  confirming: Promise<void> | undefined;
  isInUse: boolean;
  /** Since its last use. */
  confirmations: number;
}

/**
 * API keys with their callers. The node that commits a change drops the keys concerned immediately. Changes by other nodes are found within
 * half a second: a key that was not confirmed for that long is compared with the database before it is used, together with all other
 * keys in use. Reading each of them again cost 15 % of the creates with 400 keys, and 27 % on PGlite. A notification would be
 * faster, but would cost one more connection per node and still need this bound in case it is lost.
 */
export class KeyCache<Caller> {
  readonly #reader: Pick<Reader, 'rows'>;
  readonly #keys = new Map<string, CachedKey<Caller>>();
  readonly #inUse = new Map<string, CachedKey<Caller>>();

  constructor(reader: Pick<Reader, 'rows'>) {
    this.#reader = reader;
  }

  /** Undefined when the key is not cached; a promise when it has to be confirmed first. */
  find(
    digest: string,
    nowMs: number,
  ): CachedKey<Caller> | undefined | Promise<CachedKey<Caller> | undefined> {
    const key = this.#keys.get(digest);
    if (key === undefined) return undefined;
    key.confirmations = 0;
    if (!key.isInUse) {
      key.isInUse = true;
      this.#inUse.set(digest, key);
    }
    if (nowMs - key.confirmedAt < trustedMs) return key;
    const confirming = key.confirming ?? this.#confirm(key, nowMs);
    return confirming.then(() => (this.#isCached(key) ? key : undefined));
  }

  add(digest: string, revision: string | null, caller: Caller | undefined, nowMs: number): void {
    if (this.#keys.size >= keysMax) {
      this.#keys.clear();
      this.#inUse.clear();
    }
    this.#keys.set(digest, {
      ...{ digest, hash: Buffer.from(digest, 'base64'), revision, caller },
      ...{ confirmedAt: nowMs, confirming: undefined, isInUse: false, confirmations: 0 },
    });
  }

  drop(matches: (caller: Caller) => boolean): void {
    for (const key of this.#keys.values()) if (key.caller && matches(key.caller)) this.#remove(key);
  }

  #remove({ digest }: CachedKey<Caller>): void {
    this.#keys.delete(digest);
    this.#inUse.delete(digest);
  }

  /** False once it was removed, also if it was read again since. */
  #isCached(key: CachedKey<Caller>): boolean {
    return this.#keys.get(key.digest) === key;
  }

  /** Confirms this key, and all in use whose time is half over. Keys that have changed are removed. */
  #confirm(requested: CachedKey<Caller>, nowMs: number): Promise<void> {
    const group = [requested];
    for (const [digest, key] of this.#inUse) {
      const isDue = key.confirming === undefined && nowMs - key.confirmedAt >= trustedMs / 2;
      if (!isDue || key === requested || group.length >= confirmedTogetherMax) continue;
      group.push(key);
      key.confirmations += 1;
      if (key.confirmations <= unusedConfirmationsMax) continue;
      key.isInUse = false;
      this.#inUse.delete(digest);
    }
    const confirming = findChangedKeys(this.#reader, group)
      .then((changed) => {
        for (const key of changed) if (this.#isCached(key)) this.#remove(key);
        for (const key of group) key.confirmedAt = nowMs;
      })
      .finally(() => {
        for (const key of group) key.confirming = undefined;
      });
    for (const key of group) key.confirming = confirming;
    return confirming;
  }
}
