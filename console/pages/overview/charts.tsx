import { exponentOf } from '../../client/amount.ts';
import type { Overview } from '../../generated/shapes.ts';
import { Select } from '../../parts/field.tsx';
import { lazyPart } from '../../parts/lazy-part.ts';
import { toneOf } from '../../parts/status-badge.tsx';
import { pluralize, sentenceCase } from '../../parts/text.ts';
import { ChartCard, ChartFrame } from '../charts/chart-card.tsx';
import { ChartTable } from '../charts/chart-table.tsx';
import { colors, formatCompact, formatPercent, type Series } from '../charts/point.ts';
import {
  formatMilliseconds,
  latencyPoints,
  paymentCount,
  requestPoints,
  volumePoints,
  volumes,
  webhookPoints,
} from './statistics.ts';

const CategoryBars = lazyPart(() => import('../charts/category-bars.tsx'));

interface ChartProps {
  readonly overview: Overview;
}

const volumeSeries: readonly Series[] = [
  { key: 'amount', label: 'Volume', mark: 'bar', color: colors.accent },
];

/** One currency at a time: amounts in different currencies have no common axis. */
export function VolumeChart({
  overview,
  currency: preferred,
  onCurrency,
}: ChartProps & { readonly currency: string | undefined; readonly onCurrency: (currency: string) => void }) {
  const totals = volumes(overview);
  const currency = totals.some((one) => one.currency === preferred)
    ? (preferred ?? '')
    : (totals[0]?.currency ?? 'EUR');
  const sum = totals.find((one) => one.currency === currency);
  return (
    <ChartCard
      title="Volume"
      summary={
        sum === undefined
          ? 'Requested amounts'
          : `${pluralize(sum.count, `${currency} payment`)}, requested amounts`
      }
      className="xl:col-span-2 xl:row-start-1"
      controls={
        totals.length > 1 ? (
          <Select
            aria-label="Volume currency"
            value={currency}
            options={totals.map((one) => one.currency)}
            onChange={(event) => onCurrency(event.currentTarget.value)}
            className="w-24"
          />
        ) : null
      }
      points={volumePoints(overview, currency)}
      series={volumeSeries}
      formatTick={(value) => formatCompact(value / 10 ** exponentOf(currency))}
      isEmpty={sum === undefined}
      empty="No payments in this period."
    />
  );
}

const toneColors = {
  good: colors.good,
  bad: colors.bad,
  warn: colors.warn,
  note: colors.note,
  quiet: colors.quiet,
} as const;

export function StatusChart({ overview }: ChartProps) {
  const { byStatus } = overview.payments;
  const all = paymentCount(overview);
  return (
    <ChartFrame
      title="Payments by status"
      summary="By their current status"
      isEmpty={byStatus.length === 0}
      empty="No payments in this period."
      chart={
        <CategoryBars
          rows={byStatus.map(({ status, count: number }) => ({
            name: sentenceCase(status),
            count: number,
            label: number.toLocaleString('en'),
            color: toneColors[toneOf(status)],
          }))}
        />
      }
      table={
        <ChartTable
          caption="Payments by status"
          head={['Status', 'Payments', 'Share']}
          rows={byStatus.map((row) => [
            sentenceCase(row.status),
            row.count.toLocaleString('en'),
            formatPercent(row.count, all),
          ])}
        />
      }
    />
  );
}

const webhookSeries: readonly Series[] = [
  { key: 'succeeded', label: 'Succeeded', mark: 'bar', color: colors.good, stack: 'attempts' },
  { key: 'failed', label: 'Failed', mark: 'bar', color: colors.bad, stack: 'attempts' },
];

export function WebhookChart({ overview }: ChartProps) {
  const { succeeded, failed, pending } = overview.webhooks;
  return (
    <ChartCard
      title="Webhook attempts"
      summary={`${succeeded.toLocaleString('en')} succeeded, ${failed.toLocaleString('en')} failed, ${pluralize(pending, 'delivery', 'deliveries')} pending`}
      points={webhookPoints(overview)}
      series={webhookSeries}
      isEmpty={succeeded + failed === 0}
      empty={pending > 0 ? 'Deliveries are pending; none has an attempt yet.' : 'No attempts in this period.'}
    />
  );
}

/** Requests have no sandbox time: their charts say so if the others are in sandbox time. */
function realTime({ time }: Overview): string {
  return time === 'sandbox' ? ' (real time)' : '';
}

const requestSeries: readonly Series[] = [
  { key: 'count', label: 'Requests', mark: 'bar', color: colors.note },
  { key: 'share', label: 'Error rate', mark: 'line', color: colors.bad, isShare: true },
];

export function RequestChart({ overview }: ChartProps) {
  const { count: all, notKept } = overview.requests;
  return (
    <ChartCard
      title="Requests"
      summary={
        notKept > 0
          ? `${pluralize(all, 'request')}, of which ${notKept.toLocaleString('en')} were counted but not logged`
          : `${pluralize(all, 'request')} and the share with errors${realTime(overview)}`
      }
      points={requestPoints(overview)}
      series={requestSeries}
      isEmpty={all === 0}
      empty="No requests in this period."
    />
  );
}

const latencySeries: readonly Series[] = [
  { key: 'p50', label: 'Median (p50)', mark: 'line', color: colors.accent },
  { key: 'p95', label: '95th percentile (p95)', mark: 'line', color: colors.warn, isDashed: true },
];

export function LatencyChart({ overview }: ChartProps) {
  const { count: all, p50Ms, p95Ms } = overview.requests;
  return (
    <ChartCard
      title="Latency in ms"
      summary={`50% within ${formatMilliseconds(p50Ms)}, 95% within ${formatMilliseconds(p95Ms)}${realTime(overview)}`}
      points={latencyPoints(overview)}
      series={latencySeries}
      isEmpty={all === 0}
      empty="No requests in this period."
    />
  );
}
