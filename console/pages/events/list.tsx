import { Activity, Plus } from 'lucide-react';
import type { BulkAction } from '../../client/bulk.ts';
import { useCapabilities } from '../../client/capabilities.ts';
import { useFilters, useOpenParam } from '../../client/filters.ts';
import { useNow } from '../../client/now.ts';
import { useList } from '../../client/queries.ts';
import { clearedFilters } from '../../client/search-params.ts';
import { useSelection } from '../../client/selection.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Event } from '../../generated/shapes.ts';
import { IdLink } from '../../parts/anchor.tsx';
import { BulkBar } from '../../parts/bulk-bar.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ExportButton } from '../../parts/export-button.tsx';
import { FilterBar, FilterDates, FilterSelect, FilterText } from '../../parts/filter-bar.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { sentenceCase } from '../../parts/text.ts';
import { Time } from '../../parts/time.tsx';
import { CreateEvent } from './create.tsx';

const rowsPerPage = 50;

export function EventList() {
  const isAllowed = useAllowed('developer');
  const events = useCapabilities()?.events ?? [];
  const [filters, setFilters] = useFilters('type', 'resource', 'resourceId', 'createdAfter', 'createdBefore');
  const [isCreating, setCreating] = useOpenParam('create');
  const list = useList<Event>('app/developer_api_webhook_events', filters, { limit: rowsPerPage });
  const selection = useSelection(list.query, list.rows, eventName);
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = !isFiltered && list.data !== undefined && list.rows.length === 0;
  const now = useNow('application');
  const resources = [...new Set(events.map(({ resource }) => resource))];
  const types = events.filter(({ resource }) => (filters.resource ?? resource) === resource);
  const button = isAllowed ? (
    <Button variant="primary" icon={<Plus aria-hidden size={16} />} onClick={() => setCreating(true)}>
      Create event
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeader
        title="Events"
        description="Events as sent to your webhooks, newest first. Times are on the application clock."
        actions={isEmpty ? undefined : button}
      />
      {isEmpty ? null : (
        <FilterBar
          onClear={isFiltered ? () => setFilters(clearedFilters(filters)) : undefined}
          actions={<ExportButton path="app/developer_api_webhook_events" filters={filters} name="events" />}
        >
          <FilterSelect
            label="Resource"
            value={filters.resource}
            options={resources.map((value) => ({ value, label: sentenceCase(value) }))}
            onChange={(resource) => setFilters({ resource, type: undefined })}
          />
          <FilterSelect
            label="Type"
            value={filters.type}
            options={types.map(({ type }) => type)}
            onChange={(type) => setFilters({ type })}
          />
          <FilterText
            label="Resource id"
            value={filters.resourceId}
            placeholder="pay_…"
            onChange={(resourceId) => setFilters({ resourceId })}
          />
          <FilterDates
            label="Occurred"
            from={filters.createdAfter}
            to={filters.createdBefore}
            now={now}
            onChange={({ from, to }) => setFilters({ createdAfter: from, createdBefore: to })}
          />
        </FilterBar>
      )}
      <Table
        caption="Events, newest first"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => `events/${id}`}
        empty={isFiltered ? <NoMatch /> : <NoEvents button={button} />}
        selection={isAllowed ? selection : undefined}
      />
      {isAllowed ? <BulkBar selection={selection} noun="event" actions={bulkActions} /> : null}
      {isCreating && isAllowed ? <CreateEvent onClose={() => setCreating(false)} /> : null}
    </>
  );
}

const eventName = ({ type, resourceId }: Event) => `${type} · ${resourceId}`;

const bulkActions: readonly BulkAction<Event>[] = [
  {
    label: 'Replay',
    done: 'replayed',
    effect: 'Sends each event again, with the same id, to all endpoints that subscribe to its type.',
    isAllowed: () => true,
    request: ({ id }) => ({ path: `app/developer_api_webhook_events/${id}/replay`, body: {} }),
  },
];

function NoMatch() {
  return (
    <EmptyState title="No events match">
      New events that match appear here automatically. Change the filters to see others.
    </EmptyState>
  );
}

function NoEvents({ button }: { readonly button: React.ReactNode }) {
  return (
    <EmptyState icon={<Activity aria-hidden size={20} />} title="No events yet" action={button}>
      Every change of a payment, refund, dispute, transfer or customer creates an event, which is sent to
      webhooks. Create a payment, or create an event manually.
    </EmptyState>
  );
}

const columns: readonly Column<Event>[] = [
  {
    header: 'Type',
    isWide: true,
    cell: ({ type }) => <span className="font-mono text-sm">{type}</span>,
  },
  {
    header: 'Resource',
    isMinor: true,
    cell: ({ id, resourceId }) =>
      resourceId === id ? (
        <span className="text-faint">Manual</span>
      ) : (
        <IdLink id={resourceId} className="relative z-10" />
      ),
  },
  { header: 'Version', isMinor: true, align: 'right', cell: ({ sequence }) => sequence },
  { header: 'Occurred', cell: ({ timestamp }) => <Time at={timestamp} /> },
];
