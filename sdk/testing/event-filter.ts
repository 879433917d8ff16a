/** Whether a type is one of those that a filter means: `*`, `payment.*`, or the type itself. */
export function fitsFilter(type: string, filter: string): boolean {
  return filter === '*' || type === filter || (filter.endsWith('.*') && type.startsWith(filter.slice(0, -1)));
}
