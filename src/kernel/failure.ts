/**
 * What a database can do to us, in the four words that the engine acts on:
 * - `unavailable`: it cannot be reached, is shutting down or did not answer in time. The outcome may be unknown.
 * - `conflict`: another node was faster (unique, serialization, deadlock). Running again sees what it wrote.
 * - `busy`: a lock was not had within the lock timeout.
 * Everything else is our own bug and is thrown as it came.
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
