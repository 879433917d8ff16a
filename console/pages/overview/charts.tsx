import { lazy } from 'react';
import { useExponent } from '../../client/currencies.ts';
import { Select } from '../../parts/field.tsx';
import { toneOf } from '../../parts/status-badge.tsx';
import { count, sentence } from '../../parts/words.ts';
import { ChartCard, ChartFrame } from '../charts/chart-card.tsx';
import { FigureTable } from '../charts/figure-table.tsx';
import { colors, compactWords, percentWords, type Series } from '../charts/point.ts';
import {
  type Figures,
  latencyPoints,
  millisecondWords,
  paymentCount,
  requestPoints,
  volumePoints,
  volumes,
  webhookPoints,
} from './figures.ts';

const Shares = lazy(() => import('../charts/shares.tsx'));

interface ChartProps {
  readonly overview: Figures;
}

const volumeSeries: readonly Series[] = [
  { key: 'amount', label: 'Volume', mark: 'bar', color: colors.accent },
];

/** One currency at a time: amounts of different currencies have no common axis. */
export function VolumeChart({
  overview,
  currency: asked,
  onCurrency,
}: ChartProps & { readonly currency: string | undefined; readonly onCurrency: (currency: string) => void }) {
  const found = volumes(overview);
  const currency = found.some((one) => one.currency === asked)
    ? (asked ?? '')
    : (found[0]?.currency ?? 'EUR');
  const exponent = useExponent(currency);
  const sum = found.find((one) => one.currency === currency);
  return (
    <ChartCard
      title="Volume"
      summary={
        sum === undefined
          ? 'What was asked for'
          : `Asked for by ${count(sum.count, 'payment')} in ${currency}`
      }
      className="lg:col-span-2"
      controls={
        found.length > 1 ? (
          <Select
            aria-label="Currency of the volume"
            value={currency}
            options={found.map((one) => one.currency)}
            onChange={(event) => onCurrency(event.currentTarget.value)}
            className="w-24"
          />
        ) : null
      }
      points={volumePoints(overview, currency, exponent)}
      series={volumeSeries}
      tickWords={(value) => compactWords(value / 10 ** exponent)}
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
      summary="Where the payments of this period are now"
      isEmpty={byStatus.length === 0}
      empty="No payments in this period."
      chart={
        <Shares
          rows={byStatus.map(({ status, count: number }) => ({
            name: sentence(status),
            count: number,
            words: number.toLocaleString('en'),
            color: toneColors[toneOf(status)],
          }))}
        />
      }
      table={
        <FigureTable
          caption="Payments by status"
          head={['Status', 'Payments', 'Share']}
          rows={byStatus.map((row) => [
            sentence(row.status),
            row.count.toLocaleString('en'),
            percentWords(row.count, all),
          ])}
        />
      }
    />
  );
}

const webhookSeries: readonly Series[] = [
  { key: 'succeeded', label: 'Succeeded', mark: 'bar', color: colors.good, stack: 'deliveries' },
  { key: 'failed', label: 'Failed', mark: 'bar', color: colors.bad, stack: 'deliveries' },
];

export function WebhookChart({ overview }: ChartProps) {
  const { succeeded, failed, pending } = overview.webhooks;
  return (
    <ChartCard
      title="Webhook deliveries"
      summary={`${count(succeeded, 'delivery', 'deliveries')} succeeded, ${failed.toLocaleString('en')} failed, ${pending.toLocaleString('en')} pending`}
      points={webhookPoints(overview)}
      series={webhookSeries}
      isEmpty={succeeded + failed === 0}
      empty={
        pending > 0 ? 'Deliveries are on their way; none has ended yet.' : 'No deliveries in this period.'
      }
    />
  );
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
          ? `${count(all, 'request')}, of which ${notKept.toLocaleString('en')} were counted and not kept in the log`
          : `${count(all, 'request')} and the share that was refused or failed`
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
      summary={`Half of the answers within ${millisecondWords(p50Ms)}, 95% within ${millisecondWords(p95Ms)}`}
      points={latencyPoints(overview)}
      series={latencySeries}
      isEmpty={all === 0}
      empty="No requests in this period."
    />
  );
}
