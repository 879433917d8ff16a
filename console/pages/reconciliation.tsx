import { CircleCheck, Scale } from 'lucide-react';
import { useFilters } from '../client/filters.ts';
import { useRead } from '../client/queries.ts';
import { useAllowed } from '../frame/session.tsx';
import type { Reconciliation as ReconciliationRecord } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { pluralize } from '../parts/text.ts';
import { DayChart } from './reconciliation/day-chart.tsx';
import { Lines, MismatchCard } from './reconciliation/lines.tsx';
import { Reports } from './reconciliation/reports.tsx';
import { lineCount, ResultTiles, results, Totals } from './reconciliation/results.tsx';

/** Compares the providers' settlement reports with the ledger. */
export function Reconciliation() {
  const [filters, setFilters] = useFilters('tab', 'result', 'date', 'currency', 'day');
  const { data, problem, refresh } = useRead<ReconciliationRecord>('app/developer_api_reconciliation', {
    limit: 1,
  });
  const change = (tab: string) =>
    setFilters({ tab: tab === 'mismatches' ? '' : tab, result: '', date: '', currency: '', day: '' });
  return (
    <>
      <PageHeader
        title="Reconciliation"
        description="The providers’ settlement reports compared with the ledger. The ledger is authoritative; a mismatch is always in the report."
      />
      {problem && data === undefined ? (
        <ProblemBanner problem={problem} onRetry={refresh} />
      ) : (
        <>
          <ResultTiles counts={data?.counts} />
          <Tabs
            label="Reconciliation"
            value={filters.tab ?? 'mismatches'}
            onChange={change}
            tabs={[
              { value: 'mismatches', label: 'Mismatches', content: <Mismatches data={data} /> },
              {
                value: 'lines',
                label: 'All lines',
                content: <Lines currencies={(data?.totals ?? []).map(({ currency }) => currency)} />,
              },
              { value: 'reports', label: 'Settlement reports', content: <Reports /> },
            ]}
          />
        </>
      )}
    </>
  );
}

function Mismatches({ data }: { readonly data: ReconciliationRecord | undefined }) {
  if (data === undefined) return <Skeleton className="h-72 w-full" />;
  const all = lineCount(data.counts);
  if (all === 0) return <NothingSettled />;
  const wrong = results.filter((result) => result !== 'matched' && data.counts[result] > 0);
  return (
    <div className="flex flex-col gap-5">
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <DayChart />
        <Totals totals={data.totals} />
      </div>
      {wrong.map((result) => (
        <MismatchCard key={result} result={result} count={data.counts[result]} />
      ))}
      {wrong.length === 0 ? (
        <p className="flex items-center gap-2.5 rounded-lg bg-good-soft px-5 py-4 font-medium text-good">
          <CircleCheck aria-hidden size={20} className="shrink-0" />
          {all === 1 ? 'The one line matches.' : `All ${pluralize(all, 'line')} match.`}
        </p>
      ) : null}
    </div>
  );
}

function NothingSettled() {
  const mayCreate = useAllowed('developer');
  return (
    <div className="rounded-lg border bg-surface">
      <EmptyState
        icon={<Scale aria-hidden size={20} />}
        title="No settlements yet"
        action={
          mayCreate ? (
            <Anchor to="payments" search={{ create: '1' }} className={buttonClass('primary')}>
              Create a payment
            </Anchor>
          ) : undefined
        }
      >
        Capture a payment, then advance the clock by two days: the provider pays it out and reports it.
        Scenarios such as <code className="font-mono text-sm">settle_short</code> cause mismatches.
      </EmptyState>
    </div>
  );
}
