import { useNavigate } from '@tanstack/react-router';
import { useRead } from '../../client/queries.ts';
import { postRequest, readRequest } from '../../client/request.ts';
import { useScope } from '../../client/scope.ts';
import { CodeButton } from '../../code/code-button.tsx';
import type { NamedRequest } from '../../code/requests-dialog.tsx';
import { useRecordId } from '../../frame/params.ts';
import type { DeliveryDetail as Delivery } from '../../generated/shapes.ts';
import { IdLink } from '../../parts/anchor.tsx';
import { Card } from '../../parts/card.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Time } from '../../parts/time.tsx';
import { AttemptList } from './attempt.tsx';
import { triggerLabel } from './labels.ts';
import { NextAttemptTime } from './next-attempt.tsx';
import { useRefresh } from './refresh.ts';
import { ReplayButton } from './replay-button.tsx';
import { DeliveryStatus } from './table.tsx';

/** One delivery of an event to an endpoint: the request body, and every attempt with its response. */
export function DeliveryDetail() {
  const id = useRecordId();
  const { orgId } = useScope();
  const navigate = useNavigate();
  const { data, problem, refresh } = useRead<Delivery>(
    `app/developer_api_webhook_deliveries/${encodeURIComponent(id)}`,
  );
  useRefresh(refresh, data?.status === 'pending' && !data.held);
  const parent = { to: data ? `webhooks/${data.webhookId}` : 'webhooks', label: 'Webhook' };
  return (
    <>
      <PageHeader
        title={`Delivery ${id}`}
        heading={data ? `Delivery of ${data.eventType}` : 'Delivery'}
        parent={parent}
        badge={data ? <DeliveryStatus delivery={data} /> : undefined}
        description={
          <div className="flex flex-wrap items-center gap-x-4">
            <IdText id={id} what="delivery id" />
            {data ? <CodeButton title="Delivery" requests={requestsOf(data)} /> : null}
          </div>
        }
        actions={
          data ? (
            <ReplayButton
              variant="primary"
              delivery={data}
              onReplayed={(created) => void navigate({ to: `/${orgId}/deliveries/${created}` })}
            />
          ) : undefined
        }
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data ? <Sections delivery={data} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-64 w-full" /> : null}
    </>
  );
}

function requestsOf({ id, eventId, webhookId }: Delivery): readonly NamedRequest[] {
  return [
    { label: 'Retrieve delivery', request: readRequest(`developer_api_webhook_deliveries/${id}`) },
    { label: 'Retrieve event', request: readRequest(`developer_api_webhook_events/${eventId}`) },
    {
      label: 'Replay',
      request: postRequest(`developer_api_webhook_events/${eventId}/replay`, { webhookId }),
    },
  ];
}

function Sections({ delivery }: { readonly delivery: Delivery }) {
  const attempts = (delivery.attempts ?? []).toReversed();
  return (
    <div className="flex flex-col gap-5">
      <Card title="Overview">
        <KeyValue
          isWide
          items={[
            ['Event', <IdLink key="event" id={delivery.eventId} />],
            [
              'Event type',
              <span key="type" className="font-mono text-sm">
                {delivery.eventType}
              </span>,
            ],
            ['Endpoint', <IdLink key="webhook" id={delivery.webhookId} />],
            [
              'URL',
              <span key="url" className="font-mono text-sm break-all">
                {delivery.url}
              </span>,
            ],
            ['Trigger', triggerLabel(delivery.trigger)],
            ['Attempts', delivery.attemptCount],
            ['Next attempt', <NextAttempt key="next" delivery={delivery} />],
            ['Created', <Time key="created" at={delivery.createdAt} show="both" />],
          ]}
        />
      </Card>
      <Card title="Attempts" description="Newest first. Times are on the application clock." isFlush>
        {attempts.length === 0 ? (
          <p className="px-5 pb-5 text-muted">
            {delivery.held
              ? 'Nothing sent yet: the endpoint is disabled. The delivery is sent when it is enabled again.'
              : 'Nothing sent yet. The first attempt follows shortly.'}
          </p>
        ) : (
          <AttemptList attempts={attempts} />
        )}
      </Card>
      <RequestBody body={delivery.requestBody ?? ''} />
    </div>
  );
}

function NextAttempt({ delivery }: { readonly delivery: Delivery }) {
  if (delivery.held) return 'When the endpoint is enabled';
  if (delivery.nextAttemptAt === null) return 'None';
  return (
    <>
      <NextAttemptTime at={delivery.nextAttemptAt} show="both" />
      <p className="text-sm text-muted">On the application clock: advance it to trigger the attempt now.</p>
    </>
  );
}

function RequestBody({ body }: { readonly body: string }) {
  return (
    <Card title="Request body" description="The signed body, identical in every attempt.">
      <JsonView value={body} title="JSON" />
    </Card>
  );
}
