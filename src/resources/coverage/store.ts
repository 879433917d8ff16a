import type { Reader } from '../../kernel/route.ts';
import type { Statement } from '../../kernel/table.ts';
import type { CoverageKind } from './table.ts';

/** How often something was met, in all organizations that were asked for. */
export interface Met {
  readonly kind: CoverageKind;
  readonly name: string;
  readonly count: number;
}

// As floating point, which is exact here and comes as a number. All organizations of a large server may take a while.
const met = (name: string, which: string, msMax: number): Statement => ({
  name,
  text: `select c.kind, c.name, sum(c.met)::float8 as count from coverage c ${which} group by 1, 2`,
  msMax,
});
const metBySome = met('coverage_of_some', 'where c.org_id = any($1::text[])', 10_000);
const metByAll = met('coverage_of_all', '', 30_000);

export function findMet(
  reader: Pick<Reader, 'rows'>,
  orgIds: readonly string[] | 'all',
): PromiseLike<readonly Met[]> {
  return orgIds === 'all' ? reader.rows<Met>(metByAll, []) : reader.rows<Met>(metBySome, [orgIds]);
}
