/**
 * Audits the rows of payments, refunds, disputes and the ledger without any code of the server: invariants of the contract that hold
 * in any database, also after crashes. Each check is one SQL statement that returns the rows that violate it.
 */
export type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

const postings = `cross join lateral jsonb_to_recordset(e.postings) as p(account text, currency text, amount bigint)`;
const records = `(select org_id, id, 'payment' as resource, status, version from payments
  union all select org_id, id, 'refund', status, version from refunds
  union all select org_id, id, 'dispute', status, version from disputes)`;

/** The balances that each payment must have, from its amounts and those of its refunds and disputes. */
const shares = `
  select x.org_id, x.id, x.currency, a.account, a.balance
  from (
    select p.*, p.instants ? 'settledAt' as is_settled,
      coalesce(r.succeeded, 0) as succeeded, coalesce(r.pending, 0) as pending,
      coalesce(d.open, 0) as open, coalesce(d.lost, 0) as lost
    from payments p
    left join (select org_id, payment_id,
        sum(amount) filter (where status = 'succeeded') as succeeded, sum(amount) filter (where status = 'pending') as pending
      from refunds group by 1, 2) r on r.org_id = p.org_id and r.payment_id = p.id
    left join (select org_id, payment_id,
        sum(amount) filter (where status in ('needs_response', 'under_review')) as open,
        sum(amount) filter (where status = 'lost') as lost
      from disputes group by 1, 2) d on d.org_id = p.org_id and d.payment_id = p.id
  ) x
  cross join lateral (values
    ('provider_holds', x.amount_held),
    ('hold_obligations', -x.amount_held),
    ('provider_receivable', case when x.is_settled then 0 else x.amount_captured - x.succeeded - x.lost end),
    ('bank', case when x.is_settled then x.amount_captured - x.succeeded - x.lost else 0 end),
    ('merchant_pending', case when x.is_settled then 0
      else -(x.amount_captured - x.fee_amount - x.succeeded - x.pending - x.open - x.lost) end),
    ('merchant_available', case when x.is_settled
      then -(x.amount_captured - x.fee_amount - x.succeeded - x.pending - x.open - x.lost) else 0 end),
    ('fees', -x.fee_amount),
    ('refunds_in_transit', -x.pending),
    ('dispute_reserve', -x.open)
  ) as a(account, balance)`;

