import type { Connection, Database } from '../db/database.ts';
import { instantToText } from '../kernel/list.ts';
import { type AnyRow, type Instant, selectList } from '../kernel/table.ts';
import { hourMs } from '../kernel/time.ts';
import { type Head, headProblem, type SealProblem, verifySeals } from '../resources/audit/seal-store.ts';
import { resources } from '../resources/index.ts';
import { isolationChecks } from './verify-isolation.ts';

/**
 * Recomputes the books from the postings and the records, and reports every difference. Each check is one statement, so it
 * sees a consistent snapshot of the database, even while a server writes to it.
 */
export interface Difference {
  readonly orgId: string;
  readonly subject: string;
  readonly expected: string;
  readonly found: string;
}

interface CheckResult {
  readonly name: string;
  readonly description: string;
  /** At most `differencesMax`. */
  readonly differences: readonly Difference[];
}

export interface Verification {
  readonly counts: Readonly<Record<'entries' | 'balances' | 'payments' | 'transfers', number>>;
  readonly checks: readonly CheckResult[];
  /** The last seal of every chain, to be stored elsewhere. */
  readonly heads: readonly Head[];
  readonly isSound: boolean;
}

export interface Check {
  readonly name: string;
  readonly description: string;
  /** Returns the columns "orgId", subject, expected and found, one row per difference. */
  readonly sql: string;
}

const differencesMax = 20;
const checkMsMax = hourMs;

const postings = `select e.org_id, e.id, e.payment_id, e.transfer_id, e.reason, p.account, p.currency, p.amount
  from ledger_entries e cross join lateral jsonb_to_recordset(e.postings) as p(account text, currency text, amount numeric)`;

