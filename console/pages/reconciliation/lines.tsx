import { Scale } from 'lucide-react';
import { useFilters } from '../../client/filters.ts';
import { type PagedList, useList, useRead } from '../../client/queries.ts';
import type { Reconciliation, ReconciliationLine, ReconciliationLineStatus } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Card } from '../../parts/card.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterBar, FilterDay, FilterSelect } from '../../parts/filter-bar.tsx';
import { Money } from '../../parts/money.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { ShortLink } from '../log/short-link.tsx';
import { Difference, meanings, results } from './results.tsx';

const columns: readonly Column<ReconciliationLine>[] = [
  { header: 'Day', cell: ({ date }) => <span className="tabular-nums">{date}</span> },
  {
    header: 'Record',
    cell: ({ paymentId, transferId }) => {
      const id = paymentId ?? transferId;
      return id === null ? <span className="text-faint">Unknown record</span> : <ShortLink id={id} />;
    },
  },
  {
    header: 'Provider',
    isExtra: true,
    cell: ({ provider, providerTransactionId }) => (
      <span className="block text-xs" title={providerTransactionId}>
        {sentenceCase(provider)}
        <span className="block font-mono text-muted">{providerTransactionId.slice(0, 12)}…</span>
      </span>
    ),
  },
  {
    header: 'Ledger net',
    align: 'right',
    cell: ({ ledger, currency }) => <Net side={ledger} currency={currency} />,
  },
  {
    header: 'Reported net',
    align: 'right',
    cell: ({ reported, currency }) => <Net side={reported} currency={currency} />,
  },
  {
    header: 'Difference',
    align: 'right',
    cell: ({ difference, currency }) => (
      <>
        <Difference amount={difference} currency={currency} /> <span className="text-muted">{currency}</span>
      </>
    ),
  },
];

const withResult: readonly Column<ReconciliationLine>[] = [
  ...columns.slice(0, 1),
  { header: 'Result', cell: ({ result }) => <StatusBadge status={result} /> },
  ...columns.slice(1),
];

function Net({
  side,
  currency,
}: {
  readonly side: { readonly net: number } | null;
  readonly currency: string;
}) {
  if (side === null) return <span className="text-faint">None</span>;
  return <Money amount={side.net} currency={currency} isBare />;
}

const shownOfEach = 5;

/** The newest lines with one mismatch result. */
export function MismatchCard({
  result,
  count,
}: {
  readonly result: ReconciliationLineStatus;
  readonly count: number;
}) {
  const { data, isLoading, problem } = useRead<Reconciliation>('app/developer_api_reconciliation', {
    result,
    limit: shownOfEach,
  });
  return (
    <Card
      isFlush
      title={
        <>
          {sentenceCase(result)}
          <span className="ml-2 font-normal text-faint tabular-nums">{count.toLocaleString('en')}</span>
        </>
      }
      description={meanings[result]}
    >
      <Table
        isFlush
        caption={sentenceCase(result)}
        columns={columns}
        rows={data?.data ?? []}
        rowKey={({ id }) => id}
        isLoading={isLoading}
        problem={problem}
        footer={
          count > shownOfEach ? (
            <p className="border-t px-5 py-2.5 text-sm">
              <Anchor to="reconciliation" search={{ tab: 'lines', result }}>
                Show all {count.toLocaleString('en')}
                <span className="sr-only"> of {sentenceCase(result)}</span>
              </Anchor>
            </p>
          ) : null
        }
      />
    </Card>
  );
}

/** All lines, with filters. */
export function Lines({ currencies }: { readonly currencies: readonly string[] }) {
  const [filters, setFilters] = useFilters('date', 'result', 'currency');
  const list = useList<ReconciliationLine>('app/developer_api_reconciliation', filters);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <FilterBar
        onClear={isFiltered ? () => setFilters({ date: '', result: '', currency: '' }) : undefined}
        actions={
          <ExportButton path="app/developer_api_reconciliation" filters={filters} name="reconciliation" />
        }
      >
        <FilterSelect
          label="Result"
          value={filters.result}
          onChange={(result) => setFilters({ result })}
          options={results.map((value) => ({ value, label: sentenceCase(value) }))}
        />
        <FilterDay label="Day" value={filters.date} onChange={(date) => setFilters({ date })} />
        <FilterSelect
          label="Currency"
          value={filters.currency}
          onChange={(currency) => setFilters({ currency })}
          options={currencies}
        />
      </FilterBar>
      <LineTable list={list} isFiltered={isFiltered} />
    </>
  );
}

function LineTable({
  list,
  isFiltered,
}: {
  readonly list: PagedList<ReconciliationLine>;
  readonly isFiltered: boolean;
}) {
  return (
    <Table
      caption="Reconciliation lines"
      columns={withResult}
      list={list}
      rowKey={({ id }) => id}
      empty={
        <EmptyState
          icon={<Scale aria-hidden size={20} />}
          title={isFiltered ? 'No lines match these filters' : 'No settlements yet'}
        >
          {isFiltered
            ? 'Remove a filter to see more.'
            : 'Captured payments are paid out at 06:00 UTC on the application clock: advance it by two days.'}
        </EmptyState>
      }
    />
  );
}
