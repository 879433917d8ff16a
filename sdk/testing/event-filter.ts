import { eventTypes } from '../generated/event-names.ts';
import type { EventFilter } from '../generated/shapes.ts';
import { rejectUnknownValue } from '../options.ts';

const filters = [
  ...eventTypes,
  '*',
  ...new Set(eventTypes.map((type) => `${type.slice(0, type.indexOf('.'))}.*`)),
];

/** Rejects a filter that no event can match: a wait for it would always end with a timeout. */
export function rejectUnknownEventTypes(given: readonly EventFilter[]): void {
  for (const filter of given) rejectUnknownValue('eventTypes', filter, filters);
}

/** Whether a filter matches an event type: `*`, `payment.*`, or the type itself. */
export function fitsFilter(type: string, filter: string): boolean {
  return filter === '*' || type === filter || (filter.endsWith('.*') && type.startsWith(filter.slice(0, -1)));
}
