/**
 * What a provider reports of the money that it moved, and how that compares with our books. The books follow the record;
 * the report follows the scenario; the comparison knows nothing of scenarios.
 */
export const reconciliations = [
  'matched',
  'amount_mismatch',
  'missing_at_provider',
  'missing_in_ledger',
  'duplicate',
] as const;
export type Reconciliation = (typeof reconciliations)[number];

/** Money at the bank, as the ledger has it. What comes in is positive, what goes out negative. */
export interface Movement {
  readonly recordId: string;
  readonly provider: string;
  readonly currency: string;
  readonly gross: bigint;
  readonly fee: bigint;
}

/** A line of the report. Its subject is what the provider's transaction id is made of. */
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

/** What comes of a movement that was reported: its lines, and the result that the record itself shows. */
export interface Settlement {
  readonly movement: Movement;
  readonly lines: readonly ReconciledLine[];
  readonly result: Reconciliation;
}
