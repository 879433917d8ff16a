/** The query parameters of the current URL. */
export type Search = Readonly<Record<string, string | undefined>>;

/** The named filters that have a value. */
export function pickFilters(search: Search, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = search[name];
    if (value !== undefined && value !== '') found[name] = value;
  }
  return found;
}

/** The URL after a filter change: an empty value removes the filter, and the list starts at its first page. */
export function mergeFilters(search: Search, change: Search): Record<string, string | undefined> {
  const merged: Record<string, string | undefined> = { ...search, ...change, cursor: undefined };
  for (const [name, value] of Object.entries(merged)) if (value === '') merged[name] = undefined;
  return merged;
}

/** The names of the filters that are set. */
export function activeFilters(values: Search): readonly string[] {
  return Object.keys(values).filter((name) => values[name] !== undefined);
}

/** The change that removes every filter that is set. */
export function clearedFilters(values: Search): Record<string, undefined> {
  return Object.fromEntries(activeFilters(values).map((name) => [name, undefined]));
}

export interface Page {
  readonly cursor: string | undefined;
  /** The cursors of the previous pages; an empty string is the first page. */
  readonly previous: string[];
}

/** The next page; this page's cursor is added to the history. */
export function nextPage({ cursor, previous }: Page, next: string | undefined): Page {
  return { cursor: next, previous: [...previous, cursor ?? ''] };
}

/** The previous page; without a stored cursor, the first page. */
export function previousPage({ previous }: Page): Page {
  return { cursor: previous.at(-1) || undefined, previous: previous.slice(0, -1) };
}
