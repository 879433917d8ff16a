import type { Id } from '../../kernel/ids.ts';
import type { Reader, Statement } from '../../kernel/table.ts';
import type { RecordKind } from '../history/table.ts';
import type { BalanceRow } from './table.ts';

const balancesOf: Statement = {
  name: 'ledger_balances_of',
  text: `select b.org_id as "orgId", b.account, b.currency, b.balance from ledger_balances b
    where b.org_id = $1 order by b.currency, b.account`,
};

export function findBalances(reader: Reader, orgId: Id<'organization'>): PromiseLike<readonly BalanceRow[]> {
  return reader.rows<BalanceRow>(balancesOf, [orgId]);
}

/** The summed postings of one record: its share of each account balance. */
const balancesOfRecord = (kind: RecordKind): Statement => ({
  name: `ledger_balances_of_${kind}`,
  text: `select e.org_id as "orgId", p.account, p.currency, sum(p.amount)::bigint as balance
    from ledger_entries e
    cross join lateral jsonb_to_recordset(e.postings) as p(account text, currency text, amount bigint)
    where e.org_id = $1 and e.${kind}_id = $2
    group by 1, 2, 3 order by p.currency, p.account`,
});

const balancesBy: Readonly<Record<RecordKind, Statement>> = {
  payment: balancesOfRecord('payment'),
  transfer: balancesOfRecord('transfer'),
};

export function findRecordBalances(
  reader: Reader,
  orgId: Id<'organization'>,
  kind: RecordKind,
  recordId: string,
): PromiseLike<readonly BalanceRow[]> {
  return reader.rows<BalanceRow>(balancesBy[kind], [orgId, recordId]);
}
