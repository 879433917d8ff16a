import { useLimits } from '../../client/capabilities.ts';
import { useRead } from '../../client/queries.ts';
import type { WebhookDetail } from '../../generated/shapes.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { pluralize } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { formatPercent } from '../charts/point.ts';

type Health = NonNullable<WebhookDetail['health']>;

/** The list response does not include health, so each row requests its own; the cells of a row share the response. */
function useHealth(id: string): Health | null | undefined {
  const { data, problem } = useRead<WebhookDetail>(`app/developer_api_webhooks/${id}`);
  return problem && data === undefined ? null : data?.health;
}

export interface HealthCellProps {
  readonly id: string;
  readonly show: 'state' | 'lastSuccess' | 'pending';
}

export function HealthCell({ id, show }: HealthCellProps) {
  const health = useHealth(id);
  if (health === undefined) return <Skeleton className="h-4 w-16" />;
  if (health === null) return <span className="text-faint">Unknown</span>;
  if (show === 'state') return <HealthState health={health} />;
  if (show === 'lastSuccess') return <Time at={health.lastSuccessAt} show="relative" empty="Never" />;
  return <PendingCount health={health} />;
}

function HealthState({ health }: { readonly health: Health }) {
  if (health.failingSince !== null) {
    return (
      <span className="text-sm whitespace-normal text-bad max-sm:block max-sm:max-w-28 sm:whitespace-nowrap">
        Failing since <Time at={health.failingSince} show="relative" />
      </span>
    );
  }
  if (health.lastSuccessAt === null)
    return <span className="text-sm whitespace-normal text-faint">Nothing delivered yet</span>;
  const { succeeded, failed } = health.recentAttempts;
  if (failed === 0) return <span className="text-sm text-good">Healthy</span>;
  return (
    <span
      className="text-sm whitespace-normal text-bad sm:whitespace-nowrap"
      title="Of the newest deliveries of the last 24 hours. Every retry counts."
    >
      {formatPercent(failed, succeeded + failed)} of attempts fail
    </span>
  );
}

function PendingCount({ health }: { readonly health: Health }) {
  const { pendingDeliveries } = health;
  // The server counts up to this number.
  const { webhookPendingCountMax = Number.POSITIVE_INFINITY } = useLimits();
  return (
    <>{`${pendingDeliveries.toLocaleString('en')}${pendingDeliveries >= webhookPendingCountMax ? '+' : ''}`}</>
  );
}

const unknownHealth: Health = {
  failingSince: null,
  lastSuccessAt: null,
  lastFailureAt: null,
  pendingDeliveries: 0,
  recentAttempts: { succeeded: 0, failed: 0 },
};

/** The four numbers above a webhook's deliveries. */
export function HealthTiles({ webhook }: { readonly webhook: WebhookDetail }) {
  const health = webhook.health ?? unknownHealth;
  const tiles = [
    ['Health', <HealthState key="state" health={health} />],
    ['Last success', <Time key="success" at={health.lastSuccessAt} show="relative" empty="Never" />],
    ['Last failure', <Time key="failure" at={health.lastFailureAt} show="relative" empty="Never" />],
    ['Pending', pluralize(health.pendingDeliveries, 'delivery', 'deliveries')],
  ] as const;
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line lg:grid-cols-4">
      {tiles.map(([name, value]) => (
        <div key={name} className="bg-surface px-4 py-3.5 xl:px-5">
          <dt className="text-sm text-muted">{name}</dt>
          <dd className="mt-0.5 text-sm font-medium">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
