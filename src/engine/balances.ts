import { encodeArray } from '../db/array.ts';
import type { Connection } from '../db/database.ts';
import type { Statement } from '../kernel/table.ts';
import type { BalanceRow } from '../resources/ledger/table.ts';

const byKeys: Statement = {
  name: 'ledger_balances_by_keys',
  text: `select t.* from unnest($1::text[], $2::text[], $3::text[]) as k(org_id, account, currency) cross join lateral (
      select b.org_id as "orgId", b.account, b.currency, b.balance from ledger_balances b
      where b.org_id = k.org_id and b.account = k.account and b.currency = k.currency offset 0) t`,
};

/** Balances by key; a balance without any posting is absent. */
export function findBalances(
  connection: Connection,
  keys: readonly Pick<BalanceRow, 'orgId' | 'account' | 'currency'>[],
): Promise<readonly BalanceRow[]> {
  const column = (name: 'orgId' | 'account' | 'currency') =>
    encodeArray(
      'text',
      keys.map((key) => key[name]),
    );
  return connection.query<BalanceRow>(byKeys, [column('orgId'), column('account'), column('currency')]);
}
