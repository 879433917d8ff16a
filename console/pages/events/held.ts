import { useEffect, useRef, useState } from 'react';
import type { EventRecord } from '../../client/shapes.ts';

interface EventFilters {
  readonly type?: string;
  readonly resource?: string;
  readonly resourceId?: string;
}

function isWanted(event: EventRecord, filters: EventFilters): boolean {
  return (
    (filters.type === undefined || event.type === filters.type) &&
    (filters.resource === undefined || event.resource === filters.resource) &&
    (filters.resourceId === undefined || event.resourceId === filters.resourceId)
  );
}

const heldMax = 999;
const seenMax = 5_000;
const settleMs = 400;
const scrolledPx = 160;

interface Held {
  readonly number: number;
  readonly take: (event: EventRecord) => void;
  readonly release: () => void;
}

/**
 * What to do with an event of the stream. The stream only says that there is something: the rows always come from the
 * server's list, with its filters, order and cursors, so nothing is shown twice and no gap is possible. A burst asks once.
 * While the person reads further down, is on a later page or has paused, they are collected instead of moving the rows.
 */
export function useHeld(options: {
  readonly filters: EventFilters;
  readonly isHolding: boolean;
  readonly shownIds: readonly string[];
  readonly refresh: () => void;
}): Held {
  const [events, setEvents] = useState<readonly EventRecord[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const seen = useRef(new Set<string>());
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => () => clearTimeout(timer.current), []);
  const release = () => {
    setEvents([]);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current.refresh(), settleMs);
  };
  return {
    number: events.filter((event) => isWanted(event, options.filters) && !options.shownIds.includes(event.id))
      .length,
    take: (event) => {
      const { filters, isHolding } = latest.current;
      // After a cut the stream tells again what it told just before, so an id counts once.
      if (seen.current.has(event.id)) return;
      if (seen.current.size >= seenMax) seen.current.clear();
      seen.current.add(event.id);
      if (isHolding || window.scrollY > scrolledPx) {
        setEvents((before) => [...before.slice(1 - heldMax), event]);
      } else if (isWanted(event, filters)) {
        release();
      }
    },
    release,
  };
}
