import { selectList, type Table } from '../../src/kernel/table.ts';
import {
  type EventRow,
  eventsTable,
  type HistoryRow,
  historyTable,
  type LedgerEntryRow,
  ledgerEntriesTable,
  type ProviderEventRow,
  providerEventsTable,
} from '../../src/kernel/trail.ts';
import type { Server } from '../../src/server.ts';
import type { Body } from '../support/api-client.ts';

export const payments = 'developer_api_payments';
export const refunds = 'developer_api_refunds';
export const disputes = 'developer_api_disputes';

/** All that the moves of one payment, its refunds and its disputes left behind, oldest first. */
export interface Trail {
  readonly history: readonly HistoryRow[];
  readonly events: readonly EventRow[];
  readonly entries: readonly LedgerEntryRow[];
  readonly providerEvents: readonly ProviderEventRow[];
  /** The rows of refunds and disputes as they are now. */
  readonly parts: readonly Part[];
}

interface Part {
  readonly id: string;
  readonly paymentId: string;
  readonly row: unknown;
}

/** The trails of all payments of an organization by their id, in six queries however many there are. */
export async function trailsOf(server: Server, orgId: string): Promise<ReadonlyMap<string, Trail>> {
  const query = <Row>(text: string) => server.database.query<Row>({ name: '', text }, [orgId]);
  const rows = <Row>(table: Table<Row>, order: string) =>
    query<Row>(
      `select ${selectList(table, 't')} from ${table.name} t where t.org_id = $1 order by t.org_id, ${order}`,
    );
  const [parts, history, events, entries, providerEvents] = await Promise.all([
    query<Part>(
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

const atOnceMax = 300;

/** Like `Promise.all` over a map, with a bound on how many run at once: a chain a record, so that batches are shared. */
export async function together<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const i = next;
      next += 1;
      results[i] = await run(items[i] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, lane));
  return results;
}

/** A body without what differs between two reads of the same record. */
export function lasting({ requestId: _requestId, ...body }: Body): Readonly<Record<string, unknown>> {
  return body;
}
