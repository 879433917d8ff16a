import type { EventRow } from '../../src/kernel/event.ts';
import { selectList, type Table } from '../../src/kernel/table.ts';
import { eventsTable } from '../../src/resources/events/table.ts';
import {
  type ProviderEventRow,
  providerEventsTable,
} from '../../src/resources/history/provider-event-table.ts';
import { type HistoryRow, historyTable } from '../../src/resources/history/table.ts';
import { type LedgerEntryRow, ledgerEntriesTable } from '../../src/resources/ledger/table.ts';
import type { Server } from '../../src/server.ts';

/** All rows that the transitions of one payment, its refunds and its disputes wrote, oldest first. */
export interface PaymentWrites {
  readonly history: readonly HistoryRow[];
  readonly events: readonly EventRow[];
  readonly entries: readonly LedgerEntryRow[];
  readonly providerEvents: readonly ProviderEventRow[];
  /** The current refund and dispute rows. */
  readonly parts: readonly ChildRow[];
}

interface ChildRow {
  readonly id: string;
  readonly paymentId: string;
  readonly row: unknown;
}

/** The rows of all payments of an organization, by payment id. Runs five queries for any number of payments. */
export async function paymentWrites(
  server: Server,
  orgId: string,
): Promise<ReadonlyMap<string, PaymentWrites>> {
  const query = <Row>(text: string) => server.database.query<Row>({ name: '', text }, [orgId]);
  const rows = <Row>(table: Table<Row>, order: string) =>
    query<Row>(
      `select ${selectList(table, 't')} from ${table.name} t where t.org_id = $1 order by t.org_id, ${order}`,
    );
  const [parts, history, events, entries, providerEvents] = await Promise.all([
    query<ChildRow>(
      `select id, payment_id as "paymentId", to_jsonb(r) as row from refunds r where org_id = $1
        union all select id, payment_id, to_jsonb(d) from disputes d where org_id = $1 order by 1`,
    ),
    rows<HistoryRow>(historyTable, 't.resource_id, t.version'),
    rows<EventRow>(eventsTable, 't.id'),
    rows<LedgerEntryRow>(ledgerEntriesTable, 't.id'),
    rows<ProviderEventRow>(providerEventsTable, 't.id'),
  ]);
  const owners = new Map(parts.map(({ id, paymentId }) => [id, paymentId]));
  const ownerOf = (id: string) => owners.get(id) ?? id;
  const found = {
    history: grouped(history, ({ resourceId }) => ownerOf(resourceId)),
    events: grouped(events, ({ resourceId }) => ownerOf(resourceId)),
    entries: grouped(entries, ({ paymentId, transferId }) => paymentId ?? transferId ?? ''),
    providerEvents: grouped(providerEvents, ({ paymentId, transferId }) => paymentId ?? transferId ?? ''),
    parts: grouped(parts, ({ paymentId }) => paymentId),
  };
  return new Map(
    [...found.history.keys()].map((id) => [
      id,
      {
        history: found.history.get(id) ?? [],
        events: found.events.get(id) ?? [],
        entries: found.entries.get(id) ?? [],
        providerEvents: found.providerEvents.get(id) ?? [],
        parts: found.parts.get(id) ?? [],
      },
    ]),
  );
}

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): ReadonlyMap<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}