export const checks: readonly Check[] = [
  {
    name: 'entries_sum_to_zero',
    description: 'Every ledger entry sums to zero in each currency.',
    sql: `select org_id as "orgId", id || ' ' || currency as subject, '0' as expected, sum(amount)::text as found
      from (${postings}) p group by org_id, id, currency having sum(amount) <> 0`,
  },
  {
    name: 'balances_equal_postings',
    description: 'Every balance equals the sum of its postings.',
    sql: `with posted as (
        select org_id, account, currency, sum(amount) as balance from (${postings}) p group by 1, 2, 3)
      select org_id as "orgId", account || ' ' || currency as subject, coalesce(p.balance, 0)::text as expected,
        coalesce(b.balance, 0)::text as found
      from posted p full join ledger_balances b using (org_id, account, currency)
      where coalesce(p.balance, 0) <> coalesce(b.balance, 0)`,
  },
  {
    name: 'trial_balance_is_zero',
    description: 'The balances of an organization sum to zero in each currency.',
    sql: `select org_id as "orgId", currency as subject, '0' as expected, sum(balance)::text as found
      from ledger_balances group by org_id, currency having sum(balance) <> 0`,
  },
  {
    name: 'payments_equal_postings',
    description: "A payment's held, earned, in-transit and fee amounts equal the sums of its ledger entries.",
    sql: `with posted as (
        select org_id, payment_id,
          coalesce(sum(amount) filter (where account = 'provider_holds'), 0) as held,
          coalesce(sum(amount) filter (where account in ('provider_receivable', 'bank', 'dispute_reserve')), 0) as earned,
          coalesce(sum(amount) filter (where account = 'refunds_in_transit'), 0) as transit,
          coalesce(sum(amount) filter (where account = 'fees'), 0) as fees
        from (${postings}) p group by 1, 2)
      select t.org_id as "orgId", t.id as subject,
        concat_ws(' ', 'held', t.amount_held, 'earned', t.amount_captured - t.amount_refunded - t.amount_disputed,
          'transit', -t.amount_refund_pending, 'fees', -t.fee_amount) as expected,
        concat_ws(' ', 'held', coalesce(p.held, 0), 'earned', coalesce(p.earned, 0), 'transit', coalesce(p.transit, 0),
          'fees', coalesce(p.fees, 0)) as found
      from payments t left join posted p on p.org_id = t.org_id and p.payment_id = t.id
      where (coalesce(p.held, 0), coalesce(p.earned, 0), coalesce(p.transit, 0), coalesce(p.fees, 0)) is distinct from
        (t.amount_held, t.amount_captured - t.amount_refunded - t.amount_disputed, -t.amount_refund_pending, -t.fee_amount)`,
  },
  {
    name: 'payments_equal_refunds',
    description: "A payment's refunded and pending amounts equal the sums of its refunds.",
    sql: `with totals as (
        select org_id, payment_id, coalesce(sum(amount) filter (where status = 'succeeded'), 0) as refunded,
          coalesce(sum(amount) filter (where status = 'pending'), 0) as pending from refunds group by 1, 2)
      select t.org_id as "orgId", t.id as subject,
        concat_ws(' ', 'refunded', coalesce(r.refunded, 0), 'pending', coalesce(r.pending, 0)) as expected,
        concat_ws(' ', 'refunded', t.amount_refunded, 'pending', t.amount_refund_pending) as found
      from payments t left join totals r on r.org_id = t.org_id and r.payment_id = t.id
      where (t.amount_refunded, t.amount_refund_pending) is distinct from (coalesce(r.refunded, 0), coalesce(r.pending, 0))`,
  },
  {
    name: 'payments_equal_disputes',
    description: "A payment's disputed amount equals the sum of its disputes without those won.",
    sql: `with totals as (
        select org_id, payment_id, sum(amount) filter (where status <> 'won') as disputed from disputes group by 1, 2)
      select t.org_id as "orgId", t.id as subject, coalesce(d.disputed, 0)::text as expected,
        t.amount_disputed::text as found
      from payments t left join totals d on d.org_id = t.org_id and d.payment_id = t.id
      where t.amount_disputed <> coalesce(d.disputed, 0)`,
  },
  {
    name: 'reports_equal_postings',
    description:
      'The bank postings of payments and transfers equal their settlement lines, and each result follows from its line.',
    sql: `with posted as (
        select org_id, coalesce(payment_id, transfer_id) as id, sum(amount) as gross from (${postings}) p
        where account = 'bank' and reason in ('settle', 'complete', 'return') group by 1, 2),
      compared as (
        select org_id, coalesce(payment_id, transfer_id) as id, sum(ledger_gross) as gross, sum(ledger_fee) as fee,
          case when bool_or(result = 'duplicate') then 'duplicate' else max(result) filter (where ledger_gross is not null) end
            as result,
          bool_and(result = case
            when ledger_gross is null then 'duplicate' when gross is null then 'missing_at_provider'
            when (gross, fee) = (ledger_gross, ledger_fee) then 'matched' else 'amount_mismatch' end) as is_right
        from settlement_lines where coalesce(payment_id, transfer_id) is not null group by 1, 2),
      records as (
        select org_id, id, fee_amount as fee, reconciliation from payments where reconciliation is not null
        union all select org_id, id, 0, reconciliation from transfers where reconciliation is not null)
      select coalesce(t.org_id, c.org_id) as "orgId", coalesce(t.id, c.id) as subject,
        concat_ws(' ', coalesce(p.gross, 0), t.fee, t.reconciliation) as expected,
        concat_ws(' ', c.gross, c.fee, c.result) as found
      from records t full join compared c using (org_id, id) left join posted p using (org_id, id)
      where (c.gross, c.fee) is distinct from (coalesce(p.gross, 0), t.fee::numeric) or not c.is_right
        or (id like 'pay%' and c.result is distinct from t.reconciliation)`,
  },
  {
    name: 'transfers_equal_postings',
    description: "The sums of a transfer's ledger entries in each account match its status.",
    sql: `with amounts as (
        select t.org_id, t.id, e.account, e.currency, e.amount as expected, 0 as found
        from transfers t cross join lateral (values
          (case t.fund_from when 'balance' then 'merchant_available' else 'bank' end, t.source_currency,
            t.source_amount + t.fee_amount, '{funded,in_review,converted,sent,completed,returned}'::text[]),
          ('transfer_funding', t.source_currency, -t.source_amount - t.fee_amount, '{funded,in_review}'),
          ('fx_position', t.source_currency, -t.source_amount, '{converted,sent,completed,returned}'),
          ('fees', t.source_currency, -t.fee_amount, '{converted,sent,completed,returned}'),
          ('fx_position', t.target_currency, t.target_amount, '{converted,sent,completed,returned}'),
          ('payout_clearing', t.target_currency, -t.target_amount, '{converted,returned}'),
          ('payouts_in_transit', t.target_currency, -t.target_amount, '{sent}'),
          ('bank', t.target_currency, -t.target_amount, '{completed}')) as e(account, currency, amount, states)
        where t.status = any(e.states)
        union all
        select org_id, transfer_id, account, currency, 0, amount from (${postings}) p where transfer_id is not null)
      select org_id as "orgId", concat_ws(' ', id, account, currency) as subject, sum(expected)::text as expected,
        sum(found)::text as found
      from amounts group by org_id, id, account, currency having sum(expected) <> sum(found)`,
  },
  {
    name: 'records_equal_history',
    description: 'Every record has the status and the version of its last state transition.',
    sql: resources
      .map(
        ({ table: { name } }) => `select t.org_id as "orgId", t.id as subject,
          coalesce(h.to_status, 'no transition') || ' at version ' || t.version as expected, t.status as found
        from ${name} t left join state_history h
          on h.org_id = t.org_id and h.resource_id = t.id and h.version = t.version
        where h.to_status is distinct from t.status
          or exists (select from state_history l
            where l.org_id = t.org_id and l.resource_id = t.id and l.version = t.version + 1)`,
      )
      .join(' union all '),
  },
  {
    name: 'moves_have_events',
    description: 'Every state transition that emits an event has its event.',
    sql: `select h.org_id as "orgId", h.resource_id || ' version ' || h.version as subject, h.event_id as expected,
        'no such event' as found
      from state_history h left join events e on e.org_id = h.org_id and e.id = h.event_id
        and e.resource_id = h.resource_id and e.sequence = h.version
      where h.event_id is not null and e.id is null`,
  },
  {
    name: 'deliveries_equal_attempts',
    description:
      'Every delivery has its event, its endpoint and its attempts, and the status of its last attempt.',
    sql: `select d.org_id as "orgId", d.id as subject,
        concat_ws(' ', e.id, w.id, coalesce(a.count, 0), 'attempts', coalesce(a.status, 'pending')) as expected,
        concat_ws(' ', d.event_id, d.webhook_id, d.attempts, 'attempts', d.status) as found
      from deliveries d
      left join events e on e.org_id = d.org_id and e.id = d.event_id and e.type = d.event_type
      left join webhooks w on w.org_id = d.org_id and w.id = d.webhook_id and w.app_id = d.app_id
      left join (select org_id, delivery_id, count(*)::integer as count, (array_agg(status order by number desc))[1] as status
        from delivery_attempts group by 1, 2) a on a.org_id = d.org_id and a.delivery_id = d.id
      where e.id is null or w.id is null or coalesce(a.count, 0) <> d.attempts or coalesce(a.status, 'pending') <> d.status`,
  },
  ...isolationChecks,
];

