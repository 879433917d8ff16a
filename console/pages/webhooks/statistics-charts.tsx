import { useFilters } from '../../client/filters.ts';
import { useRead } from '../../client/queries.ts';
import type { WebhookStatistics } from '../../generated/shapes.ts';
import { lazyPart } from '../../parts/lazy-part.ts';
import { ProblemBanner } from '../../parts/problem.tsx';
import { SegmentedControl } from '../../parts/segmented-control.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { pluralize } from '../../parts/text.ts';
import { ChartCard, ChartFrame } from '../charts/chart-card.tsx';
import { ChartTable } from '../charts/chart-table.tsx';
import { colors, formatPercent, type Series } from '../charts/point.ts';
import {
  attemptPoints,
  latencyPoints,
  milliseconds,
  rangeFrom,
  ranges,
  type Totals,
  totalsOf,
} from './statistics.ts';

const CategoryBars = lazyPart(() => import('../charts/category-bars.tsx'));

const attemptSeries: readonly Series[] = [
  { key: 'succeeded', label: 'Succeeded', mark: 'bar', color: colors.good, stack: 'attempts' },
  { key: 'failed', label: 'Failed', mark: 'bar', color: colors.bad, stack: 'attempts' },
  { key: 'rate', label: 'Success rate', mark: 'line', color: colors.accent, isShare: true },
];
const latencySeries: readonly Series[] = [
  { key: 'p50', label: 'Median (p50)', mark: 'line', color: colors.accent },
  { key: 'p95', label: '95th percentile (p95)', mark: 'line', color: colors.warn, isDashed: true },
];
const classes = [
  ['2xx', '2xx', colors.good],
  ['3xx', '3xx', colors.note],
  ['4xx', '4xx', colors.warn],
  ['5xx', '5xx', colors.bad],
  ['noResponse', 'No response', colors.quiet],
] as const;

const empty = 'No attempts in this period.';

/** The attempts of an endpoint over time. Each attempt counts: a retry that succeeds does not hide the failure before it. */
export function AttemptStatistics({ webhookId }: { readonly webhookId: string }) {
  const [filters, setFilters] = useFilters('range');
  const range = rangeFrom(filters.range);
  const { data, problem, refresh } = useRead<WebhookStatistics>(
    `app/webhooks/${webhookId}/statistics`,
    { range },
    { keepPreviousData: true },
  );
  return (
    <section aria-labelledby="statistics" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="statistics" className="text-lg font-semibold">
          Attempts
        </h2>
        <SegmentedControl
          legend="Period, in real time"
          value={range}
          options={ranges}
          onChange={(next) => setFilters({ range: next === '24h' ? '' : next })}
        />
      </div>
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-[22rem] w-full" /> : null}
      {data ? <Charts statistics={data} /> : null}
    </section>
  );
}

function Charts({ statistics }: { readonly statistics: WebhookStatistics }) {
  const totals = totalsOf(statistics);
  const { succeeded, failed } = totals;
  const all = succeeded + failed;
  const isEmpty = all === 0;
  return (
    <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-[1.3fr_1.3fr_1fr]">
      <ChartCard
        title="Success rate"
        summary={
          isEmpty
            ? 'Attempts that the receiver accepted'
            : `${formatPercent(succeeded, all)} of ${pluralize(all, 'attempt')} succeeded, ${failed.toLocaleString('en')} failed${statistics.isCapped ? ' (newest only)' : ''}`
        }
        points={attemptPoints(statistics)}
        series={attemptSeries}
        isEmpty={isEmpty}
        empty={empty}
      />
      <ChartCard
        title="Latency in ms"
        summary={
          isEmpty ? 'Until the receiver responded' : `95th percentile up to ${milliseconds(totals.p95Ms)}`
        }
        points={latencyPoints(statistics)}
        series={latencySeries}
        isEmpty={isEmpty}
        empty={empty}
      />
      <ResponseClasses totals={totals} all={all} />
    </div>
  );
}

function ResponseClasses({ totals, all }: { readonly totals: Totals; readonly all: number }) {
  const rows = classes.map(([key, name, color]) => ({ name, color, count: totals.byClass[key] }));
  return (
    <ChartFrame
      title="Responses"
      summary="Attempts by class of the response"
      isEmpty={all === 0}
      empty={empty}
      className="lg:max-xl:col-span-2"
      chart={<CategoryBars rows={rows.map((row) => ({ ...row, label: row.count.toLocaleString('en') }))} />}
      table={
        <ChartTable
          caption="Attempts by class of the response"
          head={['Response', 'Attempts', 'Share']}
          rows={rows.map(({ name, count }) => [name, count.toLocaleString('en'), formatPercent(count, all)])}
        />
      }
    />
  );
}
