import type { ReactNode } from 'react';
import type { PagedList } from '../../client/queries.ts';
import type { Delivery } from '../../generated/shapes.ts';
import { Pager } from '../../parts/pager.tsx';
import { HttpStatus, StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { triggerLabel } from './labels.ts';
import { useRefresh } from './refresh.ts';

export function DeliveryStatus({ delivery }: { readonly delivery: Delivery }) {
  if (delivery.held) return <StatusBadge status="held" label="Held" />;
  return <StatusBadge status={delivery.status} />;
}

export interface DeliveryTableProps {
  readonly list: PagedList<Delivery>;
  readonly caption: string;
  /** The first column: the event type on a webhook's page, the endpoint on an event's page. */
  readonly first: Column<Delivery>;
  readonly empty: ReactNode;
}

export function DeliveryTable({ list, caption, first, empty }: DeliveryTableProps) {
  useRefresh(
    list.refresh,
    list.rows.some(({ status, held }) => status === 'pending' && !held),
  );
  return (
    <Table
      caption={caption}
      columns={[first, ...columns]}
      rows={list.rows}
      rowKey={({ id }) => id}
      rowLink={({ id }) => `deliveries/${id}`}
      isLoading={list.isLoading}
      problem={list.problem}
      empty={empty}
      footer={<Pager {...list.paging} />}
    />
  );
}

const columns: readonly Column<Delivery>[] = [
  { header: 'Status', cell: (delivery) => <DeliveryStatus delivery={delivery} /> },
  {
    header: 'Response',
    cell: ({ attemptCount, lastResponseStatus, lastError }) =>
      attemptCount === 0 ? (
        <span className="text-faint">No attempt yet</span>
      ) : (
        <span title={lastError ?? undefined}>
          <HttpStatus status={lastResponseStatus} />
        </span>
      ),
  },
  { header: 'Attempts', isMinor: true, align: 'right', cell: ({ attemptCount }) => attemptCount },
  { header: 'Trigger', isMinor: true, cell: ({ trigger }) => triggerLabel(trigger) },
  {
    header: 'Next attempt',
    isMinor: true,
    cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} mayBeAhead />,
  },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
