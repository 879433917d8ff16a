import type { Reader, Statement } from '../../kernel/table.ts';
import type { CoverageKind } from './table.ts';

/** How often an item was covered, summed over the requested organizations. */
export interface CoveredItem {
  readonly kind: CoverageKind;
  readonly name: string;
  readonly count: number;
}

// As float8, which is exact here and arrives as a number. All organizations of a large server may take a while.
const coveredItems = (name: string, condition: string, msMax: number): Statement => ({
  name,
  text: `select c.kind, c.name, sum(c.met)::float8 as count from coverage c ${condition} group by 1, 2`,
  msMax,
});
const coveredBySome = coveredItems('coverage_of_some', 'where c.org_id = any($1::text[])', 10_000);
const coveredByAll = coveredItems('coverage_of_all', '', 30_000);

export function findCovered(
  reader: Pick<Reader, 'rows'>,
  orgIds: readonly string[] | 'all',
): PromiseLike<readonly CoveredItem[]> {
  return orgIds === 'all'
    ? reader.rows<CoveredItem>(coveredByAll, [])
    : reader.rows<CoveredItem>(coveredBySome, [orgIds]);
}
