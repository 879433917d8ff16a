/** One line of double entry: debits are positive, credits negative. */
export interface Posting {
  readonly account: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** Postings that sum to zero in each currency. Entries are immutable; a correction is a reversing entry. */
export interface Entry {
  /** What happened, e.g. `capture`. */
  readonly reason: string;
  readonly postings: readonly Posting[];
}
