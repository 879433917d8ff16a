import type { Id } from '../../kernel/ids.ts';
import type { Reader, Statement } from '../../kernel/table.ts';

const byIds: Statement = {
  name: 'customer_names',
  text: `select c.id, coalesce(c.name, c.email) as name from customers c where c.org_id = $1 and c.id = any($2::text[])`,
};

/** Customers that do not exist are omitted. */
export function findCustomerNames(
  reader: Pick<Reader, 'rows'>,
  orgId: Id<'organization'>,
  ids: readonly string[],
): PromiseLike<readonly { readonly id: string; readonly name: string }[]> {
  return reader.rows(byIds, [orgId, ids]);
}
