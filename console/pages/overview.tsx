import { Rocket } from 'lucide-react';
import { useFilters } from '../client/filters.ts';
import { formatInstant } from '../client/now.ts';
import { useRead } from '../client/queries.ts';
import type { Overview as OverviewData } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { LatencyChart, RequestChart, StatusChart, VolumeChart, WebhookChart } from './overview/charts.tsx';
import { PeriodSwitch, periods } from './overview/period.tsx';
import { paymentCount } from './overview/statistics.ts';
import { Tiles, TilesSkeleton } from './overview/tiles.tsx';

const refreshMs = 30_000;
const daysDefault = '7';

/** Payments, deliveries and requests of the last days, in real time regardless of the application clock. */
export function Overview() {
  const [filters, setFilters] = useFilters('days', 'currency');
  const days = periods.some((period) => period.days === filters.days)
    ? (filters.days ?? daysDefault)
    : daysDefault;
  const { data, problem, isLoading, refresh } = useRead<OverviewData>(
    'app/overview',
    { days },
    { everyMs: refreshMs, keepPreviousData: true },
  );
  return (
    <>
      <PageHeader
        title="Overview"
        description={
          data === undefined
            ? 'Payments, webhooks and requests of the last days.'
            : `Since ${formatInstant(Date.parse(data.from), 'minute')}, in real time.`
        }
        actions={
          <PeriodSwitch
            days={days}
            onChange={(next) => setFilters({ days: next === daysDefault ? '' : next })}
          />
        }
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {isLoading ? <Loading /> : null}
      {data === undefined ? null : (
        <Content
          overview={data}
          currency={filters.currency}
          onCurrency={(currency) => setFilters({ currency })}
        />
      )}
    </>
  );
}

interface ContentProps {
  readonly overview: OverviewData;
  readonly currency: string | undefined;
  readonly onCurrency: (currency: string) => void;
}

function Content({ overview, currency, onCurrency }: ContentProps) {
  const { requests, webhooks } = overview;
  const deliveries = webhooks.succeeded + webhooks.failed + webhooks.pending;
  if (paymentCount(overview) + deliveries === 0) {
    return (
      <div className="flex flex-col gap-5">
        <NoActivity />
        {requests.count === 0 ? null : (
          <div className="grid gap-5 lg:grid-cols-2">
            <RequestChart overview={overview} />
            <LatencyChart overview={overview} />
          </div>
        )}
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-5">
      <Tiles overview={overview} />
      <div className="grid gap-5 lg:grid-cols-2">
        <VolumeChart overview={overview} currency={currency} onCurrency={onCurrency} />
        <StatusChart overview={overview} />
        <WebhookChart overview={overview} />
        <RequestChart overview={overview} />
        <LatencyChart overview={overview} />
      </div>
    </div>
  );
}

function NoActivity() {
  return (
    <div className="rounded-lg border bg-surface">
      <EmptyState
        icon={<Rocket aria-hidden size={20} />}
        title="No payments in this period"
        action={
          <Anchor to="start" className={buttonClass('primary')}>
            Open the quick start
          </Anchor>
        }
      >
        Payments, webhook deliveries and API requests are counted here. The quick start creates a first
        payment in a minute.
      </EmptyState>
    </div>
  );
}

function Loading() {
  return (
    <div role="status" className="flex flex-col gap-5">
      <span className="sr-only">Loading the overview</span>
      <TilesSkeleton />
      <div className="grid gap-5 lg:grid-cols-2">
        <Skeleton className="h-72 w-full" />
        <Skeleton className="h-72 w-full" />
      </div>
    </div>
  );
}
