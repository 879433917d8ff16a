import { TriangleAlert } from 'lucide-react';
import { useFilters } from '../../client/filters.ts';
import { useNow } from '../../client/now.ts';
import { useRead } from '../../client/queries.ts';
import { useRecordId } from '../../frame/params.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { WebhookDetail as Webhook } from '../../generated/shapes.ts';
import { Card } from '../../parts/card.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Time } from '../../parts/time.tsx';
import { WebhookActions } from './actions.tsx';
import { ownerName, useApplications } from './applications.ts';
import { ExamineReceiver } from './examine.tsx';
import { HealthTiles } from './health.tsx';
import { DeliveryHistory } from './history.tsx';
import { ReplayProgress } from './replay-progress.tsx';
import { useRetrySchedules } from './retry.ts';
import { SubscribedEvents } from './subscribed-events.tsx';

export function WebhookDetail() {
  const id = useRecordId();
  const isAllowed = useAllowed('developer');
  const [{ replay }, setFilters] = useFilters('replay');
  const { data, problem, refresh } = useRead<Webhook>(
    `app/developer_api_webhooks/${encodeURIComponent(id)}`,
    {},
    { everyMs: 10_000 },
  );
  return (
    <>
      <PageHeader
        title={data ? `Webhook ${data.url}` : `Webhook ${id}`}
        heading={data ? <span className="font-mono text-lg break-all">{data.url}</span> : 'Webhook'}
        parent={{ to: 'webhooks', label: 'Webhooks' }}
        badge={data ? <StatusBadge status={data.status} /> : undefined}
        description={
          <>
            {data?.description ? <p>{data.description}</p> : null}
            <IdText id={id} what="webhook id" />
          </>
        }
        actions={data && isAllowed ? <WebhookActions webhook={data} /> : undefined}
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-64 w-full" /> : null}
      {data ? (
        <div className="flex flex-col gap-6">
          <Disabled reason={data.disabledReason} />
          {replay ? <ReplayProgress id={replay} onClose={() => setFilters({ replay: undefined })} /> : null}
          <HealthTiles webhook={data} />
          <Configuration webhook={data} />
          {isAllowed ? <ExamineReceiver id={data.id} /> : null}
          <DeliveryHistory webhookId={data.id} />
        </div>
      ) : null}
    </>
  );
}

const reasons: Readonly<Record<NonNullable<Webhook['disabledReason']>, string>> = {
  requested: 'Disabled by request.',
  gone: 'Disabled because its receiver responded 410 Gone.',
  failing: 'Disabled because all attempts failed for five days.',
};

function Disabled({ reason }: { readonly reason: Webhook['disabledReason'] }) {
  if (reason === null) return null;
  return (
    <div className="flex gap-2.5 rounded-md bg-warn-soft px-3.5 py-3 text-warn">
      <TriangleAlert aria-hidden size={17} className="mt-0.5 shrink-0" />
      <div>
        <p className="font-medium">{reasons[reason]}</p>
        <p className="text-sm">Deliveries are held and sent when it is enabled again.</p>
      </div>
    </div>
  );
}

function Configuration({ webhook }: { readonly webhook: Webhook }) {
  const applications = useApplications();
  const now = useNow('wall');
  const previous = webhook.previousSecretExpiresAt;
  const retry = useRetrySchedules().find(({ value }) => value === webhook.retryProfile);
  return (
    <Card title="Configuration">
      <KeyValue
        isWide
        items={[
          ['Events', <SubscribedEvents key="events" types={webhook.eventTypes} isList />],
          ['Application', ownerName(applications, webhook.applicationId)],
          [
            'Retries',
            <span key="retries">
              {retry?.label ?? webhook.retryProfile}
              <span className="block text-sm text-muted">{retry?.hint}</span>
            </span>,
          ],
          ['Concurrent requests', `Up to ${webhook.maxConcurrency}`],
          [
            'Signing secret',
            <span key="secret">
              <span className="font-mono text-sm">whsec_…{webhook.secretHint}</span>
              {previous !== null && Date.parse(previous) > now ? (
                <span className="block text-sm text-muted">
                  The previous secret also signs until{' '}
                  <Time at={previous} kind="wall" show="both" mayBeAhead />.
                </span>
              ) : null}
            </span>,
          ],
          ['Created', <Time key="created" at={webhook.createdAt} show="both" />],
        ]}
      />
    </Card>
  );
}
