import type { Id } from '../../kernel/ids.ts';
import type { Reconciliation } from '../../kernel/ledger.ts';
import type { Reader, Statement } from '../../kernel/table.ts';

export interface TotalRow {
  readonly currency: string;
  readonly result: Reconciliation;
  readonly lines: number;
  readonly ledgerGross: bigint;
  readonly ledgerFee: bigint;
  readonly gross: bigint;
  readonly fee: bigint;
}

export interface TotalFilter {
  readonly settledOn: string | undefined;
  readonly result: string | undefined;
  readonly currency: string | undefined;
}

const totals: Statement = {
  name: 'reconciliation_totals',
  text: `select l.currency, l.result, count(*)::integer as lines,
      coalesce(sum(l.ledger_gross), 0)::bigint as "ledgerGross", coalesce(sum(l.ledger_fee), 0)::bigint as "ledgerFee",
      coalesce(sum(l.gross), 0)::bigint as gross, coalesce(sum(l.fee), 0)::bigint as fee
    from settlement_lines l
    where l.org_id = $1 and ($2::text is null or l.settled_on = $2) and ($3::text is null or l.result = $3)
      and ($4::text is null or l.currency = $4)
    group by 1, 2 order by 1, 2`,
};

const totalsOfDay: Statement = {
  name: 'reconciliation_totals_of_day',
  text: totals.text.replace('($2::text is null or l.settled_on = $2)', 'l.settled_on = $2'),
};

/** Sums over all lines that match a filter. A filter by day uses the index. */
export function findTotals(
  reader: Reader,
  orgId: Id<'organization'>,
  { settledOn, result, currency }: TotalFilter,
): PromiseLike<readonly TotalRow[]> {
  return reader.rows<TotalRow>(settledOn === undefined ? totals : totalsOfDay, [
    orgId,
    settledOn ?? null,
    result ?? null,
    currency ?? null,
  ]);
}
