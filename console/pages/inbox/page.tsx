import { Navigate } from '@tanstack/react-router';
import { Send, Settings2 } from 'lucide-react';
import { useList, useRead, useWrite } from '../../client/queries.ts';
import { useScope } from '../../client/scope.ts';
import { CodeButton } from '../../code/code-button.tsx';
import { useRecordId } from '../../frame/params.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { DeliveryDetail, DeliveryWithAttempts, WebhookDetail } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { useToast } from '../../parts/toast.tsx';
import { ownerName, useApplications } from '../webhooks/applications.ts';
import { DisabledBanner } from '../webhooks/disabled-banner.tsx';
import { useRetrySchedules } from '../webhooks/retry-schedules.ts';
import { InboxBehavior } from './behavior.tsx';
import { InboxDeliveries } from './deliveries.tsx';
import { inboxRequests } from './requests.ts';

/** The inbox of an application: a webhook endpoint that Sandbank hosts. Shows what it receives, live. */
export function InboxPage() {
  const id = useRecordId();
  const { orgId } = useScope();
  const applications = useApplications();
  const path = `app/developer_api_webhooks/${encodeURIComponent(id)}` as const;
  const { data, problem, refresh } = useRead<WebhookDetail>(path);
  const list = useList<DeliveryWithAttempts>('app/deliveries', { webhookId: id });
  if (data?.inbox === null) return <Navigate to={`/${orgId}/webhooks/${id}`} replace />;
  return (
    <>
      <PageHeader
        title="Webhook inbox"
        parent={{ to: 'webhooks', label: 'Webhooks' }}
        badge={data ? <StatusBadge status={data.status} /> : undefined}
        description={
          <>
            <p>
              {data === undefined
                ? 'Receives the events of an application'
                : `Receives the events of ${ownerName(applications, data.applicationId)}`}{' '}
              and verifies their signatures. You need no server of your own.
            </p>
            <Url url={data?.url} />
          </>
        }
        actions={data?.status === 'deleted' ? undefined : <Actions id={id} status={data?.status} />}
      />
      {problem && data === undefined ? <ProblemBanner problem={problem} onRetry={refresh} /> : null}
      {data === undefined && !problem ? <Skeleton className="h-64 w-full" /> : null}
      {data?.inbox ? (
        <div className="flex flex-col gap-6">
          <DisabledBanner webhook={data} />
          {data.status === 'deleted' ? null : <InboxBehavior webhook={data} behavior={data.inbox} />}
          <InboxDeliveries list={list} webhookId={id} />
        </div>
      ) : null}
    </>
  );
}

function Url({ url }: { readonly url: string | undefined }) {
  if (url === undefined) return <Skeleton className="h-5 w-72" />;
  return (
    <span className="inline-flex max-w-full items-center gap-0.5">
      <span className="font-mono text-[0.75rem] break-all">{url}</span>
      <CopyButton text={url} what="URL" />
    </span>
  );
}

interface ActionsProps {
  readonly id: string;
  readonly status: WebhookDetail['status'] | undefined;
}

function Actions({ id, status }: ActionsProps) {
  const { toast } = useToast();
  const profiles = useRetrySchedules().map(({ value }) => value);
  const isAllowed = useAllowed('developer');
  const test = useWrite<DeliveryDetail>(`app/developer_api_webhooks/${id}/test`, {
    onFailed: ({ message }) => toast(message, { isBad: true }),
  });
  return (
    <>
      <CodeButton title="Inbox" requests={inboxRequests(id, status, profiles)} />
      {isAllowed ? (
        <Button
          icon={<Send aria-hidden size={15} />}
          isBusy={test.isBusy}
          onClick={() => void test.write({})}
        >
          Send test event
        </Button>
      ) : null}
      <Anchor to={`webhooks/${id}`} className={buttonClass()}>
        <Settings2 aria-hidden size={15} />
        Endpoint
      </Anchor>
    </>
  );
}
