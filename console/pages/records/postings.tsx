import type { Posting } from '../../generated/shapes.ts';
import { Money } from '../../parts/money.tsx';

/** The postings in a timeline item, whose data is untyped. */
export function postingsOf(data: unknown): readonly Posting[] {
  return Array.isArray(data) ? (data as readonly Posting[]) : [];
}

/** The postings of an entry: positive amounts in the debit column, negative ones in the credit column. */
export function Postings({ postings }: { readonly postings: readonly Posting[] }) {
  return (
    <table className="w-full text-sm">
      <caption className="sr-only">Postings</caption>
      <thead>
        <tr className="border-b text-left text-faint">
          <th scope="col" className="py-1 pr-3 font-medium">
            Account
          </th>
          <th scope="col" className="py-1 pl-3 text-right font-medium">
            Debit
          </th>
          <th scope="col" className="py-1 pl-3 text-right font-medium">
            Credit
          </th>
        </tr>
      </thead>
      <tbody>
        {postings.map(({ account, currency, amount }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry never changes, and may name an account twice
          <tr key={index} className="border-b last:border-b-0">
            <th scope="row" className="py-1 pr-3 text-left font-mono text-[0.75rem] font-normal break-all">
              {account}
            </th>
            <td className="py-1 pl-3 text-right">
              {amount > 0 ? <Money amount={amount} currency={currency} /> : null}
            </td>
            <td className="py-1 pl-3 text-right">
              {amount < 0 ? <Money amount={-amount} currency={currency} /> : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
