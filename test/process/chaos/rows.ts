/** The rows of the chaos test, read from the database instead of the API. Times are milliseconds. */
import type { Query } from '../../support/audit.ts';
import { storedResponses } from '../../support/stored-responses.ts';
import type { Body } from './servers.ts';

export interface Transition {
  readonly org: string;
  readonly resource: string;
  readonly id: string;
  readonly version: number;
  readonly action: string;
  readonly from: string | null;
  readonly to: string;
  readonly event: string | null;
  readonly actor: string;
  readonly request: string;
  readonly at: number;
}

interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly record: string;
  readonly sequence: number;
  readonly request: string;
  readonly at: number;
  readonly data: Body;
}

export interface EntryRow {
  readonly org: string;
  readonly id: string;
  readonly request: string;
  readonly record: string;
  readonly version: number;
  readonly reason: string;
  readonly postings: readonly {
    readonly account: string;
    readonly currency: string;
    readonly amount: number;
  }[];
}

export interface LineRow {
  readonly org: string;
  readonly day: string;
  readonly provider: string;
  readonly transaction: string;
  readonly record: string | null;
  readonly currency: string;
  readonly ledgerGross: number | null;
  readonly ledgerFee: number | null;
  readonly gross: number | null;
  readonly fee: number | null;
  readonly result: string;
  readonly request: string;
  readonly at: number;
}

export interface RecordRow {
  readonly org: string;
  readonly app: string;
  readonly id: string;
  readonly kind: string;
  readonly reconciliation: string | null;
}

export interface ClockRow {
  readonly app: string;
  readonly status: string;
  readonly offset: number;
  readonly frozenAt: number | null;
  readonly isAdvancing: boolean;
}

export interface Rows {
  readonly apps: readonly {
    readonly org: string;
    readonly id: string;
    readonly name: string;
    readonly organization: string;
  }[];
  readonly transitions: readonly Transition[];
  readonly events: readonly EventRow[];
  readonly entries: readonly EntryRow[];
  readonly lines: readonly LineRow[];
  readonly records: readonly RecordRow[];
  readonly clocks: readonly ClockRow[];
  readonly timers: readonly { readonly id: string; readonly app: string; readonly at: number }[];
  readonly audits: readonly {
    readonly request: string;
    readonly action: string;
    readonly actor: string;
    readonly outcome: string;
    readonly at: number;
  }[];
  readonly storedResponses: readonly {
    readonly app: string;
    readonly key: string;
    readonly status: number;
    readonly body: string;
  }[];
  readonly providerEvents: readonly {
    readonly record: string;
    readonly transaction: string;
    readonly action: string;
    readonly request: string;
  }[];
}

/** PostgreSQL stores microseconds; times of the server have milliseconds. */
const ms = (column: string) => `round(extract(epoch from ${column}) * 1000)::bigint`;

const statements: Readonly<Record<keyof Rows, string>> = {
  apps: `select a.org_id as org, a.id, a.name, o.name as organization from applications a join organizations o using (org_id)`,
  transitions: `select org_id as org, resource, resource_id as id, version, action, from_status as from, to_status as to,
    event_id as event, actor_kind as actor, request_id as request, ${ms('at')} as at from state_history
    where resource in ('payment', 'refund', 'dispute', 'transfer', 'clock') order by org_id, resource_id, version`,
  events: `select id, type, resource_id as record, sequence, request_id as request, ${ms('created_at')} as at, data from events
    where resource in ('payment', 'refund', 'dispute', 'transfer')`,
  entries: `select org_id as org, id, request_id as request, coalesce(payment_id, transfer_id) as record, record_version as version, reason, postings from ledger_entries`,
  lines: `select org_id as org, settled_on as day, provider, provider_transaction_id as transaction,
    coalesce(payment_id, transfer_id) as record, currency, ledger_gross as "ledgerGross", ledger_fee as "ledgerFee",
    gross, fee, result, request_id as request, ${ms('created_at')} as at from settlement_lines`,
  records: `select org_id as org, app_id as app, id, 'payment' as kind, reconciliation from payments
    union all select org_id, app_id, id, 'refund', null from refunds
    union all select org_id, app_id, id, 'dispute', null from disputes
    union all select org_id, app_id, id, 'transfer', reconciliation from transfers`,
  clocks: `select app_id as app, status, offset_ms as offset, ${ms('stands_at')} as "frozenAt",
    advance is not null as "isAdvancing" from clocks`,
  timers: `select id, app_id as app, ${ms('due_at')} as at from timers`,
  audits: `select request_id as request, action, actor_kind as actor, outcome, ${ms('at')} as at from audit
    where action ~ '^(payments|refunds|disputes|transfers|clocks|timers)'`,
  storedResponses: `select app_id as app, key, status, body from ${storedResponses}`,
  providerEvents: `select coalesce(payment_id, transfer_id) as record, provider_transaction_id as transaction, action,
    request_id as request from provider_events where outcome = 'applied'`,
};

/** Reads rows as JSON, because both drivers return it in the same form. */
export async function readRows(query: Query): Promise<Rows> {
  const read = async (sql: string) =>
    (await query(`select row_to_json(t)::text as row from (${sql}) t`)).map(({ row }) =>
      JSON.parse(String(row)),
    );
  const rows: Record<string, unknown> = {};
  for (const [name, sql] of Object.entries(statements)) rows[name] = await read(sql);
  return rows as unknown as Rows;
}

export function groupBy<Item>(
  items: readonly Item[],
  by: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(by(item));
    if (group) group.push(item);
    else groups.set(by(item), [item]);
  }
  return groups;
}

/** Compares two lists in any order and describes the first differences. */
export function differences(
  name: string,
  found: readonly string[],
  expected: readonly string[],
): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of found) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of expected) counts.set(line, (counts.get(line) ?? 0) - 1);
  const differing = [...counts].filter(([, count]) => count !== 0);
  return differing.slice(0, 5).map(([line, n]) => `${name}: ${n > 0 ? 'unexpected' : 'missing'}: ${line}`);
}
