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
import { type TableWrite, writeTo } from './persist.ts';
import type { WorkingSet } from './working-set.ts';

/** What a batch has written. The listeners get it after the commit. */
export interface Committed {
  readonly changes: readonly Change[];
  readonly events: readonly EventRow[];
  /** Including the events that go only to the endpoints that the command names. */
  readonly allEvents: readonly EventRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly audit: readonly AuditRow[];
  /** The organization whose records were cleared; when the organization itself was deleted, `deleted` names it too. */
  readonly cleared: string | null;
  readonly deleted: string | null;
}

/** The rows that the decisions of one batch produce, until the batch is written. */
export class BatchTrail {
  readonly changes: Change[] = [];
  readonly history: HistoryRow[] = [];
  readonly events: EventRow[] = [];
  /** The events that go to every subscribed endpoint. */
  readonly announced: EventRow[] = [];
  /** Deliveries that a command created explicitly: replays and test events. */
  readonly deliveries: DeliveryRow[] = [];
  readonly audit: AuditRow[] = [];
  readonly entries: LedgerEntryRow[] = [];
  /** Organizations whose coverage is reset. */
  readonly forgotten: Pick<CoverageRow, 'orgId'>[] = [];
  readonly providerEvents: ProviderEventRow[] = [];
  readonly settlementLines: SettlementLineRow[] = [];
  /** Responses for new idempotency keys. */
  readonly responses: IdempotencyRow[] = [];
  /** Final responses for keys whose requests were in progress. */
  readonly concluded: IdempotencyRow[] = [];
  /** Responses with their secrets, encrypted. */
  readonly storedSecrets: StoredSecretRow[] = [];

  writes(rows: WorkingSet, resources: Iterable<AnyResource>): readonly TableWrite[] {
    // The first in the list runs last, after the keys: batches of one organization contend for its balances.
    const writes: TableWrite[] = [writeTo(balancesTable, 'add', balanceRows(this.changes))];
    for (const { name, table } of resources) {
      const { inserts, updates } = rows.changed(name);
      writes.push(writeTo(table, 'insert', inserts), writeTo(table, 'update', updates));
    }
    const timers = rows.timers();
    const newEventIds = new Set(this.events.map(({ id }) => id));
    const isForNewEvent = ({ eventId }: DeliveryRow) => newEventIds.has(eventId);
    // Sorted: two nodes that insert the same keys wait in one direction only, which prevents deadlocks.
    this.responses.sort((a, b) => (keyOrder(a) < keyOrder(b) ? -1 : 1));
    writes.push(
      writeTo(historyTable, 'insert', this.history),
      writeTo(eventsTable, 'insert', this.events),
      writeTo(announcedTable, 'match', this.announced),
      writeTo(deliveriesTable, 'insert', this.deliveries.filter(isForNewEvent)),
      writeTo(
        deliveriesTable,
        'follow',
        this.deliveries.filter((delivery) => !isForNewEvent(delivery)),
      ),
      writeTo(ledgerEntriesTable, 'insert', this.entries),
      writeTo(providerEventsTable, 'insert', this.providerEvents),
      writeTo(settlementLinesTable, 'insert', this.settlementLines),
      writeTo(timersTable, 'put', timers.put),
      writeTo(timersTable, 'delete', timers.removed),
      writeTo(forgottenTable, 'delete', this.forgotten),
      writeTo(idempotencyTable, 'put', this.concluded),
      writeTo(storedSecretsTable, 'put', this.storedSecrets),
      writeTo(auditTable, 'insert', this.audit),
      writeTo(idempotencyTable, 'insert', this.responses),
    );
    return writes.filter(({ rows: written }) => written.length > 0);
  }
}

function keyOrder({ orgId, appId, key }: IdempotencyRow): string {
  return `${orgId} ${appId} ${key}`;
}
