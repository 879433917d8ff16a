import { randomId } from './random-id.ts';
import type { ApiProblem, Path } from './request.ts';

/**
 * The Idempotency-Key of a form's writes. Retrying the same body after an unknown outcome reuses the key, so the server
 * runs the write once. An edited body, a success or a definite error starts a new key.
 */
export class IdempotencyKey {
  #pending: { readonly fingerprint: string; readonly key: string } | null = null;

  of(path: Path, body: unknown): string {
    const fingerprint = `${path} ${JSON.stringify(body)}`;
    if (this.#pending?.fingerprint !== fingerprint) this.#pending = { fingerprint, key: randomId() };
    return this.#pending.key;
  }

  /** Records the outcome of a write; no problem means success. */
  settle(problem?: ApiProblem): void {
    if (!problem?.isOutcomeUnknown) this.#pending = null;
  }
}
