import { useEffect, useRef, useState } from 'react';
import type { EventRecord } from '../../client/shapes.ts';

interface EventFilters {
  readonly type?: string;
  readonly resource?: string;
  readonly resourceId?: string;
}

function matchesFilters(event: EventRecord, filters: EventFilters): boolean {
  return (
    (filters.type === undefined || event.type === filters.type) &&
    (filters.resource === undefined || event.resource === filters.resource) &&
    (filters.resourceId === undefined || event.resourceId === filters.resourceId)
  );
}

const bufferedMax = 999;
const seenMax = 5_000;
const settleMs = 400;
const scrolledPx = 160;

interface BufferedEvents {
  readonly count: number;
  readonly add: (event: EventRecord) => void;
  readonly flush: () => void;
}

/**
 * Decides what to do with an event from the stream. The stream only signals that there is a new event: rows always come
 * from the list endpoint with its filters, order and cursors, so there are no duplicates and no gaps. A burst triggers one
 * refresh. While the person is scrolled down, on a later page or has paused, events are buffered and the rows do not move.
 */
export function useBufferedEvents(options: {
  readonly filters: EventFilters;
  readonly isBuffering: boolean;
  readonly shownIds: readonly string[];
  readonly refresh: () => void;
}): BufferedEvents {
  const [events, setEvents] = useState<readonly EventRecord[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const seen = useRef(new Set<string>());
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => () => clearTimeout(timer.current), []);
  const flush = () => {
    setEvents([]);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current.refresh(), settleMs);
  };
  return {
    count: events.filter(
      (event) => matchesFilters(event, options.filters) && !options.shownIds.includes(event.id),
    ).length,
    add: (event) => {
      const { filters, isBuffering } = latest.current;
      // After a reconnect the stream repeats recent events, so count each id once.
      if (seen.current.has(event.id)) return;
      if (seen.current.size >= seenMax) seen.current.clear();
      seen.current.add(event.id);
      if (isBuffering || window.scrollY > scrolledPx) {
        setEvents((before) => [...before.slice(1 - bufferedMax), event]);
      } else if (matchesFilters(event, filters)) {
        flush();
      }
    },
    flush,
  };
}
