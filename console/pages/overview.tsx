import { ChartNoAxesColumn } from 'lucide-react';
import { useFilters } from '../client/filters.ts';
import { useRead } from '../client/queries.ts';
import type { Event, Overview as OverviewData } from '../generated/shapes.ts';
import { Anchor } from '../parts/anchor.tsx';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { ProblemBanner } from '../parts/problem.tsx';
import { Skeleton } from '../parts/skeleton.tsx';
import { pluralize } from '../parts/text.ts';
import { AttentionCard, type AttentionItems, useAttention } from './overview/attention.tsx';
import { LatencyChart, RequestChart, StatusChart, VolumeChart, WebhookChart } from './overview/charts.tsx';
import { FirstPayment } from './overview/first-payment.tsx';
import { RecentEventsCard, useRecentEvents } from './overview/recent-events.tsx';
import { paymentCount } from './overview/statistics.ts';
import { type OverviewFilters, rangeLabels, Switches, timeLabels } from './overview/switches.tsx';
import { Tiles, TilesSkeleton } from './overview/tiles.tsx';

const refreshMs = 15_000;

/** Payments, deliveries and requests of a range, what needs attention, and the newest events. */
export function Overview() {
  const [filters, setFilters] = useFilters('range', 'time', 'currency');
  const { range, time } = filters;
  const { data, problem, refresh } = useRead<OverviewData>(
    'app/overview',
    { range, time },
    { everyMs: refreshMs, keepPreviousData: true },
  );
  const attention = useAttention();
  const events = useRecentEvents();
  const isLoaded = data !== undefined && events !== undefined && (attention.items ?? attention.problem);
  return (
    <>
      <PageHeader
        title="Overview"
        description={data?.isEmpty ? 'Nothing has happened yet.' : <Description overview={data} />}
        actions={
          data?.isEmpty ? undefined : <Switches filters={filters} range={data?.range} time={data?.time} />
        }
      />
      {problem && data === undefined ? (
        <ProblemBanner problem={problem} onRetry={refresh} />
      ) : !isLoaded ? (
        <Loading />
      ) : data.isEmpty ? (
        <FirstPayment />
      ) : (
        <Content
          overview={data}
          attention={attention}
          events={events}
          filters={filters}
          onCurrency={(currency) => setFilters({ currency })}
        />
      )}
    </>
  );
}

function Description({ overview }: { readonly overview: OverviewData | undefined }) {
  if (overview === undefined) return 'Payments, webhooks and requests.';
  const { ahead, isCapped } = overview.payments;
  return (
    <>
      Last {rangeLabels[overview.range]}, {timeLabels[overview.time].toLowerCase()}.
      {isCapped ? ' Only the newest payments are counted.' : ''}
      {ahead > 0 ? (
        <>
          {' '}
          {pluralize(ahead, 'payment')} dated after the application clock{' '}
          <Anchor to="" search={{ time: 'real' }}>
            {ahead === 1 ? 'is' : 'are'} shown in real time
          </Anchor>
          .
        </>
      ) : null}
    </>
  );
}

interface ContentProps {
  readonly overview: OverviewData;
  readonly attention: AttentionItems;
  readonly events: readonly Event[];
  readonly filters: OverviewFilters;
  readonly onCurrency: (currency: string) => void;
}

function Content({ overview, attention, events, filters, onCurrency }: ContentProps) {
  const { succeeded, failed, pending } = overview.webhooks;
  const isQuiet = paymentCount(overview) + succeeded + failed + pending === 0;
  return (
    <div className="flex flex-col gap-4">
      {isQuiet ? null : <Tiles overview={overview} />}
      <div className="grid gap-4 xl:grid-cols-3">
        <AttentionCard {...attention} className="xl:col-start-3 xl:row-start-1" />
        {isQuiet ? (
          <NothingInRange overview={overview} filters={filters} />
        ) : (
          <VolumeChart overview={overview} currency={filters.currency} onCurrency={onCurrency} />
        )}
        <RecentEventsCard events={events} className="xl:col-span-2" />
        {isQuiet ? null : (
          <>
            <StatusChart overview={overview} />
            <WebhookChart overview={overview} />
          </>
        )}
        {overview.requests.count === 0 ? null : (
          <>
            <RequestChart overview={overview} />
            <LatencyChart overview={overview} />
          </>
        )}
      </div>
    </div>
  );
}

/** The organization has records, but none of them is in the chosen range. */
function NothingInRange({ overview, filters }: Pick<ContentProps, 'overview' | 'filters'>) {
  const { range, time } = overview;
  const other = time === 'sandbox' ? 'real' : 'sandbox';
  return (
    <div className="rounded-lg border bg-surface xl:col-span-2 xl:row-start-1">
      <EmptyState
        icon={<ChartNoAxesColumn aria-hidden size={20} />}
        title={`No payments in the last ${rangeLabels[range]}`}
        action={
          <>
            {range === '30d' ? null : (
              <Anchor to="" search={{ ...filters, range: '30d' }} className={buttonClass('primary')}>
                Show the last 30 days
              </Anchor>
            )}
            <Anchor to="" search={{ ...filters, time: other }} className={buttonClass()}>
              Show {timeLabels[other].toLowerCase()}
            </Anchor>
          </>
        }
      >
        The records of this organization are older, or dated by another clock.
      </EmptyState>
    </div>
  );
}

function Loading() {
  return (
    <div role="status" className="flex flex-col gap-4">
      <span className="sr-only">Loading the overview</span>
      <TilesSkeleton />
      <div className="grid gap-4 xl:grid-cols-3">
        <Skeleton className="h-80 w-full xl:col-span-2" />
        <Skeleton className="h-80 w-full" />
      </div>
    </div>
  );
}
