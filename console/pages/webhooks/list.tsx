import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import type { BulkAction } from '../../client/bulk.ts';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useList } from '../../client/queries.ts';
import { readRequest } from '../../client/request.ts';
import { useSelection } from '../../client/selection.ts';
import { CodeButton } from '../../code/code-button.tsx';
import { useAllowed } from '../../frame/session.tsx';
import type { Application, Webhook, WebhookStatus } from '../../generated/shapes.ts';
import { BulkBar } from '../../parts/bulk-bar.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterBar, FilterSelect } from '../../parts/filter-bar.tsx';
import { optionsOf } from '../../parts/options.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { ownerName, useApplications } from './applications.ts';
import { CreateWebhook } from './create.tsx';
import { HealthCell } from './health.tsx';
import { OpenInboxButton } from './open-inbox.tsx';
import { openInbox } from './requests.ts';
import { SubscribedEvents } from './subscribed-events.tsx';

export function WebhookList() {
  const isAllowed = useAllowed('developer');
  const applications = useApplications();
  const [filters, setFilters] = useFilters('status');
  const [isCreating, setCreating] = useOpenParam('create');
  const list = useList<Webhook>('app/developer_api_webhooks', filters);
  const selection = useSelection(list.query, list.rows, ({ url }) => url);
  const isFiltered = filters.status !== undefined;
  const isEmpty = !isFiltered && !list.isLoading && !list.problem && list.rows.length === 0;
  const button = isAllowed ? (
    <Button variant="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create webhook
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Endpoints that receive signed event notifications."
        actions={
          isAllowed && !isEmpty ? (
            <>
              <CodeButton
                title="Webhooks"
                requests={[
                  { label: 'List webhooks', request: readRequest('developer_api_webhooks', filters) },
                  openInbox,
                ]}
              />
              <OpenInboxButton />
              {button}
            </>
          ) : undefined
        }
      />
      {isEmpty ? null : (
        <FilterBar
          onClear={isFiltered ? () => setFilters({ status: undefined }) : undefined}
          actions={<ExportButton path="app/developer_api_webhooks" filters={filters} name="webhooks" />}
        >
          <FilterSelect
            label="Status"
            value={filters.status}
            options={optionsOf<WebhookStatus>({
              enabled: 'Enabled',
              disabled: 'Disabled',
              deleted: 'Deleted',
            })}
            onChange={(status) => setFilters({ status })}
          />
        </FilterBar>
      )}
      <Table
        caption="Webhooks"
        columns={columnsFor(applications)}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id, inbox }) => `webhooks/${id}${inbox === null ? '' : '/inbox'}`}
        empty={isFiltered ? <NoMatch /> : <NoWebhooks button={button} />}
        selection={isAllowed ? selection : undefined}
      />
      {isAllowed ? <BulkBar selection={selection} noun="webhook" actions={bulkActions} /> : null}
      {isCreating && isAllowed ? <CreateWebhook onClose={() => setCreating(false)} /> : null}
    </>
  );
}

const bulkActions: readonly BulkAction<Webhook>[] = [
  {
    label: 'Enable',
    done: 'enabled',
    effect: 'Deliveries resume, starting with the held ones.',
    isAllowed: ({ allowedActions }) => allowedActions.includes('enable'),
    request: ({ id }) => ({ path: `app/developer_api_webhooks/${id}/enable`, body: {} }),
  },
  {
    label: 'Disable',
    done: 'disabled',
    isDanger: true,
    effect: 'While a webhook is disabled, its deliveries are held. They are sent when it is enabled again.',
    isAllowed: ({ allowedActions }) => allowedActions.includes('disable'),
    request: ({ id }) => ({ path: `app/developer_api_webhooks/${id}/disable`, body: {} }),
  },
];

function NoMatch() {
  return <EmptyState title="No webhook has this status">Clear the filter to see all of them.</EmptyState>;
}

function NoWebhooks({ button }: { readonly button: React.ReactNode }) {
  return (
    <EmptyState
      icon={<WebhookIcon aria-hidden size={20} />}
      title="Get notified of events"
      action={
        <>
          <OpenInboxButton />
          {button}
        </>
      }
    >
      A webhook sends the events that you select to your URL, signed, and retries until your server accepts
      them. No server yet? The inbox receives and shows them for you.
    </EmptyState>
  );
}

const disabledReasonLabels: Readonly<Record<NonNullable<Webhook['disabledReason']>, string>> = {
  requested: 'By request',
  gone: 'Responded 410 Gone',
  failing: 'All attempts failed',
};

/** All applications of the organization share webhooks, so the owner is shown if there is more than one application. */
function columnsFor(applications: readonly Application[]): readonly Column<Webhook>[] {
  const isShared = applications.length > 1;
  return [
    {
      header: 'Endpoint',
      isWide: true,
      cell: ({ url, description, applicationId, inbox }) => {
        const owner = isShared ? ownerName(applications, applicationId) : null;
        return (
          <span className="block whitespace-normal">
            <span className="line-clamp-2 font-mono text-sm break-all" title={url}>
              {url}
            </span>
            <span className="line-clamp-1 text-sm font-normal break-all text-muted">
              {[inbox === null ? null : 'Inbox', description, owner]
                .filter((part) => part !== null)
                .join(' · ')}
            </span>
          </span>
        );
      },
    },
    {
      header: 'Status',
      cell: ({ id, status, disabledReason }) => (
        <span className="flex flex-col items-start gap-1 py-1">
          <StatusBadge status={status} />
          {disabledReason === null ? (
            <HealthCell id={id} show="state" />
          ) : (
            <span className="text-sm text-muted">{disabledReasonLabels[disabledReason]}</span>
          )}
        </span>
      ),
    },
    { header: 'Last success', isMinor: true, cell: ({ id }) => <HealthCell id={id} show="lastSuccess" /> },
    {
      header: 'Pending',
      isExtra: true,
      align: 'right',
      cell: ({ id }) => <HealthCell id={id} show="pending" />,
    },
    { header: 'Events', isMinor: true, cell: ({ eventTypes }) => <SubscribedEvents types={eventTypes} /> },
  ];
}
