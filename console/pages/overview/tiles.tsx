import type { ReactNode } from 'react';
import type { Overview } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Money } from '../../parts/money.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { pluralize } from '../../parts/text.ts';
import { formatPercent } from '../charts/point.ts';
import { completedPayments, errorCount, formatMilliseconds, paymentCount, volumes } from './statistics.ts';

interface TileProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly hint: ReactNode;
}

function Tile({ label, value, hint }: TileProps) {
  return (
    <div className="flex min-w-0 flex-col rounded-lg border bg-surface px-4 py-3.5">
      <dt className="text-sm text-muted">{label}</dt>
      <dd className="mt-1 text-xl font-semibold tracking-[-0.01em] tabular-nums">{value}</dd>
      <dd className="mt-auto pt-1 text-sm text-faint">{hint}</dd>
    </div>
  );
}

const grid = 'grid grid-cols-2 gap-3 lg:grid-cols-3 2xl:grid-cols-6';
const volumesMax = 2;
// A monthly total may be wider than a phone.
const wrapping = 'whitespace-normal! [overflow-wrap:anywhere]';

export function Tiles({ overview }: { readonly overview: Overview }) {
  const { succeeded, all } = completedPayments(overview);
  const { webhooks, requests } = overview;
  const ended = webhooks.succeeded + webhooks.failed;
  const errors = errorCount(overview);
  return (
    <dl className={grid}>
      <Tile
        label="Payments"
        value={paymentCount(overview).toLocaleString('en')}
        hint={
          overview.payments.isCapped ? 'Newest payments only' : <Anchor to="payments">All payments</Anchor>
        }
      />
      <Tile
        label="Volume"
        value={<Volume overview={overview} />}
        hint={<MoreVolumes overview={overview} />}
      />
      <Tile
        label="Payment success"
        value={formatPercent(succeeded, all)}
        hint={
          all === 0
            ? 'None completed yet'
            : `${succeeded.toLocaleString('en')} of ${all.toLocaleString('en')} completed`
        }
      />
      <Tile
        label="Webhook success"
        value={formatPercent(webhooks.succeeded, ended)}
        hint={
          webhooks.failed + webhooks.pending === 0
            ? pluralize(webhooks.succeeded, 'delivery', 'deliveries')
            : `${webhooks.failed.toLocaleString('en')} failed, ${webhooks.pending.toLocaleString('en')} pending`
        }
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
      />
      <Tile
        label="Latency, median"
        value={formatMilliseconds(requests.count === 0 ? null : requests.p50Ms)}
        hint={`95% within ${formatMilliseconds(requests.count === 0 ? null : requests.p95Ms)}`}
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

function MoreVolumes({ overview }: { readonly overview: Overview }) {
  const [, ...others] = volumes(overview);
  if (others.length === 0) return 'Requested amounts';
  const left = others.length - volumesMax;
  return (
    <ul>
      {others.slice(0, volumesMax).map(({ currency, amount }) => (
        <li key={currency}>
          <Money amount={amount} currency={currency} className={`text-muted ${wrapping}`} />
        </li>
      ))}
      {left > 0 ? <li>and {pluralize(left, 'more currency', 'more currencies')}</li> : null}
    </ul>
  );
}

const tilesWhileLoading = ['payments', 'volume', 'success', 'webhooks', 'errors', 'latency'];

export function TilesSkeleton() {
  return (
    <div className={grid}>
      {tilesWhileLoading.map((name) => (
        <div key={name} className="rounded-lg border bg-surface px-4 py-3.5">
          <Skeleton className="h-4 w-20" />
          <Skeleton className="mt-2 h-7 w-28" />
          <Skeleton className="mt-2 h-4 w-24" />
        </div>
      ))}
    </div>
  );
}