export const timersCheck = {
  name: 'timers_equal_records',
  description: 'Every record that waits for a time has a timer for that time, and no other record has one.',
};
const timersPage = 1_000;

type TimedRow = AnyRow & { readonly timerAt: Instant | null };
export type ReadAll = <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** Due times are computed in code, not in SQL, so this check reads the records page by page: all, or those of one organization. */
export async function differingTimers(read: ReadAll, orgId?: string): Promise<readonly Difference[]> {
  const own = orgId === undefined ? [] : [orgId];
  const differences: Difference[] = [];
  for (const { table, due } of resources) {
    if (!due) continue;
    const page = `select ${selectList(table, 't')}, r.due_at as "timerAt" from ${table.name} t
      left join timers r on r.org_id = t.org_id and r.id = t.id
      where (t.org_id, t.id) > ($1, $2)${orgId === undefined ? '' : ' and t.org_id = $3'} order by t.org_id, t.id limit ${timersPage}`;
    for (let last = { orgId: orgId ?? '', id: '' }; differences.length < differencesMax; ) {
      const rows: readonly TimedRow[] = await read<TimedRow>(page, [last.orgId, last.id, ...own]);
      for (const row of rows) {
        const at = due(row)?.at ?? null;
        if (at === row.timerAt) continue;
        const [expected, found] = [at, row.timerAt].map((one) =>
          one === null ? 'none' : instantToText(one),
        );
        differences.push({ orgId: row.orgId, subject: row.id, expected: expected ?? '', found: found ?? '' });
      }
      last = rows.at(-1) ?? last;
      if (rows.length < timersPage) break;
    }
  }
  return differences.slice(0, differencesMax);
}

const sealsCheck = {
  name: 'audit_trail_is_sealed',
  description:
    'Every audit row is unchanged since it was sealed, none is missing or was added later, and the chain of seals is unbroken.',
};

