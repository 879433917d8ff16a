import { useFilters } from '../../client/filters.ts';
import { useNow } from '../../client/now.ts';
import { useRead } from '../../client/queries.ts';
import { CodeButton } from '../../code/code-button.tsx';
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
import { DisabledBanner } from './disabled-banner.tsx';
import { ExamineReceiver } from './examine.tsx';
import { HealthTiles } from './health.tsx';
import { DeliveryHistory } from './history.tsx';
import { ReplayProgress } from './replay-progress.tsx';
import { webhookRequests } from './requests.ts';
import { useRetrySchedules } from './retry-schedules.ts';
import { RevealSecretButton } from './reveal-secret.tsx';
import { AttemptStatistics } from './statistics-charts.tsx';
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
            <div className="flex flex-wrap items-center gap-x-4">
              <IdText id={id} what="webhook id" />
              <CodeButton title="Webhook" requests={webhookRequests(id, data?.status)} />
            </div>
          </>
        }
        actions={
          data && isAllowed && data.status !== 'deleted' ? <WebhookActions webhook={data} /> : undefined
        }
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-64 w-full" /> : null}
      {data ? (
        <div className="flex flex-col gap-6">
          <DisabledBanner webhook={data} />
          {replay ? <ReplayProgress id={replay} onClose={() => setFilters({ replay: undefined })} /> : null}
          <HealthTiles webhook={data} />
          <AttemptStatistics webhookId={data.id} />
          <Configuration webhook={data} />
          {data.status === 'deleted' ? null : <ExamineReceiver id={data.id} />}
          <DeliveryHistory webhookId={data.id} />
        </div>
      ) : null}
    </>
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
            'Custom headers',
            webhook.headerNames.length === 0 ? (
              'None'
            ) : (
              <span key="headers" className="font-mono text-sm break-all">
                {webhook.headerNames.join(', ')}
              </span>
            ),
          ],
          [
            'Signing secret',
            <span key="secret">
              <span className="flex flex-wrap items-center gap-2">
                <span className="font-mono text-sm">whsec_…{webhook.secretHint}</span>
                {webhook.status === 'deleted' ? null : <RevealSecretButton id={webhook.id} />}
              </span>
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
