import type { AnyRow } from '../kernel/table.ts';
import type { Clock } from '../kernel/time.ts';

/** A cached clock row; its version is 0 when the application clock was never moved. */
export interface KnownClock {
  readonly clock: (Clock & AnyRow) | undefined;
  readonly version: number;
}

const knownMax = 20_000;

/**
 * A cache of the clocks that this node has used. An entry may be stale, because another node can move a clock at any time: a
 * batch that used the cache sends the clock version with its write, and the database rejects it if the version has changed. So
 * correctness does not depend on this cache, and nearly every batch saves a query.
 */
export class KnownClocks {
  #known = new Map<string, KnownClock>();

  get(clockId: string): KnownClock | undefined {
    return this.#known.get(clockId);
  }

  /** Ignores older versions: a row that was read before the clock moved may arrive after the move. */
  set(clockId: string, known: KnownClock): void {
    if (known.version < (this.#known.get(clockId)?.version ?? 0)) return;
    if (this.#known.size >= knownMax) this.#known = new Map();
    this.#known.set(clockId, known);
  }
}
