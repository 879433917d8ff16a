import type { Id } from '../../kernel/ids.ts';
import { type Reader, type Statement, selectList } from '../../kernel/table.ts';
import { type SettlementLineRow, settlementLinesTable } from './table.ts';

/** The totals of one day in one currency, over the reports of all providers. */
export interface DayTotalRow {
  readonly settledOn: string;
  readonly currency: string;
  readonly lines: number;
  readonly gross: bigint;
  readonly fee: bigint;
}

/** Days with reports before a day, newest first. The recursive part jumps from day to day over the index. */
const daysBefore: Statement = {
  name: 'settlement_days_before',
  text: `with recursive days(settled_on, n) as (
      select (select max(l.settled_on) from settlement_lines l where l.org_id = $1 and l.settled_on < $2), 1
      union all
      select (select max(l.settled_on) from settlement_lines l where l.org_id = $1 and l.settled_on < d.settled_on), n + 1
      from days d where d.settled_on is not null and n < $3)
    select d.settled_on as "settledOn" from days d where d.settled_on is not null order by 1 desc`,
};

export async function findDays(
  reader: Reader,
  orgId: Id<'organization'>,
  before: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await reader.rows<{ settledOn: string }>(daysBefore, [orgId, before, limit]);
  return rows.map(({ settledOn }) => settledOn);
}

const totalsOfDays: Statement = {
  name: 'settlement_totals_of_days',
  text: `select l.settled_on as "settledOn", l.currency, count(l.gross)::integer as lines,
      coalesce(sum(l.gross), 0)::bigint as gross, coalesce(sum(l.fee), 0)::bigint as fee
    from settlement_lines l where l.org_id = $1 and l.settled_on between $2 and $3
    group by 1, 2 order by 1 desc, 2`,
};

/** Totals of all days in a range, both ends included. A day without lines has no totals. */
export function findTotals(
  reader: Reader,
  orgId: Id<'organization'>,
  from: string,
  to: string,
): PromiseLike<readonly DayTotalRow[]> {
  return reader.rows<DayTotalRow>(totalsOfDays, [orgId, from, to]);
}

const linesOfDay: Statement = {
  name: 'settlement_lines_of_day',
  text: `select ${selectList(settlementLinesTable, 'l')} from settlement_lines l
    where l.org_id = $1 and l.settled_on = $2 and l.id > $3 and l.gross is not null
    order by l.id limit $4`,
};

/** The lines that the providers reported for a day, in settlement order. */
export function findLines(
  reader: Reader,
  orgId: Id<'organization'>,
  day: string,
  afterId: string,
  limit: number,
): PromiseLike<readonly SettlementLineRow[]> {
  return reader.rows<SettlementLineRow>(linesOfDay, [orgId, day, afterId, limit]);
}
