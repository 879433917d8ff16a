import { useCapabilities } from '../client/capabilities.ts';
import { type List, useRead } from '../client/queries.ts';
import type { Event } from '../generated/shapes.ts';
import { Anchor, IdLink } from '../parts/anchor.tsx';
import { Time } from '../parts/time.tsx';

const shownMax = 10;

interface Response {
  readonly object?: string;
  readonly id?: string;
  readonly requestId?: string;
}

/** The events of the record that a run created or changed, live; for a response without a record, those that the run caused. */
export function RunEvents({ response }: { readonly response: unknown }) {
  const { object, id, requestId } = (response ?? {}) as Response;
  const resources = useCapabilities()?.events.map(({ resource }) => resource) ?? [];
  const isRecord = id !== undefined && resources.includes(object as (typeof resources)[number]);
  const { data } = useRead<List<Event>>('app/developer_api_webhook_events', {
    limit: shownMax,
    resourceId: isRecord ? id : undefined,
  });
  const events = (data?.data ?? []).filter((event) => isRecord || event.originRequestId === requestId);
  if (!isRecord && events.length === 0) return null;
  return (
    <section aria-label="Events" className="overflow-hidden rounded-md border bg-surface">
      <h3 className="flex min-h-8 items-center border-b px-3 text-xs text-muted">Events</h3>
      {events.length === 0 ? <p className="px-3 py-2 text-sm text-muted">Waiting for the event…</p> : null}
      <ul>
        {events.map((event) => (
          <li
            key={event.id}
            className="flex flex-wrap items-center gap-x-4 border-b px-3 py-1.5 last:border-b-0"
          >
            <Anchor to={`events/${event.id}`} className="font-mono text-sm text-accent hover:underline">
              {event.type}
            </Anchor>
            <IdLink id={event.resourceId} />
            <span className="ml-auto text-sm text-muted">
              <Time at={event.timestamp} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
