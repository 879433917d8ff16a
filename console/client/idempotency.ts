import type { ApiProblem, Path } from './request.ts';

/**
 * The Idempotency-Key of a form's writes. The same body sent again after an unclear outcome gets the same key, so the
 * write cannot happen twice. An edited body, a success or a clear refusal gets a new key.
 */
export class IdempotencyKey {
  #pending: { readonly fingerprint: string; readonly key: string } | null = null;

  of(path: Path, body: unknown): string {
    const fingerprint = `${path} ${JSON.stringify(body)}`;
    if (this.#pending?.fingerprint !== fingerprint) this.#pending = { fingerprint, key: crypto.randomUUID() };
    return this.#pending.key;
  }

  /** Records the outcome of a write: without a problem it succeeded. */
  settle(problem?: ApiProblem): void {
    if (!problem?.isOpen) this.#pending = null;
  }
}
