import type { Reconciliation, ReconciliationLineStatus } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Card } from '../../parts/card.tsx';
import { Money } from '../../parts/money.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { formatPercent } from '../charts/point.ts';

export const results: readonly ReconciliationLineStatus[] = [
  'matched',
  'amount_mismatch',
  'missing_at_provider',
  'missing_in_ledger',
  'duplicate',
];

export const meanings: Readonly<Record<ReconciliationLineStatus, string>> = {
  matched: 'Ledger and report agree.',
  amount_mismatch: 'The reported amount differs from the ledger.',
  missing_at_provider: 'In the ledger but not in the report.',
  missing_in_ledger: 'In the report but not in the ledger.',
  duplicate: 'Reported more than once.',
};

type Counts = Reconciliation['counts'];

export function lineCount(counts: Counts): number {
  return results.reduce((sum, result) => sum + counts[result], 0);
}

/** The number of lines per result, each with a link to the lines. */
export function ResultTiles({ counts }: { readonly counts: Counts | undefined }) {
  const all = counts === undefined ? 0 : lineCount(counts);
  return (
    <ul className="mb-6 grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-5">
      {results.map((result) => (
        <li key={result} className="relative rounded-lg border bg-surface px-4 py-3.5 hover:bg-hover">
          <Anchor
            to="reconciliation"
            search={{ tab: 'lines', result }}
            className="after:absolute after:inset-0 after:rounded-lg focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-accent"
          >
            <StatusBadge status={result} />
          </Anchor>
          {counts === undefined ? (
            <Skeleton className="mt-2 h-7 w-16" />
          ) : (
            <p className="mt-1.5 text-xl font-semibold tabular-nums">
              {counts[result].toLocaleString('en')}
              <span className="ml-2 text-sm font-normal text-faint">
                {formatPercent(counts[result], all)}
              </span>
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

type Total = Reconciliation['totals'][number];

const columns: readonly Column<Total>[] = [
  { header: 'Currency', cell: ({ currency }) => currency },
  { header: 'Lines', align: 'right', cell: ({ lines }) => lines.toLocaleString('en') },
  {
    header: 'Ledger net',
    align: 'right',
    cell: ({ ledger, currency }) => <Money amount={ledger.net} currency={currency} isBare />,
  },
  {
    header: 'Reported net',
    align: 'right',
    cell: ({ reported, currency }) => <Money amount={reported.net} currency={currency} isBare />,
  },
  {
    header: 'Difference',
    align: 'right',
    cell: ({ difference, currency }) => <Difference amount={difference} currency={currency} />,
  },
];

/** Ledger and reported totals per currency. */
export function Totals({ totals }: { readonly totals: Reconciliation['totals'] }) {
  return (
    <Card isFlush title="Ledger and reports" description="Net amounts over all lines">
      <Table
        isFlush
        caption="Totals by currency"
        columns={columns}
        rows={totals}
        rowKey={({ currency }) => currency}
      />
    </Card>
  );
}

export function Difference({
  amount,
  currency,
}: {
  readonly amount: number | string;
  readonly currency: string;
}) {
  const isZero = BigInt(amount) === 0n;
  return (
    <Money
      amount={amount}
      currency={currency}
      isBare
      className={isZero ? 'text-faint' : 'font-medium text-bad'}
    />
  );
}
