import type { ExportedRow } from '../../client/csv.ts';
import type { LedgerEntry } from '../../generated/shapes.ts';

/** An entry as lines of a spreadsheet, one for each posting. */
export function postingLines({
  id,
  reason,
  paymentId,
  transferId,
  postings,
  createdAt,
}: LedgerEntry): readonly ExportedRow[] {
  return postings.map((posting) => ({ entryId: id, reason, paymentId, transferId, ...posting, createdAt }));
}
