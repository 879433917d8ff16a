import type { ReactNode } from 'react';
import type { BulkAction } from '../../client/bulk.ts';
import type { PagedList } from '../../client/queries.ts';
import { useSelection } from '../../client/selection.ts';
import { useAllowed } from '../../frame/session.tsx';
import type { Delivery, DeliveryWithAttempts } from '../../generated/shapes.ts';
import { BulkBar } from '../../parts/bulk-bar.tsx';
import { HttpStatus, StatusBadge } from '../../parts/status-badge.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { triggerLabel } from './labels.ts';
import { NextAttemptTime } from './next-attempt.tsx';
import { useRefresh } from './refresh.ts';
import { ReplayButton } from './replay-button.tsx';

export function DeliveryStatus({ delivery }: { readonly delivery: Pick<Delivery, 'status' | 'held'> }) {
  if (delivery.held) return <StatusBadge status="held" label="Held" />;
  return <StatusBadge status={delivery.status} />;
}

export interface DeliveryTableProps {
  readonly list: PagedList<DeliveryWithAttempts>;
  readonly caption: string;
  /** The first columns: event type and record on a webhook's page, the endpoint on an event's page. */
  readonly first: readonly Column<DeliveryWithAttempts>[];
  readonly empty: ReactNode;
}

export function DeliveryTable({ list, caption, first, empty }: DeliveryTableProps) {
  const isAllowed = useAllowed('developer');
  const selection = useSelection(list.query, list.rows, deliveryName);
  useRefresh(
    list.refresh,
    list.rows.some(({ status, held }) => status === 'pending' && !held),
  );
  return (
    <>
      <Table
        caption={caption}
        columns={isAllowed ? [...first, ...columns, replayColumn] : [...first, ...columns]}
        list={list}
        rowKey={({ id }) => id}
        rowLink={({ id }) => `deliveries/${id}`}
        empty={empty}
        selection={isAllowed ? selection : undefined}
      />
      {isAllowed ? (
        <BulkBar selection={selection} noun="delivery" plural="deliveries" actions={bulkActions} />
      ) : null}
    </>
  );
}

const deliveryName = ({ eventType, eventId }: DeliveryWithAttempts) => `${eventType} · ${eventId}`;

const bulkActions: readonly BulkAction<DeliveryWithAttempts>[] = [
  {
    label: 'Replay',
    done: 'replayed',
    effect: 'Sends the event of each delivery to the same endpoint again, with the same id.',
    isAllowed: () => true,
    request: ({ eventId, webhookId }) => ({
      path: `app/developer_api_webhook_events/${eventId}/replay`,
      body: { webhookId },
    }),
  },
];

const replayColumn: Column<DeliveryWithAttempts> = {
  header: 'Actions',
  isExtra: true,
  align: 'right',
  cell: (delivery) => (
    <ReplayButton
      delivery={delivery}
      size="small"
      variant="ghost"
      // The text ends with the column, not the padding.
      className="relative z-10 -mr-2.5"
      label={`Replay ${delivery.eventType}`}
    />
  ),
};

const columns: readonly Column<DeliveryWithAttempts>[] = [
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
  {
    header: 'Duration',
    isDetail: true,
    align: 'right',
    cell: ({ attempts: [last] }) =>
      last === undefined ? (
        <span className="text-faint">—</span>
      ) : (
        <span title="Of the last attempt">{last.durationMs.toLocaleString('en')} ms</span>
      ),
  },
  { header: 'Attempts', isExtra: true, align: 'right', cell: ({ attemptCount }) => attemptCount },
  { header: 'Trigger', isExtra: true, cell: ({ trigger }) => triggerLabel(trigger) },
  {
    header: 'Next attempt',
    isMinor: true,
    cell: ({ nextAttemptAt }) => <NextAttemptTime at={nextAttemptAt} />,
  },
  { header: 'Created', isMinor: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
