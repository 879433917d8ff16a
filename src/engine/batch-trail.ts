import type { AnyResource, Change } from '../kernel/command.ts';
import type { EventRow } from '../kernel/event.ts';
import { type AuditRow, auditTable } from '../resources/audit/table.ts';
import { timersTable } from '../resources/clocks/timer-table.ts';
import { type CoverageRow, forgottenTable } from '../resources/coverage/table.ts';
import { eventsTable } from '../resources/events/table.ts';
import { type ProviderEventRow, providerEventsTable } from '../resources/history/provider-event-table.ts';
import { type HistoryRow, historyTable } from '../resources/history/table.ts';
import { balancesTable, type LedgerEntryRow, ledgerEntriesTable } from '../resources/ledger/table.ts';
import { type SettlementLineRow, settlementLinesTable } from '../resources/settlements/table.ts';
import { announcedTable, type DeliveryRow, deliveriesTable } from '../resources/webhooks/delivery-table.ts';
import {
  type IdempotencyRow,
  idempotencyTable,
  type StoredSecretRow,
  storedSecretsTable,
} from './answers.ts';
import { balanceRows } from './derive.ts';
import type { TableWrite } from './persist.ts';
import type { WorkingSet } from './working-set.ts';

/** All that the decisions of one batch leave behind, until it is written. */
export class BatchTrail {
  readonly changes: Change[] = [];
  readonly history: HistoryRow[] = [];
  readonly events: EventRow[] = [];
  /** Those of the events that go to whoever wants them. */
  readonly announced: EventRow[] = [];
  /** Deliveries that were asked for. */
  readonly deliveries: DeliveryRow[] = [];
  readonly audit: AuditRow[] = [];
  readonly entries: LedgerEntryRow[] = [];
  /** Organizations whose coverage is forgotten. */
  readonly forgotten: Pick<CoverageRow, 'orgId'>[] = [];
  readonly providerEvents: ProviderEventRow[] = [];
  readonly settlementLines: SettlementLineRow[] = [];
  readonly kept: IdempotencyRow[] = [];
  /** Answers for keys whose requests were in progress. */
  readonly concluded: IdempotencyRow[] = [];
  /** Responses with their secrets, encrypted. */
  readonly storedSecrets: StoredSecretRow[] = [];

  writes(rows: WorkingSet, resources: Iterable<AnyResource>): readonly TableWrite[] {
    // First in the list is last to run, after the keys: the balances of an organization are what its batches wait for.
    const writes: TableWrite[] = [{ table: balancesTable, mode: 'add', rows: balanceRows(this.changes) }];
    for (const { name, table } of resources) {
      const { inserts, updates } = rows.changed(name);
      writes.push({ table, mode: 'insert', rows: inserts }, { table, mode: 'update', rows: updates });
    }
    const timers = rows.timers();
    const made = new Set(this.events.map(({ id }) => id));
    const isOfHere = ({ eventId }: DeliveryRow) => made.has(eventId);
    // Sorted: two nodes that insert the same keys wait for each other in one direction only, and never in a circle.
    this.kept.sort((a, b) => (keyOrder(a) < keyOrder(b) ? -1 : 1));
    writes.push(
      { table: historyTable, mode: 'insert', rows: this.history },
      { table: eventsTable, mode: 'insert', rows: this.events },
      { table: announcedTable, mode: 'match', rows: this.announced },
      { table: deliveriesTable, mode: 'insert', rows: this.deliveries.filter(isOfHere) },
      { table: deliveriesTable, mode: 'follow', rows: this.deliveries.filter((one) => !isOfHere(one)) },
      { table: ledgerEntriesTable, mode: 'insert', rows: this.entries },
      { table: providerEventsTable, mode: 'insert', rows: this.providerEvents },
      { table: settlementLinesTable, mode: 'insert', rows: this.settlementLines },
      { table: timersTable, mode: 'put', rows: timers.put },
      { table: timersTable, mode: 'delete', rows: timers.removed },
      { table: forgottenTable, mode: 'delete', rows: this.forgotten },
      { table: idempotencyTable, mode: 'put', rows: this.concluded },
      { table: storedSecretsTable, mode: 'put', rows: this.storedSecrets },
      { table: auditTable, mode: 'insert', rows: this.audit },
      { table: idempotencyTable, mode: 'insert', rows: this.kept },
    );
    return writes.filter(({ rows: written }) => written.length > 0);
  }
}

function keyOrder({ orgId, appId, key }: IdempotencyRow): string {
  return `${orgId} ${appId} ${key}`;
}
