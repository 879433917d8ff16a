import type { Clock } from '../kernel/clock.ts';
import type { AnyRow } from '../kernel/table.ts';

/** A clock row as far as the engine knows it; its version is 0 when the application's clock was never moved. */
export interface KnownClock {
  readonly clock: (Clock & AnyRow) | undefined;
  readonly version: number;
}

const knownMax = 20_000;

/**
 * The clocks that this node has met. What it knows may be old, because another node can move a clock at any time: a batch
 * that decides by it says so when it writes, and the database refuses it if the clock has another version by then. So
 * nothing depends on this being right, and nearly every batch saves the look-up.
 */
export class KnownClocks {
  #known = new Map<string, KnownClock>();

  get(clockId: string): KnownClock | undefined {
    return this.#known.get(clockId);
  }

  /** What was read before the clock was moved may arrive after it. */
  set(clockId: string, known: KnownClock): void {
    if (known.version < (this.#known.get(clockId)?.version ?? 0)) return;
    if (this.#known.size >= knownMax) this.#known = new Map();
    this.#known.set(clockId, known);
  }
}
