/**
 * Database failures that the engine handles:
 * - `unavailable`: the database is unreachable, shutting down or timed out. The outcome may be unknown.
 * - `conflict`: another node was faster (unique violation, serialization failure, deadlock). A retry sees its rows.
 * - `busy`: a lock was not granted within the lock timeout.
 * Every other error is our own bug and is rethrown unchanged.
 */
export type FailureKind = 'unavailable' | 'conflict' | 'busy';

export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
  readonly kind: FailureKind;
  readonly constraint: string | undefined;

  constructor(kind: FailureKind, cause: unknown, constraint?: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.kind = kind;
    this.constraint = constraint;
  }
}
