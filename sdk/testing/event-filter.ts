import { eventTypes } from '../generated/event-names.ts';
import type { EventFilter } from '../generated/shapes.ts';
import { rejectUnknownValue } from '../options.ts';

const filters = [
  ...eventTypes,
  '*',
  ...new Set(eventTypes.map((type) => `${type.slice(0, type.indexOf('.'))}.*`)),
];

/** Rejects a filter that no event can match: a wait for it would always end with a timeout. */
export function rejectUnknownEventTypes(eventTypes: readonly EventFilter[]): void {
  for (const filter of eventTypes) rejectUnknownValue('eventTypes', filter, filters);
}
