import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useCapabilities } from '../../client/capabilities.ts';
import { useList, useRead } from '../../client/queries.ts';
import { postRequest, readRequest } from '../../client/request.ts';
import { CodeButton } from '../../code/code-button.tsx';
import type { NamedRequest } from '../../code/requests-dialog.tsx';
import { useRecordId } from '../../frame/params.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { DeliveryWithAttempts, Event } from '../../generated/shapes.ts';
import { IdLink } from '../../parts/anchor.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { IdText } from '../../parts/copy-button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { KeyValue } from '../../parts/key-value.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Prose } from '../../parts/prose.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Time } from '../../parts/time.tsx';
import { DeliveryTable } from '../deliveries/table.tsx';
import { ownerName, useApplications } from '../webhooks/applications.ts';
import { ReplayEvent, useEndpoints } from './replay.tsx';

export function EventDetail() {
  const id = useRecordId();
  const isAllowed = useAllowed('developer');
  const [isReplaying, setReplaying] = useState(false);
  const events = useCapabilities()?.events ?? [];
  const { data, problem, refresh } = useRead<Event>(
    `app/developer_api_webhook_events/${encodeURIComponent(id)}`,
  );
  return (
    <>
      <PageHeader
        title={data ? `Event ${data.type}` : `Event ${id}`}
        heading={data ? <span className="font-mono text-lg break-all">{data.type}</span> : 'Event'}
        parent={{ to: 'events', label: 'Events' }}
        description={
          <>
            {data ? (
              <p>
                <Prose text={events.find(({ type }) => type === data.type)?.description} />
              </p>
            ) : null}
            <div className="flex flex-wrap items-center gap-x-4">
              <IdText id={id} what="event id" />
              <CodeButton title="Event" requests={requestsOf(id)} />
            </div>
          </>
        }
        actions={
          data && isAllowed ? (
            <Button
              variant="primary"
              icon={<RotateCw aria-hidden size={15} />}
              onClick={() => setReplaying(true)}
            >
              Replay…
            </Button>
          ) : undefined
        }
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-64 w-full" /> : null}
      {data ? <Sections event={data} /> : null}
      {data && isReplaying ? <ReplayEvent event={data} onClose={() => setReplaying(false)} /> : null}
    </>
  );
}

function requestsOf(id: string): readonly NamedRequest[] {
  return [
    { label: 'Retrieve event', request: readRequest(`developer_api_webhook_events/${id}`) },
    { label: 'List deliveries', request: readRequest('developer_api_webhook_deliveries', { eventId: id }) },
    {
      label: 'Replay to all subscribed endpoints',
      request: postRequest(`developer_api_webhook_events/${id}/replay`, {}),
    },
  ];
}

function Sections({ event }: { readonly event: Event }) {
  const applications = useApplications();
  return (
    <div className="flex flex-col gap-6">
      <Card title="Overview">
        <KeyValue
          isWide
          items={[
            [
              'Resource',
              event.resourceId === event.id ? (
                'None (created manually)'
              ) : (
                <IdLink key="resource" id={event.resourceId} />
              ),
            ],
            ['Occurred', <Time key="at" at={event.timestamp} show="both" />],
            ['Record version', event.sequence],
            ['API version', event.apiVersion],
            ['Origin request', <IdLink key="request" id={event.originRequestId} />],
            ['Application', ownerName(applications, event.applicationId)],
          ]}
        />
      </Card>
      <Deliveries eventId={event.id} />
      <Card
        title="Payload"
        description="The payload that receivers get. Each delivery shows the exact signed body."
      >
        <JsonView value={payloadOf(event)} title="Payload" />
      </Card>
    </div>
  );
}

/** The fields in docs/webhooks.md. A retrieved event has the `requestId` of the retrieval; the sent one that of its origin. */
function payloadOf(event: Event): Readonly<Record<string, unknown>> {
  const { id, type, apiVersion, timestamp, sequence, data } = event;
  const requestId = event.originRequestId;
  return {
    object: 'event',
    id,
    sandbox: true,
    requestId,
    status: 'ok',
    type,
    apiVersion,
    timestamp,
    sequence,
    data,
  };
}

function Deliveries({ eventId }: { readonly eventId: string }) {
  const endpoints = useEndpoints();
  const list = useList<DeliveryWithAttempts>('app/deliveries', { eventId });
  const urlOf = (webhookId: string) => endpoints.find(({ id }) => id === webhookId)?.url ?? webhookId;
  return (
    <section aria-labelledby="deliveries">
      <div className="mb-3 flex items-center justify-between gap-2">
        <h2 id="deliveries" className="text-lg font-semibold">
          Deliveries
        </h2>
        <ExportButton path="app/developer_api_webhook_deliveries" filters={{ eventId }} name="deliveries" />
      </div>
      <DeliveryTable
        caption="Deliveries of this event, newest first"
        list={list}
        first={[
          {
            header: 'Endpoint',
            isWide: true,
            cell: ({ webhookId }) => <span className="font-mono text-sm">{urlOf(webhookId)}</span>,
          },
        ]}
        empty={
          <EmptyState title="No deliveries">
            No webhook subscribed to this type when the event occurred. Replay it to send it now.
          </EmptyState>
        }
      />
    </section>
  );
}
