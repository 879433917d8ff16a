import type { Reader } from '../kernel/table.ts';
import { findChangedKeys, type KnownKey } from '../resources/api-keys/store.ts';

/** The documented bound on every node is one second. */
const trustedMs = 500;
const keysMax = 10_000;
/** A thousand take about 15 ms of the database. */
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
 * Keys with the settings and fault plans of their applications. The node that commits a change drops its keys immediately. Changes by other
 * nodes are found within half a second: a key that was not confirmed for that long is compared with the database before it is used,
 * together with all other keys in use. Reading each of them again cost 15 % of the creates with 400 keys, and 27 % on PGlite. A
 * notification would be faster, but would cost one more connection per node and still need this bound in case it is lost.
 */
export class KeyCache<Caller> {
  readonly #reader: Pick<Reader, 'rows'>;
  readonly #keys = new Map<string, CachedKey<Caller>>();
  #inUse: CachedKey<Caller>[] = [];

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
      this.#inUse.push(key);
    }
    if (nowMs - key.confirmedAt < trustedMs) return key;
    const confirming = key.confirming ?? this.#confirm(key, nowMs);
    return confirming.then(() => (this.#keys.get(digest) === key ? key : undefined));
  }

  add(digest: string, revision: string | null, caller: Caller | undefined, nowMs: number): void {
    if (this.#keys.size >= keysMax) {
      this.#keys.clear();
      this.#inUse = [];
    }
    this.#keys.set(digest, {
      ...{ digest, hash: Buffer.from(digest, 'base64'), revision, caller },
      ...{ confirmedAt: nowMs, confirming: undefined, isInUse: false, confirmations: 0 },
    });
  }

  drop(matches: (caller: Caller) => boolean): void {
    for (const [digest, { caller }] of this.#keys) if (caller && matches(caller)) this.#keys.delete(digest);
  }

  /** Confirms this key, and all in use whose time is half over. Keys that have changed are dropped. */
  #confirm(requested: CachedKey<Caller>, nowMs: number): Promise<void> {
    const group = [requested];
    this.#inUse = this.#inUse.filter((key) => {
      const isDue = key.confirming === undefined && nowMs - key.confirmedAt >= trustedMs / 2;
      if (isDue && key !== requested && group.length < confirmedTogetherMax) {
        group.push(key);
        key.confirmations += 1;
      }
      key.isInUse = this.#keys.get(key.digest) === key && key.confirmations <= unusedConfirmationsMax;
      return key.isInUse;
    });
    const confirming = findChangedKeys(this.#reader, group)
      .then((changed) => {
        for (const key of changed) if (this.#keys.get(key.digest) === key) this.#keys.delete(key.digest);
        for (const key of group) key.confirmedAt = nowMs;
      })
      .finally(() => {
        for (const key of group) key.confirming = undefined;
      });
    for (const key of group) key.confirming = confirming;
    return confirming;
  }
}
