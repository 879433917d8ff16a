/**
 * Whether any filter matches an event type: `*`, a resource such as `payment.*`, or the type itself. The server has the same rule in
 * `src/kernel/event.ts`; one table of cases tests both.
 */
export function matchesEventFilter(filters: readonly string[], type: string): boolean {
  const ofResource = `${type.split('.', 1)[0]}.*`;
  return filters.some((filter) => filter === '*' || filter === type || filter === ofResource);
}
