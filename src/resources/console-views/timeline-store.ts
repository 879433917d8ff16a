import type { EventRow } from '../../kernel/event.ts';
import type { Id } from '../../kernel/ids.ts';
import { type Instant, type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { type ProviderEventRow, providerEventsTable } from '../history/provider-event-table.ts';
import { type HistoryRow, historyTable } from '../history/table.ts';
import { type LedgerEntryRow, ledgerEntriesTable } from '../ledger/table.ts';
import type { DeliveryRow } from '../webhooks/delivery-table.ts';

type Rows = Pick<Reader, 'rows'>;

/** A record, and the record that its ledger entries and provider events reference. */
export interface Subject {
  readonly orgId: Id<'organization'>;
  readonly kind: 'payment' | 'transfer' | 'refund' | 'dispute';
  readonly id: string;
  /** The payment of a refund or a dispute; else the record itself. */
  readonly recordId: string;
}

interface RequestLine {
  readonly id: Id<'request'>;
  readonly at: Instant;
  readonly method: string;
  readonly path: string;
  readonly httpStatus: number;
  readonly durationMs: number;
  readonly errorCode: string | null;
}

interface MoveLine extends HistoryRow {
  /** The name of the key or person; null for Sandbank itself. */
  readonly actorName: string | null;
}

type EventLine = Omit<EventRow, 'orgId' | 'data'>;

interface DeliveryLine
  extends Pick<DeliveryRow, 'id' | 'webhookId' | 'eventId' | 'eventType' | 'trigger' | 'status' | 'attempts'>,
    Pick<DeliveryRow, 'lastResponseStatus' | 'lastError' | 'createdAt' | 'updatedAt'> {
  readonly url: string | null;
  readonly requestId: Id<'request'>;
  readonly sequence: number;
}

/** Newest first, each kind up to the requested limit. */
export interface TimelineRows {
  readonly moves: readonly MoveLine[];
  readonly events: readonly EventLine[];
  readonly deliveries: readonly DeliveryLine[];
  readonly entries: readonly LedgerEntryRow[];
  readonly providerEvents: readonly ProviderEventRow[];
  readonly requests: readonly RequestLine[];
}

const moves: Statement = {
  name: 'timeline_moves',
  text: `select h.*, n.name as "actorName" from (
      select ${selectList(historyTable, 'h')} from state_history h
      where h.org_id = $1 and h.resource_id = $2 order by h.version desc limit $3) h
    left join lateral (
      (select k.name from api_keys k where k.org_id = $1 and k.id = h."actorId" offset 0)
      union all (select p.name from persons p where p.id = h."actorId" offset 0)) n on true
    order by h.version desc`,
};

const events: Statement = {
  name: 'timeline_events',
  text: `select e.id, e.app_id as "appId", e.type, e.resource, e.resource_id as "resourceId", e.sequence,
      e.request_id as "requestId", e.created_at as "createdAt"
    from events e where e.org_id = $1 and e.resource_id = $2 order by e.id desc limit $3`,
};

const deliveries: Statement = {
  name: 'timeline_deliveries',
  text: `select d.*, w.url, e.request_id as "requestId", e.sequence from (
      select e.id, e.request_id, e.sequence from events e where e.org_id = $1 and e.resource_id = $2
      order by e.id desc limit $3) e
    cross join lateral (
      select d.id, d.webhook_id as "webhookId", d.event_id as "eventId", d.event_type as "eventType", d.trigger, d.status,
        d.attempts, d.last_response_status as "lastResponseStatus", d.last_error as "lastError",
        d.created_at as "createdAt", d.updated_at as "updatedAt"
      from deliveries d where d.org_id = $1 and d.event_id = e.id order by d.id desc limit $3) d
    left join lateral (select w.url from webhooks w where w.org_id = $1 and w.id = d."webhookId" offset 0) w on true
    order by d.id desc limit $3`,
};

/** The requests that moved a refund or a dispute. Their ledger entries belong to its payment. */
const ownRequests = `cross join lateral (
      select h.request_id from state_history h where h.org_id = $1 and h.resource_id = $4 and h.request_id = t.request_id
      limit 1) h`;

const entries = (column: 'payment_id' | 'transfer_id', isPart: boolean): Statement => ({
  name: `timeline_entries_${column}${isPart ? '_part' : ''}`,
  text: `select ${selectList(ledgerEntriesTable, 't')} from ledger_entries t ${isPart ? ownRequests : ''}
    where t.org_id = $1 and t.${column} = $2 ${isPart ? 'and starts_with(t.reason, $5)' : ''}
    order by t.id desc limit $3`,
});

const providerEvents = (column: 'payment_id' | 'transfer_id', isPart: boolean): Statement => ({
  name: `timeline_provider_events_${column}${isPart ? '_part' : ''}`,
  text: `select ${selectList(providerEventsTable, 't')} from provider_events t ${isPart ? ownRequests : ''}
    where t.org_id = $1 and t.${column} = $2 order by t.id desc limit $3`,
});

const statements = {
  payment: [entries('payment_id', false), providerEvents('payment_id', false)],
  transfer: [entries('transfer_id', false), providerEvents('transfer_id', false)],
  refund: [entries('payment_id', true), providerEvents('payment_id', true)],
  dispute: [entries('payment_id', true), providerEvents('payment_id', true)],
} as const;

const requestsBy: Statement = {
  name: 'timeline_requests',
  text: `select r.* from unnest($2::text[]) as k(id) cross join lateral (
      select s.id, s.at, s.method, s.path, s.http_status as "httpStatus", s.duration_us::float8 / 1000 as "durationMs",
        s.error_code as "errorCode"
      from requests s where s.org_id = $1 and s.id = k.id offset 0) r`,
};

/** The requests that caused the changes, as far as they are still stored. */
function findRequests(
  reader: Rows,
  orgId: Id<'organization'>,
  ids: readonly string[],
): PromiseLike<readonly RequestLine[]> {
  return reader.rows<RequestLine>(requestsBy, [orgId, ids]);
}

export async function findTimeline(reader: Rows, subject: Subject, limit: number): Promise<TimelineRows> {
  const { orgId, kind, id, recordId } = subject;
  const byRecord = [orgId, id, limit];
  const isPart = kind === 'refund' || kind === 'dispute';
  const [entriesOf, providerEventsOf] = statements[kind];
  const byMainRecord = [orgId, recordId, limit, ...(isPart ? [id] : [])];
  const [moveRows, eventRows, deliveryRows, entryRows, providerEventRows] = await Promise.all([
    reader.rows<MoveLine>(moves, byRecord),
    reader.rows<EventLine>(events, byRecord),
    reader.rows<DeliveryLine>(deliveries, byRecord),
    reader.rows<LedgerEntryRow>(entriesOf, [...byMainRecord, ...(isPart ? [kind] : [])]),
    reader.rows<ProviderEventRow>(providerEventsOf, byMainRecord),
  ]);
  const ids = [...new Set([...moveRows, ...eventRows].map(({ requestId }) => requestId))].slice(0, limit);
  const requests = await findRequests(reader, orgId, ids);
  return {
    moves: moveRows,
    events: eventRows,
    deliveries: deliveryRows,
    entries: entryRows,
    providerEvents: providerEventRows,
    requests,
  };
}
