import { type List, useRead } from '../../client/queries.ts';
import type { Event } from '../../generated/shapes.ts';
import { Anchor } from '../../parts/anchor.tsx';
import { Card } from '../../parts/card.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { ShortLink } from '../log/short-link.tsx';

const eventsShown = 10;

const columns: readonly Column<Event>[] = [
  { header: 'Event', isWide: true, cell: ({ type }) => <span className="font-mono text-xs">{type}</span> },
  {
    header: 'Record',
    isMinor: true,
    cell: ({ resourceId }) => (
      <span className="relative z-10">
        <ShortLink id={resourceId} />
      </span>
    ),
  },
  { header: 'Time', align: 'right', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** The newest events. The live stream makes the page read them again, and new rows slide in. */
export function useRecentEvents(): readonly Event[] | undefined {
  return useRead<List<Event>>('app/developer_api_webhook_events', { limit: eventsShown }).data?.data;
}

export interface RecentEventsCardProps {
  readonly events: readonly Event[];
  readonly className?: string;
}

export function RecentEventsCard({ events, className }: RecentEventsCardProps) {
  return (
    <Card
      title="Recent events"
      isFlush
      className={className ?? ''}
      actions={
        <Anchor to="events" className="text-sm text-accent hover:underline">
          All events
        </Anchor>
      }
    >
      {events.length === 0 ? (
        <p className="border-t px-5 py-3 text-sm text-muted">No events yet.</p>
      ) : (
        <Table
          caption="Recent events"
          columns={columns}
          rows={events}
          rowKey={({ id }) => id}
          rowLink={({ id }) => `events/${id}`}
          isFlush
        />
      )}
    </Card>
  );
}
