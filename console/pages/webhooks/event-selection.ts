import type { Capabilities } from '../../generated/shapes.ts';

type EventType = Pick<Capabilities['events'][number], 'type' | 'resource' | 'description'>;

/** The event types whose name or description contains the search text. */
export function matchingTypes(events: readonly EventType[], query: string): readonly EventType[] {
  const searchText = query.trim().toLowerCase();
  return events.filter(({ type, description }) =>
    `${type} ${description}`.toLowerCase().includes(searchText),
  );
}

/** The subscription after one type is switched on or off. */
export function withType(value: readonly string[], type: string, isOn: boolean): readonly string[] {
  return isOn ? [...value, type] : value.filter((one) => one !== type);
}

/** The subscription after a resource's wildcard is switched on or off; it replaces the resource's single types. */
export function withResource(value: readonly string[], resource: string, isOn: boolean): readonly string[] {
  const others = value.filter((one) => !one.startsWith(`${resource}.`));
  return isOn ? [...others, `${resource}.*`] : others;
}
