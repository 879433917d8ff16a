/** Whether filters such as `*`, `payment.*` and `payment.created` take a type. */
export function filtersTake(filters: ReadonlySet<string>, type: string): boolean {
  return filters.has('*') || filters.has(type) || filters.has(`${type.split('.')[0]}.*`);
}
