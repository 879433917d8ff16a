/** One line of double entry: debits are positive, credits negative. */
export interface Posting {
  readonly account: string;
  readonly currency: string;
  readonly amount: bigint;
}

/** The reasons of entries: those of payments with their refunds and disputes, then those of transfers. */
export const entryReasons = [
  'authorize',
  'capture',
  'release',
  'settle',
  'refund',
  'refund_succeeded',
  'refund_failed',
  'refund_canceled',
  'dispute',
  'dispute_won',
  'dispute_lost',
  'fund',
  'convert',
  'send',
  'complete',
  'return',
  'resend',
  'cancel',
  'fail',
  'reject',
] as const;
export type EntryReason = (typeof entryReasons)[number];

/** Postings that sum to zero in each currency. Entries are immutable; a correction is a reversing entry. */
export interface Entry {
  readonly reason: EntryReason;
  readonly postings: readonly Posting[];
}

/**
 * The provider's report on the money that it moved, and its reconciliation with our ledger. The ledger follows the record, and the
 * report follows the scenario. The reconciliation does not use the scenario.
 */
export const reconciliations = [
  'matched',
  'amount_mismatch',
  'missing_at_provider',
  'missing_in_ledger',
  'duplicate',
] as const;
export type Reconciliation = (typeof reconciliations)[number];

/** Money at the bank, according to the ledger. Inflows are positive, outflows negative. */
export interface Movement {
  readonly recordId: string;
  readonly provider: string;
  readonly currency: string;
  readonly gross: bigint;
  readonly fee: bigint;
}

/** A line of the report. The provider's transaction id is derived from its subject. */
export interface ReportedLine {
  readonly subject: string;
  readonly gross: bigint;
  readonly fee: bigint;
}

export interface ReconciledLine {
  readonly subject: string;
  readonly isOfRecord: boolean;
  readonly ledger: Pick<Movement, 'gross' | 'fee'> | null;
  readonly reported: Pick<ReportedLine, 'gross' | 'fee'> | null;
  readonly result: Reconciliation;
}

/** The reconciliation of a reported movement: its lines, and the result that the record shows. */
export interface Settlement {
  readonly movement: Movement;
  readonly lines: readonly ReconciledLine[];
  readonly result: Reconciliation;
}
