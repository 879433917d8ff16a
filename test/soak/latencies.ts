import type { LatencySample } from './run.ts';
import { quantile } from './statistics.ts';

/** What the clients measured since the last sample. */
export class Measurements {
  #latencies = new Map<string, number[]>();
  #counts = { unavailable: 0, lost: 0, skipped: 0 };

  record(kind: string, ms: number): void {
    const found = this.#latencies.get(kind);
    if (found) found.push(ms);
    else this.#latencies.set(kind, [ms]);
  }

  count(what: 'unavailable' | 'lost' | 'skipped'): void {
    this.#counts[what] += 1;
  }

  /** Returns and forgets the measurements. */
  take(): { readonly latencies: readonly LatencySample[] } & Readonly<
    Record<'unavailable' | 'lost' | 'skipped', number>
  > {
    const latencies = [...this.#latencies]
      .map(([kind, values]) => ({
        ...{ kind, count: values.length },
        p50Ms: quantile(values, 0.5),
        p99Ms: quantile(values, 0.99),
      }))
      .sort((a, b) => (a.kind < b.kind ? -1 : 1));
    const taken = { latencies, ...this.#counts };
    this.#latencies = new Map();
    this.#counts = { unavailable: 0, lost: 0, skipped: 0 };
    return taken;
  }
}