/** Checks the chain of each organization. Rows and seals may belong to a deleted organization. */
async function brokenSeals(
  connection: Connection,
  read: ReadAll,
  now: Instant,
  noted: readonly Head[],
): Promise<{ readonly differences: readonly Difference[]; readonly heads: readonly Head[] }> {
  const organizations = await read<{ orgId: string; isTemporary: boolean }>(
    `select t.org_id as "orgId",
        exists (select from organizations o where o.org_id = t.org_id and o.expires_at is not null)
          or exists (select from deleted_organizations d where d.org_id = t.org_id and d.audit_until is not null)
          as "isTemporary"
      from (select org_id from audit union select org_id from audit_seals) t order by 1`,
  );
  // The queries below find rows by key.
  await connection.script(
    `set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off`,
  );
  const reader = { rows: connection.query.bind(connection) };
  const differences: Difference[] = [];
  const add = (orgId: string, { seal, message: found }: SealProblem) => {
    const subject = seal === null ? 'no seal' : `seal ${seal}`;
    differences.push({ orgId, subject, expected: 'the audit trail as it was sealed', found });
  };
  for (const head of noted) {
    const problem = await headProblem(reader, head);
    if (problem) add(head.orgId, problem);
  }
  const heads: Head[] = [];
  for (const { orgId, isTemporary } of organizations) {
    if (differences.length >= differencesMax) break;
    const { problems, head, last } = await verifySeals(reader, orgId, now);
    for (const problem of problems) add(orgId, problem);
    // The trail of a temporary organization is deleted later: a head stored elsewhere would then be reported as missing.
    if (head !== null && last !== null && !isTemporary) heads.push({ orgId, number: last, hash: head });
  }
  return { differences: differences.slice(0, differencesMax), heads };
}

export async function verify(
  database: Database,
  now: Instant = Date.now(),
  noted: readonly Head[] = [],
): Promise<Verification> {
  return database.transaction(async (connection) => {
    // The checks scan whole tables, so they need the plan types that are disabled for lookups by key.
    await connection.script(`set local statement_timeout = 0; set local enable_seqscan = on;
      set local enable_hashjoin = on; set local enable_mergejoin = on`);
    const read: ReadAll = (text, values = []) =>
      connection.query({ name: '', text, msMax: checkMsMax }, values);
    const [counts] = await read<Verification['counts']>(`select
      (select count(*) from ledger_entries)::integer as entries,
      (select count(*) from ledger_balances)::integer as balances,
      (select count(*) from payments)::integer as payments,
      (select count(*) from transfers)::integer as transfers`);
    const results: CheckResult[] = [];
    for (const { name, description, sql } of checks) {
      const differences = await read<Difference>(`select * from (${sql}) d limit ${differencesMax}`);
      results.push({ name, description, differences });
    }
    results.push({ ...timersCheck, differences: await differingTimers(read) });
    const { differences, heads } = await brokenSeals(connection, read, now, noted);
    results.push({ ...sealsCheck, differences });
    return {
      counts: counts ?? { entries: 0, balances: 0, payments: 0, transfers: 0 },
      checks: results,
      heads,
      isSound: results.every(({ differences }) => differences.length === 0),
    };
  });
}

/** For a terminal: a line for each check, followed by its differences. */
export function verificationText({ counts, checks: results, isSound }: Verification): string {
  const lines = results.flatMap(({ description, differences }) => [
    `${differences.length === 0 ? '  ok       ' : '  DIFFERS  '}${description}`,
    ...differences.map(
      ({ orgId, subject, expected, found }) =>
        `             ${orgId} ${subject}: expected ${expected}, found ${found}`,
    ),
    ...(differences.length === differencesMax
      ? [`             ... the first ${differencesMax} are shown`]
      : []),
  ]);
  const { entries, balances, payments, transfers } = counts;
  return [
    `${entries} ledger entries, ${balances} balances, ${payments} payments and ${transfers} transfers checked.`,
    ...lines,
    isSound ? 'The books are sound.' : 'The books are NOT sound.',
  ].join('\n');
}

const line = /^(org_[0-9a-z]{26}) (\d{1,15}) ([0-9a-f]{64})$/;

/** One head per line. Undefined if a line is not a head, so that no head is skipped silently. */
export function parseHeads(text: string): readonly Head[] | undefined {
  const lines = text.split(/\r?\n/).map((one) => one.trim());
  const heads: Head[] = [];
  for (const one of lines.filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, orgId, number, hash] = line.exec(one) ?? [];
    if (orgId === undefined || number === undefined || hash === undefined) return undefined;
    heads.push({ orgId, number: Number(number), hash });
  }
  return heads;
}

export function headsText(heads: readonly Head[]): string {
  return heads.map(({ orgId, number, hash }) => `${orgId} ${number} ${hash}`).join('\n');
}
