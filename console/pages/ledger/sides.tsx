import type { Minor } from '../../client/amount.ts';
import { Money } from '../../parts/money.tsx';
import { classes } from '../../parts/text.ts';

/** A balance or a posting: debits are positive, credits negative. Each is shown unsigned in its own column. */
export interface SideRow {
  readonly account: string;
  readonly currency: string;
  readonly amount: Minor;
}

export function debitSum(rows: readonly SideRow[]): string {
  return sumOf(rows.map(({ amount }) => BigInt(amount)).filter((amount) => amount > 0n));
}

export function creditSum(rows: readonly SideRow[]): string {
  return sumOf(rows.map(({ amount }) => -BigInt(amount)).filter((amount) => amount > 0n));
}

function sumOf(amounts: readonly bigint[]): string {
  return amounts.reduce((sum, amount) => sum + amount, 0n).toString();
}

export interface SidesProps {
  readonly caption: string;
  readonly rows: readonly SideRow[];
  /** Adds a row with the totals of both columns. */
  readonly hasTotal?: boolean;
}

const head = 'px-3 py-2 sm:px-5 font-medium text-faint';
const number = 'px-3 py-1.5 text-right sm:pr-5';

/** Accounts with a debit and a credit column. */
export function Sides({ caption, rows, hasTotal = false }: SidesProps) {
  const [first] = rows;
  return (
    <table className="w-full border-collapse text-sm">
      <caption className="sr-only">{caption}</caption>
      <thead>
        <tr className="border-b">
          <th scope="col" className={classes(head, 'text-left')}>
            Account
          </th>
          <th scope="col" className={classes(head, 'text-right')}>
            Debit
          </th>
          <th scope="col" className={classes(head, 'text-right')}>
            Credit
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.account} ${row.currency}`} className="border-b last:border-b-0">
            <th scope="row" className="px-3 py-1.5 text-left font-mono sm:px-5 text-xs font-normal break-all">
              {row.account}
            </th>
            <td className={number}>
              <Side row={row} isDebit />
            </td>
            <td className={number}>
              <Side row={row} />
            </td>
          </tr>
        ))}
      </tbody>
      {hasTotal && first ? (
        <tfoot>
          <tr className="border-t border-line-strong/60 font-semibold">
            <th scope="row" className="px-3 py-2 text-left sm:px-5">
              Total
            </th>
            <td className={number}>
              <Money amount={debitSum(rows)} currency={first.currency} isBare />
            </td>
            <td className={number}>
              <Money amount={creditSum(rows)} currency={first.currency} isBare />
            </td>
          </tr>
        </tfoot>
      ) : null}
    </table>
  );
}

function Side({ row, isDebit = false }: { readonly row: SideRow; readonly isDebit?: boolean }) {
  const amount = BigInt(row.amount);
  if (amount === 0n && isDebit)
    return <Money amount={0} currency={row.currency} isBare className="text-faint" />;
  if (amount === 0n || amount > 0n !== isDebit) return null;
  return <Money amount={(isDebit ? amount : -amount).toString()} currency={row.currency} isBare />;
}
