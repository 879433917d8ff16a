import { useQueries } from '@tanstack/react-query';
import { keys, type List, useRead } from '../../client/queries.ts';
import { get } from '../../client/request.ts';
import { useScope } from '../../client/scope.ts';
import type { Reconciliation, ReconciliationLineStatus, Settlement } from '../../generated/shapes.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { pluralize, sentenceCase } from '../../parts/text.ts';
import { ChartCard } from '../charts/chart-card.tsx';
import { colors, type Point, type Series } from '../charts/point.ts';
import { results } from './results.tsx';

const daysMax = 14;
const dayAndMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const path = 'app/developer_api_reconciliation';

const resultColors: Readonly<Record<ReconciliationLineStatus, string>> = {
  matched: colors.good,
  amount_mismatch: colors.bad,
  missing_at_provider: colors.warn,
  missing_in_ledger: colors.note,
  duplicate: colors.quiet,
};

const series: readonly Series[] = results.map((result) => ({
  key: result,
  label: sentenceCase(result),
  mark: 'bar',
  color: resultColors[result],
  stack: 'lines',
}));

/** Results of the newest days that have a report. The API counts one day per request, so each day is a separate query. */
export function DayChart() {
  const scope = useScope();
  const { data } = useRead<List<Settlement>>('app/developer_api_settlements', { limit: daysMax });
  const days = (data?.data ?? []).map(({ date }) => date).reverse();
  const dayQueries = useQueries({
    queries: days.map((date) => {
      const query = { date, limit: 1 };
      return {
        queryKey: keys.read(path, scope, query),
        queryFn: ({ signal }: { signal: AbortSignal }) => get<Reconciliation>(path, query, scope, signal),
        staleTime: 30_000,
      };
    }),
  });
  if (data === undefined || dayQueries.some(({ isPending }) => isPending)) {
    return <Skeleton className="h-72 w-full" />;
  }
  const points = days.map((date, index) => pointOf(date, dayQueries[index]?.data));
  return (
    <ChartCard
      title="Results by day"
      summary={`The newest ${pluralize(days.length, 'day')} with a settlement report`}
      pointLabel="Day"
      points={points}
      series={series}
    />
  );
}

function pointOf(date: string, reconciliation: Reconciliation | undefined): Point {
  const numbers = results.map((result) => [result, reconciliation?.counts[result] ?? 0] as const);
  return {
    name: dayAndMonth.format(Date.parse(date)),
    title: date,
    values: Object.fromEntries(numbers),
    labels: Object.fromEntries(numbers.map(([result, number]) => [result, number.toLocaleString('en')])),
  };
}
