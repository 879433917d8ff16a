const keysInGenerationMax = 20_000;

/**
 * The idempotency keys that this node has seen recently, in two generations: when the younger is full it replaces the older,
 * which is dropped. Only speed depends on this cache, not correctness.
 */
export class RecentKeys {
  #younger = new Set<string>();
  #older = new Set<string>();

  has(scope: string): boolean {
    return this.#younger.has(scope) || this.#older.has(scope);
  }

  add(scope: string): void {
    if (this.#younger.size >= keysInGenerationMax) {
      this.#older = this.#younger;
      this.#younger = new Set();
    }
    this.#younger.add(scope);
  }
}
