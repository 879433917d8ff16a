import type { ReactNode } from 'react';
import { amountText } from '../../client/amount.ts';
import type { Overview } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Money } from '../../parts/money.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { pluralize } from '../../parts/text.ts';
import { colors, formatPercent } from '../charts/point.ts';
import { Sparkline, type SparklineProps } from '../charts/sparkline.tsx';
import {
  completedPayments,
  errorCount,
  formatMilliseconds,
  paymentCount,
  trendsOf,
  volumes,
} from './statistics.ts';

interface TileProps {
  readonly label: string;
  readonly value: ReactNode;
  /** One line, truncated: all tiles have the same height. */
  readonly hint: ReactNode;
  readonly trend: SparklineProps;
}

const tile =
  'grid min-w-0 grid-cols-1 content-start rounded-lg border bg-surface px-4 py-3 sm:grid-cols-[minmax(0,1fr)_6.5rem] sm:gap-x-4';

function Tile({ label, value, hint, trend }: TileProps) {
  return (
    <div className={tile}>
      <dt className="truncate text-sm text-muted">{label}</dt>
      <dd className="mt-0.5 text-xl font-semibold tracking-[-0.01em] tabular-nums max-sm:text-lg sm:col-start-1">
        {value}
      </dd>
      <dd className="mt-0.5 truncate text-sm text-faint sm:col-start-1">{hint}</dd>
      <dd
        aria-hidden="true"
        className="mt-2 self-end sm:col-start-2 sm:row-span-3 sm:row-start-1 sm:mt-0 sm:mb-1.5"
      >
        <Sparkline {...trend} />
      </dd>
    </div>
  );
}

const grid = 'grid grid-cols-2 gap-3 xl:grid-cols-3';
// A monthly total may be wider than a phone.
const wrapping = 'whitespace-normal! [overflow-wrap:anywhere]';

export function Tiles({ overview }: { readonly overview: Overview }) {
  const { succeeded, all } = completedPayments(overview);
  const { webhooks, requests } = overview;
  const attempts = webhooks.succeeded + webhooks.failed;
  const errors = errorCount(overview);
  const trends = trendsOf(overview);
  return (
    <dl aria-label="Statistics" className={grid}>
      <Tile
        label="Payments"
        value={paymentCount(overview).toLocaleString('en')}
        hint={
          overview.payments.isCapped ? 'Newest payments only' : <Anchor to="payments">All payments</Anchor>
        }
        trend={{ values: trends.payments, color: colors.accent }}
      />
      <Tile
        label="Volume"
        value={<Volume overview={overview} />}
        hint={otherVolumes(overview)}
        trend={{ values: trends.volume, color: colors.accent }}
      />
      <Tile
        label="Payment success"
        value={formatPercent(succeeded, all)}
        hint={
          all === 0
            ? 'None completed yet'
            : `${succeeded.toLocaleString('en')} of ${all.toLocaleString('en')} completed`
        }
        trend={{ values: trends.paymentSuccess, max: 1, color: colors.good }}
      />
      <Tile
        label="Webhook success"
        value={formatPercent(webhooks.succeeded, attempts)}
        hint={
          webhooks.failed === 0
            ? pluralize(attempts, 'attempt')
            : `${webhooks.failed.toLocaleString('en')} of ${attempts.toLocaleString('en')} failed`
        }
        trend={{ values: trends.webhookSuccess, max: 1, color: colors.good }}
      />
      <Tile
        label="Error rate"
        value={formatPercent(errors, requests.count)}
        hint={
          errors === 0 ? (
            pluralize(requests.count, 'request')
          ) : (
            <Anchor to="requests" search={{ tab: 'errors' }}>
              {pluralize(errors, 'error')} in {pluralize(requests.count, 'request')}
            </Anchor>
          )
        }
        trend={{ values: trends.errorRate, max: 1, color: colors.bad }}
      />
      <Tile
        label="Median latency"
        value={formatMilliseconds(requests.count === 0 ? null : requests.p50Ms)}
        hint={`95% within ${formatMilliseconds(requests.count === 0 ? null : requests.p95Ms)}`}
        trend={{ values: trends.latency, color: colors.note }}
      />
    </dl>
  );
}

function Volume({ overview }: { readonly overview: Overview }) {
  const [first] = volumes(overview);
  return first === undefined ? (
    '—'
  ) : (
    <Money amount={first.amount} currency={first.currency} className={wrapping} />
  );
}

/** 'and 63.00 GBP, 2 more'; the chart shows each of them. */
function otherVolumes(overview: Overview): string {
  const [, next, ...more] = volumes(overview);
  if (next === undefined) return 'Requested amounts';
  const text = amountText(next.amount, next.currency);
  return more.length === 0 ? `and ${text}` : `and ${text}, ${more.length} more`;
}

const tilesWhileLoading = ['payments', 'volume', 'success', 'webhooks', 'errors', 'latency'];

export function TilesSkeleton() {
  return (
    <div className={grid}>
      {tilesWhileLoading.map((name) => (
        <div key={name} className={tile}>
          <Skeleton className="h-4 w-20" />
          <Skeleton className="mt-1.5 h-6 w-28 max-w-full sm:col-start-1" />
          <Skeleton className="mt-1.5 h-4 w-24 max-w-full sm:col-start-1" />
        </div>
      ))}
    </div>
  );
}
