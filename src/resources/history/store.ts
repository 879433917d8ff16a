import type { Id } from '../../kernel/ids.ts';
import { type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { type LedgerEntryRow, ledgerEntriesTable } from '../ledger/table.ts';
import { type HistoryRow, historyTable, type RecordKind } from './table.ts';

const movesOf: Statement = {
  name: 'history_moves_of',
  text: `select ${selectList(historyTable, 'h')} from state_history h
    where h.org_id = $1 and h.resource_id = $2 and h.version < $3
    order by h.version desc limit $4`,
};

export function findMoves(
  reader: Reader,
  orgId: Id<'organization'>,
  resourceId: string,
  beforeVersion: number,
  limit: number,
): PromiseLike<readonly HistoryRow[]> {
  return reader.rows<HistoryRow>(movesOf, [orgId, resourceId, beforeVersion, limit]);
}

/** One statement for each kind of record, because each kind has its own index. */
const entriesOf = (kind: RecordKind): Statement => ({
  name: `history_entries_of_${kind}`,
  text: `select ${selectList(ledgerEntriesTable, 'l')} from ledger_entries l
    where l.org_id = $1 and l.${kind}_id = $2 and l.record_version between $3 and $4 order by l.id`,
});

const entriesBy: Readonly<Record<RecordKind, Statement>> = {
  payment: entriesOf('payment'),
  transfer: entriesOf('transfer'),
};

export function findEntries(
  reader: Reader,
  orgId: Id<'organization'>,
  kind: RecordKind,
  recordId: string,
  versions: readonly number[],
): PromiseLike<readonly LedgerEntryRow[]> {
  return reader.rows<LedgerEntryRow>(entriesBy[kind], [
    orgId,
    recordId,
    Math.min(...versions),
    Math.max(...versions),
  ]);
}