const checks: Readonly<Record<string, string>> = {
  'an entry does not sum to zero': `
    select e.org_id, e.id, p.currency, sum(p.amount) from ledger_entries e ${postings}
    group by 1, 2, 3 having sum(p.amount) <> 0`,
  'a balance is not the sum of its postings': `
    select org_id, account, currency, b.balance, s.balance as posted
    from ledger_balances b
    full join (select e.org_id, p.account, p.currency, sum(p.amount) as balance from ledger_entries e ${postings} group by 1, 2, 3) s
      using (org_id, account, currency)
    where coalesce(b.balance, 0) <> coalesce(s.balance, 0)`,
  'a trial balance is not zero': `
    select org_id, currency, sum(balance) from ledger_balances group by 1, 2 having sum(balance) <> 0`,
  'the postings of a payment are not what its amounts say': `
    select w.org_id, w.id, w.account, w.balance as wanted, coalesce(s.balance, 0) as posted
    from (${shares}) w
    left join (select e.org_id, e.payment_id as id, p.account, p.currency, sum(p.amount) as balance
      from ledger_entries e ${postings} group by 1, 2, 3, 4) s using (org_id, id, account, currency)
    where w.balance <> coalesce(s.balance, 0)`,
  'an entry belongs to no move': `
    select e.org_id, e.id from ledger_entries e left join state_history h
      on h.org_id = e.org_id and h.resource_id = coalesce(e.payment_id, e.transfer_id) and h.version = e.record_version and h.request_id = e.request_id
    where h.version is null`,
  'a payment has more captured, or more returned, than there is': `
    select org_id, id from payments where amount_captured + amount_capturable > amount or amount_held > amount_capturable
      or amount_refunded + amount_refund_pending + amount_disputed > amount_captured or fee_amount > amount_captured`,
  'the refunds of a payment are not what it says': `
    select p.org_id, p.id from payments p left join refunds r on r.org_id = p.org_id and r.payment_id = p.id
    group by p.org_id, p.id, p.amount_refunded, p.amount_refund_pending
    having p.amount_refunded <> coalesce(sum(r.amount) filter (where r.status = 'succeeded'), 0)
      or p.amount_refund_pending <> coalesce(sum(r.amount) filter (where r.status = 'pending'), 0)`,
  'the disputes of a payment are not what it says': `
    select p.org_id, p.id from payments p left join disputes d on d.org_id = p.org_id and d.payment_id = p.id
    group by p.org_id, p.id, p.amount_disputed, p.status
    having p.amount_disputed <> coalesce(sum(d.amount) filter (where d.status <> 'won'), 0)
      or (p.status = 'disputed') <> (count(*) filter (where d.status in ('needs_response', 'under_review')) = 1)`,
  'a refund or a dispute is of no payment': `
    select r.org_id, r.id from (select org_id, id, payment_id from refunds union all select org_id, id, payment_id from disputes) r
    left join payments p on p.org_id = r.org_id and p.id = r.payment_id where p.id is null`,
  'a record is not where its last move led': `
    select r.org_id, r.id, r.status, r.version from ${records} r left join state_history h
      on h.org_id = r.org_id and h.resource_id = r.id and h.resource = r.resource and h.version = r.version
      and h.to_status = r.status
    where h.version is null`,
  'a history has a gap, or continues past its record': `
    select h.org_id, h.resource_id from state_history h join ${records} r on r.org_id = h.org_id and r.id = h.resource_id
    group by h.org_id, h.resource_id, r.version
    having count(*) <> r.version or min(h.version) <> 1 or max(h.version) <> r.version`,
  'a move does not begin where the one before ended': `
    select org_id, resource_id, version from (
      select h.*, lag(to_status) over (partition by org_id, resource_id order by version) as place from state_history h) m
    where from_status is distinct from place and resource in ('payment', 'refund', 'dispute')`,
  'a move has not exactly its own event': `
    select h.org_id, h.resource_id, h.version, e.id from state_history h
    full join events e on e.org_id = h.org_id and e.id = h.event_id and e.resource_id = h.resource_id
      and e.sequence = h.version and e.request_id = h.request_id and e.data ->> 'status' = h.to_status
    where (h.version is null or e.id is null) and coalesce(h.resource, 'payment') in ('payment', 'refund', 'dispute')`,
  'an event of a provider was applied twice': `
    select org_id, provider, provider_event_id from provider_events where outcome = 'applied'
    group by 1, 2, 3 having count(*) > 1`,
  'a duplicate of a provider was never applied': `
    select d.org_id, d.id from provider_events d left join provider_events a on a.org_id = d.org_id
      and a.provider = d.provider and a.provider_event_id = d.provider_event_id and a.outcome = 'applied'
    where d.outcome = 'duplicate' and a.id is null`,
};

const tables = [
  ...['payments', 'refunds', 'disputes', 'state_history', 'events'],
  ...['ledger_entries', 'ledger_balances', 'provider_events', 'deliveries', 'delivery_attempts'],
];

/** The beginning of a query that replaces each table by the rows of one organization. */
export function within(orgId: string): string {
  return `with ${tables.map((name) => `${name} as (select * from ${name} where org_id = '${orgId}')`).join(', ')}`;
}

/** Audits one organization or all of them. Returns a description of every violation that it finds, at most three for each check. */
export async function auditRows(query: Query, orgId?: string): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const [violation, sql] of Object.entries(checks)) {
    const found = await query(`${orgId === undefined ? '' : within(orgId)} ${sql} limit 3`);
    for (const row of found) findings.push(`${violation}: ${JSON.stringify(row, inDigits)}`);
  }
  return findings;
}

function inDigits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
