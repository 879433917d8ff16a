import type { Id } from '../../kernel/ids.ts';
import type { Reader, Statement } from '../../kernel/table.ts';

/** Counting stops here: the index entries of one state are read one by one, and nobody needs the exact number. */
export const countMax = 1_000;

/** One statement per table: counts the rows of each state, up to the maximum and one more. */
const countsOf = (table: string): Statement => ({
  name: `count_${table}_by_status`,
  text: `select s.status, (select count(*)::int from (
        select 1 from ${table} t where t.org_id = $1 and t.status = s.status limit ${countMax + 1}) found) as count
      from unnest($2::text[]) as s (status)`,
});

const statements = {
  payment: countsOf('payments'),
  refund: countsOf('refunds'),
  dispute: countsOf('disputes'),
  transfer: countsOf('transfers'),
  customer: countsOf('customers'),
};

export type Counted = keyof typeof statements;

export const counted = Object.keys(statements) as readonly Counted[];

export function countByStatus(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  kind: Counted,
  states: readonly string[],
): PromiseLike<readonly { readonly status: string; readonly count: number }[]> {
  return reader.rows(statements[kind], [orgId, states]);
}
