/**
 * Event filters of endpoints, event streams and fault plans. A filter is `*`, a resource such as `payment.*`, or one type such as
 * `payment.captured`.
 */
export function matchesEventFilter(filters: readonly string[], type: string): boolean {
  const ofResource = resourceFilter(type);
  return filters.some((filter) => filter === '*' || filter === type || filter === ofResource);
}

/** Every filter that matches at least one of the types. */
export function eventFilters(types: readonly string[]): readonly string[] {
  return ['*', ...new Set(types.map(resourceFilter)), ...types];
}

function resourceFilter(type: string): string {
  return `${type.split('.', 1)[0]}.*`;
}

/** The same rule in SQL, on a `jsonb` array of filters. Both arguments are SQL expressions. */
export function matchesEventFilterSql(filters: string, type: string): string {
  return `${filters} ?| array['*', ${type}, split_part(${type}, '.', 1) || '.*']`;
}
