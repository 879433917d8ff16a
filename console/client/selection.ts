import { useState } from 'react';

/** An action on the selection sends a request for each row. */
export const selectedMax = 100;

interface Selectable {
  readonly id: string;
}

/** The selected rows by id, and the row from which a range extends. */
export interface Selected<Row> {
  readonly rows: ReadonlyMap<string, Row>;
  readonly anchor: string | null;
}

export interface Selection<Row> {
  /** In the order of their selection, with their newest content. */
  readonly rows: readonly Row[];
  readonly has: (id: string) => boolean;
  /** How many of the shown rows are selected. */
  readonly page: 'none' | 'some' | 'all';
  /** `isRange` selects everything between the previous row and this one. */
  readonly toggle: (id: string, isRange: boolean) => void;
  readonly togglePage: () => void;
  readonly clear: () => void;
  readonly nameOf: (row: Row) => string;
}

const nothing: Selected<never> = { rows: new Map<string, never>(), anchor: null };

/**
 * The selected rows of a list. `query` identifies the page of the list: on another page nothing is selected. A selected row that new
 * rows have moved to the next page stays selected.
 */
export function useSelection<Row extends Selectable>(
  query: string,
  shown: readonly Row[],
  nameOf: (row: Row) => string,
): Selection<Row> {
  const [state, setState] = useState<Selected<Row> & { readonly query: string }>({ ...nothing, query });
  // Cleared and not only hidden: on the way back, nothing is selected either.
  if (state.query !== query) setState({ ...nothing, query });
  const selected: Selected<Row> = state.query === query ? state : nothing;
  const set = (next: Selected<Row>) => setState({ ...next, query });
  const shownById = new Map(shown.map((row) => [row.id, row]));
  const count = shown.filter(({ id }) => selected.rows.has(id)).length;
  return {
    rows: [...selected.rows].map(([id, row]) => shownById.get(id) ?? row),
    has: (id) => selected.rows.has(id),
    page: count === 0 ? 'none' : count === shown.length ? 'all' : 'some',
    toggle: (id, isRange) => set(toggleRow(selected, shown, id, isRange)),
    togglePage: () => set(togglePage(selected, shown)),
    clear: () => set(nothing),
    nameOf,
  };
}

export function toggleRow<Row extends Selectable>(
  { rows, anchor }: Selected<Row>,
  shown: readonly Row[],
  id: string,
  isRange: boolean,
): Selected<Row> {
  const to = shown.findIndex((row) => row.id === id);
  const from = isRange ? shown.findIndex((row) => row.id === anchor) : -1;
  if (to === -1) return { rows, anchor };
  const range =
    from === -1 ? shown.slice(to, to + 1) : shown.slice(Math.min(from, to), Math.max(from, to) + 1);
  // A range becomes like the row at which it started; a single row changes.
  const isOn = from === -1 ? !rows.has(id) : anchor !== null && rows.has(anchor);
  return { rows: change(rows, range, isOn), anchor: id };
}

export function togglePage<Row extends Selectable>(
  { rows }: Selected<Row>,
  shown: readonly Row[],
): Selected<Row> {
  const isOn = shown.some(({ id }) => !rows.has(id));
  return { rows: isOn ? change(rows, shown, true) : new Map(), anchor: null };
}

function change<Row extends Selectable>(
  rows: ReadonlyMap<string, Row>,
  changed: readonly Row[],
  isOn: boolean,
): ReadonlyMap<string, Row> {
  const next = new Map(rows);
  for (const row of changed) {
    if (!isOn) next.delete(row.id);
    else if (next.size < selectedMax) next.set(row.id, row);
  }
  return next;
}
