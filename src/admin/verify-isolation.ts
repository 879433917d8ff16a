import { idAlphabet } from '../kernel/ids.ts';

/**
 * Checks that related rows belong to the same organization. There are no foreign keys for it (see migration 1), and every statement is
 * scoped to one organization, so requests would never notice a row that was written to the wrong one.
 */
interface Reference {
  readonly table: string;
  readonly column: string;
  readonly target: string;
}

const withApplication = [
  ...['api_keys', 'webhooks', 'clocks', 'customers', 'payments', 'refunds', 'disputes', 'transfers'],
  ...['fault_plans', 'timers', 'events', 'settlement_lines', 'replays', 'deliveries', 'audit'],
];

/** Other checks cover the events and webhooks of deliveries and state transitions. */
const references: readonly Reference[] = [
  ...withApplication.map((table) => ({ table, column: 'app_id', target: 'applications' })),
  { table: 'applications', column: 'org_id', target: 'organizations' },
  { table: 'payments', column: 'customer_id', target: 'customers' },
  { table: 'transfers', column: 'customer_id', target: 'customers' },
  ...['refunds', 'disputes', 'ledger_entries', 'provider_events', 'settlement_lines'].map((table) => ({
    table,
    column: 'payment_id',
    target: 'payments',
  })),
  ...['ledger_entries', 'provider_events', 'settlement_lines'].map((table) => ({
    table,
    column: 'transfer_id',
    target: 'transfers',
  })),
  { table: 'payments', column: 'dispute_id', target: 'disputes' },
];

function strayReferences({ table, column, target }: Reference): string {
  return `select t.org_id as "orgId", concat_ws(' ', '${table}', to_jsonb(t) ->> '${idOf(table)}') as subject,
      t.${column} || ' in ${target} of the organization' as expected,
      coalesce((select 'it belongs to ' || o.org_id from ${target} o where o.id = t.${column} limit 1), 'no such row') as found
    from ${table} t left join ${target} r on r.org_id = t.org_id and r.id = t.${column}
    where t.${column} <> '' and r.id is null${isOfDeleted(table)}`;
}

/** Of a deleted organization only the audit trail remains. */
function isOfDeleted(table: string): string {
  return table === 'audit' ? ' and exists (select from organizations o where o.org_id = t.org_id)' : '';
}

/** A fault plan is exhausted by requests and deliveries, which are counted and not audited. */
function isExempt(table: string): string {
  return table === 'state_history' ? " and r.resource <> 'fault_plan'" : '';
}

function idOf(table: string): string {
  return table === 'state_history' ? 'resource_id' : 'id';
}

/** Clocks of nodes agree within a few seconds; a copied row can have the request of a node that is ahead. */
const clockSeconds = 10;

/** The first id of a request at the time of an audit row. The time is the first ten digits; see `firstIdAt`. */
const requestAt = `(select 'req_' || string_agg(substr('${idAlphabet}',
    ((((extract(epoch from a.at) + ${clockSeconds}) * 1000)::bigint >> (5 * i)) & 31)::integer + 1, 1), '' order by i desc)
  from generate_series(0, 9) i)`;

/**
 * Rows older than the organization's first audit row, or than its import, were imported: their requests are in another organization's
 * trail. The rows of a fork are copied later than its request arrives, and the source may have changed in between. EXCEPT hashes
 * both sides; there is no index on `audit.request_id`, and a nested loop over both took 30 s for 1,500 transfers.
 */
function withoutAuditRow(table: string): string {
  return `select t.org_id as "orgId", concat_ws(' ', '${table}', to_jsonb(t) ->> '${idOf(table)}') as subject,
      'an audit row of ' || t.request_id || ' in the organization' as expected,
      coalesce((select 'it belongs to ' || o.org_id from audit o where o.request_id = t.request_id limit 1), 'none') as found
    from (
      select r.org_id, r.request_id from ${table} r
      join (select a.org_id, greatest(min(a.request_id), max(${requestAt}) filter (where a.action = 'organizations.import')) as first
        from audit a group by a.org_id) f on f.org_id = r.org_id
      where r.request_id > f.first${isExempt(table)}
      except select a.org_id, a.request_id from audit a) stray
    join ${table} t on t.org_id = stray.org_id and t.request_id = stray.request_id`;
}

export const isolationChecks = [
  {
    name: 'references_stay_in_organization',
    description:
      'Every row that references an application, customer, payment, transfer or dispute is in the same organization.',
    sql: references.map(strayReferences).join(' union all '),
  },
  {
    name: 'audit_rows_stay_in_organization',
    description:
      'Every state transition, event, ledger entry and provider event is in the organization whose audit trail has its request.',
    sql: ['state_history', 'events', 'ledger_entries', 'provider_events']
      .map(withoutAuditRow)
      .join(' union all '),
  },
  {
    name: 'actors_stay_in_organization',
    description: "Every API key in an audit row belongs to the row's organization.",
    sql: `select a.org_id as "orgId", a.id as subject, a.actor_id || ' of the organization' as expected,
        'it belongs to ' || o.org_id as found
      from audit a join api_keys o on o.id = a.actor_id
      where o.org_id <> a.org_id
        and not exists (select from api_keys k where k.org_id = a.org_id and k.id = a.actor_id)`,
  },
] as const;
